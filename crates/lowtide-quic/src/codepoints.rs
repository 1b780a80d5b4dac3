//! The ECN codepoint of what is sent: what the controller asks for, where s2n-quic has ECT(0) for all.
//!
//! s2n-quic sends ECT(0) as long as the path validates, and lets nobody choose. But packets go through
//! the I/O provider, which is told their codepoint after it has had them written; and while they are
//! written the interceptor sees whose they are. The acknowledgments of what was sent otherwise say so,
//! too: [`adapt_counts`] makes of them what s2n-quic expects.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use lowtide_cc::Ecn;
use s2n_codec::{DecoderBuffer, DecoderBufferMut};
use s2n_quic::provider::io;
use s2n_quic_core::endpoint::{CloseError, Endpoint, Type};
use s2n_quic_core::frame::FrameMut;
use s2n_quic_core::inet::{ExplicitCongestionNotification, SocketAddress};
use s2n_quic_core::io::{rx, tx};
use s2n_quic_core::path::mtu;
use s2n_quic_core::time::{Clock, Timestamp};
use s2n_quic_core::varint::VarInt;

use crate::connection::Connections;

/// Gives packets the ECN codepoint that their controller asks for; one of [`Parts`](crate::Parts).
#[derive(Debug)]
pub struct Codepoints {
    pub(crate) connections: Arc<Connections>,
}

impl Codepoints {
    /// An I/O provider that sends and receives by `io`.
    pub fn on<P: io::Provider>(self, io: P) -> WithCodepoints<P> {
        WithCodepoints {
            io,
            connections: self.connections,
        }
    }
}

/// An I/O provider whose packets have their controllers' codepoints; see [`Codepoints::on`].
#[derive(Debug)]
pub struct WithCodepoints<P> {
    io: P,
    connections: Arc<Connections>,
}

impl<P: io::Provider> io::Provider for WithCodepoints<P> {
    type PathHandle = P::PathHandle;
    type Error = P::Error;

    fn start<E: Endpoint<PathHandle = Self::PathHandle>>(
        self,
        endpoint: E,
    ) -> Result<SocketAddress, Self::Error> {
        self.io.start(Sender {
            endpoint,
            connections: self.connections,
        })
    }
}

/// An endpoint, but for the codepoints of what it sends.
struct Sender<E> {
    endpoint: E,
    connections: Arc<Connections>,
}

impl<E: Endpoint> Endpoint for Sender<E> {
    type PathHandle = E::PathHandle;
    type Subscriber = E::Subscriber;

    const ENDPOINT_TYPE: Type = E::ENDPOINT_TYPE;

    fn receive<Rx, C>(&mut self, rx: &mut Rx, clock: &C)
    where
        Rx: rx::Queue<Handle = Self::PathHandle>,
        C: Clock,
    {
        self.endpoint.receive(rx, clock);
    }

    fn transmit<Tx, C>(&mut self, tx: &mut Tx, clock: &C)
    where
        Tx: tx::Queue<Handle = Self::PathHandle>,
        C: Clock,
    {
        let mut queue = Queue {
            tx,
            connections: &self.connections,
        };
        self.endpoint.transmit(&mut queue, clock);
    }

    fn poll_wakeups<C: Clock>(
        &mut self,
        cx: &mut Context<'_>,
        clock: &C,
    ) -> Poll<Result<usize, CloseError>> {
        self.endpoint.poll_wakeups(cx, clock)
    }

    fn timeout(&self) -> Option<Timestamp> {
        self.endpoint.timeout()
    }

    fn set_mtu_config(&mut self, config: mtu::Config) {
        self.endpoint.set_mtu_config(config);
    }

    fn subscriber(&mut self) -> &mut Self::Subscriber {
        self.endpoint.subscriber()
    }
}

struct Queue<'a, Tx> {
    tx: &'a mut Tx,
    connections: &'a Connections,
}

impl<Tx: tx::Queue> tx::Queue for Queue<'_, Tx> {
    type Handle = Tx::Handle;

    const SUPPORTS_ECN: bool = Tx::SUPPORTS_ECN;
    const SUPPORTS_PACING: bool = Tx::SUPPORTS_PACING;
    const SUPPORTS_FLOW_LABELS: bool = Tx::SUPPORTS_FLOW_LABELS;

    fn push<M: tx::Message<Handle = Self::Handle>>(
        &mut self,
        message: M,
    ) -> Result<tx::Outcome, tx::Error> {
        self.tx.push(Message {
            message,
            connections: self.connections,
            wanted: None,
        })
    }

    fn flush(&mut self) {
        self.tx.flush();
    }

    fn capacity(&self) -> usize {
        self.tx.capacity()
    }

    fn has_capacity(&self) -> bool {
        self.tx.has_capacity()
    }
}

