//! Runs made by one instance and taken by another, in whatever order, are the comparison of the command line.

use std::path::Path;

use lowtide_lab::compare::{self, Options};
use lowtide_lab::contender::Contenders;
use lowtide_lab::json::JsonComparison;
use lowtide_lab::setting::{Brief, Resolver, knobs};
use lowtide_report::report::Report;
use lowtide_wasm::{Comparison, Files};

#[test]
fn the_order_of_runs_and_who_makes_them_change_nothing() {
    let question = r#"{ "setting": { "scenario": "4g", "duration": "2s", "seeds": 3, "flows": 2, "seed": 9 },
                        "controllers": ["rbbr", "cubic"] }"#;
    let mut desk = Comparison::new(question, &Files::new()).unwrap();
    let maker = Comparison::new(question, &Files::new()).unwrap();
    let mut due = desk.due();
    let mut made = 0;
    while let Some(run) = due.pop() {
        desk.take(run, &maker.make(run).unwrap()).unwrap();
        made += 1;
        due.extend(desk.due());
    }
    let about: serde_json::Value = serde_json::from_str(&desk.about()).unwrap();
    assert_eq!(about["runs"], made);

    let contenders = Contenders::default();
    let said = "scenario = '4g'\nduration = '2s'\nseeds = 3\nflows = 2\nseed = 9";
    let mut resolver = Resolver::new(&contenders, Path::new(""));
    let brief = Brief::new(said.parse().unwrap()).unwrap();
    let sections = brief.sections(&mut resolver, |_| ()).unwrap();
    let setting = resolver.setting(&sections[0]).unwrap();
    let setting = setting.with_mean_in_name().unwrap();
    let asked = contenders.parse_all("rbbr,cubic").unwrap();
    let options = Options {
        jobs: 1,
        timelines: true,
    };
    let whole = compare::compare(&setting, &asked, options, &|| ()).unwrap();
    let json = serde_json::to_string_pretty(&JsonComparison::new(&setting, &whole, None)).unwrap();
    assert_eq!(desk.json().trim_end(), json);
    let page = Report::of_comparisons(&[(setting, whole)]).html().unwrap();
    assert!(desk.report().unwrap() == page, "the reports differ");
}

#[test]
fn what_is_wrong_has_its_key() {
    let wrong = |question: &str, file: &[u8]| {
        let mut files = Files::new();
        files.add("my.trace".to_string(), file.to_vec());
        let wrong = Comparison::new(question, &files).unwrap_err();
        (wrong.at, wrong.problem)
    };
    let fine = b"1\n2\n3\n".as_slice();
    let (at, problem) = wrong(r#"{ "setting": { "rtt": "9" } }"#, fine);
    assert_eq!(at, "rtt");
    assert!(problem.contains("unit"), "{problem}");
    assert_eq!(
        wrong(r#"{ "setting": { "source": "?" } }"#, fine).0,
        "source"
    );
    let (at, problem) = wrong(r#"{ "setting": { "trace": "my.trace" } }"#, b"1\nx\n");
    assert_eq!(at, "trace");
    assert!(problem.starts_with("my.trace: "), "{problem}");
    assert_eq!(
        wrong(r#"{ "setting": { "trace": "/etc/hosts" } }"#, fine).0,
        "trace"
    );
    assert_eq!(
        wrong(r#"{ "setting": {}, "controllers": ["bbbr"] }"#, fine).0,
        "controllers"
    );
    assert_eq!(
        wrong(
            r#"{ "setting": { "duration": "2000s", "rate": "90gbit" } }"#,
            fine
        )
        .0,
        "duration"
    );
    assert_eq!(
        wrong(r#"{ "setting": { "flows": 100000 } }"#, fine).0,
        "flows"
    );
    assert_eq!(wrong("[", fine).0, "");
}

#[test]
fn a_form_is_told_every_value_that_has_a_short_name() {
    let listed: Vec<serde_json::Value> = serde_json::from_str(&lowtide_wasm::knobs()).unwrap();
    let names: Vec<&str> = listed
        .iter()
        .map(|knob| knob["name"].as_str().unwrap())
        .collect();
    let known: Vec<&str> = knobs().iter().map(|knob| knob.name).collect();
    assert_eq!(names, known);
    let of = |name| listed.iter().find(|knob| knob["name"] == name).unwrap();
    assert_eq!(of("rtt")["key"], "path.rtt");
    assert_eq!(of("reorder")["takes"], "nothing");
    assert_eq!(of("ack_every")["takes"], "whole");
    assert_eq!(of("transport")["words"], serde_json::json!(["quic", "tcp"]));
}
