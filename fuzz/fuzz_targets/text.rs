//! Quantities, schedules and controller specs from any text.
#![no_main]

use lowtide_cc::registry;
use lowtide_sim::trace::{quantity, schedule};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = quantity::rate(text);
    let _ = quantity::duration_or_zero(text);
    let _ = quantity::bytes(text);
    let _ = quantity::queue_limit(text);
    let _ = quantity::probability(text);
    let _ = schedule::parse(text);
    let _ = registry::parse(text);
});
