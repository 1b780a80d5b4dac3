//! Which packets are lost, and when to ask: QUIC's rules (RFC 9002 §6) and TCP's (RFC 8985).
//!
//! Both judge a transmission by newer ones that were delivered. Numbers grow with the time of
//! sending, so that the first transmission in flight that is not lost ends the search.

use lowtide_cc::units::{Duration, Time};

use super::flight::{Fate, Flight};
use super::rtt::RttEstimator;

/// Packets that may overtake before one counts as lost (RFC 9002 §6.1.1; RFC 8985's DupThresh).
const REORDERING_THRESHOLD: u64 = 3;
/// Timer granularity (RFC 9002 §6.1.2).
pub(crate) const GRANULARITY: Duration = Duration::from_millis(1);
/// Largest factor of RACK's reordering window (keeps it within one RTT, RFC 8985 §6.2).
const MAX_WINDOW_FACTOR: u64 = 4;

/// The transport's rule for the time and distance after which a packet is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LossRule {
    /// RFC 9002 §6.1.
    Quic,
    /// RFC 8985 §6.2.
    Rack(Rack),
}

/// State of RACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// RTT of the newest delivered transmission.
    rtt: Duration,
    /// A segment arrived after a later one without having been retransmitted.
    reordering_seen: bool,
    /// The reordering window in quarters of the minimum RTT; grows with spurious retransmissions.
    window_factor: u64,
}

/// Finds losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossDetection {
    rule: LossRule,
    /// The newest transmission known to be delivered.
    newest_delivered: Option<u64>,
    /// No transmission below is in flight.
    search_from: u64,
    /// When the oldest transmission in flight will count as lost, if nothing else happens.
    deadline: Option<Time>,
}

impl LossDetection {
    pub(crate) fn quic() -> Self {
        Self {
            rule: LossRule::Quic,
            newest_delivered: None,
            search_from: 0,
            deadline: None,
        }
    }

    pub(crate) fn rack() -> Self {
        Self {
            rule: LossRule::Rack(Rack {
                window_factor: 1,
                ..Rack::default()
            }),
            newest_delivered: None,
            search_from: 0,
            deadline: None,
        }
    }

    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    pub(crate) fn newest_delivered(&self) -> Option<u64> {
        self.newest_delivered
    }

    /// A transmission was delivered.
    #[inline]
    pub(crate) fn on_delivered(
        &mut self,
        now: Time,
        number: u64,
        sent_at: Time,
        retransmission: bool,
        rtt: &RttEstimator,
    ) {
        if let LossRule::Rack(rack) = &mut self.rule {
            let sample = now.since(sent_at);
            // RFC 8985 §6.2 step 2: too quick an answer is one to an earlier transmission.
            if retransmission && sample < rtt.min() {
                return;
            }
            if self.newest_delivered.is_none_or(|n| number >= n) {
                rack.rtt = sample;
            } else if !retransmission {
                rack.reordering_seen = true;
            }
        }
        self.newest_delivered = Some(self.newest_delivered.map_or(number, |n| n.max(number)));
    }

    /// Transmissions given up before are in flight again.
    pub(crate) fn search_again(&mut self) {
        self.search_from = 0;
    }

    /// A retransmission turned out to have been needless.
    pub(crate) fn on_spurious_retransmission(&mut self) {
        if let LossRule::Rack(rack) = &mut self.rule {
            rack.window_factor = (rack.window_factor + 1).min(MAX_WINDOW_FACTOR);
        }
    }

    /// Appends the numbers of all transmissions that are lost now, and sets the deadline for the
    /// next. `hurry`: TCP is in recovery or has seen three segments overtake.
    pub(crate) fn detect(
        &mut self,
        now: Time,
        flight: &Flight,
        rtt: &RttEstimator,
        hurry: bool,
        lost: &mut Vec<u64>,
    ) {
        self.deadline = None;
        let Some(newest) = self.newest_delivered else {
            return;
        };
        let (delay, distance) = match &self.rule {
            LossRule::Quic => {
                let delay = (rtt.latest().max(rtt.smoothed()) * 9)
                    .div(8)
                    .max(GRANULARITY);
                (delay, Some(REORDERING_THRESHOLD))
            }
            LossRule::Rack(rack) => {
                let window = if hurry && !rack.reordering_seen {
                    Duration::ZERO
                } else {
                    let base = if rtt.has_sample() {
                        rtt.min()
                    } else {
                        Duration::ZERO
                    };
                    (base * rack.window_factor).div(4).min(rtt.smoothed())
                };
                (rack.rtt + window, None)
            }
        };
        let mut number = self.search_from.max(flight.base());
        let mut in_flight_from = None;
        while number < newest {
            let Some(t) = flight.get(number) else {
                break;
            };
            if t.fate == Fate::InFlight {
                let due = t.sent_at + delay;
                let is_lost = due <= now || distance.is_some_and(|d| number + d <= newest);
                if !is_lost {
                    self.deadline = Some(due);
                    in_flight_from = Some(number);
                    break;
                }
                lost.push(number);
            }
            number += 1;
        }
        self.search_from = in_flight_from.unwrap_or(number);
    }
}
