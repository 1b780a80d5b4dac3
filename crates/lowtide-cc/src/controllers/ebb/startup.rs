//! Startup: the window doubles in a round trip until packets queue.
//!
//! It ends when a stretch of packets has met a queue, not at the end of a round: the queue grows by a
//! round trip for each round trip that it goes unnoticed. One packet that waited is chance.

use crate::units::Duration;

/// Queueing delay above which a packet counts towards the end of Startup, as a share of the min
/// RTT.
const QUEUE: f64 = 0.125;
/// Queueing delay that timers and schedulers cause on short paths, and that does not count.
const NOISE: Duration = Duration::from_millis(1);
/// Share of a window that must have queued, without idle time, to end Startup.
const STRETCH: f64 = 0.125;
/// Packets that must have queued, without idle time, to end Startup.
const PACKETS: f64 = 10.0;
/// The window and the pacing rate grow to at most this multiple of what is delivered.
pub(super) const GAIN: f64 = 2.0;
pub(super) const PACING: f64 = 3.0;

/// Bytes in a row that met a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Startup {
    queued: f64,
}

impl Startup {
    /// A packet of `bytes` arrived that had met a queueing delay, with the link idle before it or not.
    pub(super) fn on_arrival(
        &mut self,
        bytes: f64,
        queueing: Duration,
        min_rtt: Duration,
        idle: bool,
    ) {
        if !idle && queueing > min_rtt.mul_f64(QUEUE).max(NOISE) {
            self.queued += bytes;
        } else {
            self.queued = 0.0;
        }
    }

    /// Whether the link is full.
    pub(super) fn has_filled(&self, cwnd: f64, packet: f64) -> bool {
        self.queued > (STRETCH * cwnd).max(PACKETS * packet)
    }
}
