//! What is measured, one definition each; `docs/metrics.md` has them as formulas.
//!
//! A [`Meter`] watches a simulation in memory that does not grow with its length.

mod distribution;
mod fairness;
mod self_inflicted;

use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Delivery, DropCause, Sent};
use lowtide_sim::{Probe, SimConfig};
use serde::Serialize;

pub use self::distribution::{DelaySummary, Delays};
use self::fairness::Fairness;
pub use self::fairness::jain;
use self::self_inflicted::SelfInflicted;

/// Measures one flow.
#[derive(Clone, Debug)]
struct FlowMeter {
    start: Time,
    /// When it has delivered all it had, or else when it stops.
    stop: Time,
    to_link: Duration,
    from_link: Duration,
    sent: Bytes,
    retransmitted: Bytes,
    dropped: Bytes,
    received: Bytes,
    first_copies: Bytes,
    rtt: Delays,
    /// One-way delays less propagation.
    queueing: Delays,
    least_queueing: Duration,
    self_inflicted: SelfInflicted,
}

impl FlowMeter {
    /// The time in which data can arrive.
    fn life(&self) -> Duration {
        self.stop.since(self.start)
    }

    fn opportunities(&self, link: &Link) -> Bytes {
        link.volume_between(self.start + self.to_link, self.stop - self.from_link)
    }
}

/// Measures a simulation.
#[derive(Clone, Debug)]
pub struct Meter {
    link: Arc<Link>,
    packet_size: Bytes,
    flows: Vec<FlowMeter>,
    fairness: Fairness,
    /// Nothing before this is measured.
    from: Time,
}

impl Meter {
    /// A meter for a simulation of this configuration.
    #[must_use]
    pub fn new(config: &SimConfig) -> Self {
        let link = config.forward.link.clone();
        let end = Time::ZERO + config.duration;
        let flows = config
            .flows
            .iter()
            .map(|flow| FlowMeter {
                start: flow.start,
                stop: flow.stop.unwrap_or(end).min(end),
                to_link: Duration::ZERO,
                from_link: Duration::ZERO,
                sent: Bytes::ZERO,
                retransmitted: Bytes::ZERO,
                dropped: Bytes::ZERO,
                received: Bytes::ZERO,
                first_copies: Bytes::ZERO,
                rtt: Delays::default(),
                queueing: Delays::default(),
                least_queueing: Duration::MAX,
                self_inflicted: SelfInflicted::new(link.clone(), Duration::ZERO, Duration::ZERO),
            })
            .collect();
        Self {
            link,
            packet_size: config.packet_size,
            flows,
            fairness: Fairness::new(config.flows.len()),
            from: Time::ZERO,
        }
    }

    /// Leaves out all that happens before `from`: flows count as if they began then.
    #[must_use]
    pub fn measuring_from(mut self, from: Time) -> Self {
        self.from = from;
        for flow in &mut self.flows {
            flow.start = flow.start.max(from);
        }
        self
    }

    /// What was measured, once the simulation is over.
    #[must_use]
    pub fn finish(&mut self) -> Measured {
        for flow in &mut self.flows {
            flow.self_inflicted.on_end(flow.stop, self.packet_size);
        }
        let flows: Vec<Metrics> = self
            .flows
            .iter()
            .map(|f| metrics(&self.link, std::slice::from_ref(f), 1.0))
            .collect();
        let total = match self.flows.as_slice() {
            [_] => flows[0],
            flows => metrics(&self.link, flows, self.fairness.mean()),
        };
        Measured { total, flows }
    }

    /// The RTTs of all flows, for a plot.
    #[must_use]
    pub fn rtt(&self) -> Delays {
        let mut all = Delays::default();
        for flow in &self.flows {
            all.merge(&flow.rtt);
        }
        all
    }

    /// The one-way delays of all flows' packets beyond propagation, for a plot.
    #[must_use]
    pub fn queueing(&self) -> Delays {
        let mut all = Delays::default();
        for flow in &self.flows {
            all.merge(&flow.queueing);
        }
        all
    }
}

/// The metrics of flows taken together.
fn metrics(link: &Link, flows: &[FlowMeter], jain: f64) -> Metrics {
    let sum = |f: fn(&FlowMeter) -> Bytes| flows.iter().map(f).sum::<Bytes>();
    let start = flows.iter().map(|f| f.start).min().unwrap_or_default();
    let stop = flows.iter().map(|f| f.stop).max().unwrap_or_default();
    let seconds = stop.since(start).as_secs_f64();
    let mbps = |bytes: Bytes| bytes.as_f64() * 8.0 / 1e6 / seconds;
    let opportunities = match flows {
        [one] => one.opportunities(link),
        _ => {
            let to = flows.iter().map(|f| f.to_link).min().unwrap_or_default();
            let from = flows.iter().map(|f| f.from_link).min().unwrap_or_default();
            link.volume_between(start + to, stop - from)
        }
    };
    let mut rtt = Delays::default();
    let mut queueing = Delays::default();
    let mut self_inflicted: Option<SelfInflicted> = None;
    for flow in flows {
        rtt.merge(&flow.rtt);
        queueing.merge(&flow.queueing);
        match &mut self_inflicted {
            None => self_inflicted = Some(flow.self_inflicted.clone()),
            Some(all) => all.merge(&flow.self_inflicted),
        }
    }
    let least = flows
        .iter()
        .map(|f| f.least_queueing)
        .min()
        .unwrap_or_default();
    let sent = sum(|f| f.sent).as_f64();
    let throughput_mbps = mbps(sum(|f| f.received));
    let queue_delay_ms = queueing.summary_above(least);
    let rtt_ms = rtt.summary_above(Duration::ZERO);
    debug_assert!(flows.iter().all(|f| f.life() <= stop.since(start)));
    Metrics {
        throughput_mbps,
        goodput_mbps: mbps(sum(|f| f.first_copies)),
        utilisation: sum(|f| f.received).as_f64() / opportunities.as_f64(),
        rtt_ms,
        queue_delay_ms,
        self_inflicted_ms: SelfInflictedSummary {
            p95: self_inflicted.map_or(f64::NAN, |s| s.p95_ms()),
        },
        loss_share: sum(|f| f.dropped).as_f64() / sent,
        retransmitted_share: sum(|f| f.retransmitted).as_f64() / sent,
        jain,
        power: throughput_mbps / rtt_ms.p95,
    }
}

