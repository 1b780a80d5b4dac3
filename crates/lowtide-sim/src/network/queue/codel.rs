//! CoDel (RFC 8289): drops or marks at the head while packets have waited for more than a target for
//! longer than an interval, faster and faster.
//!
//! Linux's `codel` is the same law; with ECN it marks where the RFC drops, and can mark whatever has
//! waited for longer than a threshold (`ce_threshold`).

use lowtide_cc::registry::{Parameter, UP_TO_10_S, Values};
use lowtide_cc::units::{Bytes, Duration, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use super::pi;
use crate::network::packet::{DropCause, Handle};

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CoDelConfig {
    /// The wait that is acceptable to stand (RFC 8289 §4.3: 5 ms).
    pub target: Duration,
    /// How long it may be exceeded: about the longest round trip of the flows (§4.2: 100 ms).
    pub interval: Duration,
    /// Mark packets of ECN-capable flows instead of dropping them.
    pub ecn: bool,
    /// Mark whatever has waited for longer; zero: off (Linux `ce_threshold`).
    pub ce_threshold: Duration,
}

/// Names, defaults and ranges of the parameters.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::span("target", Duration::from_millis(5), pi::TARGET)
        .about("acceptable standing wait"),
    Parameter::span(
        "interval",
        Duration::from_millis(100),
        Duration::from_micros(1)..=Duration::from_secs(100),
    )
    .about("how long it may be exceeded: about the longest round trip"),
    Parameter::flag("ecn", true)
        .about("mark packets of ECN-capable flows instead of dropping them"),
    Parameter::span("ce_threshold", Duration::ZERO, UP_TO_10_S)
        .about("mark whatever has waited for longer; 0s: off"),
];

impl CoDelConfig {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            target: values.span("target"),
            interval: values.span("interval"),
            ecn: values.flag("ecn"),
            ce_threshold: values.span("ce_threshold"),
        }
    }
}

/// A queue that CoDel takes packets from.
pub(super) trait Source {
    fn pop(&mut self) -> Option<Waiting>;
    fn bytes(&self) -> Bytes;
}

impl Source for Fifo {
    #[inline]
    fn pop(&mut self) -> Option<Waiting> {
        self.pop()
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.bytes()
    }
}

/// CoDel's state for one queue, by the names of the RFC's pseudo-code.
#[derive(Clone, Debug, Default)]
pub(super) struct Law {
    /// When the wait will have been above the target for an interval; `None`: it is not above.
    first_above_time: Option<Time>,
    drop_next: Time,
    count: u32,
    lastcount: u32,
    dropping: bool,
    /// The largest packet: with no more than that waiting, nothing is dropped.
    maxpacket: Bytes,
}

/// `drop_next` lies an interval over the root of the count after the last drop (§5.6).
fn control_law(t: Time, interval: Duration, count: u32) -> Time {
    t + interval.mul_f64(1.0 / f64::from(count.max(1)).sqrt())
}

/// A count that was reached no more than so many intervals ago is taken up again (§5.5).
const RECENT_INTERVALS: u64 = 16;

impl Law {
    /// A packet comes to the queue.
    #[inline]
    pub(super) fn on_enqueue(&mut self, bytes: Bytes) {
        self.maxpacket = self.maxpacket.max(bytes);
    }

    /// `dodequeue`: the next packet, and whether it may be dropped.
    #[inline]
    fn next(
        &mut self,
        now: Time,
        config: &CoDelConfig,
        queue: &mut impl Source,
    ) -> (Option<Waiting>, bool) {
        let Some(next) = queue.pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        let is_below = now.since(next.since) < config.target || queue.bytes() <= self.maxpacket;
        let ok_to_drop = match self.first_above_time {
            _ if is_below => {
                self.first_above_time = None;
                false
            }
            None => {
                self.first_above_time = Some(now + config.interval);
                false
            }
            Some(at) => now >= at,
        };
        (Some(next), ok_to_drop)
    }

