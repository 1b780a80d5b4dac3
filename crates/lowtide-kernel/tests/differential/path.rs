//! A random path, and the kernel's TCP in front of it: enough of both for streams of calls that could
//! be a kernel's. The window that it fills is the Rust core's.
//!
//! Rate, delay, losses, aggregation and the application change at random times, by orders of magnitude. On
//! a path with others they change by less and more seldom, but others' packets queue, too: as many as make
//! a controller wonder whether they are there.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand_core::Rng as _;
use rand_pcg::Pcg64;

use crate::native::{Call, Kernel};

const OPEN: u32 = 0;
const CWR: u32 = 2;
const RECOVERY: u32 = 3;
const LOSS: u32 = 4;
/// The most packets in flight, so that a stream is not one flight.
const MOST_IN_FLIGHT: usize = 2000;
/// 80 Gbit/s.
const MOST_BYTES_PER_SECOND: f64 = 1e10;

#[derive(Clone, Copy, Debug)]
struct Packet {
    index: u64,
    sent: u64,
    delivered: u32,
    delivered_at: u64,
    first_sent: u64,
    app_limited: bool,
    /// When its acknowledgment comes; `None`: never.
    arrives: Option<u64>,
    given_up: bool,
    /// Acknowledged, or lost for good.
    gone: bool,
}

/// The stream's random conditions.
#[derive(Clone, Copy, Debug)]
struct Conditions {
    /// Packets a second.
    rate: f64,
    /// Microseconds.
    base_rtt: u64,
    jitter: u64,
    buffer: u64,
    aggregation: u64,
    /// How long each packet waits for others' at least, microseconds.
    others: u64,
    /// Of a million packets.
    lost: u32,
    marked: u32,
    timeouts: u32,
    /// Packets that the application has at a time; `u64::MAX`: always some.
    application: u64,
}

/// The path and the sender's transport.
#[derive(Debug)]
pub(crate) struct World {
    random: Pcg64,
    kernel: Kernel,
    state: u32,
    state_until: u64,
    conditions: Conditions,
    changes_in: u32,
    /// Those since the oldest that is not gone, in the order of their indices.
    packets: VecDeque<Packet>,
    /// When acknowledgments come, and for which packets.
    arrivals: BinaryHeap<Reverse<(u64, u64)>>,
    flight: usize,
    next_index: u64,
    link_free: u64,
    may_send: u64,
    delivered_at: u64,
    first_sent: u64,
    app_limited_until: Option<u32>,
    application_left: u64,
    min_rtt: u64,
    /// There has been a rate sample.
    sampled: bool,
    mss_changes: bool,
    with_others: bool,
    calls: VecDeque<(Call, Kernel)>,
}

impl World {
    pub(crate) fn new(mut random: Pcg64, mss_changes: bool, with_others: bool) -> Self {
        let now = 1_000_000 + u64::from(random.next_u32());
        let delivered = if random.next_u32().is_multiple_of(4) {
            u32::MAX - random.next_u32() % 20_000
        } else {
            0
        };
        let mss = [536, 1200, 1448, 8948, 65_483][random.next_u32() as usize % 5];
        let kernel = Kernel {
            tcp_mstamp: now,
            mss_cache: mss,
            snd_cwnd: 10,
            delivered,
            lost: random.next_u32(),
            ..Kernel::default()
        };
        let mut world = Self {
            random,
            kernel,
            state: OPEN,
            state_until: 0,
            conditions: Conditions {
                rate: 1000.0,
                base_rtt: 20_000,
                jitter: 0,
                buffer: 100_000,
                aggregation: 0,
                others: 0,
                lost: 0,
                marked: 0,
                timeouts: 0,
                application: u64::MAX,
            },
            changes_in: 0,
            packets: VecDeque::new(),
            arrivals: BinaryHeap::new(),
            flight: 0,
            next_index: 0,
            link_free: 0,
            may_send: now,
            delivered_at: now,
            first_sent: now,
            app_limited_until: None,
            application_left: u64::MAX,
            min_rtt: u64::MAX,
            sampled: false,
            mss_changes,
            with_others,
            calls: VecDeque::new(),
        };
        world.calls.push_back((Call::Init, world.kernel));
        world
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random.next_u64() % n.max(1)
    }

    fn chance(&mut self, of_a_million: u32) -> bool {
        self.below(1_000_000) < u64::from(of_a_million)
    }

