//! A link before one UDP service, which needs no privileges.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lowtide_cc::units::Bytes;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use socket2::{Domain, Protocol, Socket, Type};

use super::datagram::{self, Control, Datagram};
use super::rejections::{Rejections, is_of_one_packet};
use super::worker::{Egress, Ingress};
use crate::error::Error;
use crate::flow;
use crate::shaper::{Incoming, Release};
use crate::summary::Unseen;

/// Clients that are served at once. Anybody can send, so that there must be a bound.
const MAX_CLIENTS: usize = 1024;

/// A client that has been silent for so long makes room for another when there are too many.
const IDLE: Duration = Duration::from_secs(30);

/// What sockets keep until it is read; the system may allow less.
const SOCKET_BUFFER: usize = 8 << 20;

/// Bytes of the IP and UDP headers, which count on the link.
fn headers(address: &SocketAddr) -> u64 {
    if address.is_ipv4() { 20 + 8 } else { 40 + 8 }
}

/// A UDP service behind a link: what clients send to one address goes to another, and what comes
/// back goes to them. Each client has a socket, and so a port, of its own towards the service.
#[derive(Clone, Debug)]
pub struct Relay {
    listener: Arc<UdpSocket>,
    target: SocketAddr,
    clients: Clients,
    /// Rejections of packets to clients, and to the service.
    rejected_down: Rejections,
    rejected_up: Rejections,
}

#[derive(Debug)]
struct Client {
    address: SocketAddr,
    socket: Arc<UdpSocket>,
    last_used: Instant,
}

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<SocketAddr, u64>,
    clients: HashMap<u64, Client>,
    next_number: u64,
}

/// The clients, shared by the two directions.
#[derive(Clone, Debug)]
struct Clients {
    table: Arc<Mutex<Table>>,
    /// All clients' sockets; an event carries the client's number.
    readable: Arc<Epoll>,
}

impl Clients {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The socket of the client with this address; makes one where there is none and room for it.
    fn socket_of(&self, client: SocketAddr, target: SocketAddr) -> Option<Arc<UdpSocket>> {
        let now = Instant::now();
        let mut table = self.table();
        if let Some(number) = table.numbers.get(&client).copied() {
            let known = table.clients.get_mut(&number)?;
            known.last_used = now;
            return Some(known.socket.clone());
        }
        if table.clients.len() >= MAX_CLIENTS {
            let idle = table.clients.iter().min_by_key(|(_, c)| c.last_used);
            let (number, address) = idle
                .filter(|(_, c)| now.duration_since(c.last_used) > IDLE)
                .map(|(number, c)| (*number, c.address))?;
            table.clients.remove(&number);
            table.numbers.remove(&address);
        }
        let socket = Arc::new(bind(any_like(target)).ok()?);
        socket.connect(target).ok()?;
        let number = table.next_number;
        table.next_number += 1;
        let event = EpollEvent::new(EpollFlags::EPOLLIN, number);
        self.readable.add(&socket, event).ok()?;
        table.numbers.insert(client, number);
        table.clients.insert(
            number,
            Client {
                address: client,
                socket: socket.clone(),
                last_used: now,
            },
        );
        Some(socket)
    }
}

/// Any address of this machine's of the same family, at a free port.
fn any_like(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    // What the system allows has to do.
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    let socket = socket.into();
    datagram::report_ecn(&socket);
    Ok(socket)
}

impl Relay {
    /// Listens on `listen` for clients of `target`.
    ///
    /// # Errors
    /// When `listen` cannot be bound or `target` not be reached from here.
    pub fn new(listen: SocketAddr, target: SocketAddr) -> Result<Self, Error> {
        let listener = bind(listen).map_err(Error::setup(format!("listen on {listen}")))?;
        UdpSocket::bind(any_like(target))
            .and_then(|socket| socket.connect(target))
            .map_err(Error::setup(format!("send to {target}")))?;
        let readable =
            Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(|e| Error::Broken(e.into()))?;
        Ok(Self {
            listener: Arc::new(listener),
            target,
            clients: Clients {
                table: Arc::default(),
                readable: Arc::new(readable),
            },
            rejected_down: Rejections::default(),
            rejected_up: Rejections::default(),
        })
    }

