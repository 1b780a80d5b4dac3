//! Any sequence of events leaves every controller within its invariants.
#![no_main]

#[path = "../../crates/lowtide-cc/tests/absurd_events/mod.rs"]
mod absurd_events;

libfuzzer_sys::fuzz_target!(|data: &[u8]| absurd_events::play(data));