    /// Evenly distributed logarithm.
    fn between(&mut self, least: f64, most: f64) -> f64 {
        let at = self.below(1 << 30) as f64 / f64::from(1 << 30);
        least * (most / least).powf(at)
    }

    /// A path whose other flows come and go, with a queue near to what tells them from noise and jitter.
    fn change_others(&mut self) {
        if self.next_index == 0 {
            self.conditions.rate = self.between(30.0, 5000.0);
            self.conditions.base_rtt = self.between(3000.0, 300_000.0) as u64;
            self.conditions.buffer = self.conditions.base_rtt * [1, 1000][self.below(2) as usize];
            self.conditions.jitter =
                [0, 0, 1][self.below(3) as usize] * self.conditions.base_rtt / 5;
            // None, one in a minute, many.
            let one = (1e6 / 60.0 / self.conditions.rate) as u32;
            self.conditions.lost = [0, one, 1000, 10_000][self.below(4) as usize];
            self.conditions.timeouts = [0, 0, 0, 100][self.below(4) as usize];
        }
        let seconds =
            self.conditions.base_rtt.max(100_000) as f64 * 1e-6 * self.between(5.0, 150.0);
        self.changes_in = 20 + (self.conditions.rate * seconds).min(5000.0) as u32;
        let base = self.conditions.base_rtt + (1e6 / self.conditions.rate) as u64;
        let queue = match self.below(10) {
            0 | 1 => 0,
            2 | 3 => base * 3 / 20 + 5000,
            4 | 5 => base / 4,
            6 => base / 20,
            7 | 8 => self.conditions.others,
            _ => base,
        };
        self.conditions.others = (queue as f64 * self.between(0.9, 1.2)) as u64;
    }

    fn change_conditions(&mut self) {
        if self.with_others {
            self.change_others();
            return;
        }
        self.changes_in = 20 + self.below(1500) as u32;
        let which = self.below(8);
        let first = self.next_index == 0;
        if first {
            self.conditions.rate = self.between(20.0, 1e5);
            self.conditions.base_rtt = self.between(20.0, 800_000.0) as u64;
        }
        let base = self.conditions.base_rtt;
        if first || which == 0 {
            self.conditions.buffer = (base as f64 * self.between(0.05, 20.0)) as u64;
        }
        if first || which == 1 {
            self.conditions.lost =
                [0, 0, 0, 100, 3000, 20_000, 100_000, 300_000][self.below(8) as usize];
        }
        if first || which == 2 {
            self.conditions.jitter = [0, 0, 1, 2][self.below(4) as usize] * self.below(base);
        }
        if first || which == 3 {
            self.conditions.aggregation =
                [0, 0, 1, 5][self.below(4) as usize] * self.below(base / 2);
        }
        if first || which == 4 {
            self.conditions.application = if self.below(3) == 0 {
                1 + self.below(100)
            } else {
                u64::MAX
            };
            self.application_left = self.conditions.application;
        }
        if first || which == 5 {
            self.conditions.marked = [0, 0, 200, 5000][self.below(4) as usize];
            self.conditions.timeouts = [0, 0, 100, 3000][self.below(4) as usize];
        }
        if which == 6 {
            let rtt = base as f64 * self.between(0.03, 30.0);
            self.conditions.base_rtt = rtt.clamp(20.0, 800_000.0) as u64;
        }
        if which >= 6 || self.below(2) == 0 {
            let rate = self.conditions.rate * self.between(0.1, 10.0);
            self.conditions.rate = rate.clamp(
                20.0,
                MOST_BYTES_PER_SECOND / f64::from(self.kernel.mss_cache),
            );
        }
    }

    /// The kernel's counters for this flight: retransmissions and SACKed packets, too, now and then.
    fn count_flight(&mut self) {
        let flight = self.flight as u32;
        let (sacked, lost) = (self.below(4) as u32, self.below(4) as u32);
        let retransmitted = (self.below(3) as u32).min(flight);
        self.kernel.packets_out = flight - retransmitted + sacked + lost;
        self.kernel.sacked_out = sacked;
        self.kernel.lost_out = lost;
        self.kernel.retrans_out = retransmitted;
    }

    fn call(&mut self, call: Call) {
        self.count_flight();
        self.calls.push_back((call, self.kernel));
    }

