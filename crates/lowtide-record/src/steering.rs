//! How much is under way: so much that the link's queue is neither empty nor long.

use std::collections::VecDeque;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::network::TokenBucket;

use crate::plan::QueueBand;

/// What the sender knows of what arrived. Times are its own but where they are said to be the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// One more than the highest number that came.
    pub(crate) newest: u32,
    /// How many came.
    pub(crate) received: u32,
    /// The newest packet's delay as the clocks have it, µs.
    pub(crate) delay: i64,
    /// From its sending to this feedback.
    pub(crate) rtt: Duration,
    /// When it arrived, µs of the receiver's clock.
    pub(crate) arrived: u32,
}

/// Growth of the window in a round trip, at most.
const MOST: f64 = 2.0;
/// Growth of the window in a round trip, at least, once it has met the link's rate: a fast rise is
/// to be found soon.
const LEAST: f64 = 1.1;
/// Share to which the window shrinks in a round trip at least: a pause of the link is no reason to
/// let it idle afterwards.
const SHRINK: f64 = 0.8;
/// Packets under way at the start.
const INITIAL: f64 = 10.0;
/// Where more than this share is lost in a round trip, the queue is full before it is as long as it should be: the window
/// becomes what came in it, and so much more,
const LOSSY: f64 = 0.1;
const OVER: f64 = 1.1;
/// and grows for a while by no more than that in a round trip.
const CAREFUL: Duration = Duration::from_secs(1);
/// When nothing comes back for so long, a packet each of the second asks whether the link works again.
const STALLED: Duration = Duration::from_secs(1);
const ASK_EVERY: Duration = Duration::from_millis(50);
/// Over what time the rate of arrivals is taken, at least.
const RATE_TIME: u32 = 50_000;

/// Steers the packets under way.
///
/// A window, as Saturator has one, so that a link that stops is not filled further. It is held while the newest delay is
/// within the band; below it grows towards what the link's rate needs for a queue in the band's middle, above it
/// shrinks. In slow start, until the queue is seen, it doubles each round trip.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    band: QueueBand,
    packet: Bytes,
    max_rate: Rate,
    /// In packets.
    window: f64,
    has_met_the_rate: bool,
    next: u32,
    newest: u32,
    received: u32,
    /// The lowest delay, µs, as the clocks have it.
    base: Option<i64>,
    base_rtt: Duration,
    rtt: Duration,
    queue: Duration,
    fixed: Option<Duration>,
    /// Arrivals until a time of the receiver.
    arrivals: VecDeque<(u32, u32)>,
    /// Losses are counted from here: numbers and arrivals.
    loss_from: (u32, u32, Time),
    last_lossy: Option<Time>,
    is_used: bool,
    last_feedback: Option<Time>,
    last_ask: Time,
    bucket: TokenBucket,
}

impl Steering {
    /// Steering with packets of this size.
    pub(crate) fn new(now: Time, band: QueueBand, packet: Bytes, max_rate: Rate) -> Self {
        Self {
            band,
            packet,
            max_rate,
            window: INITIAL,
            has_met_the_rate: false,
            next: 0,
            newest: 0,
            received: 0,
            base: None,
            base_rtt: Duration::MAX,
            rtt: Duration::from_millis(100),
            queue: Duration::ZERO,
            fixed: None,
            arrivals: VecDeque::new(),
            loss_from: (0, 0, now),
            last_lossy: None,
            is_used: false,
            last_feedback: None,
            last_ask: now,
            bucket: TokenBucket::new(max_rate, packet * 10),
        }
    }

    /// The delay of a packet that met no queue, µs as the clocks have it, and its round trip.
    pub(crate) fn on_probe(&mut self, delay: i64, rtt: Duration) {
        self.base = Some(self.base.map_or(delay, |base| base.min(delay)));
        self.base_rtt = self.base_rtt.min(rtt);
        self.rtt = self.base_rtt;
    }

    /// Packets are numbered from 0; how many were sent.
    pub(crate) fn sent(&self) -> u32 {
        self.next
    }

    /// When the next packet may leave, if no feedback comes before; `None` is for never.
    pub(crate) fn next_send(&self, now: Time) -> Option<Time> {
        let under_way = self.next - self.newest;
        if f64::from(under_way) < self.window {
            return Some(self.bucket.ready(self.packet).max(now));
        }
        let heard = self.last_feedback.unwrap_or(self.last_ask);
        Some((heard + STALLED).max(self.last_ask + ASK_EVERY).max(now))
    }

    /// Takes a packet's number, if one may be sent now.
    pub(crate) fn send(&mut self, now: Time) -> Option<u32> {
        let under_way = self.next - self.newest;
        if f64::from(under_way) >= self.window {
            let heard = self.last_feedback.unwrap_or(self.last_ask);
            if now.since(heard) < STALLED || now.since(self.last_ask) < ASK_EVERY {
                return None;
            }
            self.last_ask = now;
        } else if !self.bucket.takes(now, self.packet) {
            return None;
        }
        let number = self.next;
        self.next += 1;
        Some(number)
    }

