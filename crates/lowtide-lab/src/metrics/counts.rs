//! All that is measured in a run, by name.

use std::collections::BTreeMap;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::Probe;
use lowtide_sim::probe::{AckSeen, Delivery, DropCause, Sent};

use crate::metrics::{Measured, Metrics, jain};

/// Values by name: the metrics of `docs/metrics.md` as `throughput_mbps`, `rtt_ms.p95` …, those of
/// the flows of each group as `flows.0.throughput_mbps` …, and the counts of [`Counts`]. What does
/// not exist is missing.
pub type Values = BTreeMap<String, f64>;

/// Counts that are no metrics: packets sent, resent, dropped, delivered; timeouts; the
/// controllers' bandwidth estimates; and how long the groups took to share alike.
#[derive(Clone, Debug)]
pub struct Counts {
    from: Time,
    groups: Vec<usize>,
    sent: u64,
    resent: u64,
    dropped: u64,
    delivered: u64,
    timeouts: u64,
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
    /// Counts from `from` on; `groups`: each flow's.
    #[must_use]
    pub fn new(groups: Vec<usize>, from: Time, duration: Duration) -> Self {
        let count = groups.iter().max().map_or(0, |max| max + 1);
        let seconds = (duration.as_secs_f64().ceil() as usize).min(100_000) + 1;
        Self {
            from,
            groups,
            sent: 0,
            resent: 0,
            dropped: 0,
            delivered: 0,
            timeouts: 0,
            acks: 0,
            estimates: (0.0, 0),
            seconds: vec![vec![0; seconds]; count],
            last_start: None,
        }
    }

    /// Seconds from the start of the last group to the first moment from which on Jain's index of
    /// the groups' rates, smoothed over five seconds, is at least 0.95 for ten seconds. `None` for
    /// a single group, or when that never happens.
    #[must_use]
    pub fn equilibrium_s(&self) -> Option<f64> {
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

    /// All values of a run.
    #[must_use]
    pub fn values(&self, measured: &Measured) -> Values {
        let mut values = Values::new();
        insert_metrics(&mut values, "", &measured.total);
        let total: f64 = measured.flows.iter().map(|m| m.goodput_mbps).sum();
        for group in 0..self.seconds.len() {
            let of_group: Vec<Metrics> = self
                .groups
                .iter()
                .zip(&measured.flows)
                .filter(|(g, _)| **g == group)
                .map(|(_, m)| *m)
                .collect();
            let mean = Metrics::combine(&of_group, crate::statistics::mean);
            insert_metrics(&mut values, &format!("flows.{group}."), &mean);
            let own: f64 = of_group.iter().map(|m| m.goodput_mbps).sum();
            insert(&mut values, &format!("flows.{group}.share"), own / total);
        }
        for (name, count) in [
            ("sent_packets", self.sent),
            ("retransmitted_packets", self.resent),
            ("lost_packets", self.dropped),
            ("received_packets", self.delivered),
            ("timeouts", self.timeouts),
        ] {
            insert(&mut values, name, count as f64);
        }
        // Packet counts, where metrics count bytes.
        let sent_mbps = if self.delivered == 0 {
            f64::NAN
        } else {
            measured.total.throughput_mbps * self.sent as f64 / self.delivered as f64
        };
        insert(&mut values, "sent_mbps", sent_mbps);
        let (sum, count) = self.estimates;
        insert(&mut values, "estimate_mbps", sum / count as f64);
        if let Some(seconds) = self.equilibrium_s() {
            insert(&mut values, "equilibrium_s", seconds);
        }
        values
    }
}

fn insert(values: &mut Values, name: &str, value: f64) {
    if value.is_finite() {
        values.insert(name.to_string(), value);
    }
}

/// Names and values of all metrics.
fn insert_metrics(values: &mut Values, prefix: &str, metrics: &Metrics) {
    let mut put = |name: &str, value: f64| insert(values, &format!("{prefix}{name}"), value);
    put("throughput_mbps", metrics.throughput_mbps);
    put("goodput_mbps", metrics.goodput_mbps);
    put("utilisation", metrics.utilisation);
    for (name, d) in [
        ("rtt_ms", metrics.rtt_ms),
        ("queue_delay_ms", metrics.queue_delay_ms),
    ] {
        put(&format!("{name}.mean"), d.mean);
        put(&format!("{name}.p50"), d.p50);
        put(&format!("{name}.p95"), d.p95);
        put(&format!("{name}.p99"), d.p99);
        put(&format!("{name}.max"), d.max);
    }
    put("self_inflicted_ms.p95", metrics.self_inflicted_ms.p95);
    put("loss_share", metrics.loss_share);
    put("retransmitted_share", metrics.retransmitted_share);
    put("jain", metrics.jain);
    put("power", metrics.power);
}

impl Probe for Counts {
    fn on_flow_start(&mut self, flow: usize, start: Time, _: Duration, _: Duration) {
        let first_of_group = self.groups.iter().position(|g| *g == self.groups[flow]);
        if first_of_group == Some(flow) {
            self.last_start = self.last_start.max(Some(start));
        }
    }

    #[inline]
    fn on_send(&mut self, sent: &Sent) {
        if sent.now >= self.from {
            self.sent += 1;
            self.resent += u64::from(sent.retransmission);
        }
    }

    fn on_drop(&mut self, _flow: usize, now: Time, _bytes: Bytes, _cause: DropCause) {
        self.dropped += u64::from(now >= self.from);
    }

    #[inline]
    fn on_deliver(&mut self, d: &Delivery<'_>) {
        self.delivered += u64::from(d.now >= self.from);
        let seconds = &mut self.seconds[self.groups[d.flow]];
        let at = (d.now.as_nanos() / 1_000_000_000) as usize;
        if let Some(second) = seconds.get_mut(at) {
            *second += d.bytes.get();
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckSeen<'_>) {
        self.acks += 1;
        if self.acks.is_multiple_of(ESTIMATE_EVERY)
            && ack.now >= self.from
            && let Some(bandwidth) = ack.controller.and_then(|c| c.snapshot().bandwidth)
        {
            self.estimates.0 += bandwidth.as_mbps();
            self.estimates.1 += 1;
        }
    }

    fn on_timeout(&mut self, _flow: usize, now: Time) {
        self.timeouts += u64::from(now >= self.from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equilibrium_begins_when_shares_are_alike_and_stay_so() {
        let mut counts = Counts::new(vec![0, 1], Time::ZERO, Duration::from_secs(60));
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
