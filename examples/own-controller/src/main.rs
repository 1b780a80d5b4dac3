//! Lowtide's command line with controllers of one's own beside the others:
//! `cargo run --release -- compare --cc aimd:beta=0.7 --cc modest:share=0.1 --cc bbr --report out`.

mod aimd;

use std::process::ExitCode;

use lowtide_cc::controllers::bbr::{Bbr, MaxBandwidth, Model, Options, Policy};
use lowtide_cc::registry::{Entry, Parameter};

/// BBR that leaves a share of the bandwidth to the queue, so that it drains.
#[derive(Debug)]
struct Modest {
    share: f64,
}

impl Policy for Modest {
    fn steady_gain(&self, _model: &Model) -> f64 {
        1.0 - self.share
    }
}

static MODEST: Entry = Entry {
    name: "modest",
    summary: "BBR that paces its steady phases below the bandwidth",
    source: "examples/own-controller",
    parameters: &[
        Parameter::real("share", 0.05, 0.0..=0.5).about("share of the bandwidth that is left")
    ],
    make: |values, config| {
        let share = values.real("share");
        let max = MaxBandwidth::default();
        Box::new(Bbr::new(config, Options::DEFAULT, max, Modest { share }))
    },
    receiver: None,
};

fn main() -> ExitCode {
    let app = lowtide::App::default().with(&MODEST);
    match app.and_then(|app| app.with(&aimd::AIMD)) {
        Ok(app) => app.run(),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
