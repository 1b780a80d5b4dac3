//! RBBR's frame on the wire; `docs/rbbr-frame.md` describes it.
//!
//! ```text
//! RBBR Frame {
//!   Type (i) = 0x1252..0x1253,   2 bytes
//!   Rate (64),                   bytes per second, network byte order
//! }
//! ```

use crate::controller::PeerSignal;
use crate::units::Rate;

/// Bytes of a frame.
pub const LENGTH: usize = 10;

/// Type of a regular frame: the network limits its sender. As a two-byte varint it reads `RR`.
pub const REGULAR: u64 = 0x1252;
/// Type of a suspend frame: its sender limits itself. As a two-byte varint it reads `RS`.
pub const SUSPEND: u64 = 0x1253;

/// Prefix of a two-byte varint (RFC 9000 §16).
const TWO_BYTES: u64 = 0x4000;

/// What the extension's frame says. One frame speaks for both roles of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Signal of the endpoint as a sender of data: whether the sender or the path limits it (Algs.
    /// 2 and 3).
    pub signal: PeerSignal,
    /// Estimate of the endpoint as a receiver of data: what the path carries. Zero: none yet.
    pub rate: Rate,
}

impl Frame {
    /// The frame's bytes.
    #[must_use]
    pub fn encode(self) -> [u8; LENGTH] {
        let frame_type = match self.signal {
            PeerSignal::Regular => REGULAR,
            PeerSignal::Suspend => SUSPEND,
        };
        let [.., high, low] = (TWO_BYTES | frame_type).to_be_bytes();
        let mut bytes = [high, low, 0, 0, 0, 0, 0, 0, 0, 0];
        bytes[2..].copy_from_slice(&self.rate.as_bytes_per_sec().to_be_bytes());
        bytes
    }

    /// The frame at the beginning of `payload`; `None` when there is another or a part of one. Only
    /// the shortest encoding of the type is accepted (RFC 9000 §12.4).
    #[must_use]
    pub fn decode(payload: &[u8]) -> Option<Self> {
        let (frame_type, rest) = payload.split_first_chunk::<2>()?;
        let (rate, _) = rest.split_first_chunk::<8>()?;
        let frame_type = u64::from(u16::from_be_bytes(*frame_type));
        let signal = match frame_type.checked_sub(TWO_BYTES)? {
            REGULAR => PeerSignal::Regular,
            SUSPEND => PeerSignal::Suspend,
            _ => return None,
        };
        Some(Self {
            signal,
            rate: Rate::from_bytes_per_sec(u64::from_be_bytes(*rate)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_description_and_nothing_else_is_taken_for_a_frame() {
        let frame = Frame {
            signal: PeerSignal::Regular,
            rate: Rate::from_bytes_per_sec(0x0102_0304_0506_0708),
        };
        let bytes = frame.encode();
        assert_eq!(&bytes, b"RR\x01\x02\x03\x04\x05\x06\x07\x08");
        let suspend = Frame {
            signal: PeerSignal::Suspend,
            rate: Rate::ZERO,
        };
        assert_eq!(&suspend.encode(), b"RS\0\0\0\0\0\0\0\0");

        for frame in [frame, suspend] {
            let mut packet = frame.encode().to_vec();
            packet.extend_from_slice(b"\x01more");
            assert_eq!(Frame::decode(&packet), Some(frame));
            for short in 0..LENGTH {
                assert_eq!(Frame::decode(&packet[..short]), None);
            }
        }
        for first in [[0x12, 0x52], [0x92, 0x52], [0x52, 0x54], [0x31, 0x09]] {
            let mut other = bytes;
            other[..2].copy_from_slice(&first);
            assert_eq!(Frame::decode(&other), None);
        }
    }
}
