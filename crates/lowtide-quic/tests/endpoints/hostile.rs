//! Peers that lie, and frames that are none.

use std::time::Duration;

use lowtide_cc::controller::PeerSignal;
use lowtide_cc::units::Rate;
use lowtide_quic::frame::Frame;
use lowtide_quic::{CAPABILITY, Controllers, Rbbr};
use s2n_codec::Encoder;
use s2n_codec::encoder::scatter;
use s2n_quic::provider::datagram::{
    ConnectionInfo, Endpoint, Packet, PreConnectionInfo, ReceiveContext, Receiver, Sender,
};
use s2n_quic::provider::event::events::Subject;
use s2n_quic::provider::io::testing::Handle;
use s2n_quic::provider::packet_interceptor::PacketInterceptor;
use s2n_quic::{Client, connection};
use s2n_quic_core::packet::interceptor;

use crate::peers::{DELAY, Download, Pieces, download, endpoint, narrow, server};
use crate::recorder::{Shared, recorded};

const SIZE: usize = 5_000_000;
const PATIENCE: Duration = Duration::from_secs(200);

/// Says what it speaks and never sends or takes a datagram.
struct Claims(u64);

struct Silent;

impl Endpoint for Claims {
    type Sender = Silent;
    type Receiver = Silent;

    fn create_connection(&mut self, _info: &ConnectionInfo) -> (Silent, Silent) {
        (Silent, Silent)
    }

    fn max_datagram_frame_size(&self, _info: &PreConnectionInfo) -> u64 {
        self.0
    }
}

impl Sender for Silent {
    fn on_transmit<P: Packet>(&mut self, _packet: &mut P) {}

    fn has_transmission_interest(&self) -> bool {
        false
    }

    fn on_connection_error(&mut self, _error: connection::Error) {}
}

impl Receiver for Silent {
    fn on_datagram(&mut self, _context: &ReceiveContext<'_>, _datagram: &[u8]) {}

    fn on_connection_error(&mut self, _error: connection::Error) {}
}

/// What to put before what a packet of this number carries.
type Forge = Box<dyn FnMut(u64) -> Vec<u8> + Send>;

/// Takes frames out of what comes in, as it must, and puts what it likes before what it sends.
struct Forger<F>(F);

impl<F: FnMut(u64) -> Vec<u8> + Send + 'static> PacketInterceptor for Forger<F> {
    fn intercept_rx_payload<'a>(
        &mut self,
        _subject: &Subject,
        packet: &interceptor::Packet,
        payload: s2n_codec::DecoderBufferMut<'a>,
    ) -> s2n_codec::DecoderBufferMut<'a> {
        let payload = payload.into_less_safe_slice();
        let is_frame =
            packet.number.space().is_application_data() && Frame::decode(payload).is_some();
        let start = if is_frame {
            lowtide_quic::frame::LENGTH
        } else {
            0
        };
        s2n_codec::DecoderBufferMut::new(&mut payload[start..])
    }

    fn intercept_tx_payload(
        &mut self,
        _subject: &Subject,
        packet: &interceptor::Packet,
        payload: &mut scatter::Buffer<'_>,
    ) {
        if !packet.number.space().is_application_data() {
            return;
        }
        let forged = (self.0)(packet.number.as_u64());
        let buffer = payload.flatten();
        let end = buffer.len();
        if buffer.remaining_capacity() < forged.len() {
            return;
        }
        buffer.write_slice(&forged);
        let bytes = buffer.as_mut_slice();
        bytes.copy_within(..end, forged.len());
        bytes[..forged.len()].copy_from_slice(&forged);
    }
}

fn frame(rate: u64) -> Vec<u8> {
    Frame {
        signal: PeerSignal::Regular,
        rate: Rate::from_bytes_per_sec(rate),
    }
    .encode()
    .to_vec()
}

/// Downloads from RBBR to a client that forges what it sends.
fn download_by(
    capability: u64,
    forge: impl FnMut(u64) -> Vec<u8> + Send + 'static,
) -> (Download, Shared) {
    let (provider, notes) = recorded("rbbr");
    (
        forged_download(provider, SIZE, PATIENCE, capability, forge),
        notes,
    )
}

