//! C4.

use alloc::boxed::Box;

use super::{DelaySignal, Options};
use crate::registry::{Entry, Parameter};

const PUSHING: &str = "pushing";
const ALWAYS: &str = "always";

pub(crate) static C4: Entry = Entry {
    name: "c4",
    summary: "C4: the highest rate seen times the longest RTT without a queue, for media over Wi-Fi",
    source: "draft-huitema-ccwg-c4-spec-00; private-octopus/c4, November 2025",
    parameters: &[
        Parameter::choice("delay", PUSHING, &[PUSHING, ALWAYS]).about(
            "a long RTT counts in Push only, which it ends (the code), or always, and lowers the \
             rate (the text)",
        ),
        Parameter::whole("restart", 0, 0..=1000).about(
            "successful pushes in a row after which Initial returns; 0: never (the code, in \
             effect)",
        ),
    ],
    make: |values, config| {
        // The registry's range fits.
        let restart = values.whole("restart") as u32;
        let options = Options {
            delay: match values.word("delay") {
                ALWAYS => DelaySignal::Always,
                _ => DelaySignal::Pushing,
            },
            restart: (restart > 0).then_some(restart),
        };
        Box::new(super::C4::new(config, options))
    },
    receiver: None,
};
