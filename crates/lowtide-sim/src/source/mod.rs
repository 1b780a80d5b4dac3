//! What a flow has to send.
//!
//! A [`Source`] is an application that writes to a flow. Everything but bulk data is a sequence of
//! writes, each at its time; they differ in when and how much.

mod config;
mod live;
mod steps;
mod text;
mod writes;

use lowtide_cc::units::{Bytes, Time};

pub use self::config::{MAX_STEPS, SourceConfig, Step, Steps};
use self::live::Live;
use self::steps::Stepped;
pub use self::text::{parse, parse_steps, parse_timed};
pub(crate) use self::writes::Writes;

#[derive(Clone, Debug)]
enum Kind {
    Bulk,
    /// What is left.
    Sized(Bytes),
    Live(Live),
    Stepped(Box<Stepped>),
    Writes {
        writes: Writes,
        /// Written and not yet taken.
        pending: Bytes,
        /// The write that comes next.
        next: Option<(Time, Bytes)>,
        /// A source whose frames are told apart.
        frames: Option<Box<Frames>>,
    },
}

/// The frames of a video that have not been taken whole: the writes again, behind those that are
/// pending, so that however much is pending takes no memory.
#[derive(Clone, Debug)]
struct Frames {
    writes: Writes,
    /// When the oldest of them was written.
    written_at: Time,
    /// Bytes of the frame that have not been taken.
    left: Bytes,
    /// Bytes that have been taken behind the frame.
    ahead: Bytes,
}

impl Frames {
    fn new(mut writes: Writes) -> Option<Self> {
        let (written_at, left) = writes.next()?;
        let ahead = Bytes::ZERO;
        Some(Self {
            writes,
            written_at,
            left,
            ahead,
        })
    }

    fn take(&mut self, bytes: Bytes) {
        self.ahead += bytes - self.left;
        self.left -= bytes;
    }

    fn completed(&mut self) -> Option<Time> {
        if !self.left.is_zero() {
            return None;
        }
        let completed = self.written_at;
        let (written_at, bytes) = self.writes.next()?;
        self.written_at = written_at;
        self.left = bytes;
        let ahead = std::mem::take(&mut self.ahead);
        self.take(ahead);
        Some(completed)
    }
}

/// An application at work.
#[derive(Clone, Debug)]
pub struct Source {
    kind: Kind,
}

impl Source {
    /// An application that starts at `start` and writes packets of `packet_size` where it writes
    /// packets.
    #[must_use]
    pub fn new(config: SourceConfig, start: Time, packet_size: Bytes, seed: u64) -> Self {
        let Some(mut writes) = Writes::new(config, start, packet_size, seed) else {
            let kind = match config {
                SourceConfig::Sized(bytes) => Kind::Sized(bytes),
                SourceConfig::Live(rate) => Kind::Live(Live::new(rate, start)),
                SourceConfig::Steps(steps) => {
                    Kind::Stepped(Box::new(Stepped::new(steps, start, packet_size)))
                }
                _ => Kind::Bulk,
            };
            return Self { kind };
        };
        let frames = match &writes {
            Writes::Video(_) | Writes::Framed(_) => Frames::new(writes.clone()).map(Box::new),
            Writes::Steady(_) | Writes::OnOff(_) => None,
        };
        let next = writes.next();
        Self {
            kind: Kind::Writes {
                writes,
                pending: Bytes::ZERO,
                next,
                frames,
            },
        }
    }

    /// What has been written by `now` and not yet taken.
    #[inline]
    pub fn available(&mut self, now: Time) -> Bytes {
        match &mut self.kind {
            Kind::Bulk => Bytes::MAX,
            Kind::Sized(left) => *left,
            Kind::Live(live) => live.available(now),
            Kind::Stepped(stepped) => stepped.available(now),
            Kind::Writes {
                writes,
                pending,
                next,
                ..
            } => {
                while let Some((at, bytes)) = *next
                    && at <= now
                {
                    *pending += bytes;
                    *next = writes.next();
                }
                *pending
            }
        }
    }

    /// Takes what will be sent; at most what is available.
    #[inline]
    pub fn take(&mut self, bytes: Bytes) {
        match &mut self.kind {
            Kind::Bulk => {}
            Kind::Sized(left) => *left -= bytes,
            Kind::Live(live) => live.take(bytes),
            Kind::Stepped(stepped) => stepped.take(bytes),
            Kind::Writes {
                pending, frames, ..
            } => {
                *pending -= bytes;
                if let Some(frames) = frames {
                    frames.take(bytes);
                }
            }
        }
    }

