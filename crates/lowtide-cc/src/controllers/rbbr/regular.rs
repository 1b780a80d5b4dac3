//! Which packets left while the network was the limit.

use crate::controller::PeerSignal;

/// Times of which the packets are known. Where a link stands still, a sender's signal changes several
/// times within a round trip.
const KNOWN: usize = 8;

/// Numbers of the packets of a time in which the network was the limit.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: u64,
    to: u64,
}

/// Which packets left in the last times in which the network was the limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regular {
    /// The newest first.
    spans: [Span; KNOWN],
}

impl Default for Regular {
    fn default() -> Self {
        let none = Span {
            from: u64::MAX,
            to: 0,
        };
        Self {
            spans: [none; KNOWN],
        }
    }
}

impl Regular {
    /// Packet `number` leaves with this signal.
    pub(super) fn on_packet_sent(&mut self, number: u64, signal: PeerSignal) {
        let is_regular = self.spans[0].to == u64::MAX;
        match signal {
            PeerSignal::Regular if !is_regular => {
                self.spans.copy_within(..KNOWN - 1, 1);
                self.spans[0] = Span {
                    from: number,
                    to: u64::MAX,
                };
            }
            PeerSignal::Suspend if is_regular => self.spans[0].to = number,
            _ => {}
        }
    }

    /// Whether packet `number` left in one of them.
    pub(super) fn contains(&self, number: u64) -> bool {
        let span = self.spans.iter().find(|span| span.from <= number);
        span.is_some_and(|span| number < span.to)
    }

    /// Whether the packets from `first` to `last` left in the last one.
    pub(super) fn last_contains(&self, first: u64, last: u64) -> bool {
        self.spans[0].from <= first && last < self.spans[0].to
    }
}
