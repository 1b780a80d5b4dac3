//! Event sequences that no host should produce, made from bytes. Shared by the property test and
//! the fuzz target.

use lowtide_cc::controller::{
    AckEvent, AckedPacket, Controller, Feedback, FilterSnapshot, LossEvent, LostPacket, PacketSent,
    PeerSignal, TimeoutEvent, TimeoutKind,
};
use lowtide_cc::controllers::rbbr::Receiver;
use lowtide_cc::delivery_rate::RateSample;
use lowtide_cc::registry::Domain;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, Transport, registry};

/// Numbers out of bytes; zeros when they run out.
struct Input<'a> {
    data: &'a [u8],
    /// What a host could say at this time; `None`: anything.
    now: Option<Time>,
}

impl<'a> Input<'a> {
    fn new(data: &'a [u8]) -> Self {
        Self { data, now: None }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.data.split_first() else {
            return 0;
        };
        self.data = rest;
        *first
    }

    fn flag(&mut self) -> bool {
        self.byte().is_multiple_of(2)
    }

    /// Small numbers, large ones and the extremes.
    fn number(&mut self) -> u64 {
        let shift = self.byte();
        let value = (u64::from(self.byte()) << 8) | u64::from(self.byte());
        match shift {
            _ if self.now.is_some() => value % 4096,
            255 => u64::MAX,
            254 => u64::MAX - value,
            n => value << (n % 48),
        }
    }

    fn bytes(&mut self) -> Bytes {
        Bytes::new(self.number())
    }

    /// Few enough for a host to go on from.
    fn packet_number(&mut self) -> u64 {
        let number = self.number();
        self.now.map_or(number, |_| number % 32)
    }

    fn duration(&mut self) -> Duration {
        match self.now {
            None => Duration::from_nanos(self.number()),
            Some(_) => Duration::from_millis(40) + Duration::from_micros(50) * self.number(),
        }
    }

    fn time(&mut self) -> Time {
        let number = self.number();
        self.now.map_or(Time::from_nanos(number), |now| {
            now - Duration::from_micros(100) * number
        })
    }

    fn sample(&mut self) -> Option<RateSample> {
        if self.byte().is_multiple_of(4) {
            return None;
        }
        Some(RateSample {
            delivery_rate: Rate::from_bytes_per_sec(self.number()),
            delivered: self.bytes(),
            interval: self.duration(),
            prior_delivered: self.bytes(),
            total_delivered: self.bytes(),
            lost: self.bytes(),
            total_lost: self.bytes(),
            sent_inflight: self.bytes(),
            sent_at: self.time(),
            app_limited: self.flag(),
        })
    }
}

/// Every controller, and once with each other choice that its parameters leave.
fn specs() -> Vec<String> {
    let mut specs = Vec::new();
    for entry in registry::all() {
        specs.push(entry.name.to_string());
        for parameter in entry.parameters {
            let choices: &[&str] = match parameter.domain {
                Domain::Flag => &["true", "false"],
                Domain::Choice(words) => words,
                _ => &[],
            };
            let default = parameter.default.to_string();
            let others = choices.iter().filter(|c| **c != default);
            specs.extend(others.map(|c| format!("{}:{}={c}", entry.name, parameter.name)));
        }
    }
    specs
}

/// Plays the bytes as events to every controller, and to the estimator at its receiver, and checks
/// what each must keep.
pub(crate) fn play(data: &[u8]) {
    for name in specs() {
        let spec = registry::parse(&name).expect("all are in the registry");
        let mut input = Input::new(data);
        let config = Config {
            max_datagram: Bytes::new(u64::from(input.byte()) * 40),
            initial_window: input.bytes(),
            now: input.time(),
            seed: 1,
            transport: Transport::default(),
        };
        let mut cc = spec.build(&config);
        check(&*cc, &name);
        while !input.data.is_empty() {
            let now = input.time();
            event(&mut *cc, now, &mut input);
            check(&*cc, &name);
        }
        if let Some(config) = spec.receiver() {
            play_receiver(&mut Receiver::new(&config), Input::new(data), &name);
        }
    }
}

/// What events say of packet numbers, times and amounts.
#[allow(dead_code, reason = "the fuzz target judges no recovery")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claims {
    /// Whatever fits into the types.
    Any,
    /// Nothing that is later than now, or further on than the connection.
    Possible,
}