    /// Where it listens; the port is known even if it was given as 0.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    pub(crate) fn down(&self) -> (FromService, ToClients) {
        let from = FromService {
            clients: self.clients.clone(),
            ready: VecDeque::new(),
            rejected: self.rejected_up.clone(),
            control: Control::default(),
        };
        (from, ToClients(self.listener.clone()))
    }

    pub(crate) fn up(&self) -> (FromClients, ToService) {
        let to = ToService {
            clients: self.clients.clone(),
            target: self.target,
            rejected: self.rejected_up.clone(),
        };
        let from = FromClients {
            listener: self.listener.clone(),
            rejected: self.rejected_down.clone(),
            control: Control::default(),
        };
        (from, to)
    }

    /// What became of packets to clients, and of those to the service.
    pub(crate) fn unseen(&self) -> [Unseen; 2] {
        let dropped = dropped_by_socket();
        let of = |socket: &UdpSocket| {
            let number = inode(socket).and_then(|inode| dropped.get(&inode));
            number.copied().unwrap_or(0)
        };
        let table = self.clients.table();
        let down = table.clients.values().map(|c| of(&c.socket)).sum();
        [
            Unseen {
                missed: down,
                rejected: self.rejected_down.by_error(),
            },
            Unseen {
                missed: of(&self.listener),
                rejected: self.rejected_up.by_error(),
            },
        ]
    }
}

fn inode(socket: &UdpSocket) -> Option<u64> {
    let link = fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).ok()?;
    let name = link.to_str()?;
    name.strip_prefix("socket:[")?
        .strip_suffix(']')?
        .parse()
        .ok()
}

/// The column "drops" of each UDP socket, by inode (proc(5), `net/udp`).
fn dropped_by_socket() -> HashMap<u64, u64> {
    const INODE: usize = 9;
    const DROPS: usize = 12;
    let mut dropped = HashMap::new();
    for file in ["/proc/thread-self/net/udp", "/proc/thread-self/net/udp6"] {
        for line in fs::read_to_string(file).unwrap_or_default().lines().skip(1) {
            let mut columns = line.split_whitespace();
            let inode = columns.nth(INODE).and_then(|c| c.parse().ok());
            let drops = columns.nth(DROPS - INODE - 1).and_then(|c| c.parse().ok());
            if let (Some(inode), Some(drops)) = (inode, drops) {
                dropped.insert(inode, drops);
            }
        }
    }
    dropped
}

/// A datagram to or from a client. All of a client's are one flow.
fn incoming<'a>(
    buffer: &'a [u8],
    datagram: &Datagram,
    client: SocketAddr,
) -> Incoming<'a, SocketAddr> {
    Incoming {
        packet: buffer.get(..datagram.length).unwrap_or_default(),
        size: Bytes::new(datagram.length as u64 + headers(&client)),
        ecn: datagram.ecn,
        flow: flow::number(&client),
        destination: client,
    }
}

/// What clients send.
#[derive(Debug)]
pub(crate) struct FromClients {
    listener: Arc<UdpSocket>,
    rejected: Rejections,
    control: Control,
}

impl Ingress for FromClients {
    type Destination = SocketAddr;

    fn fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    fn receive<'a>(
        &mut self,
        buffer: &'a mut [u8],
    ) -> io::Result<Option<Incoming<'a, SocketAddr>>> {
        match datagram::receive(&self.listener, buffer, &mut self.control) {
            Ok(datagram) => {
                let from = datagram.from;
                Ok(from.map(|from| incoming(buffer, &datagram, from)))
            }
            Err(e) => self.rejected.take(e).map(|()| None),
        }
    }
}

/// Sends what clients sent to the service, from the client's own socket.
#[derive(Debug)]
pub(crate) struct ToService {
    clients: Clients,
    target: SocketAddr,
    rejected: Rejections,
}

impl Egress<SocketAddr> for ToService {
    fn send(&mut self, release: Release<'_, SocketAddr>) -> bool {
        let client = *release.destination;
        let Some(socket) = self.clients.socket_of(client, self.target) else {
            return false;
        };
        let send = || datagram::send(&socket, release.packet, release.ecn, self.target, true);
        match send() {
            Ok(()) => true,
            // It may be about a packet before, and is told but once.
            Err(e) if is_of_one_packet(&e) => {
                let sent = send().is_ok();
                if sent {
                    self.rejected.count(&e);
                }
                sent
            }
            Err(_) => false,
        }
    }
}

/// What the service sends.
#[derive(Debug)]
pub(crate) struct FromService {
    clients: Clients,
    /// Clients whose sockets were readable.
    ready: VecDeque<u64>,
    /// A socket tells of packets that it sent when it is read.
    rejected: Rejections,
    control: Control,
}

impl FromService {
    fn find_ready(&mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); 64];
        let found = self
            .clients
            .readable
            .wait(&mut events, EpollTimeout::ZERO)
            .or_else(|e| match e {
                nix::errno::Errno::EINTR => Ok(0),
                e => Err(e),
            })?;
        let numbers = events.iter().take(found).map(EpollEvent::data);
        self.ready.extend(numbers);
        Ok(())
    }
}

