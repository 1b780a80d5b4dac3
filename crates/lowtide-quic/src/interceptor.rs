//! The packet interceptor: puts frames into packets and takes them out.

use std::sync::Arc;

use lowtide_cc::Ecn;
use lowtide_cc::controllers::rbbr::frame::{self, Frame};
use lowtide_cc::units::Bytes;
use s2n_codec::{DecoderBufferMut, Encoder, EncoderBuffer, encoder::scatter};
use s2n_quic::provider::event::events::Subject;
use s2n_quic::provider::packet_interceptor::PacketInterceptor;
use s2n_quic_core::frame::FrameMut;
use s2n_quic_core::packet::interceptor::{Datagram, Packet};

use crate::codepoints::adapt_counts;
use crate::connection::{Connection, Connections};

use crate::slot::{PING, PLACEHOLDER};

/// Sees each packet of an endpoint before it is encrypted and after it is decrypted.
#[derive(Debug)]
pub struct Interceptor {
    connections: Arc<Connections>,
    /// The connection of the last packet: most often also that of the next.
    last: Option<(u64, Arc<Connection>)>,
    /// Size of the datagram under way, until its first 1-RTT packet has counted it.
    datagram: Bytes,
    // Reused from packet to packet.
    timestamps: Vec<u8>,
}

impl Interceptor {
    pub(crate) fn new(connections: Arc<Connections>) -> Self {
        Self {
            connections,
            last: None,
            datagram: Bytes::ZERO,
            timestamps: Vec::new(),
        }
    }

    #[inline]
    fn connection(&mut self, subject: &Subject) -> Option<&Connection> {
        let Subject::Connection { id, .. } = subject else {
            return None;
        };
        if self.last.as_ref().is_none_or(|(last, _)| last != id) {
            self.last = self.connections.find(*id).map(|c| (*id, c));
        }
        self.last.as_ref().map(|(_, connection)| &**connection)
    }
}

impl PacketInterceptor for Interceptor {
    #[inline]
    fn intercept_rx_datagram<'a>(
        &mut self,
        _subject: &Subject,
        _datagram: &Datagram<'_>,
        payload: DecoderBufferMut<'a>,
    ) -> DecoderBufferMut<'a> {
        self.datagram = Bytes::new(payload.len() as u64);
        payload
    }

    #[inline]
    fn intercept_rx_payload<'a>(
        &mut self,
        subject: &Subject,
        packet: &Packet,
        payload: DecoderBufferMut<'a>,
    ) -> DecoderBufferMut<'a> {
        let is_application = packet.number.space().is_application_data();
        let bytes = if is_application {
            std::mem::take(&mut self.datagram)
        } else {
            Bytes::ZERO
        };
        let Some(connection) = self.connection(subject) else {
            return payload;
        };
        let mut payload = payload.into_less_safe_slice();
        if is_application && connection.is_negotiated() {
            payload = take_frames(connection, packet, bytes, payload);
        }
        adapt_counts(payload, connection.ecn());
        DecoderBufferMut::new(payload)
    }

    #[inline]
    fn intercept_tx_payload(
        &mut self,
        subject: &Subject,
        packet: &Packet,
        payload: &mut scatter::Buffer<'_>,
    ) {
        let mut timestamps = std::mem::take(&mut self.timestamps);
        let mut ecn = Ecn::NotEct;
        if let Some(connection) = self.connection(subject) {
            ecn = connection.ecn();
            if packet.number.space().is_application_data() {
                write_frames(connection, packet, payload, &mut timestamps);
            }
        }
        self.connections.set_leaving_ecn(ecn);
        self.timestamps = timestamps;
    }
}

/// Takes our own frames out of a 1-RTT packet, and in what they say; the rest of its payload. `bytes`:
/// the size of the datagram.
#[inline]
fn take_frames<'a>(
    connection: &Connection,
    packet: &Packet,
    bytes: Bytes,
    payload: &'a mut [u8],
) -> &'a mut [u8] {
    let start = connection.on_timestamps(payload);
    let payload = &mut payload[start..];
    let frame = Frame::decode(payload);
    let start = if frame.is_some() { frame::LENGTH } else { 0 };
    let payload = &mut payload[start..];
    // Acknowledgments are sent regardless of window and pacer: they do not show what the path
    // carries, and would end a sample in a pause of the data.
    let bytes = if is_only_ack(payload) {
        Bytes::ZERO
    } else {
        bytes
    };
    connection.on_received(packet.timestamp, packet.number.as_u64(), bytes, frame);
    payload
}

/// Puts what is to be said into a 1-RTT packet; `scratch`: reused.
#[inline]
fn write_frames(
    connection: &Connection,
    packet: &Packet,
    payload: &mut scatter::Buffer<'_>,
    scratch: &mut Vec<u8>,
) {
    connection.set_leaving(packet.number.as_u64());
    if !connection.is_negotiated() {
        return;
    }
    let (buffer, extra) = payload.inner_mut();
    let acknowledges = extra.is_none() && begins_with_ack(buffer.as_mut_slice());
    if connection.take_slot() {
        let frame = connection.frame(connection.estimate());
        if replace_placeholder(buffer.as_mut_slice(), frame) {
            connection.on_signal_written();
        }
    } else if acknowledges && buffer.remaining_capacity() >= frame::LENGTH {
        let feedback = connection.estimate_for_ack(packet.timestamp);
        if feedback.is_some() || connection.wants_slot() {
            let frame = connection.frame(feedback.or_else(|| connection.estimate()));
            insert_first(buffer, &frame.encode());
            connection.on_signal_written();
        }
    }
    if acknowledges {
        scratch.clear();
        connection.write_timestamps(buffer.remaining_capacity(), scratch);
        insert_first(buffer, scratch);
    }
}

