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

use std::time::Duration;

use lowtide_lab::contender::Contenders;
use lowtide_quic::Controllers;

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
