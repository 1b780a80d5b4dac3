//! The draft's encoding (§3, Receive Timestamps).
//!
//! ```text
//! Report {
//!   Largest Acknowledged (i),
//!   Timestamp Range Count (i),
//!   Timestamp Range (..) ...,
//! }
//! Timestamp Range {
//!   Delta Largest Acknowledged (i),
//!   Timestamp Delta Count (i),
//!   Timestamp Delta (i) ...,
//! }
//! ```
//!
//! In the draft's frame the first field is that of the acknowledgment itself. Times are in ticks of
//! 2^[`EXPONENT`] µs; the first delta of a report counts from the receiver's basis, each other one
//! back from the time before it.

use std::fmt;

use lowtide_cc::units::{Duration, Time};

/// The most timestamps of one report (`max_receive_timestamps_per_ack`).
pub const MAX_PER_ACK: usize = 128;

/// A tick is 2^4 = 16 µs (`receive_timestamps_exponent`): a thousandth of what queues on
/// congested links last, and packets of 1500 bytes that follow each other at 12 Mbit/s or more take
/// one byte each.
pub const EXPONENT: u32 = 4;

/// A tick.
pub(super) const TICK: Duration = Duration::from_micros(1 << EXPONENT);

/// Most ranges of a report, and timestamps of a range: their counts take one byte each.
const ONE_BYTE_COUNT: u8 = 63;

/// Why a report cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The report ends within a field.
    Truncated,
    /// More timestamps or ranges than [`MAX_PER_ACK`].
    TooMany,
    /// A packet number below zero.
    Number,
    /// A time before the receiver's basis.
    Time,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("receive timestamps end within a field"),
            Self::TooMany => write!(f, "more than {MAX_PER_ACK} receive timestamps"),
            Self::Number => f.write_str("a receive timestamp of a packet number below zero"),
            Self::Time => f.write_str("a receive timestamp before the receiver's basis"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Bytes of the shortest varint (RFC 9000 §16).
fn varint_length(value: u64) -> usize {
    match value {
        0..0x40 => 1,
        0x40..0x4000 => 2,
        0x4000..0x4000_0000 => 4,
        _ => 8,
    }
}

/// Appends a varint; `value` is below 2^62.
fn put_varint(value: u64, out: &mut Vec<u8>) {
    let length = varint_length(value);
    let prefix = (length.trailing_zeros() as u64) << (8 * length - 2);
    let bytes = (value | prefix).to_be_bytes();
    out.extend_from_slice(&bytes[8 - length..]);
}

/// What has not been read yet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn varint(&mut self) -> Result<u64, Malformed> {
        let first = *self.0.first().ok_or(Malformed::Truncated)?;
        let length = 1 << (first >> 6);
        let (bytes, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(Malformed::Truncated)?;
        self.0 = rest;
        let first = u64::from(first & 0x3f);
        Ok(bytes[1..].iter().fold(first, |n, b| n << 8 | u64::from(*b)))
    }

    /// A count that together with `before` is not more than allowed.
    fn count(&mut self, before: u64) -> Result<u64, Malformed> {
        let count = self.varint()?;
        if count > MAX_PER_ACK as u64 - before {
            return Err(Malformed::TooMany);
        }
        Ok(count)
    }
}

/// Appends a report of `arrivals`, packet numbers and ticks above the basis, the last arrival first: of
/// as many as fit into `room` bytes, [`MAX_PER_ACK`] and 63 ranges. `largest`: no number is above it.
/// Appends nothing when none fits. Numbers are below 2^62.
pub fn encode(
    largest: u64,
    arrivals: impl IntoIterator<Item = (u64, u64)>,
    room: usize,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    put_varint(largest, out);
    let ranges_at = out.len();
    out.push(0);
    let mut count_at = None;
    let mut last = None;
    for (number, ticks) in arrivals.into_iter().take(MAX_PER_ACK) {
        let delta = last.map_or(ticks, |(_, before): (u64, u64)| {
            before.saturating_sub(ticks)
        });
        let follows = last.is_some_and(|(before, _)| number.checked_add(1) == Some(before));
        let range = count_at.filter(|at| follows && out[*at] < ONE_BYTE_COUNT);
        let below = largest.saturating_sub(number);
        let header = range.map_or(varint_length(below) + 1, |_| 0);
        let is_full = range.is_none() && out[ranges_at] == ONE_BYTE_COUNT;
        if is_full || out.len() - start + header + varint_length(delta) > room {
            break;
        }
        let at = range.unwrap_or_else(|| {
            out[ranges_at] += 1;
            put_varint(below, out);
            out.push(0);
            out.len() - 1
        });
        out[at] += 1;
        put_varint(delta, out);
        count_at = Some(at);
        last = Some((number, ticks));
    }
    if last.is_none() {
        out.truncate(start);
    }
}

