//! TUN devices in two network namespaces, and their addresses.

use std::fmt;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use lowtide_cc::units::Bytes;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use super::ipv4;
use super::namespace::{Namespace, add_default_route, set_queue_length};
use super::worker::{Egress, Ingress};
use crate::error::Error;
use crate::flow::Ports;
use crate::shaper::{Incoming, Release};
use crate::summary::Unseen;

/// Packets that the kernel keeps until they are read; the emulated queue comes behind it. Large, as
/// a TCP sender may emit a whole window at once: some 10,000 packets at 1 Gbit/s and 100 ms.
const DEVICE_QUEUE: u32 = 65_536;

/// The device at the near end.
const NEAR_NAME: &str = "lowtide";

/// Each block of addresses has this many blocks in it (as a power of two) …
const SPLIT_BITS: u8 = 3;
/// … down to this prefix length, which has room for two addresses.
const LONGEST_PREFIX: u8 = 30;

/// A block of IPv4 addresses: a link's own two, and those of links that are started in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    base: u32,
    prefix: u8,
}

impl Addresses {
    /// All that links use: 198.18.0.0/15, set aside for measurements of network devices (RFC 2544,
    /// appendix C.2.2; RFC 6890).
    pub const ALL: Self = Self {
        base: 0xC612_0000,
        prefix: 15,
    };

    /// The address at the far end.
    #[must_use]
    pub fn far(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.base + 1)
    }

    /// The address at the near end.
    #[must_use]
    pub fn near(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.base + 2)
    }

    /// What links that are started in `namespace` may take: where it is the near end of a link, that
    /// one's block, otherwise all.
    ///
    /// # Errors
    /// When the namespace cannot be entered.
    pub fn within(namespace: &Namespace) -> Result<Self, Error> {
        let routes = namespace.run(|| fs::read_to_string("/proc/thread-self/net/route"))?;
        Ok(Self::of_near_end(&routes.unwrap_or_default()).unwrap_or(Self::ALL))
    }

    /// The block that a near end's device has a route to. Addresses and masks are in hexadecimal
    /// and, on all machines of today, little-endian (`net/ipv4/fib_trie.c` prints the `__be32` as it
    /// lies in memory).
    fn of_near_end(routes: &str) -> Option<Self> {
        const MASK: usize = 7;
        routes.lines().find_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let number = |n: usize| u32::from_str_radix(columns.get(n)?, 16).ok();
            let (base, mask) = (u32::from_be(number(1)?), u32::from_be(number(MASK)?));
            let prefix = mask.leading_ones() as u8;
            let ours = columns[0] == NEAR_NAME
                && (Self::ALL.prefix..=LONGEST_PREFIX).contains(&prefix)
                && base >> (32 - Self::ALL.prefix) == Self::ALL.base >> (32 - Self::ALL.prefix);
            ours.then_some(Self { base, prefix })
        })
    }

    /// Block number `n` in this one, if it is not too small.
    fn split(self, n: u32) -> Option<Self> {
        let prefix = self.prefix + SPLIT_BITS;
        (prefix <= LONGEST_PREFIX).then(|| Self {
            base: self.base + (n << (32 - prefix)),
            prefix,
        })
    }

    /// Numbers of the blocks in this one that links may take: the first has this one's own
    /// addresses, unless it is all.
    fn numbers(self) -> std::ops::Range<u32> {
        u32::from(self != Self::ALL)..1 << SPLIT_BITS
    }
}

impl fmt::Display for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from_bits(self.base), self.prefix)
    }
}

/// Two namespaces and a TUN device in each. What is written to the one comes out of the other only
/// through an [`Emulation`](crate::Emulation).
#[derive(Debug)]
pub struct Tunnel {
    far: End,
    near: End,
    addresses: Addresses,
}

