//! A server of transfers.

use std::error;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use lowtide_cc::registry::Registry;
use lowtide_lab::files;
use lowtide_lab::json::SCHEMA;
use lowtide_lab::run::Stop;
use lowtide_quic::Parts;
use lowtide_quic::certificate::SelfSigned;
use s2n_quic::provider::io;
use s2n_quic::provider::tls::rustls;
use tokio::task::JoinSet;

use crate::bounds::Bounds;
use crate::choice::Choices;
use crate::protocol::{ALPN, TOO_MANY};
use crate::report::Event;
use crate::session::{House, serve};
use crate::statistics::ByConnection;
use crate::{Error, controllers, factory, runtime, uttered};

/// What a server offers, and to whom.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Where to listen; port 0: any free one, which [`Event::Listening`] names.
    pub listen: SocketAddr,
    /// Controller of what is sent.
    pub controller: String,
    /// Names of the controllers that clients may ask for, or `any`.
    pub choices: Vec<String>,
    /// Connections at a time.
    pub connections: u32,
    /// Connections of one address (IPv6: of one /64) at a time.
    pub connections_of_address: u32,
    /// PEM files of a certificate (chain) and its private key; `None`: a self-signed one.
    pub certificate: Option<[PathBuf; 2]>,
    /// Whether the first client's transfer is the last.
    pub is_one_off: bool,
}

/// A server that does not listen yet.
pub struct Server {
    config: ServerConfig,
    bounds: Bounds,
    statistics: ByConnection,
    choices: Arc<Choices>,
    parts: Parts,
    tls: rustls::Server,
}

impl Server {
    /// Checks what is offered.
    ///
    /// # Errors
    /// When a controller is not in the registry, or a certificate is none.
    pub fn new(config: ServerConfig, registry: &Registry) -> Result<Self, Error> {
        let statistics = ByConnection::default();
        let choices = Choices::new(registry, &config.choices)?;
        let factory = factory(registry, &config.controller)?;
        let parts = controllers(factory, &statistics)
            .with_choice(choices.choice())
            .parts();
        let tls = tls(config.certificate.as_ref())?;
        let bounds = Bounds::new(config.connections, config.connections_of_address);
        Ok(Self {
            config,
            bounds,
            statistics,
            choices,
            parts,
            tls,
        })
    }

    /// Serves all who come until `stop`, or the end of the first transfer if that is all there shall be. `tell` is told of
    /// what happens, on several threads, and must not block.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn run(
        self,
        stop: &Stop,
        tell: impl Fn(&Event<'_>) + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let Self { config, bounds, .. } = self;
        let house = Arc::new(House {
            statistics: self.statistics,
            choices: self.choices,
            controller: config.controller.clone(),
            tell: Box::new(tell),
            transferring: AtomicU64::new(0),
        });
        // With it end all connections.
        runtime()?.block_on(async {
            let failed =
                |e: &dyn Display| Error::Failed(format!("cannot serve on {}: {e}", config.listen));
            let mut server =
                endpoint(self.tls, config.listen, &bounds, self.parts).map_err(|e| failed(&e))?;
            let address = server.local_addr().map_err(|e| failed(&e))?;
            (house.tell)(&Event::Listening {
                schema: SCHEMA,
                command: "serve",
                address,
                controller: &config.controller,
            });
            tokio::select! {
                () = accept(config.is_one_off, &mut server, &bounds, &house) => {}
                () = uttered(stop) => {}
            }
            Ok(())
        })
    }
}

fn endpoint(
    tls: rustls::Server,
    listen: SocketAddr,
    bounds: &Bounds,
    parts: Parts,
) -> Result<s2n_quic::Server, Box<dyn error::Error>> {
    let (door, windows, ends) = bounds.parts().map_err(|e| e.to_string())?;
    Ok(s2n_quic::Server::builder()
        .with_tls(tls)?
        .with_io(parts.codepoints.on(io::Default::new(listen)?))?
        .with_endpoint_limits(door)?
        .with_limits(windows)?
        .with_congestion_controller(parts.controller)?
        .with_event((parts.events, ends))?
        .with_packet_interceptor(parts.interceptor)?
        .with_datagram(parts.datagrams)?
        .start()?)
}

/// Serves all who come, until the end of the first transfer if that is all there shall be.
async fn accept(
    is_one_off: bool,
    server: &mut s2n_quic::Server,
    bounds: &Bounds,
    house: &Arc<House>,
) {
    let mut served = JoinSet::new();
    let mut is_over = false;
    while !(is_over && house.transferring.load(Relaxed) == 0) {
        tokio::select! {
            connection = server.accept() => {
                let Some(connection) = connection else { return };
                let peer = connection.remote_addr();
                if peer.is_ok_and(|peer| bounds.are_exceeded_by(peer.ip())) {
                    connection.close(TOO_MANY.into());
                } else {
                    served.spawn(serve(connection, house.clone()));
                }
            }
            Some(ended) = served.join_next() => {
                is_over |= is_one_off && ended.unwrap_or(false);
            }
        }
    }
    // The last acknowledgments still have to leave.
    tokio::time::sleep(Duration::from_millis(100)).await;
}

fn tls(files: Option<&[PathBuf; 2]>) -> Result<rustls::Server, Error> {
    let failed = |e: &dyn Display| Error::Input(format!("certificate: {e}"));
    let (certificate, key) = certificate(files)?;
    let builder = rustls::Server::builder()
        .with_certificate(certificate, key)
        .map_err(|e| failed(&e))?;
    let builder = builder
        .with_application_protocols([ALPN].into_iter())
        .map_err(|e| failed(&e))?;
    builder.build().map_err(|e| failed(&e))
}

fn certificate(files: Option<&[PathBuf; 2]>) -> Result<(String, String), Error> {
    let read = |file: &Path| {
        files::read(file, files::CERTIFICATE)
            .and_then(|pem| files::text(file, pem))
            .map_err(Error::input)
    };
    match files {
        Some([certificate, key]) => Ok((read(certificate)?, read(key)?)),
        None => SelfSigned::new(["localhost"])
            .map(|own| (own.certificate, own.key))
            .map_err(|e| Error::Failed(format!("cannot make a certificate: {e}"))),
    }
}
