//! A run over time, for plots: a bounded number of bins, regardless of its length.
//!
//! Each bin keeps extremes, so that no peak is lost.

mod bin;
mod envelope;
mod track;

use lowtide_cc::Controller;
use lowtide_cc::controller::PeerSignal;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, LossSeen, Sent};
use lowtide_sim::{Probe, SimConfig};
use serde::{Deserialize, Serialize};

pub use self::bin::{FilterBin, FlowBin, LinkBin};
pub use self::envelope::Envelope;
pub use self::track::{StateLabel, Track};

/// Bins of all flows of a run together.
const BINS: u64 = 24_000;
/// Bins are not shorter than this.
const MIN_BIN: Duration = Duration::from_millis(10);
/// Flows that are kept one by one; all others show in the total only.
const FLOWS: usize = 16;

/// One flow over time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowTimeline {
    /// When it started.
    pub start: Time,
    /// When all that it had to send was acknowledged.
    pub end: Option<Time>,
    /// Its bins.
    pub bins: Vec<FlowBin>,
    /// The controller's phases.
    pub phases: Track,
    /// What the bandwidth filter does: modes of the controller's own, or else what the controller
    /// tells the receiver's.
    pub modes: Track,
}

/// What all flows together have now.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Sums {
    cwnd: u64,
    inflight: u64,
    bandwidth: u64,
}

/// A run over time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeline {
    bin: Duration,
    /// Bins at most.
    most: u64,
    link: Vec<LinkBin>,
    total: Vec<FlowBin>,
    flows: Vec<FlowTimeline>,
    /// Each flow's part of the sums.
    last: Vec<Sums>,
    sums: Sums,
    /// The flows that are left out of the total.
    background: Vec<bool>,
}

impl Timeline {
    /// An empty timeline for a simulation of this configuration.
    #[must_use]
    pub fn new(config: &SimConfig) -> Self {
        let flows = config.flows.len().clamp(1, FLOWS);
        let most = (BINS / flows as u64).clamp(1_500, 3_000);
        let bin = width(config.duration, most);
        let count = count(config.duration, bin);
        let flow = |n: usize| FlowTimeline {
            start: config.flows[n].start,
            end: None,
            bins: vec![FlowBin::default(); count],
            phases: Track::default(),
            modes: Track::default(),
        };
        Self {
            bin,
            most,
            link: vec![LinkBin::default(); count],
            total: vec![FlowBin::default(); count],
            flows: (0..config.flows.len().min(FLOWS)).map(flow).collect(),
            last: vec![Sums::default(); config.flows.len()],
            sums: Sums::default(),
            background: config.flows.iter().map(|flow| flow.background).collect(),
        }
    }

    #[inline]
    fn is_background(&self, flow: usize) -> bool {
        self.background.get(flow).copied().unwrap_or(false)
    }

    #[inline]
    fn at(&self, now: Time) -> usize {
        ((now.as_nanos() / self.bin.as_nanos()) as usize).min(self.link.len() - 1)
    }

    /// Applies `f` to the bin of the total and of the flow, if that is kept.
    #[inline]
    fn both(&mut self, flow: usize, now: Time, f: impl Fn(&mut FlowBin)) {
        let at = self.at(now);
        if !self.is_background(flow) {
            f(&mut self.total[at]);
        }
        if let Some(flow) = self.flows.get_mut(flow) {
            f(&mut flow.bins[at]);
        }
    }

    /// Makes it as long as that: bins are added, or become wider as in a timeline that was as long from
    /// the beginning. What is behind the end is left out.
    pub fn set_length(&mut self, length: Duration) {
        let factor = width(length, self.most).as_nanos() / self.bin.as_nanos();
        if factor > 1 {
            *self = self.coarsened(factor as usize);
        }
        let count = count(length, self.bin);
        self.link.resize(count, LinkBin::default());
        self.total.resize(count, FlowBin::default());
        for flow in &mut self.flows {
            flow.bins.resize(count, FlowBin::default());
        }
    }