/// Plays the bytes to one controller, by a clock that does not go back; returns where it stands then.
#[allow(dead_code, reason = "the fuzz target judges no recovery")]
pub(crate) fn play_in_order(data: &[u8], claims: Claims, cc: &mut dyn Controller) -> Time {
    let mut input = Input::new(data);
    let mut now = Time::ZERO;
    while !input.data.is_empty() {
        now += Duration::from_millis(u64::from(input.byte()));
        input.now = (claims == Claims::Possible).then_some(now);
        event(cc, now, &mut input);
    }
    now
}

fn play_receiver(receiver: &mut Receiver, mut input: Input<'_>, name: &str) {
    while !input.data.is_empty() {
        let now = input.time();
        match input.byte() % 4 {
            0 => receiver.on_signal(PeerSignal::Suspend),
            1 => receiver.on_signal(PeerSignal::Regular),
            2 => {
                let feedback = receiver.feedback_for_ack(now);
                assert_ne!(feedback, Some(Rate::ZERO), "{name}");
            }
            _ => receiver.on_packet(now, input.bytes()),
        }
        if let Some(filter) = receiver.filter() {
            check_filter(&filter, name);
        }
    }
}

fn event(cc: &mut dyn Controller, now: Time, input: &mut Input<'_>) {
    match input.byte() % 10 {
        0 => cc.on_packet_sent(&PacketSent {
            now,
            number: input.packet_number(),
            bytes: input.bytes(),
            inflight: input.bytes(),
            app_limited: input.flag(),
        }),
        1 => {
            let packets = [LostPacket {
                number: input.packet_number(),
                bytes: input.bytes(),
                sent_at: input.time(),
                sent_inflight: input.bytes(),
                lost: input.bytes(),
                app_limited: input.flag(),
            }];
            let (bytes_lost, inflight) = (input.bytes(), input.bytes());
            cc.on_loss(&LossEvent {
                now,
                packets: &packets,
                bytes_lost,
                inflight,
            });
        }
        2 => {
            let kind = if input.flag() {
                TimeoutKind::Rto
            } else {
                TimeoutKind::PersistentCongestion
            };
            cc.on_timeout(&TimeoutEvent {
                now,
                kind,
                inflight: input.bytes(),
            });
        }
        3 => cc.on_mtu_change(Bytes::new(u64::from(input.byte()) * 16)),
        4 => {
            let rate = Rate::from_bytes_per_sec(input.number());
            cc.on_feedback(&Feedback {
                now,
                carrier: input.number(),
                rate,
            });
        }
        5 => cc.on_ecn_ce(now, input.time(), input.number()),
        6 => cc.on_spurious_timeout(now),
        7 => cc.on_wakeup(now),
        _ => {
            let packets = [AckedPacket {
                number: input.packet_number(),
                bytes: input.bytes(),
                sent_at: input.time(),
                received_at: input.flag().then(|| input.time()),
            }];
            cc.on_ack(&AckEvent {
                now,
                packets: &packets,
                bytes_acked: input.bytes(),
                bytes_lost: if input.flag() {
                    Bytes::ZERO
                } else {
                    input.bytes()
                },
                rtt: if input.flag() {
                    None
                } else {
                    Some(input.duration())
                },
                prior_inflight: input.bytes(),
                inflight: input.bytes(),
                rate_sample: input.sample(),
            });
        }
    }
}

fn check(cc: &dyn Controller, name: &str) {
    assert!(!cc.cwnd().is_zero(), "{name}: no window");
    assert!(
        cc.pacing_rate().is_none_or(|r| !r.is_zero()),
        "{name}: no pacing rate"
    );
    assert!(!cc.send_quantum().is_zero(), "{name}: no quantum");
    let s = cc.snapshot();
    let is_listed = cc.phases().iter().any(|state| state.name == s.phase);
    assert!(is_listed, "{name}: {} is not in its phases", s.phase);
    for gain in [s.pacing_gain, s.cwnd_gain].into_iter().flatten() {
        assert!(gain.is_finite() && gain > 0.0, "{name}: gain {gain}");
    }
    if let Some(filter) = s.filter {
        check_filter(&filter, name);
        let mut modes = cc.filter_modes().iter();
        assert!(modes.any(|state| state.name == filter.mode), "{name}");
    }
}

fn check_filter(f: &FilterSnapshot, name: &str) {
    for value in [f.gain, f.process_noise, f.measurement_noise, f.innovation] {
        assert!(value.is_finite(), "{name}: filter {f:?}");
    }
}
