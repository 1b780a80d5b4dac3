//! RBBR's frame from any bytes: what is taken for one is one, and the rest is left alone.
#![no_main]

use lowtide_cc::controllers::rbbr::frame::{Frame, LENGTH};

libfuzzer_sys::fuzz_target!(|payload: &[u8]| {
    if let Some(frame) = Frame::decode(payload) {
        assert_eq!(frame.encode(), payload[..LENGTH]);
    }
});
