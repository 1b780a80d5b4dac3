//! A small host over an ideal link, to drive a controller step by step.

use std::collections::VecDeque;

use lowtide_cc::controller::{
    AckEvent, AckedPacket, Controller, LostPacket, PacketSent, TimeoutEvent, TimeoutKind,
};
use lowtide_cc::delivery_rate::{DeliveryRateSampler, PacketRateState};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Config, registry};

use super::events::{self, loss, packet};

pub(crate) use super::events::MSS;

struct InFlight {
    number: u64,
    sent_at: Time,
    arrives_at: Time,
    state: PacketRateState,
}

fn give_up(sampler: &mut DeliveryRateSampler, p: &InFlight) -> LostPacket {
    LostPacket {
        sent_inflight: p.state.inflight,
        lost: sampler.on_packet_lost(MSS, &p.state),
        app_limited: p.state.app_limited,
        ..events::lost(p.number, p.sent_at)
    }
}

/// Sends whenever window and pacing allow, and delivers acknowledgments in order.
pub(crate) struct Host {
    pub(crate) cc: Box<dyn Controller>,
    pub(crate) now: Time,
    pub(crate) rate: Rate,
    pub(crate) rtt: Duration,
    /// Newest RTT sample.
    pub(crate) last_rtt: Duration,
    /// Packets with these numbers are lost.
    pub(crate) lose: Vec<u64>,
    /// The most that waits before the link; what does not fit is lost. `None`: no limit.
    pub(crate) buffer: Option<Bytes>,
    /// What arrives faster than at this rate is lost, but for a burst of so much.
    pub(crate) policer: Option<(Rate, Bytes)>,
    /// One acknowledgment for so many packets.
    pub(crate) ack_every: usize,
    /// Acknowledgments tell when packets arrived.
    pub(crate) timestamps: bool,
    /// The path marks all packets (ECN-CE).
    pub(crate) marks: bool,
    /// Packets declared lost so far.
    pub(crate) losses: u64,
    /// The most packets that the application has to send; `None`: no limit.
    pub(crate) data: Option<u64>,
    flight: VecDeque<InFlight>,
    given_up: Vec<InFlight>,
    lost_since_ack: Bytes,
    sampler: DeliveryRateSampler,
    next_number: u64,
    link_free_at: Time,
    /// When the policer's bucket is full again.
    policer_full_at: Time,
    paced_until: Time,
}

impl Host {
    /// With the controller that this specification names.
    pub(crate) fn of(spec: &str, rate: Rate, rtt: Duration) -> Self {
        Self::seeded(0, spec, rate, rtt)
    }

    /// As [`of`](Self::of), with this seed of its randomness.
    pub(crate) fn seeded(seed: u64, spec: &str, rate: Rate, rtt: Duration) -> Self {
        let config = Config {
            seed,
            ..Config::for_datagram(MSS)
        };
        Self::new(registry::build(spec, &config).unwrap(), rate, rtt)
    }

    pub(crate) fn new(cc: Box<dyn Controller>, rate: Rate, rtt: Duration) -> Self {
        Self {
            cc,
            now: Time::ZERO,
            rate,
            rtt,
            last_rtt: rtt,
            lose: Vec::new(),
            buffer: None,
            policer: None,
            ack_every: 1,
            timestamps: false,
            marks: false,
            losses: 0,
            data: None,
            flight: VecDeque::new(),
            given_up: Vec::new(),
            lost_since_ack: Bytes::ZERO,
            sampler: DeliveryRateSampler::new(),
            next_number: 0,
            link_free_at: Time::ZERO,
            policer_full_at: Time::ZERO,
            paced_until: Time::ZERO,
        }
    }

    pub(crate) fn inflight(&self) -> Bytes {
        MSS * self.flight.len() as u64
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.next_number
    }

