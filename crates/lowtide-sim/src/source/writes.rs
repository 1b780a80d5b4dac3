//! Sequences of writes.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::SourceConfig;

/// When and how much an application writes, one write after the other.
#[derive(Clone, Debug)]
pub(crate) enum Writes {
    Steady(Steady),
    OnOff(OnOff),
    Video(Video),
    Framed(Framed),
}

impl Writes {
    /// The writes of an application that starts at `start`; `None` where it has all at once.
    pub(crate) fn new(config: SourceConfig, start: Time, packet: Bytes, seed: u64) -> Option<Self> {
        match config {
            SourceConfig::Bulk
            | SourceConfig::Sized(_)
            | SourceConfig::Live(_)
            | SourceConfig::Steps(_) => None,
            SourceConfig::ConstantRate(rate) => {
                Some(Self::Steady(Steady::new(start, rate, packet)))
            }
            SourceConfig::OnOff { on, off, rate } => {
                Some(Self::OnOff(OnOff::new(start, on, off, rate, packet)))
            }
            SourceConfig::Video { rate, fps, spread } => {
                Some(Self::Video(Video::new(start, rate, fps, spread, seed)))
            }
            SourceConfig::Frames {
                fps,
                bytes,
                key,
                group,
            } => Some(Self::Framed(Framed {
                start,
                fps,
                bytes,
                key,
                group,
                frames: 0,
            })),
        }
    }

    /// The next write; `None`: there is none any more.
    pub(crate) fn next(&mut self) -> Option<(Time, Bytes)> {
        match self {
            Self::Steady(s) => s.next(),
            Self::OnOff(s) => s.next(),
            Self::Video(s) => s.next(),
            Self::Framed(s) => s.next(),
        }
    }
}

/// Packets at equal distances.
#[derive(Clone, Debug)]
pub(crate) struct Steady {
    start: Time,
    rate: Rate,
    packet: Bytes,
    written: u64,
}

impl Steady {
    pub(super) fn new(start: Time, rate: Rate, packet: Bytes) -> Self {
        Self {
            start,
            rate,
            packet,
            written: 0,
        }
    }

    pub(super) fn next(&mut self) -> Option<(Time, Bytes)> {
        if self.rate.is_zero() {
            return None;
        }
        // From the start each time, so that rounding does not add up.
        let at = self.start + self.rate.time_for(self.packet * self.written);
        self.written += 1;
        Some((at, self.packet))
    }
}

/// Packets at equal distances in busy periods.
#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    busy: Steady,
    on: Duration,
    off: Duration,
}

impl OnOff {
    fn new(start: Time, on: Duration, off: Duration, rate: Rate, packet: Bytes) -> Self {
        Self {
            busy: Steady::new(start, rate, packet),
            on,
            off,
        }
    }

    fn next(&mut self) -> Option<(Time, Bytes)> {
        if self.on.is_zero() {
            return None;
        }
        let (at, bytes) = self.busy.next()?;
        if at.since(self.busy.start) < self.on {
            return Some((at, bytes));
        }
        self.busy.start += self.on + self.off;
        self.busy.written = 0;
        self.busy.next()
    }
}

/// Frames at equal distances, of random sizes.
#[derive(Clone, Debug)]
pub(crate) struct Video {
    start: Time,
    rate: Rate,
    fps: u32,
    spread: f64,
    frames: u64,
    rng: Pcg64Mcg,
}

impl Video {
    fn new(start: Time, rate: Rate, fps: u32, spread: f64, seed: u64) -> Self {
        let rng = Pcg64Mcg::seed_from_u64(seed ^ 0x0076_6964_656F);
        Self {
            start,
            rate,
            fps,
            spread: spread.clamp(0.0, 1.0),
            frames: 0,
            rng,
        }
    }

    fn next(&mut self) -> Option<(Time, Bytes)> {
        if self.fps == 0 || self.rate.is_zero() {
            return None;
        }
        let at = self.start + frame_time(self.frames, self.fps);
        self.frames += 1;
        let uniform = (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let factor = 1.0 + self.spread * (2.0 * uniform - 1.0);
        let mean = self.rate.as_f64() / f64::from(self.fps);
        Some((at, Bytes::new(((mean * factor) as u64).max(1))))
    }
}

/// Frames at equal distances, of set sizes.
#[derive(Clone, Debug)]
pub(crate) struct Framed {
    start: Time,
    fps: u32,
    bytes: Bytes,
    key: Bytes,
    group: u32,
    frames: u64,
}

impl Framed {
    fn next(&mut self) -> Option<(Time, Bytes)> {
        if self.fps == 0 {
            return None;
        }
        let at = self.start + frame_time(self.frames, self.fps);
        let is_key = self.frames.is_multiple_of(u64::from(self.group.max(1)));
        self.frames += 1;
        Some((at, if is_key { self.key } else { self.bytes }))
    }
}

/// When the n-th frame comes, counted from 0.
pub(super) fn frame_time(n: u64, fps: u32) -> Duration {
    Duration::from_nanos(n.saturating_mul(1_000_000_000) / u64::from(fps))
}
