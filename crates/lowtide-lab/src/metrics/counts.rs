//! What is counted over a whole run: packets, timeouts, bandwidth estimates, and how long groups of
//! flows take to share alike.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::probe::{AckSeen, DropCause};

use super::fairness::jain;

/// Counts of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    duration: Duration,
    groups: Vec<usize>,
    pub(super) sent: u64,
    pub(super) resent: u64,
    pub(super) dropped: u64,
    /// By [`DropCause`], in its order.
    dropped_by: [u64; DropCause::COUNT],
    pub(super) delivered: u64,
    pub(super) timeouts: u64,
    acks: u64,
    /// Sum of the bandwidth estimates at every eighth acknowledgment, Mbit/s, and how many.
    estimates: (f64, u64),
    /// Bytes received by each group in each second.
    seconds: Vec<Vec<u64>>,
    /// When the last group starts.
    last_start: Option<Time>,
}

/// Acknowledgments from one look at the controller's estimate to the next.
const ESTIMATE_EVERY: u64 = 8;
/// Length of the smoothing over which shares are compared, seconds.
const SMOOTHING: usize = 5;
/// How long shares must stay alike, seconds.
const STAY: usize = 10;
/// Jain's index of shares that count as alike: for two groups a ratio of 0.63.
const ALIKE: f64 = 0.95;

impl Counts {
    /// Nothing yet; `groups`: the group of each flow.
    pub(super) fn new(groups: Vec<usize>, duration: Duration) -> Self {
        let count = groups.iter().max().map_or(0, |max| max + 1);
        let seconds = (duration.as_secs_f64().ceil() as usize).min(100_000) + 1;
        Self {
            duration,
            groups,
            seconds: vec![vec![0; seconds]; count],
            ..Self::default()
        }
    }

    /// Seconds from the start of the last group to the first moment from which on Jain's index of
    /// the groups' rates, smoothed over five seconds, is at least 0.95 for ten seconds. `None` for
    /// a single group, or when that never happens.
    pub(super) fn equilibrium_s(&self) -> Option<f64> {
        let start = self.last_start?.as_nanos() as f64 / 1e9;
        let length = self.seconds.first()?.len();
        if self.seconds.len() < 2 || length < SMOOTHING + STAY {
            return None;
        }
        let alike = |t: usize| {
            let rate = |group: &Vec<u64>| group[t..t + SMOOTHING].iter().sum::<u64>() as f64;
            jain(self.seconds.iter().map(rate)) >= ALIKE
        };
        let first = start.ceil() as usize;
        (first..length.saturating_sub(SMOOTHING + STAY))
            .find(|t| (*t..t + STAY).all(alike))
            .map(|t| (t as f64 - start).max(0.0))
    }

    /// Mean of the controllers' bandwidth estimates, Mbit/s; NaN without any.
    pub(super) fn mean_estimate_mbps(&self) -> f64 {
        let (sum, count) = self.estimates;
        sum / count as f64
    }

    /// Packets dropped for this reason.
    pub(super) fn dropped_by(&self, cause: DropCause) -> f64 {
        self.dropped_by[cause as usize] as f64
    }

    /// The group of each flow.
    pub(super) fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// The length of the run.
    pub(super) fn duration(&self) -> Duration {
        self.duration
    }

    pub(super) fn on_flow_start(&mut self, flow: usize, start: Time) {
        let first_of_group = self.groups.iter().position(|g| *g == self.groups[flow]);
        if first_of_group == Some(flow) {
            self.last_start = self.last_start.max(Some(start));
        }
    }

    #[inline]
    pub(super) fn on_send(&mut self, retransmission: bool) {
        self.sent += 1;
        self.resent += u64::from(retransmission);
    }

    pub(super) fn on_drop(&mut self, cause: DropCause) {
        self.dropped += 1;
        self.dropped_by[cause as usize] += 1;
    }

    /// A packet has reached the receiver, whether it is measured yet or not.
    #[inline]
    pub(super) fn on_arrival(&mut self, flow: usize, now: Time, bytes: Bytes) {
        // One group alone has nobody to share with.
        if self.seconds.len() < 2 {
            return;
        }
        let at = (now.as_nanos() / 1_000_000_000) as usize;
        if let Some(second) = self.seconds[self.groups[flow]].get_mut(at) {
            *second += bytes.get();
        }
    }

    #[inline]
    pub(super) fn on_deliver(&mut self) {
        self.delivered += 1;
    }

    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckSeen<'_>, from: Time) {
        self.acks += 1;
        if self.acks.is_multiple_of(ESTIMATE_EVERY)
            && ack.now >= from
            && let Some(bandwidth) = ack.controller.and_then(|c| c.snapshot().bandwidth)
        {
            self.estimates.0 += bandwidth.as_mbps();
            self.estimates.1 += 1;
        }
    }

    pub(super) fn on_timeout(&mut self) {
        self.timeouts += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equilibrium_begins_when_shares_are_alike_and_stay_so() {
        let mut counts = Counts::new(vec![0, 1], Duration::from_secs(60));
        counts.last_start = Some(Time::ZERO + Duration::from_secs(10));
        for t in 0..61 {
            // Alike for a moment at 15 s, for good from 30 s on.
            let second = if t == 15 || t >= 30 { 100 } else { 10 };
            counts.seconds[0][t] = 100;
            counts.seconds[1][t] = second;
        }
        // 5 s means are (500, 500) from 30 s on; at 29 s (500, 410), at 28 s (500, 320): 0.953,
        // at 27 s (500, 230): 0.88.
        assert_eq!(counts.equilibrium_s(), Some(18.0));
        counts.seconds[1].fill(1);
        assert_eq!(counts.equilibrium_s(), None);
    }
}
