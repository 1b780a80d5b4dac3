//! Watches a simulation and measures it, in memory that does not grow with its length.

use std::borrow::Cow;
use std::sync::Arc;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, Sent};
use lowtide_sim::{FlowConfig, Probe, SimConfig};

use super::counts::Counts;
use super::distribution::Delays;
use super::fairness::{self, Fairness};
use super::samples::{Sample, Samples};
use super::self_inflicted::SelfInflicted;
use super::totals::{Group, Totals};
use super::values::{Measured, Metrics, Named};
use crate::statistics::mean;

/// The volumes whose time of arrival is measured: a small page, and a few seconds of video or a picture.
pub(super) const TRANSFERS: [Bytes; 2] = [Bytes::new(100_000), Bytes::new(3_000_000)];

/// Measures one flow.
#[derive(Clone, Debug)]
struct FlowMeter {
    /// The link that its data crosses.
    link: Arc<Link>,
    start: Time,
    /// When it has delivered all it had, or else when it stops.
    stop: Time,
    to_link: Duration,
    from_link: Duration,
    sent: Bytes,
    left: Left,
    retransmitted: Bytes,
    dropped: Bytes,
    received: Bytes,
    first_copies: Bytes,
    /// When so much of it had arrived: see [`TRANSFERS`].
    transfers: [Option<Time>; TRANSFERS.len()],
    rtt: Delays,
    /// One-way delays less propagation, as it was for each packet.
    queueing: Delays,
    least_queueing: Duration,
    /// From the writing of a video's frame until all of it has arrived.
    frames: Delays,
    self_inflicted: SelfInflicted,
}

impl FlowMeter {
    /// The time in which data can arrive.
    fn life(&self) -> Duration {
        self.stop.since(self.start)
    }

    /// Bytes of first copies in a second of its life.
    fn goodput(&self) -> f64 {
        self.first_copies.as_f64() / self.life().as_secs_f64()
    }

    fn opportunities(&self) -> Bytes {
        self.link
            .volume_between(self.start + self.to_link, self.stop - self.from_link)
    }

    fn take(&mut self, sample: Sample) {
        match sample {
            Sample::Rtt(rtt) => self.rtt.record(rtt),
            Sample::Delivery {
                now,
                sent_at,
                detour,
                bytes,
                first_copy,
            } => {
                let bytes = Bytes::new(u64::from(bytes));
                self.received += bytes;
                if first_copy {
                    let before = self.first_copies;
                    self.first_copies += bytes;
                    for (done, volume) in self.transfers.iter_mut().zip(TRANSFERS) {
                        if before < volume && volume <= self.first_copies {
                            *done = Some(now);
                        }
                    }
                }
                let queueing = now.since(sent_at) - (self.to_link + self.from_link) - detour;
                self.least_queueing = self.least_queueing.min(queueing);
                self.queueing.record(queueing);
                self.self_inflicted.on_deliver(now, sent_at, bytes);
            }
        }
    }
}

/// Packets that left the bottleneck.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    packets: u64,
    /// With CE.
    marked: u64,
}

/// Measures a simulation.
#[derive(Clone, Debug)]
pub struct Meter {
    packet_size: Bytes,
    flows: Vec<FlowMeter>,
    /// Sent by each flow, apart from the rest, which packets that leave have no use for.
    sent: Vec<Bytes>,
    /// What of each flow left the bottleneck.
    left: Vec<Left>,
    samples: Samples,
    fairness: Fairness,
    /// Which flows are left out of what is said of all; none where none are.
    background: Vec<bool>,
    counts: Counts,
    /// Nothing before this is measured.
    from: Time,
    /// Nothing from this moment on is measured.
    until: Time,
}