/// Whether a payload begins with an ACK frame (RFC 9000 §19.3), which s2n-quic writes first.
#[inline]
fn begins_with_ack(payload: &[u8]) -> bool {
    matches!(payload.first(), Some(0x02 | 0x03))
}

/// Whether a payload is an ACK frame and nothing else.
#[inline]
fn is_only_ack(payload: &mut [u8]) -> bool {
    begins_with_ack(payload)
        && DecoderBufferMut::new(payload)
            .decode::<FrameMut<'_>>()
            .is_ok_and(|(_, rest)| rest.is_empty())
}

/// Puts `frame` before all others.
fn insert_first(buffer: &mut EncoderBuffer<'_>, frame: &[u8]) {
    let end = buffer.len();
    buffer.write_slice(frame);
    let payload = buffer.as_mut_slice();
    payload.copy_within(..end, frame.len());
    payload[..frame.len()].copy_from_slice(frame);
}

/// Puts `frame` before all others and a PING where the placeholder was; false, and nothing changed,
/// when there is none. The frames are walked: data may look like anything.
fn replace_placeholder(payload: &mut [u8], frame: Frame) -> bool {
    let Some(start) = find_placeholder(payload) else {
        return false;
    };
    let end = start + PLACEHOLDER.len();
    payload.copy_within(..start, frame::LENGTH);
    payload[..frame::LENGTH].copy_from_slice(&frame.encode());
    payload[frame::LENGTH + start..end].copy_from_slice(&PING);
    true
}

fn find_placeholder(payload: &mut [u8]) -> Option<usize> {
    let length = payload.len();
    let mut at = 0;
    loop {
        if payload.get(at..)?.starts_with(&PLACEHOLDER) {
            return Some(at);
        }
        let rest = DecoderBufferMut::new(&mut payload[at..]);
        let (_, rest) = rest.decode::<FrameMut<'_>>().ok()?;
        at = length - rest.len();
    }
}

/// What is done to the payload of a packet, sent and received, with what must hold of it.
///
/// # Panics
/// When something is wrong with it.
#[cfg(any(test, fuzzing))]
#[cfg_attr(not(fuzzing), expect(unreachable_pub))]
pub fn fuzz_payload(payload: &[u8]) {
    use lowtide_cc::controller::PeerSignal;

    let frame = Frame {
        signal: PeerSignal::Regular,
        rate: lowtide_cc::units::Rate::from_bytes_per_sec(7),
    };
    let mut read = payload.to_vec();
    if is_only_ack(&mut read) {
        assert!(begins_with_ack(payload));
    }
    assert_eq!(read, payload);

    for wanted in [Ecn::NotEct, Ecn::Ect1] {
        let mut adapted = payload.to_vec();
        adapt_counts(&mut adapted, wanted);
        assert_eq!(adapted.len(), payload.len());
    }

    let mut replaced = payload.to_vec();
    if replace_placeholder(&mut replaced, frame) {
        assert_eq!(Frame::decode(&replaced), Some(frame));
        assert_eq!(replaced.len(), payload.len());
    } else {
        assert_eq!(replaced, payload);
    }

    let mut room = vec![0; payload.len() + frame::LENGTH];
    let mut buffer = EncoderBuffer::new(&mut room);
    buffer.write_slice(payload);
    insert_first(&mut buffer, &frame.encode());
    assert_eq!(buffer.remaining_capacity(), 0);
    let (first, rest) = buffer.as_mut_slice().split_at(frame::LENGTH);
    assert!(first == frame.encode() && rest == payload);
}

#[cfg(test)]
mod tests {
    use lowtide_cc::controller::PeerSignal;
    use lowtide_cc::units::Rate;
    use proptest::prelude::*;

    use super::*;

    const FRAME: Frame = Frame {
        signal: PeerSignal::Regular,
        rate: Rate::from_bytes_per_sec(7),
    };

    proptest! {
        #[test]
        fn any_payload_is_survived_and_without_a_placeholder_left_alone(
            payload in prop::collection::vec(any::<u8>(), 0..200)
        ) {
            fuzz_payload(&payload);
        }

        #[test]
        fn any_data_before_and_behind_the_placeholder_stay_what_they_are(
            data in prop::collection::vec(any::<u8>(), 0..60),
            behind in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            // A CRYPTO frame with a length of its own.
            let before = [&[0x06, 0, data.len() as u8][..], &data].concat();
            let mut payload = [&before[..], &PLACEHOLDER, &behind].concat();
            prop_assert!(replace_placeholder(&mut payload, FRAME));
            let expected = [&FRAME.encode()[..], &before, &PING, &behind].concat();
            prop_assert_eq!(payload, expected);
        }
    }

    #[test]
    fn data_that_look_like_a_placeholder_are_none() {
        // An ACK of 0..=5, a MAX_DATA frame, a stream frame up to the end.
        let before = [0x02, 5, 0, 0, 5, 0x10, 9, 0x08, 0];
        let payload = [&before[..], &PLACEHOLDER].concat();
        let mut without = payload.clone();
        assert!(!replace_placeholder(&mut without, FRAME));
        assert_eq!(without, payload);
    }
}