    /// Its length, in whole bins.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.bin * self.link.len() as u64
    }

    /// A flow's RTT was this.
    pub fn note_rtt(&mut self, flow: usize, now: Time, rtt: Duration) {
        self.both(flow, now, |bin| bin.rtt.take(rtt.as_millis_f64()));
    }

    /// A flow's sender had this window and so much in flight, bytes, as it says itself. Where there are
    /// several flows their sum is not known.
    pub fn note_sender(
        &mut self,
        flow: usize,
        now: Time,
        cwnd: Option<f64>,
        inflight: Option<f64>,
    ) {
        let at = self.at(now);
        let alone = self.flows.len() == 1;
        let total = alone.then(|| &mut self.total[at]);
        let own = self.flows.get_mut(flow).map(|flow| &mut flow.bins[at]);
        for bin in total.into_iter().chain(own) {
            if let Some(cwnd) = cwnd {
                bin.cwnd.take(cwnd / 1e3);
            }
            if let Some(inflight) = inflight {
                bin.inflight.take(inflight / 1e3);
            }
        }
    }

    /// Width of a bin.
    #[must_use]
    pub fn bin(&self) -> Duration {
        self.bin
    }

    /// The bottleneck's bins.
    #[must_use]
    pub fn link(&self) -> &[LinkBin] {
        &self.link
    }

    /// All flows together: volumes and counts added, RTTs of all, windows, data in flight and
    /// estimates summed over the flows at each moment.
    #[must_use]
    pub fn total(&self) -> &[FlowBin] {
        &self.total
    }

    /// The first flows, at most sixteen.
    #[must_use]
    pub fn flows(&self) -> &[FlowTimeline] {
        &self.flows
    }

    /// The timeline in bins `factor` times as wide, whose extremes are those of the narrow ones.
    #[must_use]
    pub fn coarsened(&self, factor: usize) -> Self {
        fn merged<B: Copy>(bins: &[B], factor: usize, merge: impl Fn(&mut B, &B)) -> Vec<B> {
            bins.chunks(factor.max(1))
                .map(|chunk| {
                    let mut wide = chunk[0];
                    chunk[1..].iter().for_each(|bin| merge(&mut wide, bin));
                    wide
                })
                .collect()
        }
        let mut coarse = self.clone();
        coarse.bin = self.bin * factor.max(1) as u64;
        coarse.link = merged(&self.link, factor, LinkBin::merge);
        coarse.total = merged(&self.total, factor, FlowBin::merge);
        for flow in &mut coarse.flows {
            flow.bins = merged(&flow.bins, factor, FlowBin::merge);
        }
        coarse
    }

    fn note_controller(&mut self, flow: usize, now: Time, controller: &dyn Controller) {
        let snapshot = controller.snapshot();
        let cwnd = controller.cwnd();
        let bandwidth = snapshot.bandwidth;
        let is_background = self.is_background(flow);
        let last = &mut self.last[flow];
        let replace = |sum: &mut u64, old: &mut u64, new: u64| {
            *sum = (*sum - *old).saturating_add(new);
            // What did not fit into the sum must not be taken from it later.
            *old = new.min(*sum);
        };
        if !is_background {
            replace(&mut self.sums.cwnd, &mut last.cwnd, cwnd.get());
        }
        if let Some(bandwidth) = bandwidth.filter(|_| !is_background) {
            let rate = bandwidth.as_f64() as u64;
            replace(&mut self.sums.bandwidth, &mut last.bandwidth, rate);
        }
        let sums = self.sums;
        let at = self.at(now);
        let total = &mut self.total[at];
        if !is_background {
            total.cwnd.take(sums.cwnd as f64 / 1e3);
        }
        if bandwidth.is_some() && !is_background {
            total.bandwidth.take(sums.bandwidth as f64 * 8.0 / 1e6);
        }
        let Some(kept) = self.flows.get_mut(flow) else {
            return;
        };
        let bin = &mut kept.bins[at];
        bin.cwnd.take(cwnd.as_f64() / 1e3);
        if let Some(bandwidth) = bandwidth {
            bin.bandwidth.take(bandwidth.as_f64() * 8.0 / 1e6);
        }
        let mode = match &snapshot.filter {
            Some(filter) => {
                bin.filter.take(filter);
                Some(filter.mode)
            }
            None => controller.peer_signal().map(PeerSignal::name),
        };
        if let Some(mode) = mode {
            kept.modes.set(now, controller.filter_modes(), mode, None);
        }
        let gain = snapshot.pacing_gain;
        kept.phases
            .set(now, controller.phases(), snapshot.phase, gain);
    }
}

/// The narrowest bins, doubled as often as need be, of which there are not more than `most` in this
/// time: two timelines of the same length have the same bins, however they came to it.
fn width(length: Duration, most: u64) -> Duration {
    let mut bin = MIN_BIN;
    while length.as_nanos().div_ceil(bin.as_nanos()) > most {
        bin = bin * 2;
    }
    bin
}

/// How many bins there are.
fn count(length: Duration, bin: Duration) -> usize {
    length.as_nanos().div_ceil(bin.as_nanos()).max(1) as usize
}

impl Probe for Timeline {
    fn on_send(&mut self, sent: &Sent) {
        self.both(sent.flow, sent.now, |bin| {
            bin.sent += sent.bytes;
            bin.resent += u32::from(sent.retransmission);
        });
    }

    fn on_drop(&mut self, _flow: usize, now: Time, _bytes: Bytes, _cause: DropCause) {
        let at = self.at(now);
        self.link[at].drops += 1;
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        let at = self.at(exit.at);
        self.link[at].queue.take(exit.queued.as_f64() / 1e3);
        self.link[at].sojourn.take(exit.sojourn.as_millis_f64());
    }

    fn on_deliver(&mut self, d: &Delivery<'_>) {
        self.both(d.flow, d.now, |bin| bin.delivered += d.bytes);
        if let Some(filter) = d.estimator.and_then(|e| e.filter()) {
            let at = self.at(d.now);
            if let Some(flow) = self.flows.get_mut(d.flow) {
                flow.bins[at].filter.take(&filter);
            }
        }
    }

    fn on_ack(&mut self, flow: usize, ack: &AckSeen<'_>) {
        let sum = &mut self.sums.inflight;
        let last = &mut self.last[flow].inflight;
        *sum = *sum - *last + ack.inflight.get();
        *last = ack.inflight.get();
        let at = self.at(ack.now);
        self.total[at]
            .inflight
            .take(self.sums.inflight as f64 / 1e3);
        if let Some(seen) = self.flows.get_mut(flow) {
            seen.bins[at].inflight.take(ack.inflight.as_f64() / 1e3);
        }
        if let Some(rtt) = ack.rtt {
            self.note_rtt(flow, ack.now, rtt);
        }
        if let Some(controller) = ack.controller {
            self.note_controller(flow, ack.now, controller);
        }
    }

    fn on_loss(&mut self, flow: usize, loss: &LossSeen<'_>) {
        let packets = u32::try_from(loss.packets.len()).unwrap_or(u32::MAX);
        self.both(flow, loss.now, |bin| {
            bin.lost = bin.lost.saturating_add(packets);
        });
    }

    fn on_timeout(&mut self, flow: usize, now: Time) {
        self.both(flow, now, |bin| bin.timeouts += 1);
    }

    fn on_flow_complete(&mut self, flow: usize, now: Time) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.end = Some(now);
        }
    }
}

#[cfg(test)]
mod tests;
