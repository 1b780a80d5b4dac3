//! Packets carry the codepoint that the controller asks for, and it is told of each mark.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lowtide_cc::ecn::EcnCounts;
use lowtide_cc::{Ecn, registry};
use lowtide_host::contract;
use lowtide_quic::{Controllers, Factory};
use s2n_quic::Server;
use s2n_quic::provider::io::testing::network::{Buffers, Network};
use s2n_quic::provider::io::testing::{Handle, Model};
use s2n_quic_core::inet::ExplicitCongestionNotification;

use crate::peers::{self, client, endpoint, model};

const SIZE: usize = 2_000_000;

/// What a server's packets carried when they left, and how many were marked on their way.
#[derive(Debug, Default)]
struct Wire {
    server: Option<SocketAddr>,
    packets: u64,
    sent: EcnCounts,
    marked: u64,
}

/// Marks every tenth ECN-capable packet of the server but the first hundred, with which the path is
/// validated, and the last, of which no acknowledgment comes any more.
struct Marking {
    inner: Model,
    wire: Arc<Mutex<Wire>>,
}

impl Network for Marking {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let mut passing = Vec::new();
        let mut wire = self.wire.lock().unwrap();
        buffers.drain_pending_transmissions(|mut packet| {
            let source: SocketAddr = packet.path.local_address.0.into();
            if Some(source) == wire.server {
                wire.packets += 1;
                let ecn = Ecn::from_bits(packet.ecn as u8);
                wire.sent.count(ecn);
                let is_capable = matches!(ecn, Ecn::Ect0 | Ecn::Ect1);
                let is_due = wire.packets.is_multiple_of(10) && (100..1000).contains(&wire.packets);
                if is_capable && is_due {
                    packet.ecn = ExplicitCongestionNotification::Ce;
                    wire.marked += 1;
                }
            }
            passing.push(packet);
            Ok(())
        });
        drop(wire);
        for packet in passing {
            buffers.tx(*packet.path.local_address, |queue| {
                queue.send_packet(packet)
            });
        }
        self.inner.execute(buffers)
    }
}

/// A download by a controller that asks for `ecn`; `start` makes the server's endpoint.
fn download(
    ecn: Ecn,
    start: impl FnOnce(&Handle, (&str, &str), Controllers) -> Server,
) -> (Wire, contract::Shared) {
    let spec = registry::parse("newreno").unwrap();
    let make = Arc::new(move |config: &_| spec.build(config));
    let (make, notes) = contract::recorded_with_ecn(make, ecn);
    let controllers = Controllers::from(Factory::with_controller("recorded", make).with_seed(1));
    let wire = Arc::new(Mutex::new(Wire::default()));
    let network = Marking {
        inner: model(),
        wire: wire.clone(),
    };
    let server = |handle: &Handle, tls: (&str, &str)| {
        let server = start(handle, tls, controllers);
        wire.lock().unwrap().server = server.local_addr().ok();
        server
    };
    let patience = Duration::from_secs(60);
    assert!(peers::download(network, SIZE, patience, server, client).is_done());
    let wire = std::mem::take(&mut *wire.lock().unwrap());
    assert!(wire.packets > 1_200, "{wire:?}");
    (wire, notes)
}

#[test]
fn packets_carry_what_the_controller_asks_for_and_each_mark_is_told() {
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
        let (wire, notes) = download(ecn, |handle, tls, controllers| {
            endpoint!(Server, handle, tls, controllers.parts().into())
        });
        let notes = notes.lock().unwrap();
        let shows = format!("{ecn:?}: {wire:?}, {notes:?}");
        assert_eq!(notes.breaches, [""; 0], "{shows}");
        assert_eq!(notes.ce, wire.marked, "{shows}");
        let EcnCounts { ect0, ect1, .. } = wire.sent;
        let (asked, others) = match ecn {
            Ecn::Ect0 => (ect0, ect1),
            Ecn::Ect1 => (ect1, ect0),
            _ => (0, ect0 + ect1 + wire.sent.ce),
        };
        assert_eq!(others, 0, "{shows}");
        // But those with which s2n-quic tests the peer, its probes, and the first before it is validated.
        if ecn != Ecn::NotEct {
            assert!(asked * 100 > wire.packets * 90, "{shows}");
            assert!(wire.marked > 80, "{shows}");
        }
    }
}

/// With s2n-quic's own I/O the first packets are ECT(0), whatever the controller asks for. It then finds
/// that the path is not capable of ECN, unless ECT(0) is what the controller asks for.
#[test]
fn without_codepoints_a_controller_that_asks_for_another_has_no_ecn() {
    for (ecn, first_packets_only) in [(Ecn::NotEct, true), (Ecn::Ect1, true), (Ecn::Ect0, false)] {
        let (wire, notes) = download(ecn, |handle, tls, controllers| {
            let parts = controllers.parts();
            Server::builder()
                .with_io(handle.builder().build().unwrap())
                .unwrap()
                .with_tls(tls)
                .unwrap()
                .with_congestion_controller(parts.controller)
                .unwrap()
                .with_event(parts.events)
                .unwrap()
                .with_packet_interceptor(parts.interceptor)
                .unwrap()
                .start()
                .unwrap()
        });
        let shows = format!("{ecn:?}: {wire:?}");
        assert_eq!(wire.sent.ect0 <= 10, first_packets_only, "{shows}");
        assert_eq!(notes.lock().unwrap().ce > 0, !first_packets_only, "{shows}");
    }
}
