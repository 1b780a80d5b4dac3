//! What a timeout that proves spurious gives back.
//!
//! Losses that a timeout declares are reported just before it and belong to it, so the state to
//! give back is that from before them. Repeated timeouts are undone to before the first.

use crate::units::Time;

/// Keeps a controller's state `S` from before a timeout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo<S> {
    /// The state before the last reduction, and when that was.
    before_reduction: Option<(Time, S)>,
    /// The state before a timeout, until an acknowledgment has come.
    before_timeout: Option<S>,
}

impl<S: Copy> Default for Undo<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Copy> Undo<S> {
    pub(crate) const fn new() -> Self {
        Self {
            before_reduction: None,
            before_timeout: None,
        }
    }

    /// A congestion event is about to change `state`.
    pub(crate) fn before_reduction(&mut self, now: Time, state: S) {
        self.before_reduction = Some((now, state));
    }

    /// A timeout is about to change `state`.
    pub(crate) fn before_timeout(&mut self, now: Time, state: S) {
        let before = match self.before_reduction {
            Some((at, before)) if at == now => before,
            _ => state,
        };
        self.before_timeout.get_or_insert(before);
    }

    /// An acknowledgment came. The host judges a timeout by the first one, before it comes here.
    #[inline]
    pub(crate) fn on_ack(&mut self) {
        self.before_timeout = None;
    }

    /// No acknowledgment has come since a timeout. When the timer expires again, ssthresh is held
    /// (RFC 5681 §3.1).
    pub(crate) fn is_pending(&self) -> bool {
        self.before_timeout.is_some()
    }

    /// The last timeout was spurious: the state from before it.
    pub(crate) fn take(&mut self) -> Option<S> {
        self.before_timeout.take()
    }
}