struct Message<'a, M> {
    message: M,
    connections: &'a Connections,
    /// Codepoint that the packet is to carry, known once it is written.
    wanted: Option<Ecn>,
}

impl<M: tx::Message> tx::Message for Message<'_, M> {
    type Handle = M::Handle;

    fn path_handle(&self) -> &Self::Handle {
        self.message.path_handle()
    }

    /// Before the packet is written s2n-quic's own: by it packets are put together for the system, and
    /// all of one connection that have the same of these have the same codepoint.
    fn ecn(&mut self) -> ExplicitCongestionNotification {
        let own = self.message.ecn();
        match (own, self.wanted) {
            (own, None) => own,
            (ExplicitCongestionNotification::Ect0, Some(wanted)) => {
                ExplicitCongestionNotification::new(wanted.bits())
            }
            // s2n-quic marks some packets itself, to see whether that is reported.
            (ExplicitCongestionNotification::Ce, Some(wanted)) if wanted.is_capable() => own,
            _ => ExplicitCongestionNotification::NotEct,
        }
    }

    fn delay(&mut self) -> Duration {
        self.message.delay()
    }

    fn ipv6_flow_label(&mut self) -> u32 {
        self.message.ipv6_flow_label()
    }

    fn can_gso(&self, segment_len: usize, segment_count: usize) -> bool {
        self.message.can_gso(segment_len, segment_count)
    }

    fn write_payload(
        &mut self,
        buffer: tx::PayloadBuffer<'_>,
        gso_offset: usize,
    ) -> Result<usize, tx::Error> {
        let written = self.message.write_payload(buffer, gso_offset);
        self.wanted = Some(self.connections.take_leaving_ecn());
        written
    }
}

/// Makes of the ECN counts in `payload` what s2n-quic expects where a controller asks for `wanted`: it
/// believes all that it sends to be ECT(0). Counts of what was not to be ECN-capable are taken out, by
/// which validation fails should it have been sent so.
pub(crate) fn adapt_counts(payload: &mut [u8], wanted: Ecn) {
    const ACK: u8 = 0x02;
    const ACK_WITH_COUNTS: u8 = 0x03;
    const PADDING: u8 = 0x00;
    let length = payload.len();
    let mut at = 0;
    while wanted != Ecn::Ect0 && at < length {
        let kind = payload[at];
        let rest = DecoderBufferMut::new(&mut payload[at..]);
        let Ok((_, rest)) = rest.decode::<FrameMut<'_>>() else {
            return;
        };
        let end = length - rest.len();
        let frame = &mut payload[at..end];
        if kind == ACK_WITH_COUNTS
            && let Some([ect0, ect1, ce]) = find_counts(frame)
        {
            match wanted {
                Ecn::Ect1 => frame[ect0..ce].rotate_left(ect1 - ect0),
                _ => {
                    frame[0] = ACK;
                    frame[ect0..].fill(PADDING);
                }
            }
        }
        at = end;
    }
}

/// Where the counts of ECT(0), ECT(1) and CE begin in an ACK frame that has them (RFC 9000 §19.3).
fn find_counts(frame: &[u8]) -> Option<[usize; 3]> {
    let mut rest = DecoderBuffer::new(frame);
    let mut next = || {
        let (value, behind) = rest.decode::<VarInt>().ok()?;
        let at = frame.len() - rest.len();
        rest = behind;
        Some((at, value.as_u64()))
    };
    let [_type, _largest, _delay] = [next()?, next()?, next()?];
    let (_, ranges) = next()?;
    let _first = next()?;
    for _ in 0..ranges {
        let [_gap, _range] = [next()?, next()?];
    }
    Some([next()?.0, next()?.0, next()?.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PING, an ACK with a gap and the counts given, and a stream's data that look like another.
    fn payload(counts: &[u8]) -> Vec<u8> {
        let ack = [0x03, 0x40, 90, 1, 1, 5, 2, 3];
        [
            &[0x01][..],
            &ack,
            counts,
            &[0x08, 0, 0x03, 5, 0, 0, 5, 1, 2, 3],
        ]
        .concat()
    }

    #[test]
    fn counts_are_exchanged_or_taken_out_and_nothing_else_changes() {
        let counts = [0x40, 70, 7, 0x80, 0, 1, 9];
        let adapted = |wanted| {
            let mut payload = payload(&counts);
            adapt_counts(&mut payload, wanted);
            payload
        };
        assert_eq!(adapted(Ecn::Ect0), payload(&counts));
        assert_eq!(adapted(Ecn::Ect1), payload(&[7, 0x40, 70, 0x80, 0, 1, 9]));
        let mut without = payload(&[0; 7]);
        without[1] = 0x02;
        assert_eq!(adapted(Ecn::NotEct), without);
    }
}
