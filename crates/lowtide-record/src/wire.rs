//! The datagrams, little-endian:
//!
//! ```text
//! all        "LTR" version=1 type …
//! Hello   1  nonce(16), zeros up to 128 bytes
//! Challenge 2  nonce(16) cookie(24)
//! Start   3  nonce(16) cookie(24) plan(27) tag(16), zeros up to 192 bytes
//! Accept  4  nonce(16) session(8) server's nonce(16) plan(27) tag(16)
//! Refuse  5  nonce(16) reason(1)
//! Data    6  session(8) number(4) sent(4) kind(1) proof(8) tag(16), anything
//! Feedback 7 session(8) number(4) sent(4) flags(1) next(4) newest(4) proof(8) delay(8) received(4) arrived(4) tag(16)
//! Ask     8  session(8) number(4) log(1) page(4) tag(16), zeros up to 64 bytes
//! Page    9  session(8) number(4) log(1) page(4) pages(4) arrivals(…) tag(16)
//! End    10  session(8) number(4) tag(16)
//! ```
//!
//! A tag is of all that comes before it. Times are microseconds since the session began at the end that names them.
//! A challenge is shorter than any hello, an accept or refusal shorter than any start: nobody's address gets more than
//! was sent in its name.

use lowtide_cc::units::{Bytes, Duration, Rate};

use crate::keys::{COOKIE, Cookie, Key, NONCE, Nonce, TAG};
use crate::plan::{Plan, QueueBand};

const MAGIC: [u8; 4] = *b"LTR\x01";
/// A hello's length.
pub const HELLO: usize = 128;
/// A start's length.
pub const START: usize = 192;
/// An ask's length.
const ASK: usize = 64;
/// What of a data packet means something.
pub(crate) const DATA_HEADER: usize = 5 + 8 + 4 + 4 + 1 + 8 + TAG;
/// A feedback's length.
pub(crate) const FEEDBACK: usize = 5 + 8 + 4 + 4 + 1 + 4 + 4 + 8 + 8 + 4 + 4 + TAG;
/// The largest datagram that is read.
pub(crate) const LARGEST: usize = 9000;

/// Why a server does not record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// The secret is missing or another.
    Token = 1,
    /// The server records as much as it may already.
    Busy = 2,
    /// What is asked for makes no sense.
    Plan = 3,
}

/// What kind of data a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Keeps the link backlogged.
    Fill = 0,
    /// Sees the delay without a queue.
    Probe = 1,
}

/// What every packet of a session says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) number: u32,
    pub(crate) sent: u32,
}

/// What a receiver tells its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// How many filling packets the reporting end has sent itself.
    pub(crate) next: u32,
    /// One more than the highest number of a filling packet that came.
    pub(crate) newest: u32,
    /// What that packet had to prove that it came.
    pub(crate) proof: u64,
    /// The newest packet's delay as the clocks have it, µs.
    pub(crate) delay: i64,
    /// How many came.
    pub(crate) received: u32,
    /// When the newest came.
    pub(crate) arrived: u32,
    /// The sender of this is through with what it had to send.
    pub(crate) is_done: bool,
    /// The other end is to stop filling.
    pub(crate) stop: bool,
}

/// How a part of a packet is laid out.
trait Field<'a>: Sized {
    fn read(from: &mut Cursor<'a>) -> Option<Self>;
    fn write(&self, out: &mut Vec<u8>);
}

/// The packets: type, name, whether a tag ends it, its least length, fields in their order.
macro_rules! packets {
    ($($type:literal $name:ident ($tag:ident, $least:expr) { $($field:ident: $kind:ty),+ })+) => {
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(crate) enum Packet<'a> {
            $($name { $($field: $kind),+ },)+
        }

        impl<'a> Packet<'a> {
            /// Reads what comes behind the magic number.
            fn read(from: &mut Cursor<'a>) -> Option<Self> {
                let packet = match u8::read(from)? {
                    $($type => Self::$name { $($field: Field::read(from)?),+ },)+
                    _ => return None,
                };
                (from.all.len() >= packet.form().1).then_some(packet)
            }

            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$name { $($field),+ } => {
                        out.push($type);
                        $($field.write(out);)+
                    })+
                }
            }

            /// Whether a tag ends it, and its least length.
            fn form(&self) -> (Tag, usize) {
                match self {
                    $(Self::$name { .. } => (Tag::$tag, $least),)+
                }
            }
        }
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Tagged,
    Plain,
}

