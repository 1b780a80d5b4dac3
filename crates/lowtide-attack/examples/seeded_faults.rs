//! Does the search find faults without being told where? BBRv3 with one thing wrong, held against BBRv3.
//!
//! `cargo run --release -p lowtide-attack --example seeded_faults -- 300` tries so many networks for each fault and goal, one goal
//! after the other until one finds it; goals, a world and faults may follow, as in `300 delay,loss wired loss-twice,up-gain`.
//! A goal that holds its candidate against BBRv3 is 0 where both do the same, so that any finding is the fault's. Of invariants
//! it is where BBRv3, which comes first, breaks none. A star is beyond the goal's limit.

#[path = "../../lowtide-lab/tests/kit_finds_faults/faulty.rs"]
mod faulty;

use lowtide_attack::budget::Budget;
use lowtide_attack::goal::Goal;
use lowtide_attack::hunt::{Question, hunt};
use lowtide_attack::search::Method;
use lowtide_attack::trial::Subject;
use lowtide_attack::world::World;
use lowtide_lab::contender::Contenders;
use lowtide_lab::run::Stop;

use crate::faulty::{ENTRIES, FAULTS};

fn main() {
    let networks = std::env::args().nth(1).map_or(300, |text| {
        text.parse().expect("the number of networks, as in 300")
    });
    let contenders = ENTRIES
        .iter()
        .fold(Contenders::default(), |all, entry| all.with(entry).unwrap());
    let argument = |n, otherwise: &str| std::env::args().nth(n).unwrap_or(otherwise.to_string());
    let named = argument(2, "all");
    let named: Vec<&str> = named.split(',').collect();
    let world = World::find(&argument(3, "wired")).expect("the name of a world, as in wired");
    let faults = argument(4, "");
    let faults: Vec<&str> = faults.split(',').filter(|name| !name.is_empty()).collect();
    let goals: Vec<Goal> = Goal::find_all(&named)
        .expect("names of goals, as in invariants,stall")
        .into_iter()
        .filter(|goal| goal.has_reference() || *goal == Goal::Invariants)
        .collect();
    let sound = ("bbr3", "", "sound");
    for (name, _, about) in [&sound].into_iter().chain(FAULTS) {
        if !faults.is_empty() && !faults.contains(name) {
            continue;
        }
        print!("{name}: {about}:");
        let of_fault = |goal: &&Goal| *name != sound.0 || !goal.has_reference();
        for goal in goals.iter().filter(of_fault) {
            let subject = Subject {
                candidate: contenders.parse(name).unwrap(),
                host: None,
                goal: *goal,
                reference: "bbr3".to_string(),
                contenders: contenders.clone(),
            };
            let question = Question {
                subjects: vec![subject],
                world,
                budget: Budget::Networks(networks),
                method: Method::Elites,
                seed: 1,
                most: 0,
                jobs: 0,
                kept: None,
            };
            let outcomes = hunt(&question, &Stop::default(), &|_, _| {}).unwrap();
            let is_found = outcomes[0].worst > goal.limit();
            let star = if is_found { "*" } else { "" };
            print!(" {} {:.2}{star}", goal.name(), outcomes[0].worst);
            if is_found {
                break;
            }
        }
        println!();
    }
}
