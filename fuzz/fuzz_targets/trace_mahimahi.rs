//! Any file is a trace or an error; what was read can be written and read again.
#![no_main]

use lowtide_sim::link::MAHIMAHI_OPPORTUNITY;
use lowtide_sim::trace::mahimahi;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(trace) = mahimahi::parse(data, MAHIMAHI_OPPORTUNITY) {
        let mut text = Vec::new();
        mahimahi::write(&trace, &mut text).expect("memory takes everything");
        assert_eq!(
            mahimahi::parse(&text, MAHIMAHI_OPPORTUNITY).as_ref(),
            Ok(&trace)
        );
    }
});
