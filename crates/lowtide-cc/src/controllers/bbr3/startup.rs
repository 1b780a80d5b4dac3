//! Startup: double the rate each round until the delivery rate stops growing or losses show that
//! the pipe is full (§5.3.1).

use super::Bbr3;
use super::long_term;
use super::phase::Phase;
use crate::controller::LossEvent;
use crate::delivery_rate::RateSample;

/// Gaps in a round's sequence of packets from which on losses show a full pipe
/// (`BBRStartupFullLossCnt`, §5.3.1.3): fewer may be one burst.
const FULL_LOSS_RANGES: u32 = 6;

/// The losses of the round under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartupLoss {
    ranges: u32,
    /// One more than the newest lost packet's number.
    next_number: u64,
    /// The path has marked packets, which is congestion without a threshold (§3.7).
    marked: bool,
}

impl StartupLoss {
    pub(super) fn on_loss(&mut self, loss: &LossEvent<'_>) {
        for packet in loss.packets {
            if packet.number != self.next_number || self.ranges == 0 {
                self.ranges = self.ranges.saturating_add(1);
            }
            self.next_number = packet.number.saturating_add(1);
        }
    }

    pub(super) fn on_mark(&mut self) {
        self.marked = true;
    }

    /// Whether the round that `sample` ends was so lossy.
    fn is_high(&self, sample: &RateSample) -> bool {
        self.marked
            || (self.ranges >= FULL_LOSS_RANGES
                && long_term::is_inflight_too_high(sample.lost, sample.sent_inflight))
    }
}

impl Bbr3 {
    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, sample: Option<&RateSample>) {
        if let Some(sample) = sample
            && self.short_term.round_starts
        {
            self.check_startup_high_loss(sample);
            self.startup_loss = StartupLoss::default();
        }
        if self.model.phase == Phase::Startup && self.model.full_pipe {
            self.enter_drain();
        }
    }

    /// `CheckStartupHighLoss` (§5.3.1.3). The controller cannot know of a host without selective acknowledgments
    /// (`C.has_selective_acks`), for which the draft takes any loss in a recovery.
    ///
    /// A loss round begins with its first loss, so that at its end the flow has been recovering for a whole round.
    fn check_startup_high_loss(&mut self, sample: &RateSample) {
        if self.model.full_pipe || !self.startup_loss.is_high(sample) {
            return;
        }
        self.undo.on_leave(Phase::Startup);
        self.model.full_pipe = true;
        self.full_bandwidth.is_reached = true;
        let bdp = self.model.bdp(self.model.max_bandwidth, 1.0);
        self.long_term.inflight = bdp.max(self.short_term.inflight_latest);
    }
}