    fn enter(&mut self, state: u32) {
        self.state = state;
        self.state_until = self.next_index;
        self.call(Call::State(state));
    }

    fn send(&mut self, now: u64) {
        if self.flight == 0 {
            self.kernel.tcp_mstamp = now;
            self.first_sent = now;
            self.delivered_at = now;
            self.kernel.app_limited = self.app_limited_until.map_or(0, |until| until.max(1));
            self.call(Call::Restart);
        }
        let c = self.conditions;
        let service = (1e6 / c.rate) as u64;
        let jitter = self.below(c.jitter + 1);
        let reaches = now + c.base_rtt / 2;
        let begins = reaches + c.others;
        let dropped = self.chance(c.lost) || self.link_free.saturating_sub(begins) > c.buffer;
        let arrives = (!dropped).then(|| {
            self.link_free = self.link_free.max(begins) + service;
            let delivered = self.link_free + c.base_rtt / 2 + jitter;
            match delivered.checked_div(c.aggregation) {
                Some(slot) => (slot + 1) * c.aggregation,
                None => delivered,
            }
        });
        self.packets.push_back(Packet {
            index: self.next_index,
            sent: now,
            delivered: self.kernel.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited_until.is_some(),
            arrives,
            given_up: false,
            gone: false,
        });
        if let Some(at) = arrives {
            self.arrivals.push(Reverse((at, self.next_index)));
        }
        self.flight += 1;
        self.next_index += 1;
        if self.application_left != u64::MAX {
            self.application_left -= 1;
        }
    }

    /// Sends, waits, and goes on until there is something to tell. `window` in bytes, `rate` in bytes a
    /// second.
    pub(crate) fn next(&mut self, window: u64, rate: u64) -> (Call, Kernel) {
        loop {
            if let Some(call) = self.calls.pop_front() {
                return call;
            }
            if self.changes_in == 0 {
                self.change_conditions();
            }
            self.changes_in -= 1;
            self.step(window, rate);
        }
    }

    fn step(&mut self, window: u64, rate: u64) {
        let mss = u64::from(self.kernel.mss_cache);
        let most = ((window / mss).max(1) as usize).min(MOST_IN_FLIGHT);
        let arrival = self.next_arrival().unwrap_or(u64::MAX);
        // What leaves before the next acknowledgment.
        while self.flight < most && self.may_send <= arrival {
            if self.application_left == 0 {
                if self.flight > 0 {
                    let until = self.kernel.delivered.wrapping_add(self.flight as u32);
                    self.app_limited_until = Some(until.max(1));
                    break;
                }
                // Silence, until the application has more.
                let pause = self.between(1.0, 3e6) as u64;
                self.may_send = self.may_send.max(self.kernel.tcp_mstamp) + pause;
                self.application_left = self.conditions.application;
                self.app_limited_until = Some(self.kernel.delivered.max(1));
            }
            let now = self.may_send.max(self.kernel.tcp_mstamp);
            self.send(now);
            // Timers are never exact; else packets would leave at the very moments that controllers expect.
            let jitter = 900 + self.below(200);
            self.may_send = now + mss * 1000 * jitter / rate.max(1);
        }
        match self.next_arrival() {
            Some(now) => self.acknowledge(now.max(self.kernel.tcp_mstamp)),
            None if self.flight > 0 => self.time_out(),
            // Only what was given up is left.
            None => self.packets.clear(),
        }
    }

    fn next_arrival(&self) -> Option<u64> {
        self.arrivals.peek().map(|Reverse((at, _))| *at)
    }

    fn forget_those_gone(&mut self) {
        while self.packets.front().is_some_and(|packet| packet.gone) {
            self.packets.pop_front();
        }
    }

    fn time_out(&mut self) {
        let last = self.packets.back().map_or(0, |packet| packet.sent);
        self.kernel.tcp_mstamp = self.kernel.tcp_mstamp.max(last) + 200_000 + self.below(1_000_000);
        self.give_up_flight();
        self.packets.clear();
        self.arrivals.clear();
        if self.state == LOSS {
            // Another one: the kernel is in the state already.
            return;
        }
        self.enter(LOSS);
    }

    fn give_up_flight(&mut self) {
        for packet in &mut self.packets {
            if !packet.given_up && !packet.gone {
                packet.given_up = true;
                self.kernel.lost = self.kernel.lost.wrapping_add(1);
            }
        }
        self.flight = 0;
    }