impl Meter {
    /// A meter for a simulation of this configuration.
    #[must_use]
    pub fn new(config: &SimConfig) -> Self {
        let link = |flow: &FlowConfig| config.pipe(flow.access.direction).link.clone();
        let moving = |flow: &FlowConfig| config.pipe(flow.access.direction).moving.clone();
        let end = Time::ZERO + config.duration;
        let flows = config
            .flows
            .iter()
            .map(|flow| FlowMeter {
                link: link(flow),
                start: flow.start,
                stop: flow.stop.unwrap_or(end).min(end),
                to_link: Duration::ZERO,
                from_link: Duration::ZERO,
                sent: Bytes::ZERO,
                left: Left::default(),
                retransmitted: Bytes::ZERO,
                dropped: Bytes::ZERO,
                received: Bytes::ZERO,
                first_copies: Bytes::ZERO,
                transfers: [None; TRANSFERS.len()],
                rtt: Delays::default(),
                queueing: Delays::default(),
                least_queueing: Duration::MAX,
                frames: Delays::default(),
                self_inflicted: SelfInflicted::new(link(flow), moving(flow)),
            })
            .collect();
        Self {
            packet_size: config.packet_size,
            flows,
            sent: vec![Bytes::ZERO; config.flows.len()],
            left: vec![Left::default(); config.flows.len()],
            samples: Samples::new(config.flows.len()),
            fairness: Fairness::new(config.flows.len()),
            background: background(config),
            counts: Counts::new(vec![0; config.flows.len()], config.duration),
            from: Time::ZERO,
            until: Time::MAX,
        }
    }

    /// Measures groups of flows too; `groups`: the group of each flow, counted from 0. Without it all
    /// flows are one group.
    #[must_use]
    pub fn of_groups(mut self, groups: Vec<usize>) -> Self {
        self.counts = Counts::new(groups, self.counts.duration());
        self
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

    /// Leaves out all that happens from `until` on.
    #[must_use]
    pub(crate) fn measuring_until(mut self, until: Time) -> Self {
        self.until = until;
        self
    }

    #[inline]
    fn measures(&self, now: Time) -> bool {
        self.from <= now && now < self.until
    }

    /// What was measured, once the simulation is over.
    #[must_use]
    pub fn finish(&mut self) -> Measured {
        self.take_samples();
        for ((flow, sent), left) in self.flows.iter_mut().zip(&self.sent).zip(&self.left) {
            (flow.sent, flow.left) = (*sent, *left);
            // Its beginning was not measured.
            if self.from > Time::ZERO && flow.start <= self.from {
                flow.transfers = [None; TRANSFERS.len()];
            }
            flow.self_inflicted.on_end(flow.stop, self.packet_size);
        }
        let flows: Vec<Metrics> = self
            .flows
            .iter()
            .map(|f| Metrics::of_totals(&totals(std::slice::from_ref(f), 1.0)))
            .collect();
        let total = Totals {
            counts: Some(&self.counts),
            ..totals(&self.foreground(), self.fairness.mean())
        };
        Measured {
            total: Metrics::of_totals(&total),
            groups: groups(self.counts.groups(), &flows),
            flows,
            extra: Named::new(),
        }
    }

    /// The RTTs of all flows, for a plot.
    #[must_use]
    pub fn rtt(&mut self) -> Delays {
        self.distribution(|f| &f.rtt)
    }

    /// The one-way delays of all flows' packets beyond propagation, for a plot.
    #[must_use]
    pub fn queueing(&mut self) -> Delays {
        self.distribution(|f| &f.queueing)
    }

    fn distribution(&mut self, get: fn(&FlowMeter) -> &Delays) -> Delays {
        self.take_samples();
        let all = together(&self.foreground(), get, Delays::merge).map(Cow::into_owned);
        all.unwrap_or_default()
    }

    /// The flows that are measured together: all but those in the background.
    fn foreground(&self) -> Cow<'_, [FlowMeter]> {
        if self.background.is_empty() {
            return Cow::Borrowed(&self.flows);
        }
        let flows = self.flows.iter().zip(&self.background);
        let measured = flows.filter(|(_, background)| !**background);
        Cow::Owned(measured.map(|(flow, _)| flow.clone()).collect())
    }

