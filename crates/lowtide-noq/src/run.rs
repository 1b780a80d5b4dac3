//! The extension on a connection of `noq`.

use std::future;
use std::time::Instant;

use noq::{Connection, ConnectionError, PathId};
use tokio::time::{self, MissedTickBehavior};

use crate::extension::Extension;

/// Checks for arrivals per sampling interval.
const LOOKS_PER_SAMPLE: u32 = 4;

/// How long a new path may go unnoticed.
const PATH_CHECK: std::time::Duration = std::time::Duration::from_secs(1);

/// Speaks RBBR's extension on a connection until it ends; to be spawned beside what uses the
/// connection, at both ends. Takes all datagrams of the connection and drops those of others.
///
/// # Errors
/// Why the connection ended.
pub async fn run(connection: Connection) -> Result<(), ConnectionError> {
    let controller = || connection.congestion_state(PathId::ZERO);
    let Some(mut extension) = controller().map(Extension::new) else {
        return Err(connection.closed().await);
    };
    let look = std::time::Duration::from(extension.interval()) / LOOKS_PER_SAMPLE;
    let mut looks = time::interval(look.max(std::time::Duration::from_micros(1)));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut path_checked = Instant::now();
    loop {
        let exchange = extension.exchange();
        let due = future::poll_fn(|context| match &exchange {
            Some(exchange) => exchange.poll_due(context),
            None => std::task::Poll::Pending,
        });
        tokio::select! {
            datagram = connection.read_datagram() => {
                extension.on_datagram(Instant::now(), &datagram?);
            }
            () = due => {}
            // No timer while nothing is sampled: an idle connection sleeps.
            _ = looks.tick(), if extension.is_sampling() => {}
        }
        let now = Instant::now();
        extension.on_received(now, &connection.stats());
        if let Some(payload) = extension.poll_datagram(now) {
            // The peer may not take datagrams: then the flow runs by the sender's own estimate.
            let _ = connection.send_datagram(payload);
        }
        if now.duration_since(path_checked) >= PATH_CHECK {
            path_checked = now;
            if let Some(controller) = controller() {
                extension.set_controller(controller);
            }
        }
    }
}
