//! TCP segments in IPv4 packets (RFC 791, RFC 9293).

use std::net::Ipv4Addr;

const IP: usize = 20;
const TCP: usize = 20;
pub(crate) const SYN: u8 = 0x02;
pub(crate) const ACK: u8 = 0x10;

/// What the kernel sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    pub(crate) flags: u8,
    pub(crate) timestamp: u32,
    pub(crate) payload: usize,
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl Received {
    pub(crate) fn parse(packet: &[u8]) -> Option<Self> {
        const PROTOCOL: usize = 9;
        let first = *packet.first()?;
        if first != 0x45 || *packet.get(PROTOCOL)? != 6 {
            return None;
        }
        let tcp = packet.get(IP..)?;
        let header = usize::from(*tcp.get(12)? >> 4) * 4;
        Some(Self {
            source: Ipv4Addr::from_bits(long(packet, 12)?),
            destination: Ipv4Addr::from_bits(long(packet, 16)?),
            source_port: word(tcp, 0)?,
            destination_port: word(tcp, 2)?,
            sequence: long(tcp, 4)?,
            flags: *tcp.get(13)?,
            timestamp: timestamp(tcp.get(TCP..header)?).unwrap_or(0),
            payload: usize::from(word(packet, 2)?).checked_sub(IP + header)?,
        })
    }
}

fn timestamp(mut options: &[u8]) -> Option<u32> {
    loop {
        match *options.first()? {
            0 => return None,
            1 => options = options.get(1..)?,
            8 => return long(options, 2),
            _ => options = options.get(usize::from(*options.get(1)?).max(2)..)?,
        }
    }
}

/// What is sent to the kernel.
pub(crate) struct Reply<'a> {
    pub(crate) to: &'a Received,
    pub(crate) sequence: u32,
    pub(crate) acknowledgment: u32,
    pub(crate) flags: u8,
    /// A multiple of 4 bytes.
    pub(crate) options: Vec<u8>,
}

/// RFC 7323: kind 8, after two bytes of nothing.
pub(crate) fn timestamps(value: u32, echo: u32) -> Vec<u8> {
    let mut option = vec![1, 1, 8, 10];
    option.extend(value.to_be_bytes());
    option.extend(echo.to_be_bytes());
    option
}

/// RFC 2018: kind 5, after two bytes of nothing.
pub(crate) fn sack(blocks: &[(u32, u32)]) -> Vec<u8> {
    if blocks.is_empty() {
        return Vec::new();
    }
    let mut option = vec![1, 1, 5, 2 + 8 * blocks.len() as u8];
    for (start, end) in blocks {
        option.extend(start.to_be_bytes());
        option.extend(end.to_be_bytes());
    }
    option
}

impl Reply<'_> {
    pub(crate) fn packet(&self) -> Vec<u8> {
        const WINDOW: [u8; 2] = [0xFF, 0xFF];
        let length = IP + TCP + self.options.len();
        let mut ip = vec![0x45, 0];
        ip.extend((length as u16).to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        ip.extend(self.to.destination.octets());
        ip.extend(self.to.source.octets());
        let sum = checksum(&[&ip]);
        ip[10..12].copy_from_slice(&sum);
        let mut tcp = Vec::new();
        tcp.extend(self.to.destination_port.to_be_bytes());
        tcp.extend(self.to.source_port.to_be_bytes());
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend(self.acknowledgment.to_be_bytes());
        let words = (TCP + self.options.len()) / 4;
        tcp.push((words << 4) as u8);
        tcp.push(self.flags);
        tcp.extend(WINDOW);
        tcp.extend([0; 4]);
        tcp.extend(&self.options);
        let mut pseudo = ip[12..20].to_vec();
        pseudo.extend([0, 6]);
        pseudo.extend((tcp.len() as u16).to_be_bytes());
        let sum = checksum(&[&pseudo, &tcp]);
        tcp[16..18].copy_from_slice(&sum);
        ip.extend(tcp);
        ip
    }
}

/// RFC 1071; all parts have an even length.
fn checksum(parts: &[&[u8]]) -> [u8; 2] {
    let words = parts.iter().flat_map(|part| part.chunks_exact(2));
    let mut sum: u32 = words
        .map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])))
        .sum();
    while sum > 0xFFFF {
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    (!sum as u16).to_be_bytes()
}
