//! What a peer may take: connections, streams, and the memory behind flow control.
//!
//! A peer can leave a hole at the start of a stream and fill all that flow control allows behind it.
//! Windows are therefore lent from a budget, and who comes late or has many connections gets less.
//! `docs/limits.md` has the table.

use std::collections::HashMap;
use std::error;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use s2n_quic::provider::endpoint_limits::{self, ConnectionAttempt, Outcome};
use s2n_quic::provider::event::events::SocketAddress;
use s2n_quic::provider::event::{self, ConnectionMeta};
use s2n_quic::provider::limits::{ConnectionInfo, Limiter, Limits};

use crate::Error;

/// Connections of a server, unless another number is named.
pub const CONNECTIONS: u32 = 1024;
/// Connections of one address, likewise.
pub const CONNECTIONS_OF_ADDRESS: u32 = 256;

/// Handshakes under way above which a client must first show that its address is its own (a Retry
/// packet, RFC 9000 §8.1.2).
const UNPROVEN_HANDSHAKES: u32 = 32;

/// Streams that a client may have open: those of `fetch --streams`, and what it asks besides.
const STREAMS: u64 = 128;

/// The largest window of a server's connection: what a path of 10 Gbit/s and 50 ms holds.
const WINDOW: u64 = 64 << 20;

/// Every connection gets this much.
const LEAST_WINDOW: u64 = 256 << 10;

/// What is lent beyond that, to all connections and to those of an address.
const WINDOWS: u64 = 512 << 20;
const WINDOWS_OF_ADDRESS: u64 = 128 << 20;

/// The windows of all connections of a client, and the largest of one: what a path of 10 Gbit/s and
/// 100 ms holds.
const CLIENT_WINDOWS: u64 = 256 << 20;
const CLIENT_WINDOW: u64 = 128 << 20;

/// The window of the server's reports.
const REPORT_WINDOW: u64 = 256 << 10;

/// What waits in a stream's send buffer, unacknowledged data included; it is one static array of
/// zeros, so that this is no memory.
const SEND_BUFFER: u32 = 64 << 20;

/// How long a client waits for the first answer.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(5);

/// How long a client waits for anything at all.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

/// How often a client shows that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(3);

/// s2n-quic does not export its error.
type Validated = Result<Limits, Box<dyn error::Error>>;

fn with_window(limits: Limits, window: u64) -> Validated {
    let limits = limits
        .with_data_window(window)?
        .with_bidirectional_local_data_window(window)?
        .with_bidirectional_remote_data_window(window)?;
    Ok(limits)
}

fn checked(limits: Validated) -> Result<Limits, Error> {
    limits.map_err(|e| Error::Input(format!("s2n-quic refuses its limits: {e}")))
}

/// The bounds of a client with this many connections.
pub(crate) fn of_client(connections: u32, max_ack_delay: Duration) -> Result<Limits, Error> {
    let share = CLIENT_WINDOWS / u64::from(connections.max(1));
    let limits = || -> Validated {
        let limits = with_window(
            lowtide_quic::limits(),
            share.clamp(LEAST_WINDOW, CLIENT_WINDOW),
        )?
        .with_unidirectional_data_window(REPORT_WINDOW)?
        .with_max_open_remote_unidirectional_streams(1)?
        .with_max_open_remote_bidirectional_streams(0)?
        .with_max_send_buffer_size(SEND_BUFFER)?
        .with_max_handshake_duration(HANDSHAKE)?
        .with_max_idle_timeout(SILENCE)?
        .with_max_keep_alive_period(KEEP_ALIVE)?
        .with_max_ack_delay(max_ack_delay)?;
        Ok(limits)
    };
    checked(limits())
}

/// An address whose clients are counted together: an IPv4 address, or the 64 bits of an IPv6 address that name a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Address(IpAddr);

impl From<IpAddr> for Address {
    fn from(ip: IpAddr) -> Self {
        Self(match ip.to_canonical() {
            IpAddr::V6(ip) => {
                let network = u128::from(ip) & !u128::from(u64::MAX);
                Ipv6Addr::from(network).into()
            }
            ip => ip,
        })
    }
}