struct End {
    namespace: Namespace,
    device: SyncDevice,
    name: String,
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Tunnel {
    /// Makes the devices. `mtu` is the largest packet in bytes; `within` the block to take
    /// addresses from; see [`Addresses::within`].
    ///
    /// # Errors
    /// When there is no TUN device, no permission, or no free block.
    pub fn between(
        far: Namespace,
        near: Namespace,
        mtu: u16,
        within: Addresses,
    ) -> Result<Self, Error> {
        check_device()?;
        let mut made = None;
        for n in within.numbers() {
            let Some(addresses) = within.split(n) else {
                break;
            };
            // A device's name can be taken but once: whoever has it has the block.
            let name = format!("lowtide-{n}");
            match far.run(|| create(&name, addresses.far(), addresses.prefix, mtu))? {
                Ok(device) => {
                    made = Some((device, name, addresses));
                    break;
                }
                Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {}
                Err(problem) => return Err(Error::Tunnel { name, problem }),
            }
        }
        let Some((device, name, addresses)) = made else {
            return Err(Error::NoFreeBlock(
                within.numbers().len() as u32,
                within.to_string(),
            ));
        };
        let far = End {
            namespace: far,
            device,
            name,
        };
        let name = NEAR_NAME.to_string();
        let device = near.run(|| {
            let device = create(&name, addresses.near(), addresses.prefix, mtu)?;
            add_default_route(addresses.far())?;
            Ok(device)
        })?;
        let device = device.map_err(|problem| Error::Tunnel {
            name: name.clone(),
            problem,
        })?;
        let near = End {
            namespace: near,
            device,
            name,
        };
        Ok(Self {
            far,
            near,
            addresses,
        })
    }

    /// The addresses of both ends.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// The namespace at the far end.
    #[must_use]
    pub fn far(&self) -> &Namespace {
        &self.far.namespace
    }

    /// The namespace at the near end.
    #[must_use]
    pub fn near(&self) -> &Namespace {
        &self.near.namespace
    }

    /// Whether a packet that was sent at the near end waits for an [`Emulation`](crate::Emulation) to begin.
    #[must_use]
    pub fn near_waits(&self) -> bool {
        let mut fds = [PollFd::new(self.near.device.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }

    /// What became of packets that were sent at the far end, and of those at the near end.
    pub(crate) fn unseen(&self) -> [Unseen; 2] {
        [&self.far, &self.near].map(|end| {
            let read = || dropped_at_sending(&end.name);
            let missed = end.namespace.run(read).ok().flatten().unwrap_or(0);
            Unseen {
                missed,
                ..Unseen::default()
            }
        })
    }
}

fn check_device() -> Result<(), Error> {
    let opened = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun");
    opened.map(drop).map_err(Error::NoTunDevice)
}

fn create(name: &str, address: Ipv4Addr, prefix: u8, mtu: u16) -> io::Result<SyncDevice> {
    let device = DeviceBuilder::new()
        .name(name)
        .layer(Layer::L3)
        .mtu(mtu)
        .ipv4(address, prefix, None)
        .enable(false)
        .build_sync()?;
    set_queue_length(device.if_index()?, DEVICE_QUEUE)?;
    // Solicitations of IPv6 would be unwanted packets. Without IPv6 there is no file.
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
    device.enabled(true)?;
    device.set_nonblocking(true)?;
    Ok(device)
}

/// The column "drop" of what a device transmits, in this thread's namespace (proc(5), `net/dev`).
fn dropped_at_sending(name: &str) -> Option<u64> {
    const COLUMN: usize = 11;
    let text = fs::read_to_string("/proc/thread-self/net/dev").ok()?;
    text.lines().find_map(|line| {
        let (device, numbers) = line.split_once(':')?;
        (device.trim() == name)
            .then(|| numbers.split_whitespace().nth(COLUMN)?.parse().ok())
            .flatten()
    })
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Far,
    Near,
}

/// One end's device, to read from and write to. All packets go the same way.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    tunnel: Arc<Tunnel>,
    side: Side,
    ports: Option<Ports>,
}

impl Device {
    pub(crate) fn new(tunnel: &Arc<Tunnel>, side: Side, ports: Option<Ports>) -> Self {
        Self {
            tunnel: tunnel.clone(),
            side,
            ports,
        }
    }

    fn device(&self) -> &SyncDevice {
        match self.side {
            Side::Far => &self.tunnel.far.device,
            Side::Near => &self.tunnel.near.device,
        }
    }
}

impl Ingress for Device {
    type Destination = ();

    fn fd(&self) -> BorrowedFd<'_> {
        self.device().as_fd()
    }

    fn receive<'a>(&mut self, buffer: &'a mut [u8]) -> io::Result<Option<Incoming<'a, ()>>> {
        match self.device().recv(buffer) {
            Ok(length) => {
                let packet = buffer.get(..length).unwrap_or_default();
                Ok(Some(Incoming {
                    packet,
                    size: Bytes::new(length as u64),
                    ecn: ipv4::ecn(packet),
                    flow: ipv4::flow(packet, self.ports),
                    destination: (),
                }))
            }
            Err(e) => match e.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(e),
            },
        }
    }
}

impl Egress<()> for Device {
    fn send(&mut self, release: Release<'_, ()>) -> bool {
        let Release { packet, ecn, .. } = release;
        if ecn != ipv4::ecn(packet) {
            ipv4::set_ecn(packet, ecn);
        }
        self.device().send(packet).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_nest_without_overlap_and_are_found_in_the_routes() {
        let first = Addresses::ALL.split(3).unwrap();
        assert_eq!(first.to_string(), "198.18.192.0/18");
        assert_eq!(first.near(), Ipv4Addr::new(198, 18, 192, 2));
        let nested = first.split(1).unwrap();
        assert_eq!(nested.to_string(), "198.18.200.0/21");
        assert_eq!(
            (first.numbers().start, nested.split(7).unwrap().prefix),
            (1, 24)
        );
        let mut deepest = Addresses::ALL;
        let mut depth = 0;
        while let Some(inner) = deepest.split(1) {
            deepest = inner;
            depth += 1;
        }
        assert_eq!((depth, deepest.prefix), (5, 30));

        let head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT";
        let near = "lowtide 00C012C6 00000000 0001 0 0 0 00C0FFFF 0 0 0";
        let default = "lowtide 00000000 01C012C6 0003 0 0 0 00000000 0 0 0";
        let routes = [head, default, near].join("\n");
        assert_eq!(Addresses::of_near_end(&routes), Some(first));
        let others = near.replace("lowtide", "lowtide-3");
        for routes in [
            "",
            "lowtide",
            "lowtide x 0 0 0 0 0 y",
            head,
            default,
            &others,
        ] {
            assert_eq!(Addresses::of_near_end(routes), None, "{routes}");
        }
    }
}
