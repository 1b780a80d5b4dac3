//! HyStart++ (RFC 9406): leaves slow start when the RTT rises, by way of a conservative slow start
//! that can still find the rise to have been a false alarm.
//!
//! An acknowledgment may grow the window by all that it covers (L = ∞, §4.3), as is right for hosts
//! that pace. A host that does not and whose receivers acknowledge more than eight packets at once
//! would need L = 8.

use super::rtt_rise;
use crate::controller::{AckEvent, PacketSent};
use crate::mechanisms::RoundsByNumber;
use crate::units::Duration;

/// RTT samples that a round needs to be judged (`N_RTT_SAMPLE`; RFC 9406 §4.3, as all constants here).
const RTT_SAMPLES: u32 = 8;
/// How much slower conservative slow start grows.
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Rounds of it before congestion avoidance.
const CSS_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    SlowStart,
    /// Conservative slow start: the RTT before it, and the rounds spent.
    Conservative {
        baseline: Duration,
        rounds: u32,
    },
    Over,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::controllers::cubic) struct HyStartPlusPlus {
    stage: Stage,
    round: RoundsByNumber,
    last_round_min: Duration,
    round_min: Duration,
    samples: u32,
}

impl Default for HyStartPlusPlus {
    fn default() -> Self {
        Self {
            stage: Stage::SlowStart,
            round: RoundsByNumber::default(),
            last_round_min: Duration::MAX,
            round_min: Duration::MAX,
            samples: 0,
        }
    }
}

impl HyStartPlusPlus {
    pub(super) fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.round.on_packet_sent(sent);
    }

    /// By how many packets the window grows for `acked` packets, and whether slow start is then over.
    pub(super) fn growth(&mut self, ack: &AckEvent<'_>, acked: f64) -> (f64, bool) {
        if self.stage == Stage::Over {
            return (acked, false);
        }
        if self.round.on_ack(ack) {
            self.begin_round();
        }
        if let Some(rtt) = ack.rtt {
            self.round_min = self.round_min.min(rtt);
            self.samples += 1;
        }
        self.judge();
        match self.stage {
            Stage::Conservative { .. } => (acked / CSS_GROWTH_DIVISOR, false),
            Stage::SlowStart => (acked, false),
            Stage::Over => (acked, true),
        }
    }

    /// RFC 9406 §4.2: a round begins; the one in which conservative slow start began counts, too.
    fn begin_round(&mut self) {
        self.last_round_min = self.round_min;
        self.round_min = Duration::MAX;
        self.samples = 0;
        if let Stage::Conservative { rounds, .. } = &mut self.stage {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                self.stage = Stage::Over;
            }
        }
    }

    /// RFC 9406 §4.2: into conservative slow start where the RTT rose by `RttThresh`, and back.
    fn judge(&mut self) {
        if self.samples < RTT_SAMPLES {
            return;
        }
        match self.stage {
            Stage::SlowStart
                if self.last_round_min != Duration::MAX
                    && self.round_min >= self.last_round_min + rtt_rise(self.last_round_min) =>
            {
                self.stage = Stage::Conservative {
                    baseline: self.round_min,
                    rounds: 0,
                };
            }
            // The RTT fell again: a false alarm.
            Stage::Conservative { baseline, .. } if self.round_min < baseline => {
                self.stage = Stage::SlowStart;
            }
            _ => {}
        }
    }

    /// A loss or mark ends it (RFC 9406 §4.2), and permanently (§4.3: only the initial slow start).
    pub(super) fn finish(&mut self) {
        self.stage = Stage::Over;
    }

    pub(super) fn is_careful(&self) -> bool {
        matches!(self.stage, Stage::Conservative { .. })
    }
}
