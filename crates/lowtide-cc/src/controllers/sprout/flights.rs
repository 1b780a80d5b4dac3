//! Which packets were the last that the sender had to send for the time being.
//!
//! Sprout's packets carry the time until the next one leaves: after the last one that the window
//! allows, silence is the sender's, and says nothing of the link.

/// Packets that are remembered, a power of two; one that is acknowledged later than that is taken for
/// another.
const REMEMBERED: usize = 1 << 14;
const WORD: usize = u64::BITS as usize;

/// A bit for each of the newest packets.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    ends: [u64; REMEMBERED / WORD],
}

impl Default for Flights {
    fn default() -> Self {
        Self {
            ends: [0; REMEMBERED / WORD],
        }
    }
}

fn place(number: u64) -> (usize, u64) {
    let place = number as usize % REMEMBERED;
    (place / WORD, 1 << (place % WORD))
}

impl Flights {
    /// Packet `number` leaves; `ends`: nothing may follow it yet.
    pub(super) fn on_packet_sent(&mut self, number: u64, ends: bool) {
        let (word, bit) = place(number);
        if ends {
            self.ends[word] |= bit;
        } else {
            self.ends[word] &= !bit;
        }
    }

    /// Whether nothing could follow packet `number`.
    pub(super) fn ended_with(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.ends[word] & bit != 0
    }
}
