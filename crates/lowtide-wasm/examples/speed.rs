//! What `web/tests/speed.js` measures in a browser, as native code on one thread:
//! `cargo run --release -p lowtide-wasm --example speed`.

use std::time::Instant;

use lowtide_wasm::{Comparison, Files};

fn main() {
    let question = include_str!("../../../web/tests/speed.json");
    for round in 1..=3 {
        let mut underway = Comparison::new(question, &Files::new()).expect("the question is right");
        let started = Instant::now();
        loop {
            let due = underway.due();
            if due.is_empty() {
                break;
            }
            for run in due {
                let made = underway.make(run).expect("a run comes to its end");
                underway.take(run, &made).expect("a run can be taken");
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        let json: serde_json::Value = serde_json::from_str(&underway.json()).expect("JSON");
        let packets = json["simulated_packets"].as_u64().unwrap_or_default();
        let rate = packets as f64 / seconds / 1e6;
        println!("{round}: {packets} packets in {seconds:.3} s, {rate:.3} million a second");
    }
}
