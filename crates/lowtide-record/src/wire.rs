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
    /// It records as much as it may already.
    Busy = 2,
    /// What is asked for makes no sense.
    Plan = 3,
}

/// What kind of data a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// It keeps the link backlogged.
    Fill = 0,
    /// It sees the delay without a queue.
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
    /// Its delay as the clocks have it, µs.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    Hello {
        nonce: Nonce,
    },
    Challenge {
        nonce: Nonce,
        cookie: Cookie,
    },
    Start {
        nonce: Nonce,
        cookie: Cookie,
        plan: Plan,
    },
    Accept {
        nonce: Nonce,
        session: u64,
        server: Nonce,
        plan: Plan,
    },
    Refuse {
        nonce: Nonce,
        reason: Reason,
    },
    Data {
        session: u64,
        stamp: Stamp,
        kind: Kind,
        proof: u64,
    },
    Feedback {
        session: u64,
        stamp: Stamp,
        report: Report,
    },
    Ask {
        session: u64,
        number: u32,
        log: u8,
        page: u32,
    },
    Page {
        session: u64,
        number: u32,
        log: u8,
        page: u32,
        pages: u32,
        arrivals: &'a [u8],
    },
    End {
        session: u64,
        number: u32,
    },
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

    fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn plan(&mut self) -> Option<Plan> {
        let ways = self.byte()?;
        let ms = |n: u32| Duration::from_millis(n.into());
        Some(Plan {
            down: ways & 1 != 0,
            up: ways & 2 != 0,
            duration: ms(self.u32()?),
            max_rate: Rate::from_bytes_per_sec(self.u64()?),
            max_volume: Bytes::new(self.u64()?),
            queue: QueueBand {
                low: ms(self.take().map(u16::from_le_bytes)?.into()),
                high: ms(self.take().map(u16::from_le_bytes)?.into()),
            },
            packet: u16::from_le_bytes(self.take()?),
        })
    }

    fn stamp(&mut self) -> Option<Stamp> {
        Some(Stamp {
            number: self.u32()?,
            sent: self.u32()?,
        })
    }

    /// All until a tag at the end.
    fn until_tag(&mut self) -> Option<&'a [u8]> {
        let end = self.all.len().checked_sub(TAG)?;
        let bytes = self.all.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    /// What was read until here is signed by what comes next.
    fn signed(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let tag = self.all.get(self.at..self.at + TAG)?;
        Some((&self.all[..self.at], tag))
    }
}

