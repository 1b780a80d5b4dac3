//! `lowtide serve`.

use std::error::Error;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use lowtide_lab::contender::Contenders;
use lowtide_lab::files;
use lowtide_lab::recording::Sample;
use lowtide_quic::Parts;
use lowtide_quic::certificate::SelfSigned;
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::stream::{BidirectionalStream, ReceiveStream, SendStream};
use s2n_quic::{Connection, Server};
use serde::{Deserialize, Serialize};

use super::statistics::{ByConnection, SenderState, Statistics};
use super::{PORT, PROTOCOL, REQUEST, Request, SECOND, controllers, limits, runtime};
use crate::failure::Failure;
use crate::output;

/// How often the client is told, so that what it shows is fresh.
const REPORTS_A_SECOND: u32 = 5;

/// Zeros, handed to a stream at once.
pub(super) static DATA: [u8; 1 << 16] = [0; 1 << 16];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen; port 0: any free one, which is printed
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from(([0, 0, 0, 0], PORT)))]
    listen: SocketAddr,

    /// Controller of what is sent, as in bbr or cubic:hystart=true
    #[arg(long, value_name = "NAME", default_value = "rbbr")]
    cc: String,

    /// Certificate (chain), PEM [default: a self-signed one]
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// Private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// End after the first connection
    #[arg(long, short = '1')]
    one_off: bool,

    /// Print one JSON object a line instead of text
    #[arg(long)]
    json: bool,
}

/// What the server tells of one connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) controller: String,
    /// Data received on uploads.
    pub(super) received: u64,
    pub(super) sender: SenderState,
    /// What the sender saw since the last report, if the client wants a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) samples: Vec<Sample>,
}

/// A line on standard output.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    Listening {
        address: SocketAddr,
        controller: &'a str,
    },
    Second {
        peer: SocketAddr,
        #[serde(flatten)]
        report: &'a Report,
    },
    Closed {
        peer: SocketAddr,
        sent: u64,
        #[serde(flatten)]
        report: &'a Report,
    },
}

impl Line<'_> {
    fn print(&self, json: bool) -> Result<(), Failure> {
        let mut line = if json {
            serde_json::to_string(self).map_err(Failure::run)?
        } else {
            self.text()
        };
        line.push('\n');
        output::print(line.as_bytes())
    }

    fn text(&self) -> String {
        let state = |r: &Report| {
            let rtt = r.sender.rtt_ms.unwrap_or(f64::NAN);
            format!(
                "RTT {rtt:.2} ms, cwnd {:.1} kB, {} of {} packets lost, {:.1} MB received",
                r.sender.cwnd as f64 / 1e3,
                r.sender.lost_packets,
                r.sender.sent_packets,
                r.received as f64 / 1e6
            )
        };
        match self {
            Self::Listening {
                address,
                controller,
            } => format!("listening on {address}, sending by {controller}"),
            Self::Second { peer, report } => format!("{peer}: {}", state(report)),
            Self::Closed { peer, sent, report } => {
                let sent = *sent as f64 / 1e6;
                format!("{peer}: closed; {sent:.1} MB sent; {}", state(report))
            }
        }
    }
}

fn server(
    tls: rustls::Server,
    listen: SocketAddr,
    limits: Limits,
    parts: Parts,
) -> Result<Server, Box<dyn Error>> {
    Ok(Server::builder()
        .with_tls(tls)?
        .with_io(listen)?
        .with_limits(limits)?
        .with_congestion_controller(parts.controller)?
        .with_event(parts.events)?
        .with_packet_interceptor(parts.interceptor)?
        .with_datagram(parts.datagrams)?
        .start()?)
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let statistics = ByConnection::default();
    let parts = controllers(contenders, &args.cc)?
        .with_observers(statistics.observers())
        .parts();
    let tls = tls(args)?;
    let limits = limits(None)?;
    runtime()?.block_on(async {
        let failed = |e: &dyn std::fmt::Display| {
            Failure::run(format!("cannot serve on {}: {e}", args.listen))
        };
        let mut server = server(tls, args.listen, limits, parts).map_err(|e| failed(&e))?;
        let address = server.local_addr().map_err(|e| failed(&e))?;
        Line::Listening {
            address,
            controller: &args.cc,
        }
        .print(args.json)?;
        loop {
            tokio::select! {
                connection = server.accept() => {
                    let Some(connection) = connection else { return Ok(()) };
                    let served = serve(connection, statistics.clone(), args.cc.clone(), args.json);
                    if args.one_off {
                        served.await;
                        // The last acknowledgments still have to leave.
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        return Ok(());
                    }
                    tokio::spawn(served);
                }
                _ = tokio::signal::ctrl_c() => return Ok(()),
            }
        }
    })
}

