//! Spreads packets over time.
//!
//! Packets leave in bursts of at most the send quantum. A burst that begins at `t` and carries `b`
//! bytes lets the next one begin at `t + b / rate`. Time in which nothing was sent earns no credit,
//! as in Linux's fq: a flow that was idle starts with one quantum.

use lowtide_cc::units::{Bytes, Rate, Time};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    /// When the next burst may begin.
    release_at: Time,
    /// What the current burst may still send.
    budget: Bytes,
}

impl Pacer {
    /// Whether a packet of `bytes` may leave at `now`; otherwise when it may. A packet larger than
    /// the quantum is a burst of its own.
    #[inline]
    pub(crate) fn release(&mut self, now: Time, bytes: Bytes, quantum: Bytes) -> Result<(), Time> {
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

    /// A packet left.
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: Bytes, rate: Rate) {
        self.budget -= bytes;
        self.release_at += rate.time_for(bytes);
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
        let mut pacer = Pacer::default();
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
}
