//! Links that serve in batches, and acknowledgments that come in bunches.
//!
//! Packets that are acknowledged at one instant form a batch. A link that serves in slots is never
//! seen to idle: the batch comes when it would have come anyway, only smaller. What a batch that
//! emptied the queue falls short of the mean of those that did not is capacity that passed unused.
//! And between two batches the window must hold one, or the link starves for want of
//! acknowledgments.

/// The batch under way and the means of those before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Batches {
    current: f64,
    /// Mean over bytes, not over batches: half of the bytes come in batches at least as large.
    mean: f64,
    /// The same of batches that left packets in the queue; 0 before the first.
    full: f64,
}

impl Batches {
    /// A packet of `bytes` arrives; the link was `idle` before it or not. Returns the bytes that a
    /// batch which it ends left unused. The means fade over `memory` bytes.
    pub(super) fn on_arrival(
        &mut self,
        bytes: f64,
        begins_batch: bool,
        idle: bool,
        memory: f64,
    ) -> f64 {
        let ended = if begins_batch {
            core::mem::replace(&mut self.current, 0.0)
        } else {
            0.0
        };
        self.current += bytes;
        if ended == 0.0 {
            return 0.0;
        }
        let weight = ended / (ended + memory);
        self.mean += weight * (ended - self.mean);
        if idle {
            return (self.full - ended).max(0.0);
        }
        self.full = if self.full == 0.0 {
            ended
        } else {
            self.full + weight * (ended - self.full)
        };
        0.0
    }

    /// Mean bytes of a batch.
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }
}
