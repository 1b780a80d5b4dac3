//! The L4S marker of a mobile network: one queue for each user, whose L4S packets are marked by the
//! time that they have waited.
//!
//! 3GPP (TS 23.501 §5.37.3) has the base station mark and leaves the law to it; what vendors describe
//! is a ramp of the marking probability over the wait, or a step. A bearer that marks is meant for L4S
//! flows alone, so packets of others are left to the limit of the queue.

use lowtide_cc::Ecn;
use lowtide_cc::registry::{Parameter, UP_TO_10_S, Values};
use lowtide_cc::units::{Bytes, Duration, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use super::recurrence::Recurrence;
use crate::network::packet::{DropCause, Handle};

/// Parameters of the marker.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct L4sMarkerConfig {
    /// Up to this wait nothing is marked.
    pub low: Duration,
    /// From this wait on everything is, and a share that grows with the wait between the two. At or
    /// below `low` it is a step at `low`.
    pub high: Duration,
}

/// Names, defaults and ranges of the parameters. The defaults are ours: above the few milliseconds
/// between a device's turns on the radio, which no sender can avoid.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter::span("low", Duration::from_millis(5), UP_TO_10_S)
        .about("up to this wait nothing is marked"),
    Parameter::span("high", Duration::from_millis(15), UP_TO_10_S)
        .about("from this wait on everything is; not above 'low': a step at 'low'"),
];

impl L4sMarkerConfig {
    pub(super) fn of(values: &Values) -> Self {
        Self {
            low: values.span("low"),
            high: values.span("high"),
        }
    }

    /// The share that is marked after a wait.
    fn likelihood(&self, wait: Duration) -> f64 {
        if wait <= self.low {
            0.0
        } else if wait >= self.high {
            1.0
        } else {
            (wait - self.low).ratio(self.high - self.low)
        }
    }
}

/// One queue that marks L4S packets.
#[derive(Debug)]
pub(crate) struct L4sMarker {
    config: L4sMarkerConfig,
    marks: Recurrence,
    fifo: Fifo,
}

impl L4sMarker {
    pub(super) fn new(config: L4sMarkerConfig, capacity: Capacity) -> Self {
        Self {
            config,
            marks: Recurrence::default(),
            fifo: Fifo::new(capacity),
        }
    }
}

impl Discipline for L4sMarker {
    fn decides_late(&self) -> bool {
        true
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, drops: impl FnMut(Handle, DropCause)) {
        self.fifo.push_or_drop(now, packet, drops);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        let mut next = self.fifo.pop()?;
        let likelihood = self.config.likelihood(now.since(next.since));
        if next.packet.ecn().is_l4s() && self.marks.happens(likelihood) {
            next.packet.set_ecn(Ecn::Ce);
        }
        Some(next)
    }

    #[inline]
    fn bytes(&self) -> Bytes {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of a thousand packets that each waited for `ms` are marked.
    fn marked(low: u64, high: u64, ecn: Ecn, ms: u64) -> usize {
        let config = L4sMarkerConfig {
            low: Duration::from_millis(low),
            high: Duration::from_millis(high),
        };
        let mut queue = L4sMarker::new(config, Capacity::UNLIMITED);
        let mut is_marked = |n| {
            let now = Time::ZERO + Duration::from_secs(n);
            let packet = Handle::new(0, 0, Bytes::new(1_000), ecn);
            queue.enqueue(now, packet, |_, _| unreachable!());
            let next = queue.dequeue(now + Duration::from_millis(ms), |_, _| unreachable!());
            next.unwrap().packet.ecn() == Ecn::Ce
        };
        (0..1_000).filter(|n| is_marked(*n)).count()
    }

    #[test]
    fn the_share_of_marks_rises_between_two_waits_for_l4s_packets_only() {
        // Evenly, so that of a thousand none is missing but the one that the count begins with.
        for (ms, expected) in [(5, 0), (6, 99), (10, 499), (14, 899), (15, 999), (90, 999)] {
            assert_eq!(marked(5, 15, Ecn::Ect1, ms), expected, "{ms} ms");
        }
        assert_eq!(
            (marked(5, 5, Ecn::Ect1, 5), marked(5, 5, Ecn::Ect1, 6)),
            (0, 999)
        );
        assert_eq!(
            (marked(5, 15, Ecn::Ect0, 90), marked(5, 15, Ecn::NotEct, 90)),
            (0, 0)
        );
    }
}
