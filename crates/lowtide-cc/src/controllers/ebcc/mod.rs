//! eBCC (Han et al. 2022): loss and queue together steer BBR's window.
//!
//! BBR v1 opens its window by what was acknowledged and keeps it at twice the BDP. Here the window
//! goes half the way to its target while few packets queue, stays back while many do, and a loss
//! with a long queue empties the pipe by a ProbeRTT.

pub(crate) mod entry;

use crate::controller::AckEvent;
use crate::controllers::bbr::{Model, Phase, Policy, follow_target};
use crate::units::{Bytes, Duration};

/// Share that a loss in ProbeRTT takes from the window (Eq. 8; NewReno's).
const BETA: f64 = 0.5;

/// What the paper calls the last congestion window (pfCwnd), which it describes in two ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastWindow {
    /// 2·cwnd − target (Eq. 6): the window that would have led to the present one by Eq. 2.
    Mirrored,
    /// The window when the queue last was short (the text under Eq. 7).
    BeforeQueue,
}

/// The ProbeRTT that a loss with a long queue calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossProbe {
    /// BBR's: 4 packets, after which the window before it comes back.
    Smallest,
    /// One BDP (ProbeRTT's window gain is 1), from which the window goes on.
    OneBdp,
}

/// The window by loss and queue.
#[derive(Clone, Copy, Debug)]
pub struct LossAndQueue {
    /// Packets in the queue from which on it counts as long (γ).
    queue_packets: u64,
    last_window: LastWindow,
    loss_probe: LossProbe,
    before_queue: Option<Bytes>,
}

impl LossAndQueue {
    /// The paper's γ.
    pub const DEFAULT_QUEUE_PACKETS: u64 = 30;

    /// A rule that calls a queue of `queue_packets` (γ) long.
    #[must_use]
    pub fn new(queue_packets: u64, last_window: LastWindow, loss_probe: LossProbe) -> Self {
        Self {
            queue_packets,
            last_window,
            loss_probe,
            before_queue: None,
        }
    }

    /// diff = (cwnd/base_rtt − cwnd/rtt) · base_rtt ≥ γ (Eqs. 3 to 5). In integers: whole packets queue
    /// where others do not come between, and then both sides may be equal.
    fn queue_is_long(&self, cwnd: Bytes, model: &Model) -> bool {
        let rtt = model.rtt.max(Duration::from_nanos(1));
        let queueing = rtt - model.min_rtt.min(rtt);
        let long = model.max_datagram * self.queue_packets;
        let product =
            |volume: Bytes, span: Duration| u128::from(volume.get()) * u128::from(span.as_nanos());
        product(cwnd, queueing) >= product(long, rtt)
    }
}

/// The mean, without overflow.
fn mean(a: Bytes, b: Bytes) -> Bytes {
    Bytes::new(a.get().midpoint(b.get()))
}

impl Policy for LossAndQueue {
    fn next_window(
        &mut self,
        cwnd: Bytes,
        target: Bytes,
        ack: &AckEvent<'_>,
        model: &Model,
    ) -> Bytes {
        let lost = !ack.bytes_lost.is_zero();
        match (model.phase, self.queue_is_long(cwnd, model)) {
            (Phase::ProbeBw, false) if !lost => {
                self.before_queue = Some(cwnd);
                mean(cwnd, target)
            }
            (Phase::ProbeBw, true) if !lost => {
                let last = match self.last_window {
                    LastWindow::Mirrored => cwnd * 2 - target,
                    LastWindow::BeforeQueue => self.before_queue.unwrap_or(cwnd),
                };
                // Eqs. 6 and 7 push a window above its target further up: the target bounds it.
                mean(last, cwnd).min(target)
            }
            (Phase::ProbeRtt, true) if lost => cwnd.mul_f64(1.0 - BETA),
            _ => follow_target(cwnd, target, ack),
        }
    }

    fn loss_probe_window(&self, model: &Model) -> Option<Bytes> {
        match self.loss_probe {
            LossProbe::Smallest => None,
            LossProbe::OneBdp => Some(model.bdp(model.bandwidth, 1.0)),
        }
    }

    /// Algorithm 1 says in ProbeBW. One BDP is also what Drain is to leave in flight, and a host that
    /// does not pace never gets there by a pacing gain.
    fn loss_calls_for_probe_rtt(&self, cwnd: Bytes, _ack: &AckEvent<'_>, model: &Model) -> bool {
        let in_phase = match self.loss_probe {
            LossProbe::OneBdp => true,
            LossProbe::Smallest => model.phase == Phase::ProbeBw,
        };
        in_phase && self.queue_is_long(cwnd, model)
    }
}
