//! A run over time, for plots: a fixed number of bins, whatever its length.
//!
//! Each bin keeps extremes, so that no peak is lost.

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::probe::{AckSeen, Delivery, DropCause};
use lowtide_sim::{Probe, SimConfig};

/// Bins of a run.
const BINS: u64 = 1_500;
/// Bins are not shorter than this.
const MIN_BIN: Duration = Duration::from_millis(10);

/// One flow in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowBin {
    /// Received.
    pub delivered: Bytes,
    /// Sent.
    pub sent: Bytes,
    /// Smallest and largest RTT sample.
    pub rtt: Option<(Duration, Duration)>,
    /// Last window.
    pub cwnd: Option<Bytes>,
    /// Last bandwidth estimate, bytes/s.
    pub bandwidth: Option<f64>,
}

/// A run over time.
#[derive(Clone, Debug)]
pub struct Timeline {
    bin: Duration,
    /// Largest queue in each bin; `None` where nothing left it.
    queue: Vec<Option<Bytes>>,
    /// Packets dropped in each bin.
    drops: Vec<u64>,
    flows: Vec<Vec<FlowBin>>,
}

impl Timeline {
    /// An empty timeline for a simulation of this configuration.
    #[must_use]
    pub fn new(config: &SimConfig) -> Self {
        let bin = config.duration.div(BINS).max(MIN_BIN);
        let count = (config.duration.as_nanos() / bin.as_nanos() + 1) as usize;
        Self {
            bin,
            queue: vec![None; count],
            drops: vec![0; count],
            flows: vec![vec![FlowBin::default(); count]; config.flows.len()],
        }
    }

    #[inline]
    fn at(&self, now: Time) -> usize {
        ((now.as_nanos() / self.bin.as_nanos()) as usize).min(self.queue.len() - 1)
    }

    /// Width of a bin.
    #[must_use]
    pub fn bin(&self) -> Duration {
        self.bin
    }

    /// Start of each whole bin.
    pub fn times(&self) -> impl Iterator<Item = Time> + '_ {
        (0..self.queue.len() as u64 - 1).map(|n| Time::ZERO + self.bin * n)
    }

    /// How many bins there are.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.queue.len()
    }

    /// Largest queue of each bin; while nothing leaves it, it is taken to stay as it was.
    pub fn queue(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.queue.iter().scan(Bytes::ZERO, |last, seen| {
            *last = seen.unwrap_or(*last);
            Some(*last)
        })
    }

    /// Packets dropped in each bin.
    #[must_use]
    pub fn drops(&self) -> &[u64] {
        &self.drops
    }

    /// Each flow's bins.
    #[must_use]
    pub fn flows(&self) -> &[Vec<FlowBin>] {
        &self.flows
    }
}

impl Probe for Timeline {
    fn on_send(&mut self, flow: usize, now: Time, bytes: Bytes, _retransmission: bool) {
        let at = self.at(now);
        self.flows[flow][at].sent += bytes;
    }

    fn on_drop(&mut self, _flow: usize, now: Time, _bytes: Bytes, _cause: DropCause) {
        let at = self.at(now);
        self.drops[at] += 1;
    }

    fn on_bottleneck_exit(&mut self, _flow: usize, now: Time, queued: Bytes, _sojourn: Duration) {
        let at = self.at(now);
        self.queue[at] = self.queue[at].max(Some(queued));
    }

    fn on_deliver(&mut self, d: &Delivery) {
        let at = self.at(d.now);
        self.flows[d.flow][at].delivered += d.bytes;
    }

    fn on_ack(&mut self, ack: &AckSeen<'_>) {
        let at = self.at(ack.now);
        let bin = &mut self.flows[ack.flow][at];
        if let Some(rtt) = ack.rtt {
            bin.rtt = Some(match bin.rtt {
                None => (rtt, rtt),
                Some((min, max)) => (min.min(rtt), max.max(rtt)),
            });
        }
        if let Some(controller) = ack.controller {
            bin.cwnd = Some(controller.cwnd());
            bin.bandwidth = controller.snapshot().bandwidth.map(|b| b.as_f64());
        }
    }
}
