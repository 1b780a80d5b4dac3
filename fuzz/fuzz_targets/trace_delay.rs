//! Any file is a table of delays or an error, and nothing has arrived before it left.
#![no_main]

use lowtide_cc::units::Time;
use lowtide_sim::trace::delay;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(moving) = delay::parse(data) {
        assert!(moving.least() <= moving.mean());
        for t in [0, 1, 1_000_000, 1_000_000_000_000, u64::MAX / 2] {
            let t = Time::from_nanos(t);
            assert!(moving.departed_by(t) <= t);
        }
    }
});