impl From<&SocketAddress<'_>> for Address {
    fn from(address: &SocketAddress<'_>) -> Self {
        let bytes = address.ip();
        let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
        let v6 = || <[u8; 16]>::try_from(bytes).map(IpAddr::from);
        let ip = v4.or_else(|_| v6());
        Self::from(ip.unwrap_or(Ipv6Addr::UNSPECIFIED.into()))
    }
}

/// What a connection was lent beyond the least window.
#[derive(Clone, Copy, Debug)]
struct Lent {
    address: Address,
    window: u64,
}

/// What somebody holds.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    connections: u32,
    windows: u64,
}

#[derive(Debug, Default)]
struct State {
    all: Held,
    addresses: HashMap<Address, Held>,
    /// Lent to the connection that is being made.
    granted: Option<Lent>,
}

impl State {
    fn give_back(&mut self, lent: Lent) {
        let of_address = self.addresses.get_mut(&lent.address);
        for held in of_address.into_iter().chain([&mut self.all]) {
            held.connections = held.connections.saturating_sub(1);
            held.windows = held.windows.saturating_sub(lent.window);
        }
        let is_gone = self.addresses.get(&lent.address);
        if is_gone.is_some_and(|held| held.connections == 0) {
            self.addresses.remove(&lent.address);
        }
    }
}

/// The bounds of a server, and what its peers hold of them.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    connections: u32,
    of_address: u32,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bounds {
    pub(crate) fn new(connections: u32, of_address: u32) -> Self {
        Self {
            connections,
            of_address: of_address.min(connections),
            state: Arc::default(),
        }
    }

    fn has(&self, address: Address, one_more: u32) -> bool {
        let state = lock(&self.state);
        let of_address = state.addresses.get(&address).map_or(0, |a| a.connections);
        state.all.connections.saturating_add(one_more) <= self.connections
            && of_address.saturating_add(one_more) <= self.of_address
    }

    /// Whether a connection that is made is one too many after all: an address that has proven to be
    /// the client's own is let in whatever the counts are by then.
    pub(crate) fn are_exceeded_by(&self, peer: IpAddr) -> bool {
        !self.has(peer.into(), 0)
    }

    /// Lends a connection its window.
    fn grant(&self, address: Address) -> u64 {
        let mut state = lock(&self.state);
        if let Some(unused) = state.granted.take() {
            // Of a connection that failed before it began.
            state.give_back(unused);
        }
        let State { all, addresses, .. } = &mut *state;
        let of_address = addresses.entry(address).or_default();
        let left = WINDOWS.saturating_sub(all.windows) / 4;
        let left_of_address = WINDOWS_OF_ADDRESS.saturating_sub(of_address.windows) / 2;
        let window = WINDOW.min(left).min(left_of_address);
        for held in [of_address, all] {
            held.connections += 1;
            held.windows += window;
        }
        state.granted = Some(Lent { address, window });
        window.max(LEAST_WINDOW)
    }

    /// What the connection that is being made was lent.
    fn take_granted(&self) -> Option<Grant> {
        let lent = lock(&self.state).granted.take()?;
        let state = self.state.clone();
        Some(Grant { state, lent })
    }

    /// The endpoint's limits, those of its connections, and who notices their end.
    pub(crate) fn parts(&self) -> Result<(Door, Windows, Ends), Error> {
        let unproven = UNPROVEN_HANDSHAKES.min(self.of_address.div_ceil(2));
        let door = endpoint_limits::Default::builder()
            .with_inflight_handshake_limit(unproven as usize)
            .and_then(endpoint_limits::default::Builder::build);
        let door = Door {
            bounds: self.clone(),
            usual: door.unwrap_or_else(|never| match never {}),
        };
        let limits = || -> Validated {
            let limits = lowtide_quic::limits()
                .with_max_open_remote_unidirectional_streams(0)?
                .with_max_open_remote_bidirectional_streams(STREAMS)?
                .with_max_send_buffer_size(SEND_BUFFER)?;
            Ok(limits)
        };
        let windows = Windows {
            bounds: self.clone(),
            limits: checked(limits())?,
        };
        Ok((door, windows, Ends(self.clone())))
    }
}

