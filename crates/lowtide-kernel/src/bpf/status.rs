//! The sockets that use a controller.

use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd as _;
use std::time::Duration;

use libbpf_rs::{Iter, MapHandle};

use super::{object, pin, refused, registered, requirements};
use crate::{Choice, Error, Flow, KNOWN, Known, Status};

/// Bytes of a record of `bpf/status.bpf.c`.
const RECORD: usize = 96;
const AF_INET: u16 = 2;
/// No minimum RTT yet.
const NONE: u64 = u64::MAX;

/// The controllers in the kernel, and their flows in all network namespaces.
///
/// # Errors
/// When kernel or privileges do not allow it.
pub fn status() -> Result<Vec<Status>, Error> {
    requirements::check()?;
    let mut all = Vec::new();
    for known in KNOWN {
        let flows = flows(known)?;
        let registered = registered::is_available(known);
        if registered || !flows.is_empty() {
            all.push(Status {
                choice: Choice::of_constants(known, registered::idle(known)),
                registered,
                pinned: pin::is_there(known),
                cgroups: pin::of_cgroups(known).len(),
                flows,
            });
        }
    }
    Ok(all)
}

/// Its flows, those of earlier loads among them.
pub(super) fn flows(known: &'static Known) -> Result<Vec<Flow>, Error> {
    let mut flows = Vec::new();
    for map in registered::flows(known) {
        // It may be gone since it was listed.
        let Ok(map) = MapHandle::from_map_id(map.id) else {
            continue;
        };
        let iterator = object::status().map_err(requirements::explain)?;
        let missing = || Error::Refused("the iterator has no program".to_owned());
        let program = iterator.progs_mut().next().ok_or_else(missing)?;
        let link = program.attach_iter(map.as_fd()).map_err(refused)?;
        let mut records = Vec::new();
        Iter::new(&link)
            .map_err(refused)?
            .read_to_end(&mut records)
            .map_err(|error| Error::Refused(format!("reading the flows: {error}")))?;
        flows.extend(
            records
                .chunks_exact(RECORD)
                .map(|record| flow(known, record)),
        );
    }
    Ok(flows)
}

/// A record of at least [`RECORD`] bytes.
fn flow(known: &'static Known, record: &[u8]) -> Flow {
    let mut rest = record;
    let family = u16::from_ne_bytes(take(&mut rest));
    let local_port = u16::from_ne_bytes(take(&mut rest));
    let peer_port = u16::from_ne_bytes(take(&mut rest));
    let is_orphan = u16::from_ne_bytes(take(&mut rest)) != 0;
    let local = address(family, take(&mut rest));
    let peer = address(family, take(&mut rest));
    let [cwnd, inflight, mss, srtt, phase, _] =
        [(); 6].map(|()| u32::from_ne_bytes(take(&mut rest)));
    let [bandwidth, min_rtt, _window, pacing_rate] =
        [(); 4].map(|()| u64::from_ne_bytes(take(&mut rest)));
    Flow {
        controller: known.name,
        local: SocketAddr::new(local, local_port),
        peer: SocketAddr::new(peer, peer_port),
        cwnd,
        inflight,
        mss,
        pacing_rate,
        bandwidth,
        srtt: Duration::from_nanos(u64::from(srtt) * 125),
        min_rtt: (min_rtt != NONE).then(|| Duration::from_nanos(min_rtt)),
        phase: known.phases.get(phase as usize).copied().unwrap_or("?"),
        is_orphan,
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let mut taken = [0; N];
    let (head, tail) = rest.split_at(N);
    taken.copy_from_slice(head);
    *rest = tail;
    taken
}

fn address(family: u16, bytes: [u8; 16]) -> IpAddr {
    if family == AF_INET {
        let [a, b, c, d, ..] = bytes;
        return Ipv4Addr::new(a, b, c, d).into();
    }
    // An IPv4 connection of an IPv6 socket.
    Ipv6Addr::from(bytes).to_canonical()
}