    #[inline]
    fn is_background(&self, flow: usize) -> bool {
        self.background.get(flow).copied().unwrap_or(false)
    }

    #[inline]
    fn push(&mut self, flow: usize, sample: Sample) {
        if self.samples.push(flow, sample) {
            self.take_samples();
        }
    }

    fn take_samples(&mut self) {
        self.samples
            .drain_by_flow(|flow, sample| self.flows[flow].take(sample));
    }
}

/// Which flows are in the background; empty where none is.
fn background(config: &SimConfig) -> Vec<bool> {
    let flows = config.flows.iter().map(|flow| flow.background);
    if flows.clone().any(|background| background) {
        flows.collect()
    } else {
        Vec::new()
    }
}

/// A distribution of several flows; `None` of none.
fn together<'a, T: Clone>(
    flows: &'a [FlowMeter],
    get: fn(&FlowMeter) -> &T,
    merge: fn(&mut T, &T),
) -> Option<Cow<'a, T>> {
    let (first, others) = flows.split_first()?;
    let mut all = Cow::Borrowed(get(first));
    for flow in others {
        merge(all.to_mut(), get(flow));
    }
    Some(all)
}

/// The groups' metrics.
fn groups(group_of: &[usize], flows: &[Metrics]) -> Vec<Metrics> {
    let goodput = |flows: &[Metrics]| -> f64 { flows.iter().map(|m| m["goodput_mbps"]).sum() };
    let all = goodput(flows);
    let count = group_of.iter().max().map_or(0, |last| last + 1);
    (0..count)
        .map(|group| {
            let pairs = group_of.iter().zip(flows);
            let own: Vec<Metrics> = pairs
                .filter(|(of, _)| **of == group)
                .map(|(_, m)| *m)
                .collect();
            let group = Group {
                goodput: goodput(&own),
                goodput_of_all: all,
            };
            Metrics::of_group(&group, &own)
        })
        .collect()
}

/// What flows were seen to do together.
fn totals<'a>(flows: &[FlowMeter], jain: f64) -> Totals<'a> {
    let sum = |f: fn(&FlowMeter) -> Bytes| flows.iter().map(f).sum::<Bytes>();
    let start = flows.iter().map(|f| f.start).min().unwrap_or_default();
    let stop = flows.iter().map(|f| f.stop).max().unwrap_or_default();
    let opportunities = match flows {
        [] => Bytes::ZERO,
        [one] => one.opportunities(),
        [first, ..] => {
            let to = flows.iter().map(|f| f.to_link).min().unwrap_or_default();
            let from = flows.iter().map(|f| f.from_link).min().unwrap_or_default();
            first.link.volume_between(start + to, stop - from)
        }
    };
    let rtt = together(flows, |f| &f.rtt, Delays::merge).unwrap_or_default();
    let queueing = together(flows, |f| &f.queueing, Delays::merge).unwrap_or_default();
    let frames = together(flows, |f| &f.frames, Delays::merge).unwrap_or_default();
    let self_inflicted = together(flows, |f| &f.self_inflicted, SelfInflicted::merge);
    let least = flows.iter().map(|f| f.least_queueing).min();
    let transfer_ms = |n: usize| -> f64 {
        let of_flow = |f: &FlowMeter| Some(f.transfers[n]?.since(f.start).as_millis_f64());
        let all: Vec<f64> = flows
            .iter()
            .map(|f| of_flow(f).unwrap_or(f64::NAN))
            .collect();
        mean(&all)
    };
    debug_assert!(flows.iter().all(|f| f.life() <= stop.since(start)));
    Totals {
        seconds: stop.since(start).as_secs_f64(),
        sent: sum(|f| f.sent),
        retransmitted: sum(|f| f.retransmitted),
        dropped: sum(|f| f.dropped),
        left_packets: flows.iter().map(|f| f.left.packets).sum(),
        marked_packets: flows.iter().map(|f| f.left.marked).sum(),
        received: sum(|f| f.received),
        first_copies: sum(|f| f.first_copies),
        transfers_ms: std::array::from_fn(transfer_ms),
        opportunities,
        rtt: rtt.summary_above(Duration::ZERO),
        queue_delay: queueing.summary_above(least.unwrap_or_default()),
        frame_delay: frames.summary_above(Duration::ZERO),
        self_inflicted_p95: self_inflicted.map_or(f64::NAN, |s| s.p95_ms()),
        jain,
        jain_overall: fairness::jain(flows.iter().map(FlowMeter::goodput)),
        counts: None,
    }
}