packets! {
    1 Hello(Plain, HELLO) { nonce: Nonce }
    2 Challenge(Plain, 0) { nonce: Nonce, cookie: Cookie }
    3 Start(Tagged, START) { nonce: Nonce, cookie: Cookie, plan: Plan }
    4 Accept(Tagged, 0) { nonce: Nonce, session: u64, server: Nonce, plan: Plan }
    5 Refuse(Plain, 0) { nonce: Nonce, reason: Reason }
    6 Data(Tagged, 0) { session: u64, stamp: Stamp, kind: Kind, proof: u64 }
    7 Feedback(Tagged, 0) { session: u64, stamp: Stamp, report: Report }
    8 Ask(Tagged, ASK) { session: u64, number: u32, log: u8, page: u32 }
    9 Page(Tagged, 0) { session: u64, number: u32, log: u8, page: u32, pages: u32, arrivals: &'a [u8] }
    10 End(Tagged, 0) { session: u64, number: u32 }
}

/// A datagram that was read, and what its tag is of.
#[derive(Clone, Debug)]
pub(crate) struct Read<'a> {
    pub(crate) packet: Packet<'a>,
    /// Bytes of the datagram.
    pub(crate) length: usize,
    signed: &'a [u8],
    tag: &'a [u8],
}

impl Read<'_> {
    pub(crate) fn is_signed_by(&self, key: &Key) -> bool {
        key.fits(self.signed, self.tag)
    }
}

struct Cursor<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.all.get(self.at..self.at + N)?;
        self.at += N;
        bytes.try_into().ok()
    }

    /// What was read until here is signed by what comes next.
    fn signed(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let tag = self.all.get(self.at..self.at + TAG)?;
        Some((&self.all[..self.at], tag))
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Field<'_> for $number {
            fn read(from: &mut Cursor<'_>) -> Option<Self> {
                from.take().map(Self::from_le_bytes)
            }

            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )+};
}

numbers!(u8, u16, u32, u64, i64);

impl<const N: usize> Field<'_> for [u8; N] {
    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        from.take()
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

/// All until a tag at the end.
impl<'a> Field<'a> for &'a [u8] {
    fn read(from: &mut Cursor<'a>) -> Option<Self> {
        let end = from.all.len().checked_sub(TAG)?;
        let bytes = from.all.get(from.at..end)?;
        from.at = end;
        Some(bytes)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

impl Field<'_> for Reason {
    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        let byte = u8::read(from)?;
        let mut all = [Self::Token, Self::Busy, Self::Plan].into_iter();
        all.find(|reason| *reason as u8 == byte)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
}

impl Field<'_> for Kind {
    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        let byte = u8::read(from)?;
        let mut all = [Self::Fill, Self::Probe].into_iter();
        all.find(|kind| *kind as u8 == byte)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
}

impl Field<'_> for Stamp {
    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        Some(Self {
            number: Field::read(from)?,
            sent: Field::read(from)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.number.write(out);
        self.sent.write(out);
    }
}

impl Field<'_> for Report {
    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        let flags = u8::read(from)?;
        Some(Self {
            next: Field::read(from)?,
            newest: Field::read(from)?,
            proof: Field::read(from)?,
            delay: Field::read(from)?,
            received: Field::read(from)?,
            arrived: Field::read(from)?,
            is_done: flags & 1 != 0,
            stop: flags & 2 != 0,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_done) | u8::from(self.stop) << 1);
        self.next.write(out);
        self.newest.write(out);
        self.proof.write(out);
        self.delay.write(out);
        self.received.write(out);
        self.arrived.write(out);
    }
}