/// Reads the report that `bytes` begins with; `each` gets every packet number with its arrival, on a
/// clock that begins at the receiver's basis, the last arrival first. Returns how many bytes it takes.
///
/// # Errors
/// When it is none; `each` may have been called before.
pub fn decode(bytes: &[u8], mut each: impl FnMut(u64, Time)) -> Result<usize, Malformed> {
    let mut reader = Reader(bytes);
    let largest = reader.varint()?;
    let ranges = reader.count(0)?;
    let mut total = 0;
    let mut ticks: Option<u64> = None;
    for _ in 0..ranges {
        let below = reader.varint()?;
        let first = largest.checked_sub(below).ok_or(Malformed::Number)?;
        let count = reader.count(total)?;
        total += count;
        for n in 0..count {
            let delta = reader.varint()?;
            let at = match ticks {
                None => delta,
                Some(before) => before.checked_sub(delta).ok_or(Malformed::Time)?,
            };
            ticks = Some(at);
            let number = first.checked_sub(n).ok_or(Malformed::Number)?;
            each(number, Time::ZERO + TICK * at);
        }
    }
    Ok(bytes.len() - reader.0.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ticks(at: Time) -> u64 {
        at.as_nanos() / TICK.as_nanos()
    }

    fn encoded(largest: u64, arrivals: &[(u64, u64)], room: usize) -> Vec<u8> {
        let mut out = vec![0xaa];
        encode(largest, arrivals.iter().copied(), room, &mut out);
        out.remove(0);
        assert!(out.len() <= room);
        out
    }

    fn decoded(bytes: &[u8]) -> Result<Vec<(u64, u64)>, Malformed> {
        let mut all = Vec::new();
        let taken = decode(bytes, |number, at| all.push((number, ticks(at))))?;
        assert_eq!(taken, bytes.len());
        Ok(all)
    }

    /// The draft's examples (§6), byte by byte: packets 87 to 91 and 96 to 100, and then 92 to 95 out of
    /// order.
    #[test]
    fn the_drafts_examples() {
        let in_order = [
            (100, 380),
            (99, 370),
            (98, 360),
            (97, 355),
            (96, 350),
            (91, 330),
            (90, 320),
            (89, 310),
            (88, 305),
            (87, 300),
        ];
        #[rustfmt::skip]
        let bytes = [
            0x40, 100, 2,
            0, 5, 0x41, 0x7c, 10, 10, 5, 5,
            9, 5, 20, 10, 10, 5, 5,
        ];
        assert_eq!(encoded(100, &in_order, 100), bytes);
        assert_eq!(decoded(&bytes).unwrap(), in_order);

        let late = [&[(95, 395), (94, 394), (93, 392), (92, 390)][..], &in_order].concat();
        #[rustfmt::skip]
        let bytes = [
            0x40, 100, 3,
            5, 4, 0x41, 0x8b, 1, 2, 2,
            0, 5, 10, 10, 10, 5, 5,
            9, 5, 20, 10, 10, 5, 5,
        ];
        assert_eq!(encoded(100, &late, 100), bytes);
        assert_eq!(decoded(&bytes).unwrap(), late);
        assert_eq!(encoded(100, &late, 10), bytes_of_the_last_four());
        assert_eq!(encoded(100, &late, 4), [0; 0], "not even one fits");
    }

    fn bytes_of_the_last_four() -> [u8; 10] {
        [0x40, 100, 1, 5, 4, 0x41, 0x8b, 1, 2, 2]
    }

    #[test]
    fn what_is_no_report_is_refused() {
        let whole = bytes_of_the_last_four();
        for end in 0..whole.len() {
            assert_eq!(decoded(&whole[..end]), Err(Malformed::Truncated));
        }
        // Counts that would never end, of ranges, of one range's timestamps, and of several'.
        let huge = [0xff; 8];
        let counts = [&[9, 0x40, 129][..], &[[9].as_slice(), &huge].concat()].map(decoded);
        assert_eq!(counts, [Err(Malformed::TooMany), Err(Malformed::TooMany)]);
        assert_eq!(decoded(&[9, 1, 0, 0x40, 129, 1]), Err(Malformed::TooMany));
        let two = [&[9, 2, 0, 1, 5, 0][..], &huge].concat();
        assert_eq!(decoded(&two), Err(Malformed::TooMany));
        assert_eq!(decoded(&[9, 1, 10, 1, 5]), Err(Malformed::Number));
        assert_eq!(decoded(&[1, 1, 0, 3, 5, 1, 1]), Err(Malformed::Number));
        assert_eq!(decoded(&[9, 1, 0, 2, 5, 6]), Err(Malformed::Time));
        // Times beyond any clock saturate.
        let far = [&[9, 1, 0, 1][..], &huge].concat();
        assert_eq!(decoded(&far).unwrap(), [(9, ticks(Time::MAX))]);
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_back_down_to_what_fits(
            steps in prop::collection::vec((0_u64..5, 0_u64..100_000), 0..300),
            newest in 2000_u64..1 << 40,
            basis in 0_u64..1 << 30,
            room in 0_usize..400,
        ) {
            let (mut number, mut at) = (newest, basis + 300 * 100_000);
            let arrivals: Vec<(u64, u64)> = steps.iter().map(|(gap, delta)| {
                number -= gap;
                at -= delta;
                (number, at)
            }).collect();
            let bytes = encoded(newest, &arrivals, room);
            let read = if bytes.is_empty() { Vec::new() } else { decoded(&bytes).unwrap() };
            prop_assert_eq!(&read[..], &arrivals[..read.len()]);
            if room > 300 && !arrivals.is_empty() {
                prop_assert!(read.len() >= arrivals.len().min(30));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut count = 0;
            let mut last = Time::MAX;
            let taken = decode(&bytes, |_, at| {
                count += 1;
                assert!(at <= last);
                last = at;
            });
            prop_assert!(count <= MAX_PER_ACK && taken.is_ok_and(|n| n <= bytes.len()) == taken.is_ok());
        }
    }
}