    fn acknowledge(&mut self, now: u64) {
        self.count_flight();
        let prior = self.flight as u32;
        self.kernel.tcp_mstamp = now;
        if self.state != LOSS && self.chance(self.conditions.timeouts) {
            self.give_up_flight();
            self.enter(LOSS);
        }
        let mut acked: Vec<Packet> = Vec::new();
        while let Some(Reverse((at, index))) = self.arrivals.peek().copied()
            && at <= now
        {
            self.arrivals.pop();
            let first = self.packets.front().map_or(index, |packet| packet.index);
            let packet = &mut self.packets[(index - first) as usize];
            packet.gone = true;
            if !packet.given_up {
                self.flight -= 1;
            }
            acked.push(*packet);
        }
        let Some(newest) = acked.iter().max_by_key(|packet| packet.index).copied() else {
            return;
        };
        self.kernel.delivered = self.kernel.delivered.wrapping_add(acked.len() as u32);
        // What was sent three packets before, and has not come, is lost.
        let mut lost = 0;
        for packet in &mut self.packets {
            if packet.index + 3 >= newest.index {
                break;
            }
            let is_late = packet.arrives.is_none_or(|at| at > now + 3000);
            if is_late && !packet.given_up && !packet.gone {
                packet.given_up = true;
                packet.gone = packet.arrives.is_none();
                self.flight -= 1;
                lost += 1;
            }
        }
        self.forget_those_gone();
        self.kernel.lost = self.kernel.lost.wrapping_add(lost);
        self.follow_states(newest.index, lost);

        let rtt = now - newest.sent;
        self.min_rtt = self.min_rtt.min(rtt);
        let k = &mut self.kernel;
        k.first_tx_mstamp = newest.sent;
        self.first_sent = newest.sent;
        let interval = (newest.sent - newest.first_sent).max(now - newest.delivered_at);
        self.delivered_at = now;
        k.prior_delivered = newest.delivered;
        k.rs_delivered = k.delivered.wrapping_sub(newest.delivered) as i32;
        k.interval_us = if interval < self.min_rtt {
            -1
        } else {
            interval as i64
        };
        k.rtt_us = rtt as i64;
        k.acked_sacked = acked.len() as u32;
        k.prior_in_flight = prior;
        k.is_app_limited = newest.app_limited;
        // Some of the losses were found by a timer before.
        let by_timer = if self.chance(100_000) { lost } else { 0 };
        self.kernel.losses = (lost - by_timer) as i32;
        if self.chance(5_000) {
            self.kernel.rtt_us = -1;
        }
        // But the first sample: only it tells the core what was delivered before.
        if self.chance(5_000) && self.sampled {
            self.kernel.rs_delivered = 0;
            self.kernel.interval_us = -1;
        }
        self.sampled |= self.kernel.interval_us > 0;
        if self.mss_changes && self.chance(100) {
            self.kernel.mss_cache = 500 + self.below(9000) as u32;
        }
        if self
            .app_limited_until
            .is_some_and(|until| self.kernel.delivered.wrapping_sub(until) as i32 > 0)
        {
            self.app_limited_until = None;
        }
        self.call(Call::Ack);
        if self.chance(10_000) {
            // One that acknowledges nothing.
            self.kernel.acked_sacked = 0;
            self.kernel.rs_delivered = 0;
            self.kernel.losses = 0;
            self.kernel.rtt_us = -1;
            self.call(Call::Ack);
        }
    }

    /// The kernel's recovery, after an acknowledgment of this packet and so many losses.
    fn follow_states(&mut self, newest: u64, lost: u32) {
        if self.state == LOSS && self.chance(200_000) {
            // The timeout was spurious: what was given up is in flight again.
            for packet in &mut self.packets {
                if packet.given_up && !packet.gone {
                    packet.given_up = false;
                    self.flight += 1;
                }
            }
            self.call(Call::Undo);
            self.enter(OPEN);
        } else if self.state != OPEN && newest >= self.state_until {
            self.enter(OPEN);
        }
        if lost > 0 && self.state < RECOVERY {
            self.enter(RECOVERY);
        } else if self.state == OPEN && self.chance(self.conditions.marked) {
            self.enter(CWR);
        }
    }
}
