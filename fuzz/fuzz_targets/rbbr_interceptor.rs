//! What is done to any payload of a packet, sent or received.
#![no_main]

libfuzzer_sys::fuzz_target!(|payload: &[u8]| lowtide_quic::fuzz_payload(payload));