impl Ingress for FromService {
    type Destination = SocketAddr;

    fn fd(&self) -> BorrowedFd<'_> {
        self.clients.readable.0.as_fd()
    }

    fn receive<'a>(
        &mut self,
        buffer: &'a mut [u8],
    ) -> io::Result<Option<Incoming<'a, SocketAddr>>> {
        if self.ready.is_empty() {
            self.find_ready()?;
        }
        while let Some(number) = self.ready.pop_front() {
            let client = {
                let table = self.clients.table();
                let client = table.clients.get(&number);
                client.map(|c| (c.socket.clone(), c.address))
            };
            let Some((socket, address)) = client else {
                continue;
            };
            match datagram::receive(&socket, buffer, &mut self.control) {
                Ok(datagram) => {
                    // Others first, so that no client has the link to itself.
                    self.ready.push_back(number);
                    return Ok(Some(incoming(buffer, &datagram, address)));
                }
                Err(e) => self.rejected.take(e)?,
            }
        }
        Ok(None)
    }
}

/// Sends what the service sent to its clients.
#[derive(Debug)]
pub(crate) struct ToClients(Arc<UdpSocket>);

impl Egress<SocketAddr> for ToClients {
    fn send(&mut self, release: Release<'_, SocketAddr>) -> bool {
        let client = *release.destination;
        datagram::send(&self.0, release.packet, release.ecn, client, false).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::Ecn;
    use lowtide_cc::units::Duration;
    use lowtide_sim::PipeConfig;
    use lowtide_sim::impairment::EcnTreatment;

    use super::*;
    use crate::{Emulation, PathConfig};

    fn bound(address: &str) -> UdpSocket {
        let socket = bind(address.parse().unwrap()).unwrap();
        socket.set_nonblocking(false).unwrap();
        let limit = Some(std::time::Duration::from_secs(10));
        socket.set_read_timeout(limit).unwrap();
        socket
    }

    /// Bits of what arrives next, and whom it is from.
    fn next(socket: &UdpSocket) -> (Ecn, SocketAddr) {
        let got = datagram::receive(socket, &mut [0; 2000], &mut Control::default()).unwrap();
        (got.ecn, got.from.unwrap())
    }

    /// A link that marks all that may be marked on its way up, and takes the marks back on its way down.
    fn path() -> PathConfig {
        let pipe = |ecn| PipeConfig {
            ecn,
            ..PipeConfig::delay_only(Duration::ZERO)
        };
        PathConfig {
            down: pipe(EcnTreatment::Unmarked),
            up: pipe(EcnTreatment::Marked),
            base_rtt: Duration::ZERO,
            seed: 1,
            ports: None,
        }
    }

    #[test]
    fn ecn_bits_pass_the_relay_as_the_link_leaves_them() {
        // A socket of both families gets packets of the older one, too.
        for (at, from) in [
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[::]", "127.0.0.1"),
        ] {
            let service = bound(&format!("{from}:0"));
            let listen = format!("{at}:0").parse().unwrap();
            let relay = Relay::new(listen, service.local_addr().unwrap()).unwrap();
            let emulation = Emulation::before(&relay, &path(), [(), ()]).unwrap();
            let client = bound(&format!("{from}:0"));
            let port = relay.address().unwrap().port();
            let to = format!("{from}:{port}").parse().unwrap();
            let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
            for ecn in all {
                datagram::send(&client, b"question", ecn, to, false).unwrap();
                let (arrived, asker) = next(&service);
                let marked = if ecn == Ecn::NotEct { ecn } else { Ecn::Ce };
                assert_eq!(arrived, marked, "{ecn:?} to {at}");
                datagram::send(&service, b"answer", ecn, asker, false).unwrap();
                let unmarked = if ecn == Ecn::Ce { Ecn::Ect0 } else { ecn };
                assert_eq!(next(&client).0, unmarked, "{ecn:?} from {at}");
            }
            let (summary, _) = emulation.finish().unwrap();
            let (up, down) = (&summary.up, &summary.down);
            let counts = |c: &lowtide_cc::ecn::EcnCounts| (c.ect0, c.ect1, c.ce);
            assert_eq!(counts(&up.offered_ecn), (1, 1, 1));
            assert_eq!(counts(&up.delivered_ecn), (0, 0, 3));
            assert_eq!(counts(&down.delivered_ecn), (2, 1, 0));
            assert_eq!((up.marked_packets, down.marked_packets), (2, 0));
        }
    }
}
