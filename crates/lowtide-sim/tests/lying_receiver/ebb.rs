//! ebb.

use std::sync::Arc;

use lowtide_cc::units::{Duration, Rate, Time};
use lowtide_cc::{Config, Controller, registry};
use lowtide_sim::link::Link;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::trace::generate;
use lowtide_sim::transport::{Pacing, TransportConfig};
use lowtide_sim::{AccessConfig, FlowConfig, SenderKind};

use super::deceived::{Clock, Deceived};
use super::two_flows::{DURATION, ONE_WAY, Shares, run};
use super::withheld::{Will, Withheld, bunched};

/// The longest that a receiver may delay acknowledgments by QUIC's default.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
const MS: Duration = Duration::from_millis(1);
const BASE_RTT: Duration = Duration::from_millis(40);

/// What a receiver does.
#[derive(Clone, Copy, Debug)]
struct Receiver {
    name: &'static str,
    ack_every: u32,
    /// It reports receive timestamps, these.
    clock: Option<Clock>,
    will: Option<Will>,
}

const HONEST: Receiver = Receiver {
    name: "honest",
    ack_every: 2,
    clock: None,
    will: None,
};

const fn clock(name: &'static str, clock: Clock) -> Receiver {
    Receiver {
        name,
        clock: Some(clock),
        ..HONEST
    }
}

const fn will(name: &'static str, will: Will) -> Receiver {
    Receiver {
        name,
        will: Some(will),
        ..HONEST
    }
}

fn flow(name: &str, receiver: Receiver, start: Time) -> FlowConfig {
    let spec = registry::parse(name).unwrap();
    FlowConfig {
        sender: SenderKind::Controlled {
            controller: Arc::new(move |config: &Config| {
                let mut controller: Box<dyn Controller> = spec.build(config);
                if let Some(clock) = receiver.clock {
                    controller = Box::new(Deceived {
                        inner: controller,
                        lie: |_, rate| rate,
                        clock,
                    });
                }
                if let Some(will) = receiver.will {
                    controller = Box::new(Withheld::new(controller, will));
                }
                controller
            }),
            estimator: None,
        },
        transport: TransportConfig::Quic {
            ack_every: receiver.ack_every,
            max_ack_delay: MAX_ACK_DELAY,
            timestamps: receiver.clock.is_some(),
        },
        pacing: Pacing::Rate,
        source: SourceConfig::Bulk,
        start,
        stop: None,
        access: AccessConfig::default(),
    }
}

fn link(name: &str, seed: u64) -> Link {
    if name == "constant" {
        return Link::constant(Rate::from_mbps(20)).unwrap();
    }
    let named = generate::named().iter().find(|n| n.name == name).unwrap();
    Link::Rates(named.model().generate(DURATION, seed).unwrap())
}

fn beside(rival: &str, receiver: Receiver, on: &str, seeds: u64) -> Shares {
    let mut shares = Shares::default();
    for seed in 0..seeds {
        // Half of the time the liar comes first.
        let late = Time::ZERO + MS * (137 * (1 + seed / 2));
        let starts = if seed.is_multiple_of(2) {
            [Time::ZERO, late]
        } else {
            [late, Time::ZERO]
        };
        let flows = vec![
            flow("ebb", receiver, starts[0]),
            flow(rival, HONEST, starts[1]),
        ];
        run(link(on, seed), flows, seed, &mut shares);
    }
    shares
}

/// It says that no packet ever queued.
fn never_queued(sent_at: Time, _: Time) -> Time {
    sent_at + ONE_WAY
}

fn faster(at: Time, by: f64) -> Time {
    Time::ZERO + at.since(Time::ZERO).mul_f64(by)
}

/// Half of the packets arrive at the end of all time.
fn jumping(_: Time, at: Time) -> Time {
    if (at.as_nanos() / 1_000_000).is_multiple_of(2) {
        Time::MAX
    } else {
        at
    }
}

/// Anywhere within a second.
fn random(_: Time, at: Time) -> Time {
    let hash = at.as_nanos().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    at + Duration::from_nanos(hash % 1_000_000_000)
}

const LIARS: &[Receiver] = &[
    clock("timestamps, honest", |_, at| at),
    clock("timestamps: never queued", never_queued),
    clock("timestamps: standing still", |_, _| Time::ZERO),
    clock("timestamps: jumping", jumping),
    clock("timestamps: 5 % slow", |_, at| faster(at, 0.95)),
    clock("timestamps: 5 % fast", |_, at| faster(at, 1.05)),
    clock("timestamps: random", random),
    Receiver {
        ack_every: 40,
        ..clock("timestamps, honest, one ACK for 40", |_, at| at)
    },
    Receiver {
        ack_every: 40,
        ..clock("timestamps: never queued, one ACK for 40", never_queued)
    },
    Receiver {
        name: "one ACK a packet",
        ack_every: 1,
        ..HONEST
    },
    Receiver {
        name: "one ACK for 40",
        ack_every: 40,
        ..HONEST
    },
    will("through the hands", |_, acked| acked),
    will("25 ms late", |_, acked| acked.map(|at| at + MAX_ACK_DELAY)),
    will("every 25 ms", |_, acked| {
        acked.map(|at| bunched(at, MAX_ACK_DELAY))
    }),
    will("every 10 ms", |_, acked| acked.map(|at| bunched(at, MS * 10))),
    will("RTT padded to 65 ms", |sent, acked| {
        acked.map(|at| at.max(sent + BASE_RTT + MAX_ACK_DELAY))
    }),
    will("withheld while the queue is long", |sent, acked| {
        acked.map(|at| {
            let long = at.since(sent) > BASE_RTT + MS * 5;
            if long { at + MAX_ACK_DELAY } else { at }
        })
    }),
];

#[test]
fn table() {
    for on in ["constant", "4g-mobility"].iter().copied().filter(|on| std::env::var("ON").is_ok_and(|o| o == **on)) {
        for rival in ["ebb", "cubic"].iter().copied().filter(|on| std::env::var("RIVAL").is_ok_and(|o| o == **on)) {
            let honest = beside(rival, HONEST, on, 6);
            println!(
                "{on}, {rival}: honest {:.3}, {:.1} ms, {:?}",
                honest.of_first(),
                honest.mean_rtt() * 1e3,
                honest.bytes
            );
            for liar in LIARS {
                let got = beside(rival, *liar, on, 6);
                println!(
                    "{on}, {rival}, {}: {:.3} gain {:.3} rival {:.3}, RTT x {:.2}",
                    liar.name,
                    got.of_first(),
                    got.bytes[0] as f64 / honest.bytes[0] as f64,
                    got.bytes[1] as f64 / honest.bytes[1] as f64,
                    got.mean_rtt() / honest.mean_rtt()
                );
            }
        }
    }
}
