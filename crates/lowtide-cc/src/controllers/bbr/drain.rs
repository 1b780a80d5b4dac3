//! Drain: send slower than the bottleneck until the queue of Startup is gone.

use super::model::Model;
use crate::units::{Bytes, Rate};

/// The inverse of Startup's gain: removes the queue in one round (Linux `bbr_drain_gain`).
pub(super) const GAIN: f64 = 1.0 / super::startup::GAIN;

/// Whether no more than the BDP at `bandwidth` is left in flight.
#[inline]
pub(super) fn is_done(inflight: Bytes, bandwidth: Rate, model: &Model) -> bool {
    inflight <= model.inflight_at(bandwidth, 1.0)
}
