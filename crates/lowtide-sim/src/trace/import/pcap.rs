//! Captures, classic (pcap) and new (pcapng): when bytes came to a receiver.
//!
//! An opportunity is put where that many bytes have come since the last one. A capture shows what a link did
//! only while something waited before it: of a flow that did not fill the link it shows the flow.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lowtide_cc::units::Bytes;

use crate::link::{MAX_TRACE_MS, Opportunities};
use crate::trace::TraceError;

const NANOS_PER_MS: i128 = 1_000_000;

/// The byte order of a file's numbers.
#[derive(Clone, Copy, Debug)]
struct Order {
    big: bool,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let two: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if self.big {
            u16::from_be_bytes(two)
        } else {
            u16::from_le_bytes(two)
        })
    }

    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big {
            u32::from_be_bytes(four)
        } else {
            u32::from_le_bytes(four)
        })
    }
}

/// A packet: when it was captured (ns), what it counts, and where it goes.
#[derive(Clone, Copy, Debug)]
struct Packet {
    at: i128,
    bytes: u64,
    to: IpAddr,
}

fn wrong<T>(problem: impl Into<String>) -> Result<T, TraceError> {
    Err(TraceError::Binary(problem.into()))
}

pub(super) fn parse(
    bytes: &[u8],
    receiver: Option<IpAddr>,
    opportunity: Bytes,
) -> Result<Opportunities, TraceError> {
    let packets = match bytes.get(..4) {
        Some([0xD4, 0xC3, 0xB2, 0xA1]) => classic(bytes, Order { big: false }, 1_000)?,
        Some([0xA1, 0xB2, 0xC3, 0xD4]) => classic(bytes, Order { big: true }, 1_000)?,
        Some([0x4D, 0x3C, 0xB2, 0xA1]) => classic(bytes, Order { big: false }, 1)?,
        Some([0xA1, 0xB2, 0x3C, 0x4D]) => classic(bytes, Order { big: true }, 1)?,
        Some([0x0A, 0x0D, 0x0D, 0x0A]) => blocks(bytes)?,
        _ => return wrong("it is neither pcap nor pcapng"),
    };
    let Some(to) = receiver.or_else(|| busiest(&packets)) else {
        return Err(TraceError::Empty);
    };
    let mut times: Vec<u32> = Vec::new();
    let (mut waiting, mut zero) = (0, None);
    for packet in packets.iter().filter(|packet| packet.to == to) {
        let since = packet.at - *zero.get_or_insert(packet.at);
        let ms = u32::try_from(since.max(0) / NANOS_PER_MS).unwrap_or(u32::MAX);
        if ms > MAX_TRACE_MS {
            return wrong("it is longer than 4 hours: cut it, as with editcap");
        }
        waiting += packet.bytes;
        while waiting >= opportunity.get() {
            waiting -= opportunity.get();
            // Clocks that were set back do not turn time back.
            let last = times.last().copied().unwrap_or(0);
            times.push(ms.max(last));
        }
    }
    if times.is_empty() {
        return wrong(format!("next to nothing in it goes to {to}"));
    }
    Ok(Opportunities::new(times, opportunity)?)
}

/// The address to which most bytes go; of several the lowest.
fn busiest(packets: &[Packet]) -> Option<IpAddr> {
    let mut received: BTreeMap<IpAddr, u64> = BTreeMap::new();
    for packet in packets {
        *received.entry(packet.to).or_default() += packet.bytes;
    }
    let most = received.values().max().copied()?;
    received
        .into_iter()
        .find(|(_, bytes)| *bytes == most)
        .map(|(to, _)| to)
}

/// A file of records behind one header; their fractions count `unit` nanoseconds. A last record that is
/// not whole, where a capture was cut off, is left out.
fn classic(bytes: &[u8], order: Order, unit: i128) -> Result<Vec<Packet>, TraceError> {
    let Some(link) = order.u32(bytes, 20) else {
        return wrong("it ends within its header");
    };
    let mut packets = Vec::new();
    let mut at = 24;
    while let (Some(seconds), Some(fraction), Some(kept)) = (
        order.u32(bytes, at),
        order.u32(bytes, at + 4),
        order.u32(bytes, at + 8),
    ) {
        let start = at + 16;
        let Some(data) = bytes.get(start..start.saturating_add(kept as usize)) else {
            break;
        };
        let time = i128::from(seconds) * 1_000_000_000 + i128::from(fraction) * unit;
        packets.extend(packet(time, link & 0xFFFF, data));
        at = start + kept as usize;
    }
    Ok(packets)
}

