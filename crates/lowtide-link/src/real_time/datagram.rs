//! UDP datagrams and their ECN bits.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

use lowtide_cc::Ecn;
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg,
};
use socket2::SockRef;

/// Has the system tell the ECN bits of what arrives. Where it cannot, packets count as not ECN-capable.
pub(crate) fn report_ecn(socket: &UdpSocket) {
    let socket = SockRef::from(socket);
    // A socket of IPv6 may get packets of IPv4, too.
    let _ = socket.set_recv_tos_v4(true);
    let _ = socket.set_recv_tclass_v6(true);
}

/// A datagram that arrived.
#[derive(Debug)]
pub(crate) struct Datagram {
    pub(crate) length: usize,
    pub(crate) ecn: Ecn,
    /// Whom it is from; the system does not say with a connected socket.
    pub(crate) from: Option<SocketAddr>,
}

/// Where the system puts what it says of a datagram.
#[derive(Debug)]
pub(crate) struct Control(Vec<u8>);

impl Default for Control {
    fn default() -> Self {
        Self(cmsg_space!(i32, i32))
    }
}

/// Takes a datagram into `buffer`.
pub(crate) fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    control: &mut Control,
) -> io::Result<Datagram> {
    let mut parts = [IoSliceMut::new(buffer)];
    let control = Some(control.0.as_mut_slice());
    let fd = socket.as_raw_fd();
    let message = recvmsg::<SockaddrStorage>(fd, &mut parts, control, MsgFlags::empty())?;
    let class = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::Ipv4Tos(class) => Some(class),
        ControlMessageOwned::Ipv6TClass(class) => Some(class as u8),
        _ => None,
    });
    let from = message.address.as_ref().and_then(|address| {
        let v4 = address
            .as_sockaddr_in()
            .map(|a| SocketAddr::V4((*a).into()));
        v4.or_else(|| {
            address
                .as_sockaddr_in6()
                .map(|a| SocketAddr::V6((*a).into()))
        })
    });
    Ok(Datagram {
        length: message.bytes,
        ecn: Ecn::from_bits(class.unwrap_or(0)),
        from,
    })
}

/// Sends a datagram from a socket that is connected to its destination, or from one that is not.
pub(crate) fn send(
    socket: &UdpSocket,
    packet: &[u8],
    ecn: Ecn,
    destination: SocketAddr,
    is_connected: bool,
) -> io::Result<()> {
    if ecn == Ecn::NotEct {
        let sent = match is_connected {
            true => socket.send(packet),
            false => socket.send_to(packet, destination),
        };
        return sent.map(drop);
    }
    let to = (!is_connected).then(|| SockaddrStorage::from(destination));
    let (tos, class) = (ecn.bits(), i32::from(ecn.bits()));
    let control = match destination.ip().to_canonical() {
        IpAddr::V4(_) => ControlMessage::Ipv4Tos(&tos),
        IpAddr::V6(_) => ControlMessage::Ipv6TClass(&class),
    };
    let (fd, parts) = (socket.as_raw_fd(), [IoSlice::new(packet)]);
    sendmsg(fd, &parts, &[control], MsgFlags::empty(), to.as_ref())?;
    Ok(())
}
