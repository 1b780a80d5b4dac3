//! Quantities, schedules, controller and other specs from any text.
#![no_main]

use lowtide_cc::registry;
use lowtide_cc::units::quantity;
use lowtide_sim::trace::schedule;
use lowtide_sim::{impairment, queue, source};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = quantity::rate(text);
    let _ = quantity::duration_or_zero(text);
    let _ = quantity::bytes(text);
    let _ = quantity::probability(text);
    let _ = queue::parse(text);
    let _ = queue::parse_policer(text);
    let _ = impairment::parse_burst_loss(text);
    let _ = source::parse(text);
    let _ = schedule::parse(text);
    let _ = registry::parse(text);
});
