//! s2n-quic's limits, as the controllers need them.

use std::time::Duration;

use s2n_quic::provider::limits::Limits;

/// How long an endpoint holds back an acknowledgment. s2n-quic's own 25 ms are one for every tenth packet:
/// RBBR then carries 11 of 20 Mbit/s (40 ms RTT), since both its filters see a sender that stands still
/// between acknowledgments. s2n-quic's timers count milliseconds; less than one is none.
pub const MAX_ACK_DELAY: Duration = Duration::from_millis(1);

/// s2n-quic's default limits, with acknowledgments as frequent as the controllers need them:
/// `with_limits(lowtide_quic::limits())`. They are the receiver's: give them to both ends.
///
/// Also set `with_max_send_buffer_size` above the largest window, or a bulk sender counts as
/// application-limited.
///
/// # Panics
/// Never: s2n-quic accepts any delay below 16 s.
#[must_use]
pub fn limits() -> Limits {
    Limits::new()
        .with_max_ack_delay(MAX_ACK_DELAY)
        .expect("a millisecond is a valid delay")
}