/// A connection's part of what its address and all hold; given back with its end.
#[derive(Debug)]
pub(crate) struct Grant {
    state: Arc<Mutex<State>>,
    lent: Lent,
}

impl Drop for Grant {
    fn drop(&mut self) {
        lock(&self.state).give_back(self.lent);
    }
}

/// Lets in whom the bounds have room for.
#[derive(Debug)]
pub(crate) struct Door {
    bounds: Bounds,
    usual: endpoint_limits::default::Limits,
}

impl endpoint_limits::Limiter for Door {
    fn on_connection_attempt(&mut self, attempt: &ConnectionAttempt<'_>) -> Outcome {
        match self.usual.on_connection_attempt(attempt) {
            // Ports whose owners answer to whatever comes.
            Outcome::Drop { .. } => Outcome::drop(),
            _ if !self.bounds.has((&attempt.remote_address).into(), 1) => Outcome::close(),
            outcome => outcome,
        }
    }
}

/// Gives each connection its window.
#[derive(Debug)]
pub(crate) struct Windows {
    bounds: Bounds,
    limits: Limits,
}

impl Limiter for Windows {
    fn on_connection(&mut self, info: &ConnectionInfo<'_>) -> Limits {
        let window = self.bounds.grant((&info.remote_address).into());
        with_window(self.limits, window).unwrap_or(self.limits)
    }
}

/// Notices the end of connections: a connection's context has what it was lent. s2n-quic makes it
/// just after it has asked for the connection's limits, on the same thread.
#[derive(Debug)]
pub(crate) struct Ends(Bounds);

impl event::Subscriber for Ends {
    type ConnectionContext = Option<Grant>;

    fn create_connection_context(
        &mut self,
        _meta: &ConnectionMeta,
        _info: &event::ConnectionInfo<'_>,
    ) -> Option<Grant> {
        self.0.take_granted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> Address {
        IpAddr::from([192, 0, 2, last]).into()
    }

    fn take(bounds: &Bounds) -> Grant {
        bounds.take_granted().unwrap()
    }

    #[test]
    fn windows_stay_within_the_budget_however_many_connections_come() {
        let bounds = Bounds::new(CONNECTIONS, CONNECTIONS_OF_ADDRESS);
        assert_eq!(bounds.grant(address(1)), WINDOW);
        let mut grants = vec![take(&bounds)];
        let mut lent = WINDOW;
        for _ in 1..CONNECTIONS_OF_ADDRESS {
            lent += bounds.grant(address(1));
            grants.push(take(&bounds));
        }
        let least = LEAST_WINDOW * u64::from(CONNECTIONS_OF_ADDRESS);
        assert!(lent <= WINDOWS_OF_ADDRESS + least, "{lent}");
        assert!(!bounds.has(address(1), 1) && bounds.has(address(2), 1));
        for n in 2..=255 {
            lent += bounds.grant(address(n));
            grants.push(take(&bounds));
        }
        assert!(lent <= WINDOWS + least + LEAST_WINDOW * 255, "{lent}");
        drop(grants);
        assert_eq!(bounds.grant(address(1)), WINDOW, "all is given back");
    }

    #[test]
    fn a_connection_that_failed_before_it_began_gives_back_what_it_was_lent() {
        let bounds = Bounds::new(2, 2);
        for _ in 0..5 {
            bounds.grant(address(1));
        }
        let grant = take(&bounds);
        assert!(bounds.has(address(1), 1));
        drop(grant);
        assert!(lock(&bounds.state).addresses.is_empty());
    }

    #[test]
    fn addresses_of_one_ipv6_network_and_mapped_ones_count_together() {
        let of = |text: &str| Address::from(text.parse::<IpAddr>().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
    }
}