    /// `dequeue` (§5.5).
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        config: &CoDelConfig,
        queue: &mut impl Source,
        mut drops: impl FnMut(Handle, DropCause),
    ) -> Option<Waiting> {
        let (mut next, mut ok_to_drop) = self.next(now, config, queue);
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while self.dropping
                && now >= self.drop_next
                && let Some(waiting) = &mut next
            {
                self.count = self.count.saturating_add(1);
                if mark(waiting, config) {
                    self.drop_next = control_law(self.drop_next, config.interval, self.count);
                    break;
                }
                drops(waiting.packet, DropCause::Managed);
                (next, ok_to_drop) = self.next(now, config, queue);
                if ok_to_drop {
                    self.drop_next = control_law(self.drop_next, config.interval, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop && let Some(waiting) = &mut next {
            if !mark(waiting, config) {
                drops(waiting.packet, DropCause::Managed);
                (next, _) = self.next(now, config, queue);
            }
            self.dropping = true;
            let delta = self.count.saturating_sub(self.lastcount);
            let is_recent = now.since(self.drop_next) < config.interval * RECENT_INTERVALS;
            self.count = if delta > 1 && is_recent { delta } else { 1 };
            self.drop_next = control_law(now, config.interval, self.count);
            self.lastcount = self.count;
        }
        let mut next = next?;
        let is_over = now.since(next.since) > config.ce_threshold;
        if !config.ce_threshold.is_zero() && is_over {
            next.packet.mark();
        }
        Some(next)
    }
}

/// Marks a packet where that may be done instead of dropping it.
fn mark(waiting: &mut Waiting, config: &CoDelConfig) -> bool {
    config.ecn && waiting.packet.mark()
}

/// One queue under CoDel.
#[derive(Debug)]
pub(crate) struct CoDel {
    config: CoDelConfig,
    law: Law,
    fifo: Fifo,
}

impl CoDel {
    pub(super) fn new(config: CoDelConfig, capacity: Capacity) -> Self {
        Self {
            config,
            law: Law::default(),
            fifo: Fifo::new(capacity),
        }
    }
}

impl Discipline for CoDel {
    fn decides_late(&self) -> bool {
        true
    }

    #[inline]
    fn bypass(&mut self, _now: Time, packet: Handle) -> Result<Handle, DropCause> {
        self.law.on_enqueue(packet.bytes);
        Ok(packet)
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, drops: impl FnMut(Handle, DropCause)) {
        self.law.on_enqueue(packet.bytes);
        self.fifo.push_or_drop(now, packet, drops);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        self.law.dequeue(now, &self.config, &mut self.fifo, drops)
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::Ecn;

    use super::*;
    use crate::network::link::Link;
    use crate::network::queue::QueueLimit;

    const CONFIG: CoDelConfig = CoDelConfig {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: true,
        ce_threshold: Duration::ZERO,
    };

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    /// A packet arrives every 0.9 ms, one leaves every millisecond from 20 ms on, until 1 s. When packets
    /// were dropped or marked, in microseconds.
    fn overload(config: CoDelConfig, ecn: Ecn) -> (Vec<u64>, Vec<u64>) {
        let capacity = QueueLimit::Unlimited.resolve(&Link::unlimited(), Duration::ZERO);
        let mut queue = CoDel::new(config, capacity);
        let (mut dropped, mut marked) = (Vec::new(), Vec::new());
        let mut arrivals = (0..).map(|n| (n, 900 * n)).peekable();
        for us in (20_000..1_000_000).step_by(1_000) {
            while let Some((n, _)) = arrivals.next_if(|(_, arrival)| *arrival <= us) {
                let packet = Handle::new(n as u32, 0, Bytes::new(1_000), ecn);
                queue.enqueue(at(900 * n), packet, |_, _| unreachable!());
            }
            let next = queue.dequeue(at(us), |_, _| dropped.push(us));
            if next.is_some_and(|n| n.packet.ecn() == Ecn::Ce) {
                marked.push(us);
            }
        }
        (dropped, marked)
    }

    #[test]
    fn drops_begin_an_interval_after_the_target_was_exceeded_and_come_faster_with_the_root() {
        // All have waited for 19 ms and more: drops begin at 20 + 100 ms. The next comes 100 ms later,
        // then 100/√2, 100/√3, … (RFC 8289 §5.6), each with the first packet that leaves by then.
        let mut expected = vec![120_000];
        let mut next = 120_000.0;
        for count in 1..40 {
            next += 100_000.0 / f64::from(count).sqrt();
            expected.push((next / 1_000.0).ceil() as u64 * 1_000);
        }
        expected.retain(|us| *us < 1_000_000);
        let (dropped, marked) = overload(CONFIG, Ecn::NotEct);
        assert_eq!((dropped, marked), (expected.clone(), vec![]));
        // Marks come when drops would.
        let (dropped, marked) = overload(CONFIG, Ecn::Ect0);
        assert_eq!((dropped, marked), (vec![], expected));
    }

    #[test]
    fn a_wait_below_the_target_or_a_single_packet_is_left_alone_and_a_threshold_marks_at_once() {
        let lenient = CoDelConfig {
            target: Duration::from_secs(2),
            ..CONFIG
        };
        assert_eq!(overload(lenient, Ecn::NotEct), (vec![], vec![]));
        let l4s = CoDelConfig {
            ce_threshold: Duration::from_micros(1),
            ..lenient
        };
        assert_eq!(overload(l4s, Ecn::Ect1).1.len(), 980);
        assert_eq!(overload(l4s, Ecn::NotEct).1.len(), 0);
    }
}
