//! UDP with the times at which packets arrived.

use std::io;
use std::net::SocketAddr;

use lowtide_cc::units::{Duration, Time};
use socket2::{Domain, Protocol, Socket as RawSocket, Type};

use crate::Outbox;

/// What the system may keep of what has come and of what is to leave: 50 ms at 500 Mbit/s and more.
const BUFFER: usize = 4 << 20;
/// How long a packet waits for room in the system's buffer before it is given up.
#[cfg(target_os = "linux")]
const ROOM: Duration = Duration::from_millis(20);

/// A UDP socket.
#[derive(Debug)]
pub(crate) struct Socket {
    inner: std::net::UdpSocket,
    buffer: Vec<u8>,
    #[cfg(target_os = "linux")]
    control: Vec<u8>,
}

impl Socket {
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = RawSocket::new(
            Domain::for_address(address),
            Type::DGRAM,
            Some(Protocol::UDP),
        )?;
        // What the system does not grant it has good reasons for.
        let _ = socket.set_recv_buffer_size(BUFFER);
        let _ = socket.set_send_buffer_size(BUFFER);
        socket.bind(&address.into())?;
        Self::of(socket.into())
    }

    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io::IoSliceMut;
    use std::os::fd::{AsFd, AsRawFd};

    use nix::cmsg_space;
    use nix::poll::{PollFd, PollFlags, ppoll};
    use nix::sys::socket::{
        ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
    };
    use nix::sys::time::TimeSpec;
    use nix::time::{ClockId, clock_gettime};

    use super::*;
    use crate::wire::LARGEST;

    fn read(clock: ClockId) -> Time {
        let now = clock_gettime(clock).unwrap_or(TimeSpec::new(0, 0));
        Time::from_nanos(now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
    }

    /// The time of a clock that nobody sets.
    pub(crate) fn now() -> Time {
        read(ClockId::CLOCK_MONOTONIC)
    }

    impl Socket {
        pub(super) fn of(inner: std::net::UdpSocket) -> io::Result<Self> {
            inner.set_nonblocking(true)?;
            setsockopt(&inner, sockopt::ReceiveTimestampns, &true)?;
            Ok(Self {
                inner,
                buffer: vec![0; LARGEST],
                control: cmsg_space!(TimeSpec),
            })
        }

        /// The next datagram that has come, with the kernel's time of its arrival.
        pub(crate) fn receive(&mut self) -> io::Result<(Time, SocketAddr, &[u8])> {
            let fd = self.inner.as_raw_fd();
            let mut parts = [IoSliceMut::new(&mut self.buffer)];
            let control = Some(&mut self.control);
            let (length, from, stamp) = {
                let control = control.map(|c| c.as_mut_slice());
                let message =
                    recvmsg::<SockaddrStorage>(fd, &mut parts, control, MsgFlags::empty())?;
                let stamp = message.cmsgs()?.find_map(|part| match part {
                    ControlMessageOwned::ScmTimestampns(at) => Some(at),
                    _ => None,
                });
                (message.bytes, message.address, stamp)
            };
            // The kernel stamps by a clock that may be set: only how long ago it was is taken from that.
            let (now, wall) = (now(), read(ClockId::CLOCK_REALTIME));
            let ago = stamp.map_or(Duration::ZERO, |at| {
                let nanos = at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64;
                wall.since(Time::from_nanos(nanos))
            });
            // Set in between: such a time would be nonsense.
            let ago = if ago < Duration::from_secs(1) {
                ago
            } else {
                Duration::ZERO
            };
            let from = from.as_ref().and_then(address);
            let from = from.ok_or(io::ErrorKind::InvalidData)?;
            Ok((now - ago, from, &self.buffer[..length.min(LARGEST)]))
        }

        /// Waits until something has come, or for so long.
        pub(crate) fn wait(&self, time: Duration) {
            self.poll(PollFlags::POLLIN, time);
        }

        fn poll(&self, what: PollFlags, time: Duration) {
            let nanos = time.as_nanos();
            let time = TimeSpec::new((nanos / 1_000_000_000) as _, (nanos % 1_000_000_000) as _);
            let mut fds = [PollFd::new(self.inner.as_fd(), what)];
            // Interrupted or not: what is next is looked at anyway.
            let _ = ppoll(&mut fds, Some(time), None);
        }
    }

    impl Outbox for Socket {
        fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
            let sent = self.inner.send_to(datagram, to);
            if sent.is_err_and(|e| e.kind() == io::ErrorKind::WouldBlock) {
                self.poll(PollFlags::POLLOUT, ROOM);
                // Lost, as on the way; so is what the system does not take.
                let _ = self.inner.send_to(datagram, to);
            }
        }
    }

    fn address(address: &SockaddrStorage) -> Option<SocketAddr> {
        let v4 = address.as_sockaddr_in();
        let v4 = v4.map(|a| SocketAddr::V4((*a).into()));
        v4.or_else(|| {
            let v6 = address.as_sockaddr_in6();
            v6.map(|a| SocketAddr::V6((*a).into()))
        })
    }

    /// Whether arrivals have the kernel's times.
    pub(crate) const KERNEL_TIMES: bool = true;
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::sync::OnceLock;
    use std::time::Instant;

    use super::*;
    use crate::wire::LARGEST;

    /// The time of a clock that nobody sets.
    pub(crate) fn now() -> Time {
        static START: OnceLock<Instant> = OnceLock::new();
        Time::ZERO + START.get_or_init(Instant::now).elapsed().into()
    }

    impl Socket {
        pub(super) fn of(inner: std::net::UdpSocket) -> io::Result<Self> {
            inner.set_nonblocking(true)?;
            let buffer = vec![0; LARGEST];
            Ok(Self { inner, buffer })
        }

        /// The next datagram that has come, with the time at which it was looked at.
        pub(crate) fn receive(&mut self) -> io::Result<(Time, SocketAddr, &[u8])> {
            let (length, from) = self.inner.recv_from(&mut self.buffer)?;
            Ok((now(), from, &self.buffer[..length]))
        }

        /// Waits for so long, a millisecond at most: there is no waiting for packets with so fine a clock.
        pub(crate) fn wait(&self, time: Duration) {
            std::thread::sleep(time.min(Duration::from_millis(1)).into());
        }
    }

    impl Outbox for Socket {
        fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
            // Lost, as on the way.
            let _ = self.inner.send_to(datagram, to);
        }
    }

    /// Whether arrivals have the kernel's times.
    pub(crate) const KERNEL_TIMES: bool = false;
}

pub(crate) use system::{KERNEL_TIMES, now};
