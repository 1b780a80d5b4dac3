//! Any file is a list of packets or an error, and packets come in the order of their times.
#![no_main]

use lowtide_sim::trace::arrivals;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(arrivals) = arrivals::parse(data) {
        assert!(arrivals.is_sorted_by_key(|(at, _)| *at));
        assert!(arrivals.iter().all(|(_, bytes)| !bytes.is_zero()));
    }
});