impl Field<'_> for Plan {
    fn read(from: &mut Cursor<'_>) -> Option<Self> {
        let ways = u8::read(from)?;
        let ms = |n: u32| Duration::from_millis(n.into());
        Some(Self {
            down: ways & 1 != 0,
            up: ways & 2 != 0,
            duration: ms(u32::read(from)?),
            max_rate: Rate::from_bytes_per_sec(u64::read(from)?),
            max_volume: Bytes::new(u64::read(from)?),
            queue: QueueBand {
                low: ms(u16::read(from)?.into()),
                high: ms(u16::read(from)?.into()),
            },
            packet: u16::read(from)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let ms = |d: Duration| d.as_nanos() / 1_000_000;
        out.push(u8::from(self.down) | u8::from(self.up) << 1);
        (ms(self.duration) as u32).write(out);
        self.max_rate.as_bytes_per_sec().write(out);
        self.max_volume.get().write(out);
        (ms(self.queue.low) as u16).write(out);
        (ms(self.queue.high) as u16).write(out);
        self.packet.write(out);
    }
}

/// Reads a datagram; `None` where it is none of ours. Whether its tag is right is another question.
pub(crate) fn read(datagram: &[u8]) -> Option<Read<'_>> {
    let mut cursor = Cursor {
        all: datagram,
        at: 0,
    };
    if cursor.take()? != MAGIC {
        return None;
    }
    let packet = Packet::read(&mut cursor)?;
    let (signed, tag) = match packet.form() {
        (Tag::Tagged, _) => cursor.signed()?,
        (Tag::Plain, _) => Default::default(),
    };
    Some(Read {
        packet,
        length: datagram.len(),
        signed,
        tag,
    })
}

/// Writes a datagram into `out`, which is cleared; `key` signs it where it has a tag.
pub(crate) fn write(packet: &Packet<'_>, key: &Key, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&MAGIC);
    packet.write(out);
    let (tag, least) = packet.form();
    if tag == Tag::Tagged {
        let tag = key.tag(out);
        out.extend_from_slice(&tag);
    }
    out.resize(out.len().max(least), 0);
}

/// The length of a challenge.
pub const CHALLENGE: usize = 5 + NONCE + COOKIE;

/// Reads a datagram and writes it again, for fuzzing: what was read of the second is what was read of the first.
#[doc(hidden)]
pub fn check(datagram: &[u8]) {
    let key = Key::new([0; 32]);
    let Some(first) = read(datagram) else { return };
    let _ = first.is_signed_by(&key);
    let mut out = Vec::new();
    write(&first.packet, &key, &mut out);
    if let Some(second) = read(&out) {
        assert_eq!(first.packet, second.packet, "it changed on the way");
    } else {
        panic!("what was written is not read: {:?}", first.packet);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_that_comes_breaks_the_reader(
            kind in 0u8..12,
            rest in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut datagram = MAGIC.to_vec();
            datagram.push(kind);
            datagram.extend(&rest);
            check(&datagram);
            check(&rest);
        }
    }

    #[test]
    fn a_changed_byte_breaks_the_tag_and_padding_is_not_in_it() {
        let key = Key::new([3; 32]);
        let stamp = Stamp { number: 7, sent: 9 };
        let packet = Packet::Data {
            session: 1,
            stamp,
            kind: Kind::Fill,
            proof: 11,
        };
        let mut datagram = Vec::new();
        write(&packet, &key, &mut datagram);
        assert_eq!(datagram.len(), DATA_HEADER);
        datagram.resize(1400, 0xaa);
        assert!(read(&datagram).unwrap().is_signed_by(&key));
        assert!(!read(&datagram).unwrap().is_signed_by(&Key::new([4; 32])));
        for at in 5..DATA_HEADER {
            let mut forged = datagram.clone();
            forged[at] ^= 1;
            let is_accepted = read(&forged).is_some_and(|read| read.is_signed_by(&key));
            assert!(!is_accepted, "byte {at}");
        }
    }

    #[test]
    fn no_answer_is_longer_than_what_it_answers() {
        let (key, nonce) = (Key::new([0; 32]), [0; NONCE]);
        let plan = Plan {
            down: true,
            up: true,
            duration: Plan::LONGEST,
            max_rate: Rate::from_mbps(1),
            max_volume: Bytes::new(1),
            queue: QueueBand::default(),
            packet: 1400,
        };
        let length = |packet: Packet<'_>| {
            let mut out = Vec::new();
            write(&packet, &key, &mut out);
            out.len()
        };
        let cookie = [0; COOKIE];
        assert_eq!(length(Packet::Challenge { nonce, cookie }), CHALLENGE);
        const { assert!(CHALLENGE <= HELLO) };
        let (session, server) = (0, nonce);
        let accept = Packet::Accept {
            nonce,
            session,
            server,
            plan,
        };
        assert!(length(accept) <= START);
        let stamp = Stamp { number: 0, sent: 0 };
        let report = Report::default();
        assert_eq!(
            length(Packet::Feedback {
                session,
                stamp,
                report
            }),
            FEEDBACK
        );
        let reason = Reason::Busy;
        assert!(length(Packet::Refuse { nonce, reason }) <= HELLO);
    }
}
