//! ABC's router (Goyal et al., "ABC: A Simple Explicit Congestion Controller for Wireless Networks", NSDI
//! 2020): it knows what its link carries, and tells each sender by each packet to speed up or to slow down.
//!
//! A sender that is told to speed up sends two packets for an acknowledgment, and else none. So the share
//! of packets that say so decides what comes back a round trip later:
//!
//! ```text
//! target = η·μ − μ/δ · max(0, x − x_t)        share = target / (2·cr), 0 to 1
//! ```
//!
//! μ is what the link could send in the last 20 ms, cr what left the queue in that time, x how long what waits will take. CE
//! is the mark to slow down (*brake*), any other codepoint leaves it at *accelerate*. Packets that know no
//! marks pass as they are.

use std::collections::VecDeque;
use std::sync::Arc;

use lowtide_cc::Ecn;
use lowtide_cc::registry::{Parameter, UP_TO_10_S, Values};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use super::discipline::{Discipline, Waiting};
use super::fifo::Fifo;
use super::limit::Capacity;
use crate::network::link::Link;
use crate::network::packet::{DropCause, Handle};

/// η: a little is left free, so that queues drain.
const UTILISATION: f64 = 0.98;
/// δ: in which time what is too much is to be gone; stable where it is above two thirds of the RTT.
const DRAIN_TIME: Duration = Duration::from_millis(133);
/// Over which time rates are taken.
const WINDOW: Duration = Duration::from_millis(20);
/// The most that packets in a row may be let through for what was held back before.
const MAX_TOKEN: f64 = 5.0;

/// Parameters of ABC's router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AbcConfig {
    /// x_t, the wait that does not count.
    pub delay: Duration,
}

impl AbcConfig {
    /// Names, defaults and ranges of the parameters.
    pub const PARAMETERS: &[Parameter] =
        &[
            Parameter::span("delay", Duration::from_millis(20), UP_TO_10_S)
                .about("the wait that does not count"),
        ];

    /// What these values say.
    #[must_use]
    pub fn of(values: &Values) -> Self {
        Self {
            delay: values.span("delay"),
        }
    }
}

/// A queue under ABC.
#[derive(Debug)]
pub(crate) struct Abc {
    config: AbcConfig,
    link: Arc<Link>,
    fifo: Fifo,
    /// What left in the last [`WINDOW`].
    left: VecDeque<(Time, Bytes)>,
    left_bytes: Bytes,
    token: f64,
}

impl Abc {
    pub(super) fn new(config: AbcConfig, link: Arc<Link>, capacity: Capacity) -> Self {
        Self {
            config,
            link,
            fifo: Fifo::new(capacity),
            left: VecDeque::new(),
            left_bytes: Bytes::ZERO,
            token: 0.0,
        }
    }

    /// The share of packets that are to say accelerate, after a packet of `bytes` has left.
    fn share(&mut self, now: Time, bytes: Bytes) -> f64 {
        self.left.push_back((now, bytes));
        self.left_bytes += bytes;
        while let Some((at, old)) = self.left.front().copied()
            && now.since(at) >= WINDOW
        {
            self.left.pop_front();
            self.left_bytes -= old;
        }
        let capacity = self.link.volume_between(now - WINDOW, now);
        if capacity.is_zero() {
            return 0.0;
        }
        let wait = Rate::from_volume(capacity, WINDOW).time_for(self.fifo.bytes());
        let excess = (wait - self.config.delay).ratio(DRAIN_TIME);
        let target = capacity.as_f64() * (UTILISATION - excess);
        (target / (2.0 * self.left_bytes.as_f64())).clamp(0.0, 1.0)
    }

    fn mark(&mut self, now: Time, packet: &mut Handle) {
        self.token = (self.token + self.share(now, packet.bytes)).min(MAX_TOKEN);
        if !packet.ecn().is_capable() {
            return;
        }
        // A brake from another queue stays one.
        if self.token >= 1.0 && packet.ecn() != Ecn::Ce {
            self.token -= 1.0;
        } else {
            packet.set_ecn(Ecn::Ce);
        }
    }
}

impl Discipline for Abc {
    fn decides_late(&self) -> bool {
        true
    }

    #[inline]
    fn bypass(&mut self, now: Time, mut packet: Handle) -> Result<Handle, DropCause> {
        self.mark(now, &mut packet);
        Ok(packet)
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Handle, drops: impl FnMut(Handle, DropCause)) {
        self.fifo.push_or_drop(now, packet, drops);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: impl FnMut(Handle, DropCause)) -> Option<Waiting> {
        let mut next = self.fifo.pop()?;
        self.mark(now, &mut next.packet);
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
    use crate::network::queue::QueueLimit;

    /// How many of 400 packets of 1500 bytes may speed up, one each `gap_ms` over a link of one a
    /// millisecond, with so many waiting behind each.
    fn accelerates(gap_ms: u64, waiting: u64, ecn: Ecn) -> usize {
        let link = Arc::new(Link::constant(Rate::from_mbps(12)).unwrap());
        let capacity = QueueLimit::Unlimited.resolve(&link, Duration::ZERO);
        let config = AbcConfig {
            delay: Duration::from_millis(20),
        };
        let mut queue = Abc::new(config, link, capacity);
        let mut now = Time::ZERO + Duration::from_secs(1);
        let packet = |n| Handle::new(n, 0, Bytes::new(1500), ecn);
        for n in 0..waiting {
            queue.enqueue(now, packet(n as u32), |_, _| unreachable!());
        }
        let mut accelerates = 0;
        for n in 0..500 {
            queue.enqueue(now, packet(n), |_, _| unreachable!());
            let next = queue.dequeue(now, |_, _| unreachable!()).unwrap();
            // The first ones still fill the window.
            accelerates += usize::from(n >= 100 && next.packet.ecn() == ecn);
            now += Duration::from_millis(gap_ms);
        }
        accelerates
    }

    #[test]
    fn the_share_of_accelerates_follows_the_rate_of_departures_and_the_wait_above_the_target() {
        // By hand: η/2 = 0.49 of 400; twice that where half as much leaves.
        assert_eq!(accelerates(1, 0, Ecn::Ect1), 196);
        assert_eq!(accelerates(1, 20, Ecn::Ect1), 196, "what may wait");
        assert_eq!(accelerates(2, 0, Ecn::Ect1), 392);
        // 66.5 ms above it are half of δ: (0.98 − 66/133)/2 = 0.2419 with 86 waiting.
        assert_eq!(accelerates(1, 86, Ecn::Ect1), 97);
        assert_eq!(accelerates(1, 160, Ecn::Ect1), 0);
        assert_eq!(accelerates(1, 160, Ecn::NotEct), 400, "not its business");
    }
}
