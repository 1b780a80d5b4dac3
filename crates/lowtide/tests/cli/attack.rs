//! `lowtide attack`.

use crate::program::{Folder, has, lowtide, number};

#[test]
fn what_an_attack_finds_fails_in_a_suite_and_is_the_same_each_time() {
    let folder = Folder::new();
    let attack =
        "attack --cc copa,bbr --goal throughput --reference cubic --budget 64 --most 1 --seed 3";
    let ran = folder.ok(&format!("{attack} --keep found --report page --jobs 2"));
    let found = [
        "copa, throughput: worst ",
        "of 64 networks (limit 0.20)",
        "  1. ",
    ];
    has(&ran.out, &found);
    let json = folder.ok(&format!("{attack} --jobs 1 --json")).json();
    let first = &json["results"][0]["findings"][0];
    let (id, score) = (first["id"].as_str().unwrap(), number(first, "score"));
    has(&ran.out, &[&format!("  1. {score:.2} "), id]);
    assert_eq!(first["controllers"][0][0], "copa");
    assert_eq!(first["controllers"][0][1], first["score"]);
    // The page has each finding's flags and its scenario.
    let shown = [
        "Worst networks, cellular",
        id,
        "lowtide compare --",
        "[[limits]]",
    ];
    has(&folder.read("page/index.html"), &shown);
    let scored = folder
        .run(&format!("score --suite found --cc copa --case {id}"))
        .code(1);
    has(&scored.out, &["Carries less", "fail"]);
}

#[test]
fn a_stack_is_attacked_with_what_it_can_carry() {
    // Among so many networks of the model are some with TCP.
    let attack = "attack --cc noq/cubic --goal delay --world wired --budget 16 --most 1";
    has(&lowtide(attack).ok().out, &["noq/cubic, delay: worst "]);
}

#[test]
fn what_an_attack_does_not_know_is_named() {
    let rows = "
        --cc ebb --goal slowness     => there is no goal 'slowness'; known are throughput, delay
        --cc ebb --world moon        => there is no world 'moon'; known are cellular, wifi
        --cc ebb --method luck       => there is no method 'luck'; known are elites
        --cc ebb --budget much       => a number of networks, as in 2000, or a time
        --cc bbr --reference bbr     => cannot be held against itself
        --cc nobody                  => nobody
        ";
    Folder::new().refuses("attack", rows);
}
