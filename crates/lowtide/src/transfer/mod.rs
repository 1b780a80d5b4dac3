//! Transfers over QUIC between two machines: what `serve` and `fetch` have in common.
//!
//! On each bidirectional stream that the client opens it asks for something with its first bytes: `D`
//! and a count (8 bytes, network byte order; 0: without end) for a download, `U` for an upload, `R` for
//! a download with a record of its sender. Several times a second the server describes what it sends and
//! has received in a line of JSON on a stream of its own; with a record also its samples.

pub(crate) mod fetch;
mod recorded;
mod report;
pub(crate) mod serve;
mod statistics;
mod trust;

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use lowtide_lab::contender::Contenders;
use lowtide_quic::Controllers;
use s2n_quic::provider::limits::Limits;

use crate::failure::Failure;

/// Application protocol (ALPN, RFC 7301).
const PROTOCOL: &[u8] = b"lowtide/1";

/// Where `serve` listens and `fetch` connects when no port is named.
const PORT: u16 = 4455;

/// Flow control is no limit: as much as a path of 10 Gbit/s and 100 ms holds.
const FLOW_CONTROL_WINDOW: u64 = 128 << 20;

/// What waits in a stream's send buffer, unacknowledged data included.
const SEND_BUFFER: u32 = 64 << 20;

/// A request's length.
const REQUEST: usize = 9;

/// How often the live line comes.
const SECOND: Duration = Duration::from_secs(1);

/// What a stream is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// This many bytes from the server; `None`: without end.
    Download {
        count: Option<u64>,
        /// With samples of what the server's sender sees.
        recorded: bool,
    },
    /// Whatever the client sends.
    Upload,
}

impl Request {
    fn encode(self) -> [u8; REQUEST] {
        let (kind, count) = match self {
            Self::Download { count, recorded } => {
                (if recorded { b'R' } else { b'D' }, count.unwrap_or(0))
            }
            Self::Upload => (b'U', 0),
        };
        let mut bytes = [kind; REQUEST];
        bytes[1..].copy_from_slice(&count.to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8; REQUEST]) -> Option<Self> {
        let [kind, count @ ..] = *bytes;
        let count = u64::from_be_bytes(count);
        match kind {
            b'D' | b'R' => Some(Self::Download {
                count: (count > 0).then_some(count),
                recorded: kind == b'R',
            }),
            b'U' => Some(Self::Upload),
            _ => None,
        }
    }
}

/// The controller that a spec names.
fn controllers(contenders: &Contenders, spec: &str) -> Result<Controllers, Failure> {
    let registry = contenders.registry();
    registry
        .parse(spec)
        .map(|spec| Controllers::of(&spec))
        .map_err(|e| Failure::input(format!("--cc: {e}")))
}

fn limits(max_ack_delay: Option<Duration>) -> Result<Limits, Failure> {
    let limits = lowtide_quic::limits()
        .with_data_window(FLOW_CONTROL_WINDOW)
        .and_then(|l| l.with_bidirectional_local_data_window(FLOW_CONTROL_WINDOW))
        .and_then(|l| l.with_bidirectional_remote_data_window(FLOW_CONTROL_WINDOW))
        .and_then(|l| l.with_max_send_buffer_size(SEND_BUFFER))
        .and_then(|l| match max_ack_delay {
            Some(delay) => l.with_max_ack_delay(delay),
            None => Ok(l),
        });
    limits.map_err(|e| Failure::input(format!("s2n-quic refuses its limits: {e}")))
}

/// `host`, `host:port`, `address:port`, `[address]:port`; an `https://` before it is ignored.
fn address(text: &str) -> Result<SocketAddr, Failure> {
    let plain = text.trim_start_matches("https://").trim_end_matches('/');
    let found = match plain.to_socket_addrs() {
        Ok(found) => Ok(found),
        Err(e) if plain.parse::<std::net::IpAddr>().is_err() && plain.contains(':') => Err(e),
        Err(_) => (plain.trim_matches(['[', ']']), PORT).to_socket_addrs(),
    };
    found
        .ok()
        .and_then(|mut all| all.next())
        .ok_or_else(|| Failure::input(format!("'{text}': no such address; write host:port")))
}

/// An event loop.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::run(format!("cannot start threads: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_addresses_are_read_as_they_are_written() {
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
        ] {
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        assert_eq!(Request::decode(b"GET / HTT"), None);
        for (text, socket) in [
            ("127.0.0.1", "127.0.0.1:4455"),
            ("127.0.0.1:9", "127.0.0.1:9"),
            ("[::1]:9", "[::1]:9"),
            ("::1", "[::1]:4455"),
            ("https://127.0.0.1:443/", "127.0.0.1:443"),
        ] {
            let found = address(text).map_err(|e| e.to_string());
            assert_eq!(found, Ok(socket.parse().unwrap()), "{text}");
        }
        let problem = address("127.0.0.1:http:x").unwrap_err().to_string();
        assert!(problem.contains("host:port"), "{problem}");
    }
}
