//! The controller that the documents show as an example.

use lowtide_lab::compare::{self, Options};
use lowtide_lab::contender::Contenders;
use lowtide_sim::queue::QueueLimit;

use crate::setting::{constant, of};

#[path = "../../../../examples/own-controller/src/aimd.rs"]
mod aimd;

const PAGE: &str = include_str!("../../../../docs/adding-a-controller.md");

/// The first block of code of a language that begins with this text.
fn block<'a>(language: &str, begin: &str) -> Option<&'a str> {
    let fence = format!("```{language}\n");
    let mut blocks = PAGE.split(&fence).skip(1);
    let block = blocks.find(|block| block.starts_with(begin))?;
    block.split("```").next()
}

#[test]
fn the_page_shows_the_example_as_it_is() {
    let code = include_str!("../../../../examples/own-controller/src/aimd.rs");
    assert_eq!(block("rust", "//! Additive"), Some(code));
    let manifest = include_str!("../../../../examples/own-controller/Cargo.toml");
    assert_eq!(block("toml", "[package]"), Some(manifest));
}

#[test]
fn the_example_fills_a_link_and_answers_its_losses() {
    let contenders = Contenders::default().with(&aimd::AIMD).unwrap();
    let asked = contenders.parse_all("aimd,aimd:beta=0.9").unwrap();
    let mut setting = constant(10);
    setting.forward.buffer = QueueLimit::Packets(30);
    let options = Options {
        jobs: 1,
        timelines: true,
    };
    let result = compare::compare(&setting, &asked, options, &|| ()).unwrap();
    for (name, utilisation) in [("aimd", 0.9), ("aimd:beta=0.9", 0.95)] {
        let mean = of(&result, name);
        let answers = (1e-5..0.02).contains(&mean["loss_share"]);
        assert!(
            mean["utilisation"] > utilisation && answers,
            "{name}: {mean:?}"
        );
        let entry = result.entries.iter().find(|e| e.name == name).unwrap();
        let flow = &entry.timeline.as_ref().unwrap().flows()[0];
        let phases = flow.phases.states().iter().map(|state| state.name.as_str());
        let phases: Vec<&str> = phases.collect();
        assert_eq!(phases, ["SlowStart", "Avoidance", "Recovery"]);
    }
}
