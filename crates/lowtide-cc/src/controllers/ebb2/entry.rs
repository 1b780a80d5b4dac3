//! ebb2.

use alloc::boxed::Box;

use super::{Ebb2, Tuning};
use crate::registry::{Entry, Parameter};

pub(crate) static EBB2: Entry = Entry {
    name: "ebb2",
    summary: "ebb 2, a prototype: ebb where the link is its own, and a share of it elsewhere",
    source: "prototype",
    parameters: &[
        Parameter::share("idle", Tuning::DEFAULT.idle, 0.001..=0.5)
            .about("share of the link's capacity that may stay unused; less means more delay"),
        Parameter::share("over", 0.0, 0.0..=1.0).about("see LAW.md"),
        Parameter::share("fl", 0.0, 0.0..=1.0).about("see LAW.md"),
        Parameter::share("pk", 0.0, 0.0..=1.0).about("see LAW.md"),
        Parameter::share("al", 0.0, 0.0..=1.0).about("see LAW.md"),
        Parameter::share("av", 0.0, 0.0..=1.0).about("see LAW.md"),
        Parameter::flag("clr", false).about("see LAW.md"),
        Parameter::share("ag", 0.0, 0.0..=1.0).about("see LAW.md"),
        Parameter::flag("cap", false).about("see LAW.md"),
        Parameter::flag("drop", false).about("see LAW.md"),
        Parameter::flag("off", false).about("see LAW.md"),
        Parameter::flag("now", false).about("see LAW.md"),
    ],
    make: |values, config| {
        Box::new(Ebb2::new(
            config,
            Tuning {
                idle: values.share("idle"),
                over: values.share("over"),
                x_floor: values.share("fl"),
                x_pk: 4.0 * values.share("pk"),
                x_al: 4.0 * values.share("al"),
                x_av: 4.0 * values.share("av"),
                x_clr: values.flag("clr"),
                x_ag: 4.0 * values.share("ag"),
                x_cap: values.flag("cap"),
                x_drop: values.flag("drop"),
                x_off: values.flag("off"),
                x_now: values.flag("now"),
                ..Tuning::DEFAULT
            },
        ))
    },
    receiver: None,
};
