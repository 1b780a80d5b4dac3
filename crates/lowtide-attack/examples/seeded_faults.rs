//! Does the search find faults without being told where? BBRv3 with one thing wrong, held against BBRv3.
//!
//! `cargo run --release -p lowtide-attack --example seeded_faults -- 300` tries so many networks for each fault and goal;
//! names of goals may follow.
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
    let named = std::env::args().nth(2).unwrap_or("all".to_string());
    let named: Vec<&str> = named.split(',').collect();
    let goals: Vec<Goal> = Goal::find_all(&named)
        .expect("names of goals, as in invariants,stall")
        .into_iter()
        .filter(|goal| goal.has_reference() || *goal == Goal::Invariants)
        .collect();
    let sound = ("bbr3", "", "sound");
    for (name, _, about) in [&sound].into_iter().chain(FAULTS) {
        let of_fault = |goal: &&Goal| *name != sound.0 || !goal.has_reference();
        let goals: Vec<Goal> = goals.iter().filter(of_fault).copied().collect();
        let subjects = goals.iter().map(|goal| Subject {
            candidate: contenders.parse(name).unwrap(),
            host: None,
            goal: *goal,
            reference: "bbr3".to_string(),
            contenders: contenders.clone(),
        });
        let question = Question {
            subjects: subjects.collect(),
            world: World::find("wired").unwrap(),
            budget: Budget::Networks(networks),
            method: Method::Elites,
            seed: 1,
            most: 0,
            jobs: 0,
            kept: None,
        };
        let outcomes = hunt(&question, &Stop::default(), &|_, _| {}).unwrap();
        let tried = goals.iter().zip(&outcomes);
        let said = tried.map(|(goal, outcome)| {
            let found = if outcome.worst > goal.limit() {
                "*"
            } else {
                ""
            };
            format!("{} {:.2}{found}", goal.name(), outcome.worst)
        });
        println!("{name}: {about}: {}", said.collect::<Vec<_>>().join(", "));
    }
}
