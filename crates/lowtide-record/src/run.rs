//! The state machines with sockets and the clock.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use lowtide_cc::units::{Duration, Time};

use crate::client::{Client, ClientError, Noted, Progress};
use crate::keys::Token;
use crate::plan::Plan;
use crate::server::{Limits, Server};
use crate::socket::{self, Socket};

/// Whether arrivals at this end have the kernel's times.
pub const KERNEL_TIMES: bool = socket::KERNEL_TIMES;

/// How often whoever waits is looked after.
const LOOK: Duration = Duration::from_millis(100);
/// Datagrams that are taken before what is due is sent.
const AT_A_TIME: usize = 64;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The other end does not.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The system does not.
    #[error(transparent)]
    System(#[from] io::Error),
}

fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Hands over what has come.
fn take(
    socket: &mut Socket,
    mut to: impl FnMut(&mut Socket, Time, SocketAddr, &[u8]),
) -> io::Result<()> {
    let mut datagram = Vec::new();
    for _ in 0..AT_A_TIME {
        let (at, from) = match socket.receive() {
            Ok((at, from, bytes)) => {
                datagram.clear();
                datagram.extend_from_slice(bytes);
                (at, from)
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
            // Of a packet of ours that somebody did not want, or an interruption.
            Err(e) if is_passing(&e) => continue,
            Err(e) => return Err(e),
        };
        to(socket, at, from, &datagram);
    }
    Ok(())
}

fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted, InvalidData,
        NetworkUnreachable,
    };
    matches!(
        error.kind(),
        Interrupted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | NetworkUnreachable
            | InvalidData
    )
}

/// How long to wait.
fn until(next: Option<Time>) -> Duration {
    next.map_or(LOOK, |at| at.since(socket::now()).min(LOOK))
}

/// A server that has its address, and does nothing yet.
#[derive(Debug)]
pub struct Listening {
    socket: Socket,
    server: Server,
}

impl Listening {
    /// Takes an address.
    ///
    /// # Errors
    /// When the system does not give it.
    pub fn bind(address: SocketAddr, limits: Limits, token: Token) -> io::Result<Self> {
        let socket = Socket::bind(address)?;
        let server = Server::new(limits, token, random()?);
        Ok(Self { socket, server })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Answers until `is_over`, and says how many recordings are under way whenever that changes.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn serve(
        mut self,
        is_over: impl Fn() -> bool,
        mut says: impl FnMut(usize),
    ) -> io::Result<()> {
        let mut sessions = 0;
        while !is_over() {
            let server = &mut self.server;
            take(&mut self.socket, |socket, at, from, datagram| {
                server.receive(at, from, datagram, socket);
            })?;
            let next = self.server.poll(socket::now(), &mut self.socket);
            if self.server.sessions() != sessions {
                sessions = self.server.sessions();
                says(sessions);
            }
            let time = until(next);
            if !time.is_zero() {
                self.socket.wait(time);
            }
        }
        Ok(())
    }
}

/// Records. Each tenth of a second `progress` says how far it is; when `is_over` it ends early and keeps what has come.
///
/// # Errors
/// When nothing was recorded.
pub fn record(
    plan: Plan,
    token: Token,
    server: SocketAddr,
    is_over: impl Fn() -> bool,
    mut progress: impl FnMut(&Progress),
) -> Result<Noted, RunError> {
    let any: SocketAddr = if server.is_ipv4() {
        (Ipv4Addr::UNSPECIFIED, 0).into()
    } else {
        (Ipv6Addr::UNSPECIFIED, 0).into()
    };
    let mut socket = Socket::bind(any)?;
    let mut client = Client::new(socket::now(), plan, token, server, random()?);
    let mut said = Time::ZERO;
    loop {
        take(&mut socket, |socket, at, from, datagram| {
            client.receive(at, from, datagram, socket);
        })?;
        let now = socket::now();
        if is_over() {
            client.stop(now, "it was interrupted");
        }
        let next = client.poll(now, &mut socket);
        if let Some(outcome) = client.outcome() {
            return Ok(outcome?);
        }
        if now.since(said) >= LOOK
            && let Some(how) = client.progress(now)
        {
            said = now;
            progress(&how);
        }
        let time = until(next);
        if !time.is_zero() {
            socket.wait(time);
        }
    }
}