    /// When a frame was written of which the last part has been taken; each frame once, in their order.
    #[inline]
    pub fn completed_frame(&mut self) -> Option<Time> {
        match &mut self.kind {
            Kind::Bulk | Kind::Sized(_) | Kind::Live(_) | Kind::Stepped(_) => None,
            Kind::Writes { frames, .. } => frames.as_mut()?.completed(),
        }
    }

    /// When more will be written than was last available; `None`: never.
    #[inline]
    #[must_use]
    pub fn next_write(&self) -> Option<Time> {
        match &self.kind {
            Kind::Bulk | Kind::Sized(_) => None,
            Kind::Live(live) => Some(live.next_write()),
            Kind::Stepped(stepped) => stepped.next_write(),
            Kind::Writes { next, .. } => next.map(|(at, _)| at),
        }
    }

    /// Whether everything has been written and taken.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.kind {
            Kind::Bulk | Kind::Live(_) => false,
            Kind::Sized(left) => left.is_zero(),
            Kind::Stepped(stepped) => stepped.is_finished(),
            Kind::Writes { pending, next, .. } => next.is_none() && pending.is_zero(),
        }
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::{Duration, Rate};

    use super::*;

    fn written(config: SourceConfig, until: Time) -> Bytes {
        let start = Time::ZERO + Duration::from_secs(1);
        Source::new(config, start, Bytes::new(1_000), 7).available(until)
    }

    #[test]
    fn each_source_writes_its_rate_at_its_times() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let rate = Rate::from_mbps(8); // 1000 bytes a millisecond
        assert_eq!(
            written(SourceConfig::Sized(Bytes::new(5)), at(1_000)),
            Bytes::new(5)
        );
        assert_eq!(
            written(SourceConfig::ConstantRate(rate), at(999)),
            Bytes::ZERO
        );
        assert_eq!(
            written(SourceConfig::ConstantRate(rate), at(1_010)),
            Bytes::new(11_000)
        );
        let (on, off) = (Duration::from_millis(10), Duration::from_millis(90));
        let on_off = SourceConfig::OnOff { on, off, rate };
        assert_eq!(written(on_off, at(1_099)), Bytes::new(10_000));
        assert_eq!(written(on_off, at(1_104)), Bytes::new(15_000));
        assert_eq!(
            written(SourceConfig::ConstantRate(Rate::ZERO), at(9_999)),
            Bytes::ZERO
        );

        let even = SourceConfig::Video {
            rate,
            fps: 25,
            spread: 0.0,
        };
        assert_eq!(
            written(even, at(1_000)),
            Bytes::new(40_000),
            "the first frame"
        );
        assert_eq!(written(even, at(1_039)), Bytes::new(40_000));
        assert_eq!(written(even, at(1_960)), Bytes::new(1_000_000));
        let spread = SourceConfig::Video {
            rate,
            fps: 25,
            spread: 0.5,
        };
        let mean = written(spread, at(400_960)).as_f64() / 10_000.0;
        assert!((39_000.0..41_000.0).contains(&mean), "{mean}");
    }

    #[test]
    fn what_is_taken_is_gone_and_the_next_write_is_announced() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let config = SourceConfig::ConstantRate(Rate::from_mbps(8));
        let mut source = Source::new(config, Time::ZERO, Bytes::new(1_000), 0);
        assert_eq!(source.available(at(1)), Bytes::new(2_000));
        source.take(Bytes::new(1_500));
        assert_eq!(source.available(at(1)), Bytes::new(500));
        assert_eq!(source.next_write(), Some(at(2)));
        assert!(!source.is_finished());
        let video = SourceConfig::Video {
            rate: Rate::from_mbps(8),
            fps: 25,
            spread: 0.0,
        };
        // Frames of 40 kB, 40 ms apart; 90 kB have two of them.
        let mut source = Source::new(video, Time::ZERO, Bytes::new(1_000), 0);
        assert_eq!(source.available(at(90)), Bytes::new(120_000));
        source.take(Bytes::new(39_999));
        assert_eq!(source.completed_frame(), None);
        source.take(Bytes::new(50_001));
        let completed = [(); 3].map(|()| source.completed_frame());
        assert_eq!(completed, [Some(at(0)), Some(at(40)), None]);
        source.take(Bytes::new(30_000));
        assert_eq!(source.completed_frame(), Some(at(80)));
        let mut sized = Source::new(SourceConfig::Sized(Bytes::new(9)), at(0), Bytes::new(5), 0);
        sized.take(Bytes::new(9));
        assert!(sized.is_finished());
    }
}