    /// The rate of arrivals over the last round trip, packets/s.
    fn rate(&self) -> Option<f64> {
        let (first, last) = (self.arrivals.front()?, self.arrivals.back()?);
        let time = last.0.wrapping_sub(first.0);
        (time > 0).then(|| f64::from(last.1.saturating_sub(first.1)) / f64::from(time) * 1e6)
    }

    /// Learns what has arrived.
    pub(crate) fn on_feedback(&mut self, now: Time, feedback: &Feedback) {
        let is_news = feedback.newest > self.newest || feedback.received > self.received;
        if feedback.newest > self.next || feedback.newest < self.newest || !is_news {
            return;
        }
        self.is_used = f64::from(self.next - self.newest) >= self.window / 2.0;
        self.newest = feedback.newest;
        self.received = feedback.received.min(feedback.newest);
        let base = self
            .base
            .map_or(feedback.delay, |base| base.min(feedback.delay));
        self.base = Some(base);
        self.queue = Duration::from_micros((feedback.delay - base).clamp(0, 1 << 40) as u64);
        self.rtt = feedback.rtt.max(Duration::from_millis(1));
        self.base_rtt = self.base_rtt.min(self.rtt);
        self.arrivals.push_back((feedback.arrived, self.received));
        let kept = RATE_TIME.max(self.rtt.as_micros().min(1_000_000) as u32);
        while self.arrivals.len() > 2
            && feedback.arrived.wrapping_sub(self.arrivals[1].0) as i32 > kept as i32
        {
            self.arrivals.pop_front();
        }
        self.count_losses(now);
        self.steer(now);
        self.last_feedback = Some(now);
        // Twice what the window needs, so that feedback that comes in bunches does not make bursts of it.
        let pace = Rate::from_bytes_per_sec(
            (2.0 * self.window * self.packet.as_f64() / self.rtt.as_secs_f64()) as u64,
        );
        let pace = pace.min(self.max_rate);
        let depth = (self.packet * 10).max(pace.volume_in(Duration::from_millis(2)));
        self.bucket.set(now, pace, depth);
    }

    fn count_losses(&mut self, now: Time) {
        let (number, received, since) = self.loss_from;
        let sent = self.newest - number;
        if sent >= 20 && now.since(since) >= self.rtt {
            let came = self.received.saturating_sub(received);
            let loss = 1.0 - (f64::from(came) / f64::from(sent)).min(1.0);
            if loss > LOSSY {
                let of_a_round_trip = f64::from(came) * self.rtt.ratio(now.since(since));
                self.window = self.window.min(of_a_round_trip * OVER);
                self.has_met_the_rate = true;
                self.last_lossy = Some(now);
            }
            self.loss_from = (self.newest, self.received, now);
        }
    }

    fn steer(&mut self, now: Time) {
        let elapsed = self
            .last_feedback
            .map_or(Duration::ZERO, |last| now.since(last));
        // The share of a round trip that has passed.
        let share = elapsed.ratio(self.rtt).min(1.0);
        let middle = self.band.middle();
        // What the round trip has besides: propagation, and the queue of the other way where that is filled, too.
        let fixed = self.rtt - self.queue;
        // When that grows, so much more must be under way for the same queue of this way.
        let grown = fixed.as_secs_f64() - self.fixed.unwrap_or(fixed).as_secs_f64();
        self.fixed = Some(fixed);
        self.window += self.rate().unwrap_or(0.0) * grown;
        let is_careful = self.last_lossy.is_some_and(|at| now.since(at) < CAREFUL);
        if self.queue > self.band.high {
            self.has_met_the_rate = true;
            let wanted = (fixed + middle).ratio(fixed + self.queue);
            self.window *= f64::powf(wanted.clamp(SHRINK, 1.0), share);
        } else if self.queue < self.band.low {
            // What is not used says nothing: the rate is bounded elsewhere.
            let growth = if !self.is_used {
                1.0
            } else if is_careful {
                OVER
            } else if self.has_met_the_rate {
                let needed = self.rate().unwrap_or(0.0) * (fixed + middle).as_secs_f64();
                (needed / self.window).clamp(LEAST, MOST)
            } else {
                MOST
            };
            self.window *= f64::powf(growth, share);
        } else {
            self.has_met_the_rate = true;
        }
        let most = self.max_rate.as_f64() * (fixed + self.band.high).as_secs_f64();
        let most = (most / self.packet.as_f64()).max(INITIAL);
        self.window = self.window.clamp(INITIAL, most);
    }
}