/// Downloads so much from a sender to a client that forges what it sends.
pub(crate) fn forged_download(
    provider: impl Into<Controllers>,
    size: usize,
    patience: Duration,
    capability: u64,
    forge: impl FnMut(u64) -> Vec<u8> + Send + 'static,
) -> Download {
    let forger = |handle: &Handle, tls: &str| {
        let own = Rbbr::default().parts();
        let pieces = Pieces {
            controller: own.controller,
            events: own.events,
            interceptor: Forger(forge),
            datagrams: Claims(capability),
            codepoints: own.codepoints,
        };
        endpoint!(Client, handle, tls, pieces)
    };
    download(narrow(), size, patience, server(provider), forger)
}

#[test]
fn forged_rates_neither_speed_a_flow_up_nor_stall_it() {
    let (honest, honest_notes) = download_by(CAPABILITY, |_| Vec::new());
    assert!(honest.is_done(), "{}", honest.error());
    assert!(honest_notes.lock().unwrap().feedback.is_empty());
    let fair_window = honest_notes.lock().unwrap().largest_window as f64;
    let absurd = [0, 1, u64::MAX, 1 << 62, 5];
    let forgers: [(&str, Forge); 4] = [
        ("huge", Box::new(|_| frame(u64::MAX))),
        ("zero", Box::new(|_| frame(0))),
        ("absurd", Box::new(move |n| frame(absurd[n as usize % 5]))),
        ("one", Box::new(|_| frame(1))),
    ];
    for (name, forge) in forgers {
        let (download, notes) = download_by(CAPABILITY, forge);
        assert!(download.is_done(), "{name}: {}", download.error());
        let notes = notes.lock().unwrap();
        assert_eq!(notes.feedback.is_empty(), name == "zero", "{name}");
        // Startup, in which feedback has no say, ends at windows that differ by a third.
        let window = notes.largest_window as f64;
        assert!(
            window <= fair_window * 2.0,
            "{name}: {window} of {fair_window}"
        );
        let took = download.took().as_secs_f64();
        let slower = took / honest.took().as_secs_f64();
        // A receiver can only slow itself down, and not below four packets a round trip.
        let slowest = SIZE as f64 / (4.0 * 1200.0) * (2.0 * DELAY.as_secs_f64());
        assert!(slower > 0.9 && took < slowest, "{name}: {took} s");
        if name == "huge" || name == "zero" {
            assert!(slower < 1.5, "{name}: {slower}");
        }
    }
}

#[test]
fn a_peer_whose_signal_flips_with_each_packet_does_no_harm() {
    let flips = |n: u64| {
        Frame {
            signal: if n.is_multiple_of(2) {
                PeerSignal::Suspend
            } else {
                PeerSignal::Regular
            },
            rate: Rate::ZERO,
        }
        .encode()
        .to_vec()
    };
    let (download, notes) = download_by(CAPABILITY, flips);
    assert!(download.is_done(), "{}", download.error());
    assert_eq!(notes.lock().unwrap().breaches, [""; 0]);
}

#[test]
fn what_is_no_frame_or_was_not_negotiated_closes_the_connection() {
    // A part of a frame, an unknown type, two frames.
    let twice = [frame(9), frame(9)].concat();
    for (name, capability, forged) in [
        ("truncated", CAPABILITY, frame(9)[..7].to_vec()),
        ("unknown", CAPABILITY, b"RT\0\0\0\0\0\0\0\0".to_vec()),
        ("twice", CAPABILITY, twice),
        ("not negotiated", 0, frame(9)),
        ("plain datagrams", 65_535, frame(9)),
    ] {
        let (download, _) = download_by(capability, move |_| forged.clone());
        assert!(!download.is_done(), "{name}");
        let error = download.error();
        assert!(error.contains("Transport"), "{name}: {error}");
        assert!(download.received() < SIZE as u64, "{name}");
    }
}
