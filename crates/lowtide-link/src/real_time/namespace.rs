//! Network namespaces.

use std::fs::{self, File};
use std::io;
use std::net::Ipv4Addr;
use std::thread;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};

use crate::error::Error;

/// This thread's network namespace; `/proc/self` is the one of the process's first thread.
const CURRENT: &str = "/proc/thread-self/ns/net";

/// Interface number of the loopback device in every namespace.
const LOOPBACK: u32 = 1;

/// A network namespace. It exists as long as this, or a process or device in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// The namespace that this thread is in.
    ///
    /// # Errors
    /// When `/proc` is not there.
    pub fn current() -> Result<Self, Error> {
        let opened = File::open(CURRENT);
        let file = opened.map_err(Error::setup("open this process's network namespace"))?;
        Ok(Self { file })
    }

    /// A new one, with nothing in it but a loopback device that is up. Forwards packets, so that
    /// links nest.
    ///
    /// # Errors
    /// When the kernel refuses it, as it does to those who lack `CAP_SYS_ADMIN`; see
    /// [`first`](Self::first).
    pub fn new() -> Result<Self, Error> {
        let create = || -> Result<Self, Error> {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|e| Error::NoNamespace(e.into()))?;
            let doing = "set up the loopback device of a new network namespace";
            loopback_up().map_err(Error::setup(doing))?;
            // Where /proc/sys cannot be written links do not nest, and all else works.
            let _ = fs::write("/proc/sys/net/ipv4/ip_forward", "1");
            Self::current()
        };
        in_thread(create)
    }

    /// A new one, and whether this process had to become root in a user namespace for it. For that it must not have
    /// started threads.
    ///
    /// # Errors
    /// When the kernel refuses either.
    pub fn first() -> Result<(Self, bool), Error> {
        match Self::new() {
            Err(Error::NoNamespace(e)) if e.kind() == io::ErrorKind::PermissionDenied => {
                become_root_of_new_user_namespace()?;
                Ok((Self::new()?, true))
            }
            made => Ok((made?, false)),
        }
    }

    /// Runs `work` on a thread in this namespace; processes that it starts and sockets that it
    /// opens are in it too.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, Error> {
        in_thread(|| {
            let entered = setns(&self.file, CloneFlags::CLONE_NEWNET);
            entered.map_err(Error::setup("enter a network namespace"))?;
            Ok(work())
        })
    }
}

/// Runs something on a thread of its own, for what it changes there must not leak to others.
fn in_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| match scope.spawn(work).join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Makes this process root in a user namespace of its own, in which it may create network
/// namespaces. Outside of it nothing changes. The process must not have started threads.
fn become_root_of_new_user_namespace() -> Result<(), Error> {
    let (uid, gid) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER).map_err(|e| Error::NoNamespace(e.into()))?;
    // user_namespaces(7): groups must be given up before the group map may be written.
    for (file, text) in [
        ("setgroups", "deny".to_string()),
        ("uid_map", format!("0 {uid} 1")),
        ("gid_map", format!("0 {gid} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(Error::NoNamespace)?;
    }
    Ok(())
}

/// Whether a socket in this thread's namespace waits for TCP connections or UDP datagrams, at a port or at
/// any.
#[must_use]
pub fn listens(port: Option<u16>) -> bool {
    /// State TCP_LISTEN (`include/net/tcp_states.h`), the fourth column.
    const LISTEN: &str = "0A";
    let lines = |file: &str| {
        let text = fs::read_to_string(format!("/proc/thread-self/net/{file}"));
        let text = text.unwrap_or_default();
        text.lines().skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    let is_there = |line: &String| {
        let local = line.split_whitespace().nth(1);
        let found = local.and_then(|address| address.rsplit(':').next());
        let found = found.and_then(|hex| u16::from_str_radix(hex, 16).ok());
        port.is_none() || port == found
    };
    let listens = |line: &String| line.split_whitespace().nth(3) == Some(LISTEN);
    let tcp = |line: &String| listens(line) && is_there(line);
    ["tcp", "tcp6"].iter().any(|f| lines(f).iter().any(tcp))
        || ["udp", "udp6"]
            .iter()
            .any(|f| lines(f).iter().any(is_there))
}

fn loopback_up() -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = LOOPBACK;
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    request(RouteNetlinkMessage::SetLink(link), 0)
}

/// Sets how many packets a device keeps until they are read. (The ioctl for it works only outside of
/// user namespaces.)
pub(crate) fn set_queue_length(device: u32, packets: u32) -> io::Result<()> {
    let mut link = LinkMessage::default();
    link.header.index = device;
    link.attributes.push(LinkAttribute::TxQueueLen(packets));
    request(RouteNetlinkMessage::SetLink(link), 0)
}

/// Sends everything without a better route to `gateway`. To be called in the namespace.
pub(crate) fn add_default_route(gateway: Ipv4Addr) -> io::Result<()> {
    let mut route = RouteMessage::default();
    route.header.address_family = AddressFamily::Inet;
    route.header.table = RouteHeader::RT_TABLE_MAIN;
    route.header.protocol = RouteProtocol::Static;
    route.header.scope = RouteScope::Universe;
    route.header.kind = RouteType::Unicast;
    let gateway = RouteAddress::Inet(gateway);
    route.attributes.push(RouteAttribute::Gateway(gateway));
    request(RouteNetlinkMessage::NewRoute(route), NLM_F_CREATE)
}

/// Asks the kernel for a change and waits for its answer.
fn request(message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::from(message));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    match NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer) {
        Ok(NetlinkMessage {
            payload: NetlinkPayload::Error(error),
            ..
        }) if error.code.is_some() => Err(error.to_io()),
        Ok(_) => Ok(()),
        Err(e) => Err(io::Error::new(io::ErrorKind::InvalidData, e.to_string())),
    }
}
