//! Transfers over QUIC between two machines: `serve` and `fetch`.

mod bounds;
mod choice;
mod client;
pub(crate) mod fetch;
mod peer;
mod printer;
mod progress;
mod protocol;
mod recorded;
mod report;
pub(crate) mod serve;
mod session;
mod statistics;
mod streams;
mod trust;

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use lowtide_lab::contender::Contenders;
use lowtide_quic::Controllers;

use self::protocol::PORT;
use crate::failure::Failure;

/// How often the live line comes.
const SECOND: Duration = Duration::from_secs(1);

/// Who sends unless another is named: it needs nothing of the peer, and no buffer to be filled.
const DEFAULT_CONTROLLER: &str = "ebb";

/// The controller that a spec names. The peer is asked for receive timestamps whoever sends: a client
/// may choose a controller that uses them when that has been negotiated already.
fn controllers(contenders: &Contenders, spec: &str) -> Result<Controllers, Failure> {
    let registry = contenders.registry();
    registry
        .parse(spec)
        .map(|spec| Controllers::of(&spec).with_timestamps())
        .map_err(|e| Failure::input(format!("--cc: {e}")))
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

/// Waits for Ctrl-C, or SIGTERM where there is such a thing. The exit code that shells have for it.
async fn interrupt() -> i32 {
    let ctrl_c = async {
        let _ = tokio::signal::ctrl_c().await;
        128 + 2
    };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut terminate) = signal(SignalKind::terminate()) else {
            return ctrl_c.await;
        };
        tokio::select! {
            code = ctrl_c => code,
            _ = terminate.recv() => 128 + 15,
        }
    }
    #[cfg(not(unix))]
    ctrl_c.await
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
    fn addresses_are_read_as_they_are_written() {
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