    pub(crate) fn phase(&self) -> &'static str {
        self.cc.snapshot().phase
    }

    /// Sends one packet at once.
    fn send(&mut self) {
        let state = self.sampler.on_packet_sent(self.now, MSS, self.inflight());
        let number = self.next_number;
        let queue = self.rate.volume_in(self.link_free_at.since(self.now));
        if self.is_policed() || self.buffer.is_some_and(|buffer| queue + MSS > buffer) {
            self.lose.push(number);
        } else {
            self.link_free_at = self.link_free_at.max(self.now) + self.rate.time_for(MSS);
        }
        self.next_number += 1;
        let arrives_at = self.link_free_at + self.rtt;
        self.flight.push_back(InFlight {
            number,
            sent_at: self.now,
            arrives_at,
            state,
        });
        self.cc.on_packet_sent(&PacketSent {
            app_limited: state.app_limited,
            ..events::sent(self.now, number, self.inflight())
        });
        if let Some(left) = &mut self.data {
            *left -= 1;
        }
        let rate = self.cc.pacing_rate().unwrap_or(Rate::MAX);
        self.paced_until = self.paced_until.max(self.now) + rate.time_for(MSS);
    }

    /// Whether the policer drops a packet that comes now.
    fn is_policed(&mut self) -> bool {
        let Some((rate, burst)) = self.policer else {
            return false;
        };
        let full_at = self.policer_full_at.max(self.now) + rate.time_for(MSS);
        let drops = rate.volume_in(full_at.since(self.now)) > burst;
        if !drops {
            self.policer_full_at = full_at;
        }
        drops
    }

    /// Others' packets fill the queue up to this delay.
    pub(crate) fn fill(&mut self, queue: Duration) {
        self.link_free_at = self.link_free_at.max(self.now + queue);
    }

    fn may_send(&self) -> bool {
        self.inflight() + MSS <= self.cc.cwnd() && self.data != Some(0)
    }

    /// The next thing that happens: a packet leaves or an acknowledgment arrives. False when
    /// nothing can.
    pub(crate) fn step(&mut self) -> bool {
        if self.data == Some(0) && self.inflight() < self.cc.cwnd() {
            self.sampler.on_app_limited(self.inflight());
        }
        let newest = self.flight.get(self.ack_every - 1);
        let newest = newest.or(self.flight.back());
        let arrival = newest.map(|p| p.arrives_at);
        if let Some(wakeup) = self.cc.next_wakeup()
            && wakeup < arrival.unwrap_or(Time::MAX)
            && (wakeup < self.paced_until || !self.may_send())
        {
            self.now = self.now.max(wakeup);
            self.cc.on_wakeup(self.now);
            return true;
        }
        let departure = self.may_send().then(|| self.paced_until.max(self.now));
        if let Some(at) = departure.filter(|d| arrival.is_none_or(|a| *d <= a)) {
            self.now = at;
            self.send();
        } else if let Some(at) = arrival {
            self.now = at;
            self.arrive();
        } else {
            return false;
        }
        true
    }

    /// The head of the flight is acknowledged; packets lost in it are declared so.
    fn arrive(&mut self) {
        let prior_inflight = self.inflight();
        let mut lost = Vec::new();
        let mut arrived = Vec::new();
        while arrived.len() < self.ack_every
            && let Some(p) = self.flight.pop_front()
        {
            if self.lose.contains(&p.number) {
                lost.push(give_up(&mut self.sampler, &p));
                self.given_up.push(p);
            } else {
                arrived.push(p);
            }
        }
        self.losses += lost.len() as u64;
        self.lost_since_ack += MSS * lost.len() as u64;
        let Some(newest) = arrived.last() else {
            return;
        };
        self.now = self.now.max(newest.arrives_at);
        self.last_rtt = self.now.since(newest.sent_at);
        if !lost.is_empty() {
            let inflight = self.inflight();
            self.cc.on_loss(&loss(self.now, &lost, inflight));
        }
        if self.marks {
            let marked = arrived.len() as u64;
            self.cc.on_ecn_ce(self.now, newest.sent_at, marked);
        }
        let mut packets = Vec::new();
        for p in &arrived {
            self.sampler
                .on_packet_acked(self.now, MSS, p.sent_at, &p.state);
            packets.push(AckedPacket {
                received_at: self.timestamps.then_some(p.arrives_at),
                ..packet(p.number, p.sent_at)
            });
        }
        self.cc.on_ack(&AckEvent {
            bytes_lost: std::mem::take(&mut self.lost_since_ack),
            prior_inflight,
            inflight: self.inflight(),
            rate_sample: self.sampler.sample(self.rtt),
            ..events::ack(self.now, self.last_rtt, &packets)
        });
    }

    /// One of the packets taken for lost is lost for good.
    pub(crate) fn forget_one_given_up(&mut self) {
        self.given_up.pop();
    }

    /// What was taken for lost since the last call arrives after all.
    pub(crate) fn deliver_given_up(&mut self) {
        for p in core::mem::take(&mut self.given_up) {
            self.sampler
                .on_packet_acked(self.now, MSS, p.sent_at, &p.state);
            self.cc.on_ack(&AckEvent {
                rtt: None,
                prior_inflight: self.inflight(),
                inflight: self.inflight(),
                rate_sample: self.sampler.sample(self.rtt),
                ..events::ack(self.now, self.rtt, &[packet(p.number, p.sent_at)])
            });
        }
    }

    /// The link stands still for a while: what is in flight arrives later.
    pub(crate) fn stall(&mut self, span: Duration) {
        self.link_free_at = self.link_free_at.max(self.now) + span;
        for packet in &mut self.flight {
            packet.arrives_at += span;
        }
    }

    /// The retransmission timer fires: all is lost.
    pub(crate) fn time_out(&mut self) {
        let mut packets = Vec::new();
        for p in self.flight.drain(..) {
            packets.push(give_up(&mut self.sampler, &p));
            self.given_up.push(p);
        }
        let inflight = Bytes::ZERO;
        self.lost_since_ack += MSS * packets.len() as u64;
        self.cc.on_loss(&loss(self.now, &packets, inflight));
        self.cc.on_timeout(&TimeoutEvent {
            now: self.now,
            kind: TimeoutKind::Rto,
            inflight,
        });
    }

    /// The timeout was spurious: what it gave up is in flight again and arrives now.
    pub(crate) fn undo_timeout(&mut self) {
        let mut flight: VecDeque<InFlight> = core::mem::take(&mut self.given_up).into();
        for p in &mut flight {
            p.arrives_at = p.arrives_at.max(self.now);
        }
        flight.append(&mut self.flight);
        self.flight = flight;
        self.lost_since_ack = Bytes::ZERO;
        self.cc.on_spurious_timeout(self.now);
    }

    pub(crate) fn run_for(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until && self.step() {}
    }

    /// The phases of a while: each with its pacing gain, and when it began.
    pub(crate) fn phases(&mut self, span: Duration) -> Vec<(&'static str, Option<f64>, Time)> {
        let until = self.now + span;
        let mut phases: Vec<(&'static str, _, _)> = Vec::new();
        while self.now < until {
            let s = self.cc.snapshot();
            if phases.last().is_none_or(|(phase, ..)| *phase != s.phase) {
                phases.push((s.phase, s.pacing_gain, self.now));
            }
            assert!(self.step());
        }
        phases
    }

    /// The application has nothing to send for a while.
    pub(crate) fn pause(&mut self, span: Duration) {
        let until = self.now + span;
        self.data = Some(0);
        loop {
            let arrival = self.flight.front().map(|p| p.arrives_at);
            let next = arrival.into_iter().chain(self.cc.next_wakeup()).min();
            if next.is_none_or(|next| next > until) || !self.step() {
                break;
            }
        }
        self.now = until;
    }

    /// Steps until `condition` holds; panics when it does not within a minute.
    pub(crate) fn run_until(&mut self, condition: impl Fn(&Self) -> bool) {
        let until = self.now + Duration::from_secs(60);
        while !condition(self) {
            assert!(
                self.now < until && self.step(),
                "not reached by {}",
                self.now
            );
        }
    }
}
