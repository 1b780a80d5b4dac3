//! A report as a frame of its own, for stacks that let nobody add fields to their ACK frames.
//!
//! ```text
//! Timestamps Frame {
//!   Type (i) = 0x1254,   2 bytes, which read RT
//!   Length (i),          of the report, always 2 bytes
//!   Report (..),
//! }
//! ```
//!
//! `docs/receive-timestamps.md` describes it.

use super::arrivals::Arrivals;

/// The type, as a two-byte varint.
const TYPE: [u8; 2] = *b"RT";

/// Prefix of a two-byte varint (RFC 9000 §16).
const TWO_BYTES: u16 = 0x4000;

/// Type and length.
const HEADER: usize = 4;

/// Appends the frame that an acknowledgment should carry, of `room` bytes at most; nothing when there is
/// nothing new to report, or not enough room.
pub fn write(arrivals: &mut Arrivals, room: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&TYPE);
    out.extend_from_slice(&[0; 2]);
    arrivals.report(room.saturating_sub(HEADER), out);
    match out.len() - start - HEADER {
        0 => out.truncate(start),
        // A report has less than 2^14 bytes.
        length => {
            let length = TWO_BYTES | length as u16;
            out[start + 2..start + HEADER].copy_from_slice(&length.to_be_bytes());
        }
    }
}

/// The report in the frame that `payload` begins with, and what comes behind the frame; `None` when it
/// begins with another, or with a part of one.
#[must_use]
pub fn split(payload: &[u8]) -> Option<(&[u8], &[u8])> {
    let (header, rest) = payload.split_first_chunk::<HEADER>()?;
    let [first, second, high, low] = *header;
    let length = u16::from_be_bytes([high, low]).checked_sub(TWO_BYTES)?;
    if [first, second] != TYPE || length >= TWO_BYTES {
        return None;
    }
    rest.split_at_checked(usize::from(length))
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Time;

    use super::*;

    #[test]
    fn a_frame_begins_with_its_type_and_the_length_of_its_report() {
        let mut arrivals = Arrivals::default();
        arrivals.on_packet(9, Time::ZERO);
        let mut bytes = b"before".to_vec();
        write(&mut arrivals, 8, &mut bytes);
        assert_eq!(bytes, b"before", "no room");
        arrivals.on_packet(10, Time::ZERO);
        write(&mut arrivals, 11, &mut bytes);
        assert_eq!(bytes, b"beforeRT\x40\x06\x0a\x01\0\x02\x01\0");
        write(&mut arrivals, 100, &mut bytes);
        bytes.extend_from_slice(b"behind");
        let frame = &bytes[6..];
        assert_eq!(split(frame), Some((&frame[4..10], &b"behind"[..])));
        for end in 0..10 {
            assert_eq!(split(&frame[..end]), None);
        }
        for other in [*b"RR\x40\x01", *b"RT\0\x01", *b"RT\x80\x01"] {
            assert_eq!(split(&[&other[..], &[0; 9]].concat()), None);
        }
    }
}
