//! When to probe for bandwidth again (§5.3.3.8).
//!
//! After 2 to 3 s, or after as many rounds as Reno would need to regain a window of that size, if
//! that comes first: a probe risks losses, which cost Reno and CUBIC flows on the path more than
//! this one. Both limits are random, so that flows do not probe together.

use crate::rng::SeededRng;
use crate::units::{Bytes, Duration, Time};

/// Shortest time between probes: lets a Reno flow of 30 ms reach 25 Mbit/s (§5.3.3.8.3).
const LEAST: Duration = Duration::from_secs(2);
/// Random addition, at most: bandwidth is found on a human time scale (§5.3.3.8.3).
const SPREAD_NANOS: u32 = 1_000_000_000;
/// Upper bound in rounds: the wait must end where 1 % of loss is to be tolerated (§5.3.3.8.3).
const MAX_ROUNDS: u64 = 63;

#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeWait {
    since: Time,
    /// At most so long (`bw_probe_wait`).
    pub(super) wait: Duration,
    rounds: u64,
}

impl ProbeWait {
    pub(super) fn new(now: Time) -> Self {
        Self {
            since: now,
            wait: Duration::ZERO,
            rounds: 0,
        }
    }

    /// `PickProbeWait` (§5.3.3.8.3), at the start of a cycle.
    pub(super) fn restart(&mut self, now: Time, rng: &mut SeededRng) {
        self.since = now;
        self.rounds = u64::from(rng.below(2));
        self.wait = LEAST + Duration::from_nanos(u64::from(rng.below(SPREAD_NANOS)));
    }

    pub(super) fn on_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
    }

    /// `IsTimeToProbeBW` (§5.3.3.8.3). `target`: what the flow wants in flight; Reno grows by a packet a round.
    pub(super) fn is_over(&self, now: Time, target: Bytes, max_datagram: Bytes) -> bool {
        let reno_rounds = target.get() / max_datagram.get();
        now > self.since + self.wait || self.rounds >= reno_rounds.min(MAX_ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{MSS, at};

    #[test]
    fn a_large_flow_probes_after_2_to_3_seconds_or_62_to_63_rounds_and_a_small_one_as_reno_would() {
        let mut waits = std::vec::Vec::new();
        let mut rounds = std::vec::Vec::new();
        for seed in 0..50 {
            let mut wait = ProbeWait::new(Time::ZERO);
            wait.restart(at(1000), &mut SeededRng::new(seed));
            let large = MSS * 1000;
            let first = (1000..5000).find(|ms| wait.is_over(at(*ms), large, MSS));
            waits.push(first.unwrap() - 1000);
            let in_rounds = |target| {
                let mut wait = wait;
                let mut n = 0;
                while !wait.is_over(at(1001), target, MSS) {
                    wait.on_round();
                    n += 1;
                }
                n
            };
            rounds.push(in_rounds(large));
            assert!([9, 10].contains(&in_rounds(MSS * 10)));
        }
        assert!(waits.iter().all(|ms| (2000..=3001).contains(ms)));
        let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
        assert!(most - least > 800, "spread from {least} to {most}");
        assert!(rounds.contains(&62) && rounds.contains(&63));
        assert!(rounds.iter().all(|n| [62, 63].contains(n)));
    }
}
