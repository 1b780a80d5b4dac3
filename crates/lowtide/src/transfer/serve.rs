//! `lowtide serve`.

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use lowtide_lab::contender::Contenders;
use lowtide_lab::files;
use lowtide_quic::Parts;
use lowtide_quic::certificate::SelfSigned;
use s2n_quic::Server;
use s2n_quic::provider::io;
use s2n_quic::provider::tls::rustls;
use tokio::task::JoinSet;

use super::bounds::{Bounds, CONNECTIONS, CONNECTIONS_OF_ADDRESS};
use super::choice::Choices;
use super::printer::Printer;
use super::protocol::{ALPN, PORT, TOO_MANY};
use super::report::Line;
use super::session::{House, serve};
use super::statistics::ByConnection;
use super::{DEFAULT_CONTROLLER, controllers, interrupt, runtime};
use crate::failure::Failure;
use crate::record::answer::AnswerArgs;

/// How long the last lines may take to be printed.
const LAST_LINES: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen; port 0: any free one, which is printed
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from(([0, 0, 0, 0], PORT)))]
    listen: SocketAddr,

    /// Controller of what is sent, as in bbr or ebb:idle=0.05
    #[arg(long, value_name = "NAME", default_value = DEFAULT_CONTROLLER)]
    cc: String,

    /// Let clients ask for these controllers with 'fetch --cc', as in bbr,cubic, or for any
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    allow_cc: Vec<String>,

    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,

    /// Connections of one address (IPv6: of one /64) at a time
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS_OF_ADDRESS,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections_per_address: u32,

    /// Certificate (chain), PEM [default: a self-signed one]
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// Private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// End after the first client's transfer
    #[arg(long, short = '1')]
    one_off: bool,

    /// Print one JSON object a line instead of text
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    record: AnswerArgs,
}

fn server(
    tls: rustls::Server,
    listen: SocketAddr,
    bounds: &Bounds,
    parts: Parts,
) -> Result<Server, Box<dyn Error>> {
    let (door, windows, ends) = bounds.parts().map_err(|e| e.to_string())?;
    Ok(Server::builder()
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

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    if args.record.is_all() {
        return args.record.run();
    }
    let statistics = ByConnection::default();
    let choices = Choices::new(contenders, &args.allow_cc)?;
    let parts = controllers(contenders, &args.cc)?
        .with_observers(statistics.observers())
        .with_choice(choices.choice())
        .parts();
    let tls = tls(args)?;
    let bounds = Bounds::new(args.max_connections, args.max_connections_per_address);
    let json = args.json;
    let printer = Printer::new(if json {
        |lines| Line::Missing { lines }.shown(true)
    } else {
        |lines| Line::Missing { lines }.shown(false)
    })?;
    let house = Arc::new(House {
        statistics,
        choices,
        controller: args.cc.clone(),
        printer,
        json,
        transferring: AtomicU64::new(0),
    });
    let recorders = args.record.start()?;
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let failed = |e: &dyn std::fmt::Display| {
            Failure::run(format!("cannot serve on {}: {e}", args.listen))
        };
        let mut server = server(tls, args.listen, &bounds, parts).map_err(|e| failed(&e))?;
        let address = server.local_addr().map_err(|e| failed(&e))?;
        let listening = Line::listening(address, &args.cc);
        house.printer.line(listening.shown(args.json));
        tokio::select! {
            () = accept(args, &mut server, &bounds, &house) => {}
            _ = interrupt() => {}
        }
        Ok(())
    });
    // With it end all connections, and whoever else has the printer.
    drop(runtime);
    if let Some(recorders) = recorders {
        recorders.end();
    }
    if let Some(house) = Arc::into_inner(house) {
        house.printer.finish(LAST_LINES);
    }
    done
}

/// Serves all who come, until the end of the first transfer if that is all there shall be.
async fn accept(args: &Args, server: &mut Server, bounds: &Bounds, house: &Arc<House>) {
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
                is_over |= args.one_off && ended.unwrap_or(false);
            }
        }
    }
    // The last acknowledgments still have to leave.
    tokio::time::sleep(Duration::from_millis(100)).await;
}

fn tls(args: &Args) -> Result<rustls::Server, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::input(format!("certificate: {e}"));
    let (certificate, key) = certificate(args)?;
    let builder = rustls::Server::builder()
        .with_certificate(certificate, key)
        .map_err(|e| failed(&e))?;
    let builder = builder
        .with_application_protocols([ALPN].into_iter())
        .map_err(|e| failed(&e))?;
    builder.build().map_err(|e| failed(&e))
}

fn certificate(args: &Args) -> Result<(String, String), Failure> {
    let read = |file: &Path| {
        files::read(file, files::CERTIFICATE)
            .and_then(|pem| files::text(file, pem))
            .map_err(Failure::input)
    };
    match (&args.cert, &args.key) {
        (Some(certificate), Some(key)) => Ok((read(certificate)?, read(key)?)),
        _ => SelfSigned::new(["localhost"])
            .map(|own| (own.certificate, own.key))
            .map_err(|e| Failure::run(format!("cannot make a certificate: {e}"))),
    }
}
