//! What a sender has been reported.

use lowtide_cc::units::Time;

use super::encoding::{Malformed, decode};

/// The newest report of a peer: at most [`MAX_PER_ACK`](super::MAX_PER_ACK) packet numbers with the times of their arrival.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of numbers.
    arrivals: Vec<(u64, Time)>,
}

impl Report {
    /// Reads the report that `bytes` begins with in the place of the last one. Returns how many bytes it
    /// takes.
    ///
    /// # Errors
    /// When it is none. Nothing is known of any packet then.
    pub fn read(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let arrivals = &mut self.arrivals;
        arrivals.clear();
        let taken = decode(bytes, |number, at| arrivals.push((number, at)));
        if taken.is_err() {
            arrivals.clear();
        }
        arrivals.sort_unstable();
        taken
    }

    /// When packet `number` arrived, on the peer's clock: see
    /// [`AckedPacket::received_at`](lowtide_cc::controller::AckedPacket::received_at).
    #[inline]
    #[must_use]
    pub fn received_at(&self, number: u64) -> Option<Time> {
        let found = self.arrivals.binary_search_by_key(&number, |(n, _)| *n);
        found.ok().map(|at| self.arrivals[at].1)
    }
}
