//! Transfers over QUIC between two machines, measured.
//!
//! A [`Server`] sends and receives, for clients that it has room for; [`fetch`] downloads from one or uploads to it.
//! Both sides bound what the other can cost them, and believe only what it can know.

mod bounds;
mod choice;
mod client;
mod fetch;
mod fetched;
mod peer;
mod progress;
mod protocol;
mod record;
mod report;
mod server;
mod session;
mod statistics;
mod streams;
mod trust;

use std::fmt;
use std::time::Duration;

use lowtide_cc::registry::Registry;
use lowtide_lab::run::Stop;
use lowtide_quic::{Controllers, Factory};

pub use self::bounds::{CONNECTIONS, CONNECTIONS_OF_ADDRESS};
pub use self::client::Plan;
pub use self::fetch::fetch;
pub use self::fetched::Fetched;
pub use self::protocol::{PORT, Report};
pub use self::report::{Event, Interval, Outcome, Summary};
pub use self::server::{Server, ServerConfig};
use self::statistics::ByConnection;
pub use self::statistics::{FeedbackState, RttMs, SenderState};
pub use self::trust::any as tls_for_any_server;

/// How often a transfer is told of.
const SECOND: Duration = Duration::from_secs(1);

/// How often a wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// The controller unless another is named: it needs nothing of the peer, and no buffer to be filled.
pub const DEFAULT_CONTROLLER: &str = "ebb";

/// Why there is no transfer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for is wrong.
    #[error("{0}")]
    Input(String),
    /// The system, the network or the other side failed.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    fn input(problem: impl fmt::Display) -> Self {
        Self::Input(problem.to_string())
    }
}

/// The controller that a spec names.
fn factory(registry: &Registry, spec: &str) -> Result<Factory, Error> {
    registry
        .parse(spec)
        .map(|spec| Factory::of(&spec))
        .map_err(|e| Error::Input(format!("--cc: {e}")))
}

/// An endpoint's controllers. The peer is asked for receive timestamps whoever sends: a client may
/// choose a controller that uses them when that has been negotiated already.
fn controllers(factory: Factory, statistics: &ByConnection) -> Controllers {
    Controllers::from(factory.with_observers(statistics.observers())).with_timestamps()
}

/// Waits until all is to stop.
async fn uttered(stop: &Stop) {
    while !stop.is_uttered() {
        tokio::time::sleep(LOOK).await;
    }
}

/// An event loop.
fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| Error::Failed(format!("cannot start threads: {e}")))
}
