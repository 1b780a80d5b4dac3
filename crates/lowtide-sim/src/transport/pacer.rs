//! Spreads packets over time.

use lowtide_cc::units::{Bytes, Rate, Time};

/// How a host spreads packets over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)
)]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Pacing {
    /// At the controller's pacing rate, in bursts of its send quantum.
    #[default]
    Rate,
    /// Not at all: all that the window allows leaves at once.
    Off,
    /// A burst of five packets each interval of the pacing rate, and another for each
    /// acknowledgment; what is not used is kept until a loss. So did `mvfst` from October 2019 to
    /// July 2020 (`DefaultPacer`). With an acknowledgment for every tenth packet the host sends at
    /// half the delivery rate *above* the pacing rate, so that the window becomes the limit.
    AckCredit,
}

/// A sender's pacer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pacer {
    Rate(RatePacer),
    Off,
    AckCredit(AckCreditPacer),
}

impl Pacer {
    pub(crate) fn new(pacing: Pacing) -> Self {
        match pacing {
            Pacing::Rate => Self::Rate(RatePacer::default()),
            Pacing::Off => Self::Off,
            Pacing::AckCredit => Self::AckCredit(AckCreditPacer::default()),
        }
    }

    /// Whether a packet of `bytes` may leave at `now`; otherwise when it may.
    #[inline]
    pub(crate) fn release(
        &mut self,
        now: Time,
        bytes: Bytes,
        rate: Rate,
        quantum: Bytes,
    ) -> Result<(), Time> {
        match self {
            Self::Rate(pacer) => pacer.release(now, bytes, quantum),
            Self::Off => Ok(()),
            Self::AckCredit(pacer) => pacer.release(now, bytes, rate),
        }
    }

    /// A packet left.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: Bytes, rate: Rate) {
        match self {
            Self::Rate(pacer) => pacer.on_sent(bytes, rate),
            Self::Off => {}
            Self::AckCredit(pacer) => pacer.on_sent(),
        }
    }

    /// The window, not the pacer, holds the next packet.
    #[inline]
    pub(crate) fn on_window_full(&mut self) {
        if let Self::AckCredit(pacer) = self {
            pacer.interval_ends_at = None;
        }
    }

    /// Something was newly acknowledged.
    #[inline]
    pub(crate) fn on_ack(&mut self) {
        if let Self::AckCredit(pacer) = self {
            pacer.credit = Some(pacer.credit.unwrap_or(0) + AckCreditPacer::BURST);
        }
    }

    /// Something was lost.
    #[inline]
    pub(crate) fn on_loss(&mut self) {
        if let Self::AckCredit(pacer) = self {
            pacer.credit = Some(0);
        }
    }
}

/// Packets leave in bursts of at most the send quantum. A burst that begins at `t` and carries `b`
/// bytes lets the next one begin at `t + b / rate`. Time in which nothing was sent earns no credit,
/// as in Linux's fq: a flow that was idle starts with one quantum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RatePacer {
    /// When the next burst may begin.
    release_at: Time,
    /// What the current burst may still send.
    budget: Bytes,
}

impl RatePacer {
    /// A packet larger than the quantum is a burst of its own.
    #[inline]
    fn release(&mut self, now: Time, bytes: Bytes, quantum: Bytes) -> Result<(), Time> {
        if now >= self.release_at {
            self.release_at = now;
            self.budget = quantum;
            return Ok(());
        }
        if bytes > self.budget {
            Err(self.release_at)
        } else {
            Ok(())
        }
    }

    #[inline]
    fn on_sent(&mut self, bytes: Bytes, rate: Rate) {
        self.budget -= bytes;
        self.release_at += rate.time_for(bytes);
    }
}

/// The pacer of [`Pacing::AckCredit`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckCreditPacer {
    /// Packets that may leave at once; `None` before the first acknowledgment, when nothing is
    /// paced.
    credit: Option<u64>,
    /// Without credit: when the interval brings the next burst.
    interval_ends_at: Option<Time>,
}

impl AckCreditPacer {
    /// Packets of a burst (mvfst's `minBurstPackets`; the pacing rates at which its timer would ask
    /// for more begin near 300 Mbit/s).
    const BURST: u64 = 5;

    /// While an interval runs, credit of acknowledgments waits for its end.
    fn release(&mut self, now: Time, bytes: Bytes, rate: Rate) -> Result<(), Time> {
        let Some(credit) = &mut self.credit else {
            return Ok(());
        };
        if let Some(end) = self.interval_ends_at {
            if now < end {
                return Err(end);
            }
            self.interval_ends_at = None;
            *credit += Self::BURST;
        }
        if *credit > 0 {
            return Ok(());
        }
        let end = now + rate.time_for(bytes * Self::BURST);
        self.interval_ends_at = Some(end);
        Err(end)
    }

    fn on_sent(&mut self) {
        if let Some(credit) = &mut self.credit {
            *credit = credit.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Duration;

    use super::*;

    #[test]
    fn a_burst_is_one_quantum_and_the_mean_rate_is_exact() {
        let rate = Rate::from_mbps(12); // 1500 bytes a millisecond
        let (quantum, packet) = (Bytes::new(3000), Bytes::new(1500));
        let mut pacer = RatePacer::default();
        let mut now = Time::from_nanos(1_000_000_000);
        let start = now;
        for burst in 1..=100 {
            for _ in 0..2 {
                assert_eq!(pacer.release(now, packet, quantum), Ok(()));
                pacer.on_sent(packet, rate);
            }
            let next = pacer.release(now, packet, quantum).unwrap_err();
            assert_eq!(next, start + Duration::from_millis(2 * burst));
            now = next;
        }
        // Idle time earns nothing: two packets, then a wait.
        now += Duration::from_secs(1);
        for _ in 0..2 {
            assert_eq!(pacer.release(now, packet, quantum), Ok(()));
            pacer.on_sent(packet, rate);
        }
        assert_eq!(
            pacer.release(now, packet, quantum),
            Err(now + Duration::from_millis(2))
        );
    }

    #[test]
    fn ack_credit_adds_a_burst_for_each_acknowledgment_to_those_of_the_rate() {
        let rate = Rate::from_mbps(12); // a packet a millisecond
        let packet = Bytes::new(1500);
        let mut pacer = Pacer::new(Pacing::AckCredit);
        // Packets that leave in 100 ms with an acknowledgment every `ack_ms`.
        let mut sent = |ack_ms: u64| {
            let mut count = 0;
            for ms in 0..100 {
                let now = Time::from_nanos(ms * 1_000_000);
                if ms % ack_ms == 0 {
                    pacer.on_ack();
                }
                while pacer.release(now, packet, rate, packet).is_ok() {
                    pacer.on_sent(packet, rate);
                    count += 1;
                }
            }
            pacer.on_loss();
            pacer.on_window_full();
            count
        };
        // One each 10 ms: ten bursts of five for them, and twenty, less the one that the last
        // interval has yet to bring, for the rate.
        assert_eq!(sent(10), 5 * (10 + 19));
        assert_eq!(sent(20), 5 * (5 + 19));
    }
}
