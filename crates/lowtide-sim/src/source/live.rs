//! A live encoder that follows its transport.

use lowtide_cc::units::{Bytes, Rate, Time};

use super::writes::frame_time;

const FPS: u32 = 30;

/// A live encoder at work. A codec that follows the rate which its transport gets without any
/// delay: what waits at the sender is never older than the time that one frame takes to leave.
#[derive(Clone, Debug)]
pub(super) struct Live {
    start: Time,
    /// Bytes of a frame at the highest rate.
    frame: Bytes,
    /// Frames that were due.
    frames: u64,
    /// Written and not yet taken.
    pending: Bytes,
}

impl Live {
    pub(super) fn new(rate: Rate, start: Time) -> Self {
        Self {
            start,
            frame: Bytes::new(((rate.as_f64() / f64::from(FPS)) as u64).max(1)),
            frames: 0,
            pending: Bytes::ZERO,
        }
    }

    pub(super) fn next_write(&self) -> Time {
        self.start + frame_time(self.frames, FPS)
    }

    pub(super) fn available(&mut self, now: Time) -> Bytes {
        while self.next_write() <= now {
            self.frames += 1;
            self.pending = self.frame;
        }
        self.pending
    }

    pub(super) fn take(&mut self, bytes: Bytes) {
        self.pending -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Duration;

    use super::*;

    #[test]
    fn it_encodes_no_more_than_was_taken() {
        let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
        let mut live = Live::new(Rate::from_mbps(12), at(0));
        assert_eq!(live.available(at(0)), Bytes::new(50_000));
        live.take(Bytes::new(20_000));
        assert_eq!(live.available(at(33)), Bytes::new(30_000));
        assert_eq!(live.available(at(34)), Bytes::new(50_000));
        // Nothing taken, nothing encoded, however long that lasts.
        assert_eq!(live.available(at(1_000)), Bytes::new(50_000));
        assert!(live.next_write() > at(1_000));
    }
}
