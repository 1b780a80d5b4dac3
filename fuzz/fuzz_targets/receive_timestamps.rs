//! Receive timestamps from any bytes: what is read is bounded and in order, and encodes to the same
//! again.
#![no_main]

use lowtide_host::timestamps::{EXPONENT, MAX_PER_ACK, Report, decode, encode, frame};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut arrivals = Vec::new();
    let tick = 1_000_u64 << EXPONENT;
    let read = decode(bytes, |number, at| arrivals.push((number, at.as_nanos() / tick)));
    assert!(arrivals.len() <= MAX_PER_ACK);
    assert!(arrivals.is_sorted_by(|a, b| a.1 >= b.1));
    let mut report = Report::default();
    assert_eq!(report.read(bytes), read);
    if let Some((report, rest)) = frame::split(bytes) {
        assert!(report.len() + rest.len() < bytes.len());
    }
    let Ok(taken) = read else {
        return;
    };
    assert!(taken <= bytes.len());
    for (number, _) in &arrivals {
        assert!(report.received_at(*number).is_some());
    }
    let largest = arrivals.iter().map(|(number, _)| *number).max();
    let mut encoded = Vec::new();
    encode(largest.unwrap_or(0), arrivals.iter().copied(), 2_000, &mut encoded);
    let mut again = Vec::new();
    if !encoded.is_empty() {
        decode(&encoded, |number, at| again.push((number, at.as_nanos() / tick))).unwrap();
    }
    assert_eq!(again[..], arrivals[..again.len()]);
});
