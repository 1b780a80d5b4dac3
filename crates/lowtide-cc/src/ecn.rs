//! Explicit congestion notification (RFC 3168): what a packet says of the queues it has passed.

/// The two ECN bits of an IP header, by their value (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The sender does not understand marks: a queue drops where it would mark.
    #[default]
    NotEct = 0b00,
    /// ECT(1): the sender answers marks as L4S demands (RFC 9331), so that queues may mark early.
    Ect1 = 0b01,
    /// ECT(0): the sender answers a mark as it answers a loss (RFC 3168, RFC 8511).
    Ect0 = 0b10,
    /// A queue has marked the packet: congestion experienced.
    Ce = 0b11,
}

impl Ecn {
    /// The codepoint of the low two bits of a traffic class.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => Self::NotEct,
            0b01 => Self::Ect1,
            0b10 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// The codepoint in the low two bits of a traffic class.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self as u8
    }

    /// Whether a queue may mark the packet instead of dropping it; one that is marked already counts.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }

    /// Whether a queue must treat the packet as L4S: ECT(1), or CE, of which nobody knows what it was
    /// (RFC 9331 §5.1).
    #[must_use]
    pub const fn is_l4s(self) -> bool {
        matches!(self, Self::Ect1 | Self::Ce)
    }
}

/// How many packets arrived with each codepoint but Not-ECT, from the beginning of a connection on: what
/// a QUIC acknowledgment reports (RFC 9000 §19.3.2), and TCP with accurate ECN
/// (draft-ietf-tcpm-accurate-ecn).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// With ECT(0).
    pub ect0: u64,
    /// With ECT(1).
    pub ect1: u64,
    /// With CE.
    pub ce: u64,
}

impl EcnCounts {
    /// A packet arrived.
    #[inline]
    pub fn count(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 += 1,
            Ecn::Ect1 => self.ect1 += 1,
            Ecn::Ce => self.ce += 1,
        }
    }
}