impl Probe for Meter {
    fn on_flow_start(&mut self, flow: usize, start: Time, to_link: Duration, from_link: Duration) {
        let f = &mut self.flows[flow];
        (f.to_link, f.from_link) = (to_link, from_link);
        f.self_inflicted = SelfInflicted::new(self.link.clone(), to_link, from_link);
        self.fairness.on_flow_start(flow, start.max(self.from));
    }

    #[inline]
    fn on_send(&mut self, sent: &Sent) {
        if sent.now < self.from {
            return;
        }
        let f = &mut self.flows[sent.flow];
        f.sent += sent.bytes;
        if sent.retransmission {
            f.retransmitted += sent.bytes;
        }
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, _cause: DropCause) {
        if now < self.from {
            return;
        }
        self.flows[flow].dropped += bytes;
    }

    #[inline]
    fn on_deliver(&mut self, d: &Delivery<'_>) {
        if d.now < self.from {
            return;
        }
        let f = &mut self.flows[d.flow];
        f.received += d.bytes;
        if d.first_copy {
            f.first_copies += d.bytes;
            self.fairness.on_deliver(d.flow, d.now, d.bytes);
        }
        let queueing = d.now.since(d.sent_at) - (f.to_link + f.from_link);
        f.queueing.record(queueing);
        f.least_queueing = f.least_queueing.min(queueing);
        f.self_inflicted.on_deliver(d.now, d.sent_at, d.bytes);
    }

    #[inline]
    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        if let Some(rtt) = ack.rtt.filter(|_| ack.now >= self.from) {
            self.flows[flow].rtt.record(rtt);
        }
    }

    fn on_flow_complete(&mut self, flow: usize, now: Time) {
        let f = &mut self.flows[flow];
        f.stop = f.stop.min(now);
        self.fairness.on_flow_complete(flow, now);
    }
}

/// What a meter has measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// All flows together.
    pub total: Metrics,
    /// Each flow.
    pub flows: Vec<Metrics>,
}

/// Self-inflicted delay, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SelfInflictedSummary {
    /// 95th percentile over time.
    pub p95: f64,
}

/// One set of metrics. A value that does not exist is NaN, `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// All bytes received over the flow's life, Mbit/s.
    pub throughput_mbps: f64,
    /// First copies received over the flow's life, Mbit/s.
    pub goodput_mbps: f64,
    /// Bytes received over the bytes that the link could have carried to the receiver in the flow's
    /// life.
    pub utilisation: f64,
    /// RTT samples, one an acknowledgment.
    pub rtt_ms: DelaySummary,
    /// One-way delay of each packet less the smallest.
    pub queue_delay_ms: DelaySummary,
    /// Delay beyond what the link itself imposes at that moment.
    pub self_inflicted_ms: SelfInflictedSummary,
    /// Bytes dropped over bytes sent.
    pub loss_share: f64,
    /// Bytes sent again over bytes sent.
    pub retransmitted_share: f64,
    /// Jain's index, mean over windows of a second.
    pub jain: f64,
    /// Throughput over 95th percentile of the RTT, Mbit/s/ms.
    pub power: f64,
}

impl Metrics {
    /// Applies `f` to each value over all `samples`: means, intervals.
    #[must_use]
    pub fn combine(samples: &[Self], f: impl Fn(&[f64]) -> f64) -> Self {
        let over = |get: &dyn Fn(&Self) -> f64| f(&samples.iter().map(get).collect::<Vec<f64>>());
        let delays = |get: &dyn Fn(&Self) -> DelaySummary| DelaySummary {
            mean: over(&|m| get(m).mean),
            p50: over(&|m| get(m).p50),
            p95: over(&|m| get(m).p95),
            p99: over(&|m| get(m).p99),
            max: over(&|m| get(m).max),
        };
        Self {
            throughput_mbps: over(&|m| m.throughput_mbps),
            goodput_mbps: over(&|m| m.goodput_mbps),
            utilisation: over(&|m| m.utilisation),
            rtt_ms: delays(&|m| m.rtt_ms),
            queue_delay_ms: delays(&|m| m.queue_delay_ms),
            self_inflicted_ms: SelfInflictedSummary {
                p95: over(&|m| m.self_inflicted_ms.p95),
            },
            loss_share: over(&|m| m.loss_share),
            retransmitted_share: over(&|m| m.retransmitted_share),
            jain: over(&|m| m.jain),
            power: over(&|m| m.power),
        }
    }
}

#[cfg(test)]
mod tests;
