//! Receivers that say what is not so, to get more than their share.

use lowtide_cc::Ecn;
use lowtide_cc::units::{Duration, Time};

use super::ranges::Range;

/// What a receiver lies about; over QUIC only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)
)]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Lie {
    /// Acknowledges what it never got (optimistic acknowledgments, RFC 9000 §21.4): all up to the
    /// newest packet.
    Losses,
    /// Reports marked packets as not marked (RFC 9002 §8.3).
    Marks,
    /// Reports that each packet took as long as the one that took the least, so that none ever
    /// queued.
    Timestamps,
}

/// A lie at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Liar {
    lie: Lie,
    /// What packets carry that are not marked.
    codepoint: Ecn,
    least: Duration,
}

impl Liar {
    pub(super) fn new(lie: Lie) -> Self {
        Self {
            lie,
            codepoint: Ecn::Ect0,
            least: Duration::MAX,
        }
    }

    /// The codepoint that a packet is said to have had.
    pub(super) fn ecn(&mut self, ecn: Ecn) -> Ecn {
        match ecn {
            Ecn::Ce if self.lie == Lie::Marks => self.codepoint,
            Ecn::Ce | Ecn::NotEct => ecn,
            Ecn::Ect0 | Ecn::Ect1 => {
                self.codepoint = ecn;
                ecn
            }
        }
    }

    /// When a packet is said to have arrived.
    pub(super) fn arrival(&mut self, sent_at: Time, now: Time) -> Time {
        if self.lie != Lie::Timestamps {
            return now;
        }
        self.least = self.least.min(now.since(sent_at));
        sent_at + self.least
    }

    /// What is said to have arrived, of what has; `end` is behind the newest packet.
    pub(super) fn ranges(&self, end: u64) -> Option<Range> {
        (self.lie == Lie::Losses).then_some(Range { start: 0, end })
    }
}
