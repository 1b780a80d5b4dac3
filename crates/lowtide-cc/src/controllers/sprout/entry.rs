//! Sprout.

use alloc::boxed::Box;

use super::{Forecaster, Sprout};
use crate::registry::{Domain, Entry, Parameter, Value};

const BAYES: &str = "bayes";
const EWMA: &str = "ewma";

pub(crate) static SPROUT: Entry = Entry {
    name: "sprout",
    summary: "Sprout: sends what a cautious forecast lets through within 100 ms",
    source: "Winstein, Sivaraman and Balakrishnan, NSDI 2013; keithw/sprout",
    parameters: &[
        Parameter {
            name: "forecast",
            summary: "Bayes' rule over all rates, or a moving average (Sprout-EWMA)",
            default: Value::Word(BAYES),
            domain: Domain::Choice(&[BAYES, EWMA]),
        },
        Parameter {
            name: "quantile",
            summary: "probability that less is delivered than is forecast",
            default: Value::Share(Forecaster::DEFAULT_QUANTILE),
            domain: Domain::Share {
                min: 0.001,
                max: 0.999,
            },
        },
        Parameter {
            name: "max",
            summary: "the largest rate, packets a second (the paper: 1000); 0: follows what arrives",
            default: Value::Whole(0),
            domain: Domain::Whole {
                min: 0,
                max: 100_000_000,
            },
        },
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
