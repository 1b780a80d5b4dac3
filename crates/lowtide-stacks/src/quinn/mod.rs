//! quinn.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use lowtide_cc::Ecn;
use lowtide_cc::units::Duration;
use lowtide_host::Factory;
use lowtide_quinn::{Controllers, StockControllers};
use lowtide_sim::network::seed;
use lowtide_sim::stack::{self, Error};
use lowtide_sim::transport::TransportConfig;
use lowtide_sim::{FlowConfig, Outcome, Probe, SenderKind, SimConfig};
use quinn_proto as proto;
use rustls::RootCertStore;

use crate::driver::{self, CLIENT_STREAM, SERVER_STREAM};
use crate::end::{SEGMENTS, Setup, Stack, end};

pub use lowtide_quinn::{Pacing, STOCK};

/// Runs a configuration with quinn and hands back its outcome and the probe.
///
/// # Errors
/// When the configuration cannot run with quinn.
pub fn run<P: Probe + Send + 'static>(config: &SimConfig, probe: P) -> Result<(Outcome, P), Error> {
    run_paced(Pacing::default(), config, probe)
}

/// Does what [`run`] does, with this to keep Lowtide's controllers to their pacing rates.
///
/// # Errors
/// When the configuration cannot run with quinn.
pub fn run_paced<P: Probe + Send + 'static>(
    pacing: Pacing,
    config: &SimConfig,
    probe: P,
) -> Result<(Outcome, P), Error> {
    driver::run(Quinn(pacing), config, probe)
}

struct Quinn(Pacing);

impl Stack for Quinn {
    type End = End;

    fn ends(&mut self, setup: &Setup<'_>) -> Result<[End; 2], Error> {
        let flow = setup.flow;
        let mut to_send = transport(setup);
        ask_for_acknowledgments(&mut to_send, flow);
        let observer = setup.observer.clone();
        let stock = stack::stock_of(&flow.sender, STOCK)?;
        let stock = stock.and_then(|name| StockControllers::new(name, observer.clone()));
        match (stock, &flow.sender) {
            (Some(stock), _) => {
                to_send.congestion_controller_factory(Arc::new(stock));
            }
            // quinn has no place for an estimator's feedback.
            (None, SenderKind::Controlled { controller, .. }) => {
                let factory = Factory::with_controller("flow", controller.clone());
                let factory = factory.with_seed(setup.seed).with_observer(observer);
                let sender = Controllers::from(factory).with_pacing(self.0);
                to_send.congestion_controller_factory(Arc::new(sender));
            }
            (None, _) => return Err(Error::Bound),
        }
        // quinn's callers have nothing to do beside it.
        let attend = || Box::new(|_, _: &mut _| {});
        Ok([
            client(setup, to_send, attend())?,
            server(setup, transport(setup), attend())?,
        ])
    }
}

fn endpoint(config: proto::EndpointConfig, server: Option<proto::ServerConfig>) -> proto::Endpoint {
    proto::Endpoint::new(Arc::new(config), server.map(Arc::new), true, None)
}

fn handle(
    endpoint: &mut proto::Endpoint,
    now: Instant,
    peer: SocketAddr,
    ecn: Option<proto::EcnCodepoint>,
    datagram: &[u8],
) -> Option<proto::DatagramEvent> {
    let datagram = BytesMut::from(datagram);
    endpoint.handle(now, peer, None, ecn, datagram, &mut Vec::new())
}

fn poll_transmit(
    connection: &mut proto::Connection,
    now: Instant,
    buffer: &mut Vec<u8>,
) -> Option<proto::Transmit> {
    connection.poll_transmit(now, SEGMENTS, buffer)
}

fn write(stream: &mut proto::SendStream<'_>, data: bytes::Bytes) -> usize {
    stream
        .write_chunks(&mut [data])
        .map_or(0, |written| written.bytes)
}

end!();
