//! The minimum RTT, and ProbeRTT, which halves the flight when none has been seen for long (§5.3.4).
//!
//! Two windows: ProbeRTT comes when 5 s have shown no lower RTT, the minimum lasts 10 s. So it is
//! still known while ProbeRTT cuts the flight to half the BDP, and rests on two ProbeRTTs.

use super::Bbr3;
use super::model::Model;
use super::phase::Phase;
use crate::controller::AckEvent;
use crate::mechanisms::SmallFlight;
use crate::units::{Bytes, Duration, Time};

/// `MinRTTFilterLen` (§5.5.7.2).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// `ProbeRTTInterval`: the same for all flows, so that they meet in an empty queue.
const INTERVAL: Duration = Duration::from_secs(5);

/// The two windowed minima.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    value: Duration,
    seen_at: Time,
    /// Over 5 s (`probe_rtt_min_delay`).
    recent: Duration,
    recent_seen_at: Time,
    /// 5 s have passed without a lower one (`probe_rtt_expired`).
    is_due: bool,
}

impl MinRtt {
    pub(super) fn new(now: Time) -> Self {
        Self {
            value: Duration::MAX,
            seen_at: now,
            recent: Duration::MAX,
            recent_seen_at: now,
            is_due: false,
        }
    }

    /// The minimum over 5 s and when it was seen, once there is one.
    pub(super) fn recent(&self) -> Option<(Duration, Time)> {
        (self.recent != Duration::MAX).then_some((self.recent, self.recent_seen_at))
    }

    /// `UpdateMinRTT` (§5.3.4.3); the minimum of 10 s.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>) -> Duration {
        self.is_due = ack.now > self.recent_seen_at + INTERVAL;
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt < self.recent || self.is_due) {
            // A zero would keep the BDP at zero permanently.
            self.recent = rtt.max(Duration::from_nanos(1));
            self.recent_seen_at = ack.now;
        }
        if self.recent < self.value || ack.now > self.seen_at + MIN_RTT_WINDOW {
            self.value = self.recent;
            self.seen_at = self.recent_seen_at;
        }
        self.value
    }
}

/// `ProbeRTTCwnd` (§5.6.4.5).
pub(super) fn window(model: &Model) -> Bytes {
    model
        .bdp(model.bandwidth, Phase::ProbeRtt.cwnd_gain())
        .max(model.min_pipe())
}

impl Bbr3 {
    /// `CheckProbeRTT` (§5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, ack: &AckEvent<'_>) {
        if self.model.phase != Phase::ProbeRtt && self.min_rtt.is_due && !self.idle_restart {
            self.window.save(self.recovery.is_active(), &self.model);
            self.enter(Phase::ProbeRtt);
            self.probe_rtt = SmallFlight::default();
            self.cycle.on_probe_rtt();
            self.model.rounds.restart();
        }
        if self.model.phase == Phase::ProbeRtt {
            // `HandleProbeRTT`.
            let window = window(&self.model);
            let rounds = &mut self.model.rounds;
            if self.probe_rtt.on_ack(ack, rounds, window) {
                self.leave_probe_rtt(ack.now);
            }
        }
        self.idle_restart = false;
    }

    /// `ExitProbeRTT` (§5.3.4.4), once the time of `CheckProbeRTTDone` (§5.3.4.3) has passed.
    pub(super) fn leave_probe_rtt(&mut self, now: Time) {
        self.min_rtt.recent_seen_at = now;
        if self.options.probe_rtt_ends_cycle {
            self.max_bandwidth.advance();
        }
        self.window.restore(&mut self.model);
        self.short_term.reset_bounds();
        if self.model.full_pipe {
            // The cycle begins anew with DOWN, whose work is done.
            self.start_down(now);
            self.enter(Phase::Cruise);
        } else {
            self.enter(Phase::Startup);
        }
    }
}
