//! The congestion window: its target, and what losses do to it (Linux `bbr_set_cwnd`,
//! `bbr_set_cwnd_to_recover_or_restore`).

use super::model::Model;
use super::phase::Phase;
use super::policy::{Policy, RecoveryStart};
use crate::controller::AckEvent;
use crate::units::Bytes;

/// The first round of a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstRound {
    /// What is acknowledged may be sent, no more.
    Conserve,
    /// The loss response shrinks the window.
    Shrink,
}

/// The window and its memory of the time before a recovery or a ProbeRTT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    cwnd: Bytes,
    /// The window to come back to.
    prior: Bytes,
    /// What the first round of a recovery does; `None` outside of it.
    first_round: Option<FirstRound>,
    /// A timeout reduced the window to one packet and its recovery goes on.
    after_timeout: bool,
    /// A recovery opened since the last acknowledgment.
    opening: bool,
    /// A recovery ended with the acknowledgment at hand.
    restoring: bool,
}

impl Window {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            cwnd: model.initial_window,
            prior: Bytes::ZERO,
            first_round: None,
            after_timeout: false,
            opening: false,
            restoring: false,
        }
    }

    pub(super) fn get(&self) -> Bytes {
        self.cwnd
    }

    /// Whether a recovery's first round holds the window.
    pub(super) fn is_held(&self) -> bool {
        self.first_round.is_some()
    }

    /// Whether a loss keeps the window below what the path could take.
    pub(super) fn limits_sender(&self) -> bool {
        self.is_held() || self.after_timeout
    }

    /// Remembers the window. While it is already reduced, the larger memory stays; so it does where
    /// a recovery ended with the acknowledgment at hand and its window has not come back yet.
    pub(super) fn save(&mut self, already_reduced: bool) {
        self.prior = if already_reduced || self.restoring {
            self.prior.max(self.cwnd)
        } else {
            self.cwnd
        };
    }

    /// There is no window to come back to.
    pub(super) fn forget(&mut self) {
        self.prior = Bytes::ZERO;
    }

    pub(super) fn restore(&mut self) {
        self.after_timeout = false;
        self.cwnd = self.cwnd.max(self.prior);
    }

    /// The timeout was spurious: the window comes back with the acknowledgment that shows it.
    pub(super) fn on_undo(&mut self) {
        self.on_recovery_end();
        self.after_timeout = false;
    }

    pub(super) fn on_recovery_start(&mut self) {
        self.opening = true;
        self.restoring = false;
    }

    pub(super) fn on_recovery_end(&mut self) {
        self.first_round = None;
        self.opening = false;
        self.restoring = true;
    }

    pub(super) fn on_round_start(&mut self) {
        self.first_round = None;
    }

    /// Everything in flight is lost: start with one packet.
    pub(super) fn on_timeout(&mut self, max_datagram: Bytes) {
        self.cwnd = max_datagram;
        self.after_timeout = true;
        self.first_round = None;
        self.opening = false;
        self.restoring = false;
    }

    /// Sets the window after an acknowledgment. `allowance`: what aggregation needs on top;
    /// `floor`: ProbeRTT's window.
    #[inline]
    pub(super) fn update(
        &mut self,
        ack: &AckEvent<'_>,
        model: &mut Model,
        allowance: Bytes,
        floor: Bytes,
        policy: &mut impl Policy,
    ) {
        if !self.recover_or_restore(ack, model, policy) {
            let target = model
                .with_quantization_budget(model.bdp(model.bandwidth, model.cwnd_gain) + allowance);
            if model.full_pipe {
                self.cwnd = policy.next_window(self.cwnd, target, ack, model);
            } else {
                if self.cwnd < target || model.rounds.delivered() < model.initial_window {
                    self.cwnd += ack.bytes_acked;
                }
            }
            self.cwnd = self.cwnd.max(model.min_cwnd());
        }
        if model.phase == Phase::ProbeRtt {
            self.cwnd = self.cwnd.min(floor).max(model.max_datagram);
        }
    }

    /// What a recovery does to the window; true while its first round holds it.
    fn recover_or_restore(
        &mut self,
        ack: &AckEvent<'_>,
        model: &mut Model,
        policy: &mut impl Policy,
    ) -> bool {
        // A loss takes its volume out of the window at once.
        if !ack.bytes_lost.is_zero() {
            self.cwnd = (self.cwnd - ack.bytes_lost).max(model.max_datagram);
        }
        let conserved = ack.inflight + ack.bytes_acked;
        if core::mem::take(&mut self.opening) {
            self.first_round = match policy.on_recovery_start(self.cwnd, model) {
                RecoveryStart::Conserve => {
                    self.cwnd = conserved.max(model.max_datagram);
                    Some(FirstRound::Conserve)
                }
                RecoveryStart::SetWindow(cwnd) => {
                    self.cwnd = cwnd.max(model.min_cwnd());
                    None
                }
                RecoveryStart::Shrink => Some(FirstRound::Shrink),
                RecoveryStart::OnlyLost => None,
            };
            if self.is_held() {
                // A whole round from here, not what is left of the one under way.
                model.rounds.restart();
            }
        }
        if core::mem::take(&mut self.restoring) {
            self.restore();
        }
        match self.first_round {
            Some(FirstRound::Conserve) => self.cwnd = self.cwnd.max(conserved),
            Some(FirstRound::Shrink) => {
                self.cwnd = policy.shrink(self.cwnd, model).max(model.min_cwnd());
            }
            None => {}
        }
        self.is_held()
    }
}
