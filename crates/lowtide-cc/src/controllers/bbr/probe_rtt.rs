//! The minimum RTT, and ProbeRTT, which empties the pipe when none has been seen for long.
//!
//! Its samples count as application-limited: 200 ms are more than the ten rounds of the bandwidth
//! filter where the RTT is below 20 ms, and the estimate would be lost.

use super::Bbr;
use super::estimator::BandwidthEstimator;
use super::phase::Phase;
use super::policy::Policy;
use super::prime::Recent;
use crate::controller::AckEvent;
use crate::mechanisms::SmallFlight;
use crate::units::{Bytes, Duration, Time};

/// The windowed minimum RTT.
#[derive(Clone, Debug)]
pub(super) struct MinRtt {
    pub(super) value: Duration,
    seen_at: Time,
    /// BBR′'s samples.
    recent: Option<Recent>,
}

impl MinRtt {
    pub(super) fn new(now: Time, prime: bool) -> Self {
        Self {
            value: Duration::MAX,
            seen_at: if prime { Time::ZERO } else { now },
            recent: prime.then(Recent::default),
        }
    }

    /// Takes the acknowledgment's sample; true when the minimum had expired, `window` after it was
    /// seen.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, window: Duration) -> bool {
        let expired = ack.now > self.seen_at + window;
        if let Some(recent) = &mut self.recent {
            if let Some(rtt) = ack.rtt {
                if rtt < self.value && self.value != Duration::MAX {
                    self.seen_at = ack.now;
                }
                self.value = recent.on_sample(rtt, ack.now, window);
            }
            return expired;
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt <= self.value || expired) {
            // A zero would keep the BDP at zero permanently.
            self.value = rtt.max(Duration::from_nanos(1));
            self.seen_at = ack.now;
        }
        expired
    }

    /// The minimum of another path, whose newest sample is `rtt`.
    fn begin_anew(&mut self, rtt: Duration, now: Time) {
        self.value = rtt;
        self.seen_at = now;
    }

    /// A ProbeRTT begins because the minimum has expired; BBR′ counts from here to the next one.
    fn probe_begins(&mut self, now: Time) {
        if self.recent.is_some() {
            self.seen_at = now;
        }
    }

    /// A ProbeRTT that came because the minimum had expired is over: it holds what was found there.
    pub(super) fn confirm(&mut self, now: Time) {
        if self.recent.is_none() {
            self.seen_at = now;
        }
    }
}

impl<E: BandwidthEstimator, P: Policy> Bbr<E, P> {
    /// Linux `bbr_update_min_rtt`.
    pub(super) fn check_probe_rtt(&mut self, ack: &AckEvent<'_>) {
        let expired = self.min_rtt.on_ack(ack, self.policy.min_rtt_window());
        self.model.min_rtt = self.min_rtt.value;
        let path_changes = self.model.phase == Phase::ProbeBw && self.policy.path_changes();
        let may_probe = !self.options.prime || self.model.phase == Phase::ProbeBw;
        if self.model.phase != Phase::ProbeRtt
            && may_probe
            && (((expired || path_changes) && !self.idle_restart)
                || self.loss_calls_for_probe_rtt(ack))
        {
            self.enter_probe_rtt(expired || path_changes, ack.now);
        }
        if self.model.phase == Phase::ProbeRtt {
            let window = self.probe_rtt_window();
            let rounds = &mut self.model.rounds;
            if self.probe_rtt.on_ack(ack, rounds, window) {
                self.leave_probe_rtt(ack.now);
            }
        }
        self.idle_restart = false;
    }

    fn loss_calls_for_probe_rtt(&self, ack: &AckEvent<'_>) -> bool {
        matches!(self.model.phase, Phase::Drain | Phase::ProbeBw)
            && !ack.bytes_lost.is_zero()
            && self
                .policy
                .loss_calls_for_probe_rtt(self.window.get(), ack, &self.model)
    }

    fn enter_probe_rtt(&mut self, renews_min_rtt: bool, now: Time) {
        self.min_rtt.probe_begins(now);
        self.probe_rtt = SmallFlight::default();
        self.renews_min_rtt = renews_min_rtt;
        if self.loss_probe_window().is_some() {
            self.window.forget();
        } else {
            self.window.save(self.recovery.is_active());
        }
        self.enter(Phase::ProbeRtt);
    }

    pub(super) fn leave_probe_rtt(&mut self, now: Time) {
        if self.renews_min_rtt {
            self.min_rtt.confirm(now);
        }
        self.window.restore();
        if self.policy.path_changes() {
            self.forget_path(now);
        }
        if self.model.full_pipe {
            self.enter_probe_bw(now);
        } else {
            self.enter(Phase::Startup);
        }
    }

    /// What ProbeRTT has seen last is all that is known of the new path.
    fn forget_path(&mut self, now: Time) {
        self.estimator.on_new_path();
        self.full_pipe.reset();
        self.model.full_pipe = false;
        self.min_rtt.begin_anew(self.model.rtt, now);
        self.model.min_rtt = self.min_rtt.value;
        self.use_estimate();
    }

    pub(super) fn probe_rtt_window(&self) -> Bytes {
        self.loss_probe_window()
            .unwrap_or_else(|| self.policy.probe_rtt_window(&self.model))
            .max(self.model.min_cwnd())
    }

    /// The policy's own for the ProbeRTT under way, if a loss called for it.
    fn loss_probe_window(&self) -> Option<Bytes> {
        if self.renews_min_rtt {
            return None;
        }
        self.policy.loss_probe_window(&self.model)
    }
}
