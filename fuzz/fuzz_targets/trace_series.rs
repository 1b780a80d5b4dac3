//! Any file is a rate series or an error, and packets on the link behave.
#![no_main]

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Time};
use lowtide_sim::link::{Link, Server};
use lowtide_sim::trace::series;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(schedule) = series::parse(data) {
        let mut server = Server::new(Arc::new(Link::Rates(schedule)));
        let mut now = Time::ZERO;
        for _ in 0..10 {
            let departure = server.serve(now, Bytes::new(1500), true);
            assert!(departure >= now);
            now = departure;
        }
    }
});
