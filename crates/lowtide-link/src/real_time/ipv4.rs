//! What the link reads and writes in IPv4 headers (RFC 791). What is no IPv4 packet is not ECN-capable,
//! and left as it is.

use lowtide_cc::Ecn;

use crate::flow::{self, Ports};

/// A header without options.
const SHORTEST: usize = 20;
const DSCP_AND_ECN: usize = 1;
const CHECKSUM: usize = 10;

/// The ECN bits of a packet.
pub(crate) fn ecn(packet: &[u8]) -> Ecn {
    header(packet).map_or(Ecn::NotEct, |header| Ecn::from_bits(header[DSCP_AND_ECN]))
}

/// Sets the ECN bits of a packet, and corrects its checksum.
pub(crate) fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    if header(packet).is_none() {
        return;
    }
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let before = word(packet, 0);
    packet[DSCP_AND_ECN] = packet[DSCP_AND_ECN] & !0b11 | ecn.bits();
    // RFC 1624, equation 3.
    let sum = u32::from(!word(packet, CHECKSUM)) + u32::from(!before) + u32::from(word(packet, 0));
    let folded = (sum & 0xFFFF) + (sum >> 16);
    let checksum = !((folded & 0xFFFF) + (folded >> 16)) as u16;
    packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// The flow of a packet: that of its port, where `told_by` ports are; else that of all with its addresses,
/// protocol and ports.
pub(crate) fn flow(packet: &[u8], told_by: Option<Ports>) -> u32 {
    const FLAGS_AND_OFFSET: usize = 6;
    const PROTOCOL: usize = 9;
    const ADDRESSES: usize = 12;
    let Some(header) = header(packet) else {
        return told_by.map_or(0, |_| Ports::NONE);
    };
    // Of a fragment only the first has ports.
    let fragment = header[FLAGS_AND_OFFSET] & 0x3F | header[FLAGS_AND_OFFSET + 1];
    let length = usize::from(header[0] & 0x0F) * 4;
    let ports = packet
        .get(length..length + 4)
        .filter(|_| fragment == 0 && has_ports(header[PROTOCOL]));
    let Some(told_by) = told_by else {
        return flow::number(&(&header[ADDRESSES..], header[PROTOCOL], ports));
    };
    let port = |at: usize| ports.map(|bytes| u16::from_be_bytes([bytes[at], bytes[at + 1]]));
    port(0)
        .zip(port(2))
        .map_or(Ports::NONE, |(from, to)| told_by.flow([from, to]))
}

/// TCP, UDP, DCCP, SCTP and UDP-Lite begin with their ports.
fn has_ports(protocol: u8) -> bool {
    matches!(protocol, 6 | 17 | 33 | 132 | 136)
}

/// The part of the header that all have.
fn header(packet: &[u8]) -> Option<&[u8]> {
    let header = packet.get(..SHORTEST)?;
    (header[0] >> 4 == 4).then_some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checksum of RFC 1071: zero when the header is whole.
    fn checksum(header: &[u8]) -> u16 {
        let words = header
            .chunks(2)
            .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        !sum as u16
    }

    /// A UDP packet from port 1 to `port`, of 24 bytes.
    fn packet(tos: u8, id: u16, port: u16) -> Vec<u8> {
        let mut packet = vec![0x45, tos, 0, 24];
        packet.extend(id.to_be_bytes());
        packet.extend([0x40, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 0, 2]);
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend([0, 1]);
        packet.extend(port.to_be_bytes());
        packet
    }

    #[test]
    fn bits_are_set_without_harm_to_checksum_and_dscp() {
        let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for id in 0..=u16::MAX {
            let from = all[usize::from(id % 4)];
            let to = all[usize::from(id / 4 % 4)];
            let mut packet = packet(0b1011_1000 | from.bits(), id, 9);
            assert_eq!(ecn(&packet), from);
            set_ecn(&mut packet, to);
            assert_eq!((ecn(&packet), packet[1] >> 2), (to, 0b10_1110));
            assert_eq!(checksum(&packet[..SHORTEST]), 0, "{from:?} to {to:?}, {id}");
        }
    }

    #[test]
    fn what_is_no_ipv4_packet_is_left_alone() {
        let v6 = [[0x60].as_slice(), &[0xFF; 60]].concat();
        for other in [&[][..], &[0x45; 19], &v6] {
            let mut same = other.to_vec();
            set_ecn(&mut same, Ecn::Ce);
            assert_eq!((same.as_slice(), ecn(other)), (other, Ecn::NotEct));
            assert_eq!(flow(other, None), 0);
        }
    }

    #[test]
    fn packets_of_a_flow_have_its_number_and_those_of_others_mostly_another() {
        let of_port = |port| flow(&packet(0, 7, port), None);
        assert_eq!(of_port(5), flow(&packet(2, 8, 5), None));
        let mut numbers: Vec<u32> = (0..100).map(of_port).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(numbers.len() > 80 && numbers.iter().all(|n| *n < flow::FLOWS));
        // Fragments have no ports, but all the same addresses. A header may claim options beyond the end.
        let fragment = |port| {
            let mut packet = packet(0, 7, port);
            packet[6] = 0x20;
            flow(&packet, None)
        };
        assert_eq!(fragment(1), fragment(2));
        let mut cut = packet(0, 7, 1);
        cut[0] = 0x4F;
        assert!(flow(&cut, None) < flow::FLOWS);
    }

    #[test]
    fn a_port_tells_whose_a_packet_is_whichever_way_it_goes() {
        let ports = Some(Ports {
            first: 5000,
            count: 2,
        });
        let between = |from: u16, to: u16| {
            let mut packet = packet(0, 7, to);
            packet[20..22].copy_from_slice(&from.to_be_bytes());
            flow(&packet, ports)
        };
        assert_eq!([between(5000, 40_000), between(40_000, 5001)], [0, 1]);
        for (from, to) in [(40_000, 40_001), (4999, 1), (5002, 1)] {
            assert_eq!(between(from, to), Ports::NONE);
        }
        let mut fragment = packet(0, 7, 5000);
        fragment[6] = 0x20;
        assert_eq!(flow(&fragment, ports), Ports::NONE);
        assert_eq!(flow(&[0x60; 60], ports), Ports::NONE);
    }
}
