//! Lowtide's command line with `ebb-tuning` besides: ebb with each of its constants as a parameter,
//! for sweeps and ablations such as those of `docs/ebb.md`.
//!
//! ```sh
//! cargo run --release -p lowtide --example ebb_tuning -- frontier --traces DIR --rtt 40ms \
//!     --buffer inf --cc ebb-tuning:gain=0.03/0.07/0.2 --cc ebb-tuning:batch_memory=0
//! ```

use std::process::ExitCode;

use lowtide_cc::controllers::ebb::{Ebb, Tuning};
use lowtide_cc::registry::{Domain, Entry, Parameter, Value};

macro_rules! tuning {
    ($($constant:ident)*) => {
        static TUNING: Entry = Entry {
            name: "ebb-tuning",
            summary: "ebb with its constants as parameters",
            source: "lowtide_cc::controllers::ebb::Tuning",
            parameters: &[$(Parameter {
                name: stringify!($constant),
                summary: "as in lowtide_cc::controllers::ebb::Tuning",
                default: Value::Real(Tuning::DEFAULT.$constant),
                domain: Domain::Real { min: -1.0, max: 100.0 },
            }),*],
            make: |values, config| {
                let tuning = Tuning { $($constant: values.real(stringify!($constant)),)* ..Tuning::DEFAULT };
                Box::new(Ebb::new(config, tuning))
            },
            receiver: None,
        };
    };
}

// All fields of `Tuning`: the compiler complains if one is missing.
tuning! {
    idle gain most least loss_price packets root batch_memory kernel rise fall growth calm_growth alone
    pacing_gain calm_pacing_gain lively standing jitter drain
}

fn main() -> ExitCode {
    match lowtide::App::default().with(&TUNING) {
        Ok(app) => app.run(),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
