//! What `serve` and `fetch` say to each other.
//!
//! On each bidirectional stream that the client opens it asks for something with its first bytes, a
//! letter and a count (8 bytes, network byte order):
//!
//! | | asks for | count |
//! |---|---|---|
//! | `D` | a download | bytes; 0: without end |
//! | `R` | a download with a record of its sender | the same |
//! | `U` | an upload: what follows is counted | 0 |
//! | `C` | a controller for later connections from this address and port: its spec follows | the spec's bytes |
//! | `E` | a last report: the client's transfer is over | 0 |
//!
//! The server answers `C` with a line of JSON on the same stream, an [`Answer`]. Several times a second
//! it says what it sends and has received in a line of JSON on a stream of its own, a [`Report`].

use lowtide_lab::transfer::Sample;
use serde::{Deserialize, Serialize};

use crate::peer;
use crate::statistics::SenderState;

/// Application protocol (ALPN, RFC 7301).
pub(crate) const ALPN: &[u8] = b"lowtide/1";

/// The UDP port of servers when no other is named.
pub const PORT: u16 = 4455;

/// A request's length.
pub(crate) const REQUEST: usize = 9;

/// The server closes a connection that is one too many with this application error.
pub(crate) const TOO_MANY: u32 = 1;

/// Longest line of JSON.
pub(crate) const MAX_LINE: usize = 128 << 10;

/// Samples in a report, so that it stays below that.
pub(crate) const SAMPLES: usize = 100;

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// A number of bytes from the server; `None`: without end.
    Download {
        count: Option<u64>,
        /// With samples of what the server's sender sees.
        recorded: bool,
    },
    /// Whatever the client sends.
    Upload,
    /// A controller, whose spec has so many bytes.
    Controller(u64),
    /// A last report.
    LastReport,
}

impl Request {
    pub(crate) fn encode(self) -> [u8; REQUEST] {
        let (kind, count) = match self {
            Self::Download { count, recorded } => {
                (if recorded { b'R' } else { b'D' }, count.unwrap_or(0))
            }
            Self::Upload => (b'U', 0),
            Self::Controller(length) => (b'C', length),
            Self::LastReport => (b'E', 0),
        };
        let mut bytes = [kind; REQUEST];
        bytes[1..].copy_from_slice(&count.to_be_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; REQUEST]) -> Option<Self> {
        let [kind, count @ ..] = *bytes;
        let count = u64::from_be_bytes(count);
        match kind {
            b'D' | b'R' => Some(Self::Download {
                count: (count > 0).then_some(count),
                recorded: kind == b'R',
            }),
            b'U' => Some(Self::Upload),
            b'C' => Some(Self::Controller(count)),
            b'E' => Some(Self::LastReport),
            _ => None,
        }
    }
}

/// What the server says to a client that asks for a controller.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Why not; empty: the client has it.
    #[serde(deserialize_with = "peer::text")]
    pub(crate) refusal: String,
}

/// What the server tells of one connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Controller of what the server sends.
    #[serde(deserialize_with = "peer::text")]
    pub controller: String,
    /// Data received on uploads.
    pub received_bytes: u64,
    /// The server's sender.
    #[serde(flatten)]
    pub sender: SenderState,
    /// The answer to [`Request::LastReport`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_last: bool,
    /// What the sender saw since the last report, if the client wants a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) samples: Vec<Sample>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_are_written() {
        for request in [
            Request::Download {
                count: None,
                recorded: true,
            },
            Request::Download {
                count: Some(5_000_000_000),
                recorded: false,
            },
            Request::Upload,
            Request::Controller(7),
            Request::LastReport,
        ] {
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        assert_eq!(Request::decode(b"GET / HTT"), None);
    }

    #[test]
    fn a_report_fits_into_a_line_whatever_its_samples_say() {
        let sample = Sample {
            at_us: u64::MAX,
            sent_packets: u64::MAX,
            sent_bytes: u64::MAX,
            acked_bytes: u64::MAX,
            lost_packets: u32::MAX,
            lost_bytes: u64::MAX,
            rtts: u32::MAX,
            least_rtt_us: u64::MAX,
            largest_rtt_us: u64::MAX,
            rtt_sum_us: u64::MAX,
            smoothed_rtt_us: u64::MAX,
            inflight: u64::MAX,
            cwnd: u64::MAX,
            pacing: Some(u64::MAX),
            bandwidth: Some(u64::MAX),
            gain: Some(2.885_390_081_777_927),
            min_rtt_us: Some(u64::MAX),
            phase: "ConservativeSlowStart".to_string(),
        };
        let report = Report {
            samples: vec![sample; SAMPLES],
            ..Report::default()
        };
        let line = serde_json::to_vec(&report).unwrap();
        assert!(line.len() < MAX_LINE, "{}", line.len());
    }
}
