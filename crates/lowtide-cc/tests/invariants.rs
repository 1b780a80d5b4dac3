//! What every controller keeps after any sequence of events.

mod absurd_events;
#[path = "controllers/events.rs"]
#[allow(dead_code, reason = "the controllers' own tests need more of it")]
mod events;
#[path = "controllers/host.rs"]
#[allow(dead_code, reason = "the controllers' own tests need more of it")]
mod host;

use absurd_events::Claims;
use host::{Host, MSS};
use lowtide_cc::units::{Duration, Rate, Time};
use lowtide_cc::{Config, registry};
use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_sequence_of_events_breaks_a_controller(
        data in prop::collection::vec(any::<u8>(), 0..1500)
    ) {
        absurd_events::play(&data);
    }
}

/// Packets that leave in the last 5 of 30 seconds on an honest link, after events made from a seed.
fn sent_after(spec: &str, events: Option<(Claims, u64)>) -> u64 {
    let mut cc = registry::build(spec, &Config::for_datagram(MSS)).expect("in the registry");
    let mut now = Time::ZERO;
    if let Some((claims, seed)) = events {
        let mut data = [0; 4000];
        Pcg64Mcg::seed_from_u64(seed).fill_bytes(&mut data);
        now = absurd_events::play_in_order(&data, claims, &mut *cc);
        cc.on_mtu_change(MSS);
    }
    let mut host = Host::new(cc, Rate::from_mbps(8), Duration::from_millis(40));
    host.now = now;
    let mut run = |seconds| {
        let (until, before) = (host.now + Duration::from_secs(seconds), host.next_number());
        while host.now < until {
            // The peer's flow control holds what an absurd window would let out.
            host.data = Some((MSS * 2000 - host.inflight()).get() / MSS.get());
            assert!(host.step(), "{spec}, {events:?}: stands still");
        }
        host.next_number() - before
    };
    run(25);
    run(5)
}

fn assert_comes_back(spec: &str, claims: Claims) {
    let fresh = sent_after(spec, None);
    for seed in 0..25 {
        let sent = sent_after(spec, Some((claims, seed)));
        assert!(sent * 2 > fresh, "{spec}, seed {seed}: {sent} of {fresh}");
    }
}

#[test]
fn every_controller_comes_back_on_an_honest_link_after_events_that_a_host_can_make() {
    for entry in registry::all() {
        assert_comes_back(entry.name, Claims::Possible);
    }
}

#[test]
fn sprout_comes_back_even_after_absurd_events() {
    for spec in ["sprout", "sprout:forecast=ewma"] {
        assert_comes_back(spec, Claims::Any);
    }
}
