//! Losses and delays at set moments, for tests that need just these.

use lowtide_cc::units::{Duration, Time};

/// The packets that leave a link from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Span {
    /// A number of packets.
    Packets(u64),
    /// The packets that leave within this time.
    Time(Duration),
}

/// The last `hit` of each `of` packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Share {
    /// How many.
    pub hit: u64,
    /// How many packets make one period, at least 1.
    pub of: u64,
}

impl Share {
    /// Every packet.
    pub const ALL: Self = Self { hit: 1, of: 1 };

    /// Whether a packet is one of them, by its place counted from 0.
    fn has(self, place: u64) -> bool {
        let of = self.of.max(1);
        place % of >= of.saturating_sub(self.hit)
    }
}

/// Packets that vanish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ScriptedLoss {
    /// From when on.
    pub from: Time,
    /// How many are counted.
    pub span: Span,
    /// Which of these.
    pub share: Share,
}

/// Packets that arrive late while those behind them pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HeldBack {
    /// From when on.
    pub from: Time,
    /// How many are counted.
    pub span: Span,
    /// Which of these.
    pub share: Share,
    /// How much later they arrive than they would.
    pub by: Duration,
}

/// What happens to a path's packets at set moments; empty for most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Script {
    /// Losses.
    pub losses: Vec<ScriptedLoss>,
    /// Delays.
    pub held_back: Vec<HeldBack>,
}

impl Script {
    /// Whether nothing happens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty() && self.held_back.is_empty()
    }

    /// Shifts the script to later.
    #[must_use]
    pub fn shifted(mut self, by: Duration) -> Self {
        for loss in &mut self.losses {
            loss.from += by;
        }
        for held in &mut self.held_back {
            held.from += by;
        }
        self
    }
}

/// A script at work.
#[derive(Clone, Debug)]
pub(crate) struct ScriptProcess {
    script: Script,
    /// Packets that each entry has counted.
    lost_of: Vec<u64>,
    held_of: Vec<u64>,
}

impl ScriptProcess {
    pub(crate) fn new(script: Script) -> Self {
        Self {
            lost_of: vec![0; script.losses.len()],
            held_of: vec![0; script.held_back.len()],
            script,
        }
    }

    /// How much later than usual a packet arrives that leaves the link now; `None`: never.
    pub(crate) fn delay(&mut self, now: Time) -> Option<Duration> {
        let mut is_lost = false;
        for (loss, count) in self.script.losses.iter().zip(&mut self.lost_of) {
            if let Some(place) = place(loss.from, loss.span, count, now) {
                is_lost |= loss.share.has(place);
            }
        }
        let mut late = Duration::ZERO;
        for (held, count) in self.script.held_back.iter().zip(&mut self.held_of) {
            let place = place(held.from, held.span, count, now);
            if place.is_some_and(|place| held.share.has(place)) {
                late = late.max(held.by);
            }
        }
        (!is_lost).then_some(late)
    }
}

/// Which packet of a span leaves now, counted from 0.
fn place(from: Time, span: Span, count: &mut u64, now: Time) -> Option<u64> {
    let is_in_span = now >= from
        && match span {
            Span::Packets(packets) => *count < packets,
            Span::Time(time) => now < from + time,
        };
    is_in_span.then(|| {
        *count += 1;
        *count - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn packets_are_lost_and_held_back_as_written() {
        let from = Time::ZERO + ms(10);
        let every_third = ScriptedLoss {
            from,
            span: Span::Time(ms(7)),
            share: Share { hit: 1, of: 3 },
        };
        let two = HeldBack {
            from,
            span: Span::Packets(2),
            share: Share::ALL,
            by: ms(25),
        };
        let script = Script {
            losses: vec![every_third],
            held_back: vec![two],
        };
        let mut process = ScriptProcess::new(script.clone());
        let fates: Vec<Option<u64>> = (8..20)
            .map(|n| process.delay(Time::ZERO + ms(n)))
            .map(|late| late.map(|late| late.as_nanos() / 1_000_000))
            .collect();
        let [on, late] = [Some(0), Some(25)];
        let expected = [on, on, late, late, None, on, on, None, on, on, on, on];
        assert_eq!(fates, expected);
        let mut later = ScriptProcess::new(script.shifted(ms(100)));
        assert_eq!(later.delay(from), Some(ms(0)));
        assert_eq!(later.delay(from + ms(100)), Some(ms(25)));
    }
}
