//! noq.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use lowtide_cc::Ecn;
use lowtide_cc::units::Duration;
use lowtide_host::Factory;
use lowtide_noq::{Controllers, Extension, StockControllers};
use lowtide_sim::network::seed;
use lowtide_sim::stack::{self, Error};
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Outcome, Probe, SenderKind, SimConfig};
use noq_proto as proto;
use noq_proto::{FourTuple, PathId};
use rustls::RootCertStore;

use crate::driver::{self, CLIENT_STREAM, SERVER_STREAM};
use crate::end::{SEGMENTS, Setup, Stack, end};

pub use lowtide_noq::STOCK;

/// Runs a configuration with noq and hands back its outcome and the probe.
///
/// # Errors
/// When the configuration cannot run with noq.
pub fn run<P: Probe + Send + 'static>(config: &SimConfig, probe: P) -> Result<(Outcome, P), Error> {
    driver::run(Noq, config, probe)
}

struct Noq;

impl Stack for Noq {
    type End = End;

    fn ends(&mut self, setup: &Setup<'_>) -> Result<[End; 2], Error> {
        let flow = setup.flow;
        let mut to_send = transport(setup);
        ask_for_acknowledgments(&mut to_send, flow);
        let mut to_receive = transport(setup);
        let observer = setup.observer.clone();
        let stock = stack::stock_of(&flow.sender, STOCK)?;
        let stock = stock.and_then(|name| StockControllers::new(name, observer.clone()));
        let mut speaks = false;
        match (stock, &flow.sender) {
            (Some(stock), _) => {
                to_send.congestion_controller_factory(Arc::new(stock));
            }
            (
                None,
                SenderKind::Controlled {
                    controller,
                    estimator,
                },
            ) => {
                let factory = Factory::with_controller("flow", controller.clone());
                // What it counts of the two ends is not to be one count.
                let seeded = || factory.clone().with_seed(setup.seed);
                let sender = Controllers::from(seeded().with_observer(observer));
                to_send.congestion_controller_factory(Arc::new(sender));
                if let Some(estimator) = estimator {
                    speaks = true;
                    let receiver = Controllers::from(seeded().with_receiver(*estimator));
                    to_receive.congestion_controller_factory(Arc::new(receiver));
                }
            }
            (None, _) => return Err(Error::Bound),
        }
        let attend = || -> Attend {
            let mut extension = None;
            Box::new(move |now, connection| {
                if speaks {
                    exchange(&mut extension, now, connection);
                }
            })
        };
        Ok([
            client(setup, to_send, attend())?,
            server(setup, to_receive, attend())?,
        ])
    }
}

/// RBBR's feedback, in the order that [`Extension`] asks for.
fn exchange(extension: &mut Option<Extension>, now: Instant, connection: &mut proto::Connection) {
    if extension.is_none() {
        let controller = connection.congestion_state(PathId::ZERO);
        *extension = controller.map(|c| Extension::new(c.clone_box()));
    }
    let Some(extension) = extension else {
        return;
    };
    while let Some(payload) = connection.datagrams().recv() {
        extension.on_datagram(now, &payload);
    }
    extension.on_received(now, &connection.stats());
    if let Some(payload) = extension.poll_datagram(now) {
        // A report that finds no place is followed by a newer one.
        let _ = connection.datagrams().send(payload, true);
    }
}

fn endpoint(config: proto::EndpointConfig, server: Option<proto::ServerConfig>) -> proto::Endpoint {
    proto::Endpoint::new(Arc::new(config), server.map(Arc::new), true)
}

fn handle(
    endpoint: &mut proto::Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<proto::EcnCodepoint>,
    datagram: &[u8],
) -> Option<proto::DatagramEvent> {
    let path = FourTuple::new(peer, None);
    endpoint.handle(now, path, ecn, BytesMut::from(datagram), &mut Vec::new())
}

fn poll_transmit(
    connection: &mut proto::Connection,
    now: Instant,
    buffer: &mut Vec<u8>,
) -> Option<proto::Transmit> {
    connection.poll_transmit(now, NonZeroUsize::new(SEGMENTS)?, buffer)
}

fn write(stream: &mut proto::SendStream<'_>, data: bytes::Bytes) -> usize {
    stream.write_chunks(&mut &mut [data][..]).unwrap_or(0)
}

end!();

#[cfg(test)]
mod tests;
