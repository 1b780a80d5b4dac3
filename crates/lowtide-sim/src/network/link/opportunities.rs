//! Links of delivery opportunities, as recorded by Saturator and replayed by mahimahi.
//!
//! An opportunity is a moment at which the link may send a fixed number of bytes (1504 in
//! mahimahi).
//! - It serves packets that arrived before it, not at the same instant.
//! - What it leaves over serves the next packet, if that one was already waiting.
//! - A packet that it cannot finish continues with the next opportunity.
//! - One that finds an empty queue is lost.
//! - The trace repeats: its last timestamp is the zero of the next round.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use super::error::{LinkError, MAX_TRACE_MS};
use super::slot::Slot;

const NANOS_PER_MS: u64 = 1_000_000;

/// What mahimahi gives each opportunity, in bytes.
pub const MAHIMAHI_OPPORTUNITY: Bytes = Bytes::new(1504);

/// The oracle splits a packet over two opportunities only where that saves at least this part of
/// the packet; otherwise the packet would wait in the queue to save next to nothing.
const WORTH_SPLITTING: u64 = 8;

/// A trace of opportunities.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Opportunities {
    /// Milliseconds from the start, not decreasing.
    times: Vec<u32>,
    #[cfg_attr(feature = "serde", serde(skip))]
    /// Per millisecond of a round, how many opportunities come up to and with it.
    up_to: Vec<u32>,
    size: Bytes,
}

impl Opportunities {
    /// A trace from its timestamps in milliseconds, `size` bytes an opportunity.
    ///
    /// # Errors
    /// When there is no timestamp, one is lower than that before it, the last is zero or above
    /// [`MAX_TRACE_MS`], or `size` is zero.
    pub fn new(times: Vec<u32>, size: Bytes) -> Result<Self, LinkError> {
        let Some(&last) = times.last() else {
            return Err(LinkError::NoOpportunities);
        };
        if let Some(at) = times.windows(2).position(|w| w[1] < w[0]) {
            return Err(LinkError::OpportunitiesDecrease(at + 1));
        }
        if last == 0 {
            return Err(LinkError::EmptyRepetition);
        }
        if last > MAX_TRACE_MS {
            return Err(LinkError::TraceTooLong(last));
        }
        if size.is_zero() {
            return Err(LinkError::NothingEverLeaves);
        }
        let mut up_to = vec![0_u32; last as usize + 1];
        for &t in &times {
            up_to[t as usize] += 1;
        }
        let mut sum = 0;
        for count in &mut up_to {
            sum += *count;
            *count = sum;
        }
        Ok(Self { times, up_to, size })
    }

    /// Milliseconds of the opportunities in one round.
    #[must_use]
    pub fn times_ms(&self) -> &[u32] {
        &self.times
    }

    /// Length of a round.
    #[must_use]
    pub fn period(&self) -> Duration {
        Duration::from_millis(u64::from(self.period_ms()))
    }

    /// Bytes of an opportunity.
    #[must_use]
    pub fn size(&self) -> Bytes {
        self.size
    }

    fn period_ms(&self) -> u32 {
        self.times[self.times.len() - 1]
    }

    /// When opportunity `n` of all rounds comes.
    #[inline]
    fn time_of(&self, n: u64) -> Time {
        let count = self.times.len() as u64;
        let (round, index) = if n < count {
            (0, n)
        } else {
            (n / count, n % count)
        };
        let ms = (round * u64::from(self.period_ms()))
            .saturating_add(u64::from(self.times[index as usize]));
        Time::from_nanos(ms.saturating_mul(NANOS_PER_MS))
    }

    /// How many opportunities of all rounds come until `t`, that moment included.
    #[inline]
    fn count_until(&self, t: Time) -> u64 {
        let ms = t.as_nanos() / NANOS_PER_MS;
        let period = u64::from(self.period_ms());
        let (round, within) = (ms / period, ms % period);
        // A round's last millisecond is the zero of the next; its opportunities are in the product.
        round * self.times.len() as u64 + u64::from(self.up_to[within as usize])
    }

    pub(super) fn volume_between(&self, from: Time, to: Time) -> Bytes {
        self.size * self.count_until(to).saturating_sub(self.count_until(from))
    }

    pub(super) fn mean_rate(&self) -> Rate {
        Rate::from_volume(self.size * self.times.len() as u64, self.period())
    }

    pub(super) fn freshest_arrival(&self, now: Time) -> Time {
        match self.count_until(now).checked_sub(1) {
            Some(n) => just_before(self.time_of(n)),
            None => Time::ZERO,
        }
    }
}

#[inline]
fn just_before(t: Time) -> Time {
    t - Duration::from_nanos(1)
}

/// Where the service of a trace stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpportunityCursor {
    /// Number of the next unused opportunity.
    next: u64,
    /// Bytes left of the one before it.
    left: Bytes,
}

impl OpportunityCursor {
    pub(super) fn new() -> Self {
        Self {
            next: 0,
            left: Bytes::ZERO,
        }
    }

    pub(super) fn serve(
        &mut self,
        trace: &Opportunities,
        now: Time,
        bytes: Bytes,
        backlogged: bool,
    ) -> Time {
        if !backlogged {
            self.left = Bytes::ZERO;
            self.next = self.next.max(trace.count_until(now));
        } else if self.left >= bytes {
            self.left -= bytes;
            return now;
        }
        let need = bytes - self.left;
        let count = need.get().div_ceil(trace.size.get()).max(1);
        self.next += count;
        self.left = trace.size * count - need;
        trace.time_of(self.next - 1)
    }

    /// When the next packet can begin to leave. What is left of an opportunity is no moment of its own
    /// where it is next to nothing: it goes to that packet all the same, with the next one.
    pub(super) fn next_moment(
        &mut self,
        trace: &Opportunities,
        now: Time,
        backlogged: bool,
    ) -> Time {
        if !backlogged {
            self.left = Bytes::ZERO;
            self.next = self.next.max(trace.count_until(now));
        } else if self.left.get() >= trace.size.get().div_ceil(WORTH_SPLITTING) {
            return now;
        }
        trace.time_of(self.next)
    }

    pub(super) fn next_slot(
        &mut self,
        trace: &Opportunities,
        not_before: Time,
        bytes: Bytes,
    ) -> Slot {
        let shared = self.next.checked_sub(1).map(|n| trace.time_of(n));
        if let Some(shared) = shared.filter(|t| just_before(*t) >= not_before)
            && self.left.get() >= bytes.get().div_ceil(WORTH_SPLITTING)
        {
            let departure = self.serve(trace, shared, bytes, true);
            return Slot {
                arrive_by: just_before(shared),
                departure,
            };
        }
        self.left = Bytes::ZERO;
        self.next = self.next.max(trace.count_until(not_before));
        let arrive_by = just_before(trace.time_of(self.next));
        let departure = self.serve(trace, arrive_by, bytes, true);
        Slot {
            arrive_by,
            departure,
        }
    }
}
