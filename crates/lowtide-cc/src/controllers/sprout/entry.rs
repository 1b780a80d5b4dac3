//! Sprout.

use alloc::boxed::Box;

use super::{Forecaster, Sprout};
use crate::registry::{Entry, Parameter};

const BAYES: &str = "bayes";
const EWMA: &str = "ewma";

pub(crate) static SPROUT: Entry = Entry {
    name: "sprout",
    summary: "Sprout: sends what a cautious forecast lets through within 100 ms",
    source: "Winstein, Sivaraman and Balakrishnan, NSDI 2013; keithw/sprout",
    parameters: &[
        Parameter::choice("forecast", BAYES, &[BAYES, EWMA])
            .about("Bayes' rule over all rates, or a moving average (Sprout-EWMA)"),
        Parameter::share("quantile", Forecaster::DEFAULT_QUANTILE, 0.001..=0.999)
            .about("probability that less is delivered than is forecast"),
        Parameter::whole("max", 0, 0..=100_000_000)
            .about("the largest rate, packets a second (the paper: 1000); 0: follows what arrives"),
    ],
    make: |values, config| {
        let forecaster = match values.word("forecast") {
            EWMA => Forecaster::average(),
            _ => {
                let max = values.whole("max");
                Forecaster::bayes(values.share("quantile"), (max > 0).then_some(max))
            }
        };
        Box::new(Sprout::new(config, forecaster))
    },
    receiver: None,
};
