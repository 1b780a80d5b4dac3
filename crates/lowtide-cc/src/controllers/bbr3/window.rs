//! The congestion window (§5.6.4).

use super::long_term::LongTerm;
use super::model::Model;
use super::phase::Phase;
use super::probe_rtt;
use crate::controller::TimeoutEvent;
use crate::units::Bytes;

/// The window's memory of the time before a recovery or a ProbeRTT; the window itself is in the
/// model.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// `prior_cwnd`.
    pub(super) prior: Bytes,
}

impl Window {
    /// `SaveCwnd` (§5.6.4.4). While the window is already reduced, the larger memory stays.
    pub(super) fn save(&mut self, in_recovery: bool, model: &Model) {
        self.prior = if in_recovery || model.phase == Phase::ProbeRtt {
            self.prior.max(model.cwnd)
        } else {
            model.cwnd
        };
    }

    /// `RestoreCwnd`. The bounds apply again with the next acknowledgment.
    pub(super) fn restore(&self, model: &mut Model) {
        model.cwnd = model.cwnd.max(self.prior);
    }

    /// `OnEnterRTO` (§5.6.4.4): one packet may leave. A window that was smaller stays so.
    pub(super) fn on_timeout(timeout: &TimeoutEvent, model: &mut Model) {
        let one_more = timeout.inflight + model.max_datagram;
        model.cwnd = model.cwnd.min(one_more).max(model.max_datagram);
    }

    /// `SetCwnd` (§5.6.4.6). `extra_acked`: what aggregation needs on top; `inflight_shortterm`: no more than
    /// this.
    #[inline]
    pub(super) fn update(
        acked: Bytes,
        extra_acked: Bytes,
        inflight_shortterm: Bytes,
        long_term: &LongTerm,
        model: &mut Model,
    ) {
        let bdp = model.bdp(model.bandwidth, model.phase.cwnd_gain());
        let max_inflight = model.with_quantization_budget(bdp + extra_acked);
        let mut cwnd = model.cwnd;
        if model.full_pipe {
            cwnd = (cwnd + acked).min(max_inflight);
        } else if cwnd < max_inflight || model.rounds.delivered() < model.initial_window {
            cwnd += acked;
        }
        cwnd = cwnd.max(model.min_pipe());
        if model.phase == Phase::ProbeRtt {
            cwnd = cwnd.min(probe_rtt::window(model));
        }
        // `BoundCwndForModel` (§5.6.4.7).
        let bound = match model.phase {
            Phase::Down | Phase::Refill | Phase::Up => long_term.inflight,
            Phase::Cruise | Phase::ProbeRtt => long_term.with_headroom(model),
            Phase::Startup | Phase::Drain => Bytes::MAX,
        };
        model.cwnd = cwnd.min(bound.min(inflight_shortterm).max(model.min_pipe()));
    }
}
