//! What a sender does when its timer expires.

use lowtide_cc::controller::TimeoutKind;

/// Which segment a probe repeats when there is nothing else to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Oldest,
    Newest,
}

/// What to do when nothing has come back for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// Send this many packets, regardless of window and pacer.
    Probe { packets: usize, repeat: Repeat },
    /// Everything that was in flight has been declared lost: TCP's.
    Timeout(TimeoutKind),
}
