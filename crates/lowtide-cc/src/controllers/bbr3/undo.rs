//! Undoing a loss recovery that proves spurious (§5.5.11).
//!
//! The host tells of a spurious timeout. That a fast recovery was spurious shows when all packets
//! that were given up in it are acknowledged after all.
//!
//! The draft saves the state when a recovery begins and also with the first loss of each round. A
//! probe that ends by loss starts a new round at once, and the next lost packet would overwrite
//! what is to be restored; so the state is saved only when a recovery begins.

use super::Bbr3;
use super::phase::Phase;
use crate::controller::{AckEvent, LossEvent};
use crate::units::{Bytes, Rate};

/// Ranges of lost packets that are remembered; a recovery with more is taken for real.
const MAX_RANGES: usize = 8;

/// The bounds before the recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saved {
    pub(super) bandwidth_shortterm: Rate,
    pub(super) inflight_shortterm: Bytes,
    pub(super) inflight_longterm: Bytes,
}

/// The state before the recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    pub(super) saved: Saved,
    /// The phase that was left because of the losses (`undo_state`).
    left: Option<Phase>,
    lost: LostPackets,
}

impl Undo {
    /// The recovery made the flow leave this phase.
    pub(super) fn on_leave(&mut self, phase: Phase) {
        self.left = Some(phase);
    }

    pub(super) fn on_loss(&mut self, loss: &LossEvent<'_>) {
        for packet in loss.packets {
            self.lost.insert(packet.number);
        }
    }

    /// True when the last of the packets given up has arrived after all.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>) -> bool {
        if self.lost.len == 0 {
            return false;
        }
        ack.packets
            .iter()
            .filter(|p| self.lost.take(p.number))
            .count()
            > 0
            && self.lost.missing == 0
    }
}

/// The packets given up in a recovery, in ranges of numbers.
#[derive(Clone, Copy, Debug, Default)]
struct LostPackets {
    /// First and last.
    ranges: [(u64, u64); MAX_RANGES],
    len: usize,
    /// How many have not arrived.
    missing: u64,
}

impl LostPackets {
    fn insert(&mut self, number: u64) {
        self.missing = self.missing.saturating_add(1);
        if let Some((_, last)) = self.ranges[..self.len].last_mut()
            && last.checked_add(1) == Some(number)
        {
            *last = number;
        } else if let Some(range) = self.ranges.get_mut(self.len) {
            *range = (number, number);
            self.len += 1;
        }
        // One that finds no place stays missing.
    }

    fn take(&mut self, number: u64) -> bool {
        let is_lost = self.ranges[..self.len]
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&number));
        if is_lost {
            self.missing = self.missing.saturating_sub(1);
        }
        is_lost
    }
}

impl Bbr3 {
    /// `SaveStateUponLoss` (§5.5.11.1), but for the window.
    pub(super) fn save_state(&mut self) {
        self.undo = Undo {
            saved: Saved {
                bandwidth_shortterm: self.short_term.bandwidth,
                inflight_shortterm: self.short_term.inflight,
                inflight_longterm: self.long_term.inflight,
            },
            left: None,
            lost: LostPackets::default(),
        };
    }

    /// `HandleSpuriousLossDetection` (§5.5.11.2).
    pub(super) fn undo_spurious_loss(&mut self) {
        let undo = core::mem::take(&mut self.undo);
        self.recovery.end();
        self.window.restore(&mut self.model);
        self.full_bandwidth.restart(Rate::ZERO);
        let saved = undo.saved;
        self.short_term
            .widen(saved.bandwidth_shortterm, saved.inflight_shortterm);
        let inflight = &mut self.long_term.inflight;
        *inflight = (*inflight).max(saved.inflight_longterm);
        match undo.left {
            Some(Phase::Startup) if self.model.phase != Phase::Startup => {
                self.model.full_pipe = false;
                if self.model.phase != Phase::ProbeRtt {
                    self.enter(Phase::Startup);
                }
            }
            Some(Phase::Up) if !matches!(self.model.phase, Phase::Up | Phase::ProbeRtt) => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