impl Probe for Meter {
    fn on_flow_start(&mut self, flow: usize, start: Time, to_link: Duration, from_link: Duration) {
        let f = &mut self.flows[flow];
        (f.to_link, f.from_link) = (to_link, from_link);
        f.self_inflicted.set_delays(to_link, from_link);
        if !self.is_background(flow) {
            self.fairness.on_flow_start(flow, start.max(self.from));
        }
        self.counts.on_flow_start(flow, start);
    }

    #[inline]
    fn on_send(&mut self, sent: &Sent) {
        if !self.measures(sent.now) {
            return;
        }
        self.sent[sent.flow] += sent.bytes;
        if sent.retransmission {
            self.flows[sent.flow].retransmitted += sent.bytes;
        }
        if !self.is_background(sent.flow) {
            self.counts.on_send(sent.retransmission);
        }
    }

    fn on_drop(&mut self, flow: usize, now: Time, bytes: Bytes, cause: DropCause) {
        if !self.measures(now) {
            return;
        }
        self.flows[flow].dropped += bytes;
        if !self.is_background(flow) {
            self.counts.on_drop(cause);
        }
    }

    #[inline]
    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        if !self.measures(exit.at) {
            return;
        }
        if let Some(flow) = self.left.get_mut(exit.flow as usize) {
            flow.packets += 1;
            flow.marked += u64::from(exit.ecn == Ecn::Ce);
        }
    }

    #[inline]
    fn on_deliver(&mut self, d: &Delivery<'_>) {
        if d.now < self.until {
            self.counts.on_arrival(d.flow, d.now, d.bytes);
        }
        if !self.measures(d.now) {
            return;
        }
        let counts = !self.is_background(d.flow);
        if counts {
            self.counts.on_deliver();
        }
        if d.first_copy && counts {
            self.fairness.on_deliver(d.flow, d.now, d.bytes);
        }
        let sample = Sample::Delivery {
            now: d.now,
            sent_at: d.sent_at,
            detour: d.detour,
            bytes: u32::try_from(d.bytes.get()).unwrap_or(u32::MAX),
            first_copy: d.first_copy,
        };
        self.push(d.flow, sample);
    }

    fn on_frame(&mut self, flow: usize, written_at: Time, now: Time) {
        if self.measures(now) {
            self.flows[flow].frames.record(now.since(written_at));
        }
    }

    #[inline]
    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        if ack.now < self.until && !self.is_background(flow) {
            self.counts.on_ack(ack, self.from);
        }
        if let Some(rtt) = ack.rtt.filter(|_| self.measures(ack.now)) {
            self.push(flow, Sample::Rtt(rtt));
        }
    }

    fn on_timeout(&mut self, flow: usize, now: Time) {
        if self.measures(now) && !self.is_background(flow) {
            self.counts.on_timeout();
        }
    }

    fn on_flow_complete(&mut self, flow: usize, now: Time) {
        let f = &mut self.flows[flow];
        f.stop = f.stop.min(now);
        self.fairness.on_flow_complete(flow, now);
    }
}