/// Reads a datagram; `None` where it is none of ours. Whether its tag is right is another question.
pub(crate) fn read(datagram: &[u8]) -> Option<Read<'_>> {
    let mut c = Cursor {
        all: datagram,
        at: 0,
    };
    if c.take::<4>()? != MAGIC {
        return None;
    }
    let packet = match c.byte()? {
        1 if datagram.len() >= HELLO => Packet::Hello { nonce: c.take()? },
        2 => Packet::Challenge {
            nonce: c.take()?,
            cookie: c.take()?,
        },
        3 if datagram.len() >= START => Packet::Start {
            nonce: c.take()?,
            cookie: c.take()?,
            plan: c.plan()?,
        },
        4 => Packet::Accept {
            nonce: c.take()?,
            session: c.u64()?,
            server: c.take()?,
            plan: c.plan()?,
        },
        5 => Packet::Refuse {
            nonce: c.take()?,
            reason: match c.byte()? {
                1 => Reason::Token,
                2 => Reason::Busy,
                3 => Reason::Plan,
                _ => return None,
            },
        },
        6 => Packet::Data {
            session: c.u64()?,
            stamp: c.stamp()?,
            kind: match c.byte()? {
                0 => Kind::Fill,
                1 => Kind::Probe,
                _ => return None,
            },
            proof: c.u64()?,
        },
        7 => {
            let (session, stamp, flags) = (c.u64()?, c.stamp()?, c.byte()?);
            let report = Report {
                next: c.u32()?,
                newest: c.u32()?,
                proof: c.u64()?,
                delay: c.take().map(i64::from_le_bytes)?,
                received: c.u32()?,
                arrived: c.u32()?,
                is_done: flags & 1 != 0,
                stop: flags & 2 != 0,
            };
            Packet::Feedback {
                session,
                stamp,
                report,
            }
        }
        8 if datagram.len() >= ASK => Packet::Ask {
            session: c.u64()?,
            number: c.u32()?,
            log: c.byte()?,
            page: c.u32()?,
        },
        9 => Packet::Page {
            session: c.u64()?,
            number: c.u32()?,
            log: c.byte()?,
            page: c.u32()?,
            pages: c.u32()?,
            arrivals: c.until_tag()?,
        },
        10 => Packet::End {
            session: c.u64()?,
            number: c.u32()?,
        },
        _ => return None,
    };
    let has_none = matches!(
        packet,
        Packet::Hello { .. } | Packet::Challenge { .. } | Packet::Refuse { .. }
    );
    let (signed, tag) = if has_none {
        (&datagram[..0], &datagram[..0])
    } else {
        c.signed()?
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
    let mut least = 0;
    let mut has_tag = true;
    match packet {
        Packet::Hello { nonce } => {
            out.push(1);
            out.extend_from_slice(nonce);
            (has_tag, least) = (false, HELLO);
        }
        Packet::Challenge { nonce, cookie } => {
            out.push(2);
            out.extend_from_slice(nonce);
            out.extend_from_slice(cookie);
            has_tag = false;
        }
        Packet::Start {
            nonce,
            cookie,
            plan,
        } => {
            out.push(3);
            out.extend_from_slice(nonce);
            out.extend_from_slice(cookie);
            write_plan(plan, out);
            least = START;
        }
        Packet::Accept {
            nonce,
            session,
            server,
            plan,
        } => {
            out.push(4);
            out.extend_from_slice(nonce);
            out.extend_from_slice(&session.to_le_bytes());
            out.extend_from_slice(server);
            write_plan(plan, out);
        }
        Packet::Refuse { nonce, reason } => {
            out.push(5);
            out.extend_from_slice(nonce);
            out.push(*reason as u8);
            has_tag = false;
        }
        Packet::Data {
            session,
            stamp,
            kind,
            proof,
        } => {
            out.push(6);
            write_stamp(*session, *stamp, out);
            out.push(*kind as u8);
            out.extend_from_slice(&proof.to_le_bytes());
        }
        Packet::Feedback {
            session,
            stamp,
            report,
        } => {
            out.push(7);
            write_stamp(*session, *stamp, out);
            out.push(u8::from(report.is_done) | u8::from(report.stop) << 1);
            out.extend_from_slice(&report.next.to_le_bytes());
            out.extend_from_slice(&report.newest.to_le_bytes());
            out.extend_from_slice(&report.proof.to_le_bytes());
            out.extend_from_slice(&report.delay.to_le_bytes());
            out.extend_from_slice(&report.received.to_le_bytes());
            out.extend_from_slice(&report.arrived.to_le_bytes());
        }
        Packet::Ask {
            session,
            number,
            log,
            page,
        } => {
            out.push(8);
            out.extend_from_slice(&session.to_le_bytes());
            out.extend_from_slice(&number.to_le_bytes());
            out.push(*log);
            out.extend_from_slice(&page.to_le_bytes());
            least = ASK;
        }
        Packet::Page {
            session,
            number,
            log,
            page,
            pages,
            arrivals,
        } => {
            out.push(9);
            out.extend_from_slice(&session.to_le_bytes());
            out.extend_from_slice(&number.to_le_bytes());
            out.push(*log);
            out.extend_from_slice(&page.to_le_bytes());
            out.extend_from_slice(&pages.to_le_bytes());
            out.extend_from_slice(arrivals);
        }
        Packet::End { session, number } => {
            out.push(10);
            out.extend_from_slice(&session.to_le_bytes());
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
    if has_tag {
        let tag = key.tag(out);
        out.extend_from_slice(&tag);
    }
    out.resize(out.len().max(least), 0);
}

fn write_stamp(session: u64, stamp: Stamp, out: &mut Vec<u8>) {
    out.extend_from_slice(&session.to_le_bytes());
    out.extend_from_slice(&stamp.number.to_le_bytes());
    out.extend_from_slice(&stamp.sent.to_le_bytes());
}

fn write_plan(plan: &Plan, out: &mut Vec<u8>) {
    let ms = |d: Duration| d.as_nanos() / 1_000_000;
    out.push(u8::from(plan.down) | u8::from(plan.up) << 1);
    out.extend_from_slice(&(ms(plan.duration) as u32).to_le_bytes());
    out.extend_from_slice(&plan.max_rate.as_bytes_per_sec().to_le_bytes());
    out.extend_from_slice(&plan.max_volume.get().to_le_bytes());
    out.extend_from_slice(&(ms(plan.queue.low) as u16).to_le_bytes());
    out.extend_from_slice(&(ms(plan.queue.high) as u16).to_le_bytes());
    out.extend_from_slice(&plan.packet.to_le_bytes());
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