fn tls(args: &Args) -> Result<rustls::Server, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::input(format!("certificate: {e}"));
    let (certificate, key) = certificate(args)?;
    let builder = rustls::Server::builder()
        .with_certificate(certificate, key)
        .map_err(|e| failed(&e))?;
    let builder = builder
        .with_application_protocols([PROTOCOL].into_iter())
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

/// What has been moved on one connection.
#[derive(Debug, Default)]
struct Moved {
    sent: AtomicU64,
    received: AtomicU64,
}

/// Serves one connection to its end.
async fn serve(mut connection: Connection, all: ByConnection, controller: String, json: bool) {
    let Ok(peer) = connection.remote_addr() else {
        return;
    };
    let id = connection.id();
    let moved = Arc::new(Moved::default());
    let report = || Report {
        controller: controller.clone(),
        received: moved.received.load(Relaxed),
        sender: all.of(id).map(|s| s.state()).unwrap_or_default(),
        samples: Vec::new(),
    };
    let mut last = report();
    let mut reports = connection.open_send_stream().await.ok();
    let mut ticks = tokio::time::interval(SECOND / REPORTS_A_SECOND);
    let mut tick = 0_u32;
    loop {
        tokio::select! {
            stream = connection.accept_bidirectional_stream() => match stream {
                Ok(Some(stream)) => {
                    tokio::spawn(answer(stream, moved.clone(), all.of(id)));
                }
                Ok(None) | Err(_) => break,
            },
            _ = ticks.tick() => {
                last = report();
                let samples = all.of(id).map(|s| s.take_samples());
                // Who no longer wants reports is told no more.
                if let Some(stream) = &mut reports {
                    last.samples = samples.unwrap_or_default();
                    let line = serde_json::to_vec(&last);
                    last.samples.clear();
                    if let Ok(mut line) = line {
                        line.push(b'\n');
                        if stream.send(line.into()).await.is_err() {
                            reports = None;
                        }
                    }
                }
                if tick > 0 && tick.is_multiple_of(REPORTS_A_SECOND) {
                    // A closed standard output is no reason to stop.
                    let _ = Line::Second { peer, report: &last }.print(json);
                }
                tick = tick.wrapping_add(1);
            }
        }
    }
    last.received = moved.received.load(Relaxed);
    let sent = moved.sent.load(Relaxed);
    let _ = Line::Closed {
        peer,
        sent,
        report: &last,
    }
    .print(json);
    let _ = std::io::stdout().flush();
}

/// Does what the client asks on a stream; a stream that fails ends.
async fn answer(stream: BidirectionalStream, moved: Arc<Moved>, sender: Option<Arc<Statistics>>) {
    let (mut from, to) = stream.split();
    let mut request = Vec::new();
    while request.len() < REQUEST {
        match from.receive().await {
            Ok(Some(data)) => request.extend_from_slice(&data),
            Ok(None) | Err(_) => return,
        }
    }
    let Some((head, rest)) = request.split_first_chunk::<REQUEST>() else {
        return;
    };
    match Request::decode(head) {
        Some(Request::Download { count, recorded }) => {
            if let Some(sender) = sender.filter(|_| recorded) {
                sender.record();
            }
            send(to, count, &moved.sent).await;
        }
        Some(Request::Upload) => {
            moved.received.fetch_add(rest.len() as u64, Relaxed);
            receive(from, &moved.received).await;
        }
        None => {}
    }
}

/// Sends zeros until `count` are sent or the peer has had enough.
pub(super) async fn send(mut to: SendStream, count: Option<u64>, sent: &AtomicU64) {
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let size = left.min(DATA.len() as u64) as usize;
        if to.send(Bytes::from_static(&DATA[..size])).await.is_err() {
            return;
        }
        sent.fetch_add(size as u64, Relaxed);
        left -= size as u64;
    }
    let _ = to.close().await;
}

/// Throws away what comes.
pub(super) async fn receive(mut from: ReceiveStream, received: &AtomicU64) {
    let mut chunks: [Bytes; 32] = Default::default();
    while let Ok((count, is_open)) = from.receive_vectored(&mut chunks).await {
        let bytes: usize = chunks[..count].iter().map(Bytes::len).sum();
        chunks[..count].fill(Bytes::new());
        received.fetch_add(bytes as u64, Relaxed);
        if !is_open {
            return;
        }
    }
}