/// A file of blocks: sections, interfaces, packets; others are skipped.
fn blocks(bytes: &[u8]) -> Result<Vec<Packet>, TraceError> {
    let mut packets = Vec::new();
    let mut order = Order { big: false };
    // Link type, and nanoseconds over units of time.
    let mut interfaces: Vec<(u32, f64)> = Vec::new();
    let mut at = 0;
    while let Some(kind) = order.u32(bytes, at) {
        if kind == 0x0A0D_0D0A {
            order.big = bytes.get(at + 8..at + 12) == Some(&[0x1A, 0x2B, 0x3C, 0x4D]);
            interfaces.clear();
        }
        let Some(length) = order.u32(bytes, at + 4).map(|length| length as usize) else {
            break;
        };
        if length < 12 || length % 4 != 0 {
            return wrong(format!(
                "byte {at} begins a block of {length} bytes, which there are not"
            ));
        }
        let Some(block) = bytes.get(at + 8..at.saturating_add(length - 4)) else {
            break;
        };
        match kind {
            1 => {
                let link = order.u16(block, 0).map_or(0, u32::from);
                interfaces.push((link, unit(order, block.get(8..).unwrap_or_default())));
            }
            6 => packets.extend(enhanced(order, block, &interfaces)),
            _ => {}
        }
        at += length;
    }
    Ok(packets)
}

/// Nanoseconds of an interface's unit of time, which an option may say.
fn unit(order: Order, options: &[u8]) -> f64 {
    const RESOLUTION: u16 = 9;
    let mut at = 0;
    while let (Some(code), Some(length)) = (order.u16(options, at), order.u16(options, at + 2)) {
        if code == RESOLUTION
            && let Some(value) = options.get(at + 4)
        {
            let power = f64::from(value & 0x7F);
            let base = if value & 0x80 == 0 { 10.0 } else { 2.0 };
            return 1e9 / libm::pow(base, power);
        }
        if code == 0 {
            break;
        }
        at += 4 + usize::from(length).next_multiple_of(4);
    }
    1_000.0
}

fn enhanced(order: Order, block: &[u8], interfaces: &[(u32, f64)]) -> Option<Packet> {
    let (link, unit) = *interfaces.get(order.u32(block, 0)? as usize)?;
    let high = u64::from(order.u32(block, 4)?) << 32;
    let units = high | u64::from(order.u32(block, 8)?);
    let kept = order.u32(block, 12)? as usize;
    let data = block.get(20..20_usize.saturating_add(kept))?;
    let whole = if unit >= 1.0 {
        i128::from(units) * unit as i128
    } else {
        (units as f64 * unit) as i128
    };
    packet(whole, link, data)
}

/// The IP packet of a frame; `None` for anything else.
fn packet(at: i128, link: u32, frame: &[u8]) -> Option<Packet> {
    const IPV4: u16 = 0x0800;
    const IPV6: u16 = 0x86DD;
    const VLAN: [u16; 2] = [0x8100, 0x88A8];
    let network = Order { big: true };
    let start = match link {
        // Loopback of BSD, and raw IP.
        0 | 108 => 4,
        12 | 14 | 101 | 228 | 229 => 0,
        // Ethernet, Linux's cooked captures.
        1 => {
            let mut at = 12;
            while VLAN.contains(&network.u16(frame, at)?) {
                at += 4;
            }
            [IPV4, IPV6]
                .contains(&network.u16(frame, at)?)
                .then_some(at + 2)?
        }
        113 => [IPV4, IPV6]
            .contains(&network.u16(frame, 14)?)
            .then_some(16)?,
        276 => [IPV4, IPV6]
            .contains(&network.u16(frame, 0)?)
            .then_some(20)?,
        _ => return None,
    };
    let ip = frame.get(start..)?;
    match ip.first()? >> 4 {
        4 => {
            let to: [u8; 4] = ip.get(16..20)?.try_into().ok()?;
            let bytes = u64::from(network.u16(ip, 2)?);
            let to = IpAddr::V4(Ipv4Addr::from(to));
            Some(Packet { at, bytes, to })
        }
        6 => {
            let to: [u8; 16] = ip.get(24..40)?.try_into().ok()?;
            let bytes = u64::from(network.u16(ip, 4)?) + 40;
            let to = IpAddr::V6(Ipv6Addr::from(to));
            Some(Packet { at, bytes, to })
        }
        _ => None,
    }
}
