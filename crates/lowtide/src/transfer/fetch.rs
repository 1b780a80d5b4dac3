//! `lowtide fetch`.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration};
use lowtide_lab::contender::Contenders;
use lowtide_lab::recording::{Recording, Sample};
use lowtide_quic::Parts;
use s2n_quic::client::Connect;
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::stream::ReceiveStream;
use s2n_quic::{Client, Connection};
use tokio::task::JoinSet;

use super::recorded;
use super::report::{Interval, Summary, mbps};
use super::serve::{Report, receive, send};
use super::statistics::{ByConnection, SenderState};
use super::{Request, SECOND, address, controllers, limits, runtime, trust};
use crate::failure::Failure;
use crate::output;
use crate::qlog_version::QlogVersionArg;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The server: host:port
    #[arg(value_name = "ADDR")]
    address: String,

    /// Controller of what this side sends, as in bbr or cubic:hystart=true
    #[arg(long, value_name = "NAME", default_value = "rbbr")]
    cc: String,

    /// How long, as in 3s [default: 10s, or until --bytes are there]
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    duration: Option<Duration>,

    /// How much on each stream, as in 100MB [default: as much as --duration allows]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    bytes: Option<Bytes>,

    /// Send to the server instead
    #[arg(long)]
    upload: bool,

    /// Streams on each connection
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    streams: u32,

    /// Connections
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    connections: u32,

    /// Longest delay of an acknowledgment: at 1ms one is sent each millisecond in which packets
    /// arrive, at 0ms for each; at s2n-quic's own 25ms for every tenth, which starves filters
    #[arg(long, value_name = "TIME", default_value = "1ms",
          value_parser = quantity::duration_or_zero)]
    max_ack_delay: Duration,

    /// Trust only the server that has this certificate, PEM [default: any]
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Name that the certificate must have
    #[arg(long, value_name = "NAME", default_value = "localhost")]
    server_name: String,

    /// Write a qlog of each connection's sender into this folder: its metrics and its controller's
    /// phases, sampled every 20 ms
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,

    #[command(flatten)]
    qlog_version: QlogVersionArg,

    /// Write a report, one HTML file that needs nothing else, into this folder
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether the sender must be recorded.
    fn records(&self) -> bool {
        self.qlog.is_some() || self.report.is_some()
    }
}

/// Longest time without `--duration` and `--bytes`.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);

/// What all connections and streams of a transfer share.
#[derive(Debug, Default)]
struct Progress {
    /// Downloads: what came in.
    received: AtomicU64,
    sent: AtomicU64,
    peers: Mutex<Vec<Peer>>,
}

/// What is known of one connection.
#[derive(Debug, Default)]
struct Peer {
    /// The server's newest report.
    report: Option<Report>,
    /// What the sender saw.
    recording: Recording,
}

impl Progress {
    fn peers(&self) -> MutexGuard<'_, Vec<Peer>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_peer(&self, connection: usize, f: impl FnOnce(&mut Peer)) {
        let mut peers = self.peers();
        if peers.len() <= connection {
            peers.resize_with(connection + 1, Peer::default);
        }
        f(&mut peers[connection]);
    }

    fn record(&self, connection: usize, samples: Vec<Sample>) {
        self.with_peer(connection, |peer| peer.recording.samples.extend(samples));
    }

    fn report(&self, connection: usize, mut report: Report) {
        let samples = std::mem::take(&mut report.samples);
        self.with_peer(connection, |peer| {
            peer.recording.samples.extend(samples);
            peer.report = Some(report);
        });
    }

    fn first_report(&self) -> Option<Report> {
        self.peers().first().and_then(|peer| peer.report.clone())
    }

    fn received_by_server(&self) -> u64 {
        let peers = self.peers();
        let reports = peers.iter().filter_map(|peer| peer.report.as_ref());
        reports.map(|r| r.received).sum()
    }

    fn recordings(&self) -> Vec<Recording> {
        let peers = &mut *self.peers();
        let take = |peer: &mut Peer| std::mem::take(&mut peer.recording);
        peers.iter_mut().map(take).collect()
    }
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    runtime()?.block_on(fetch(args, contenders))
}

fn client(
    tls: rustls::Client,
    local: &str,
    limits: Limits,
    parts: Parts,
) -> Result<Client, Box<dyn Error>> {
    Ok(Client::builder()
        .with_tls(tls)?
        .with_io(local)?
        .with_limits(limits)?
        .with_congestion_controller(parts.controller)?
        .with_event(parts.events)?
        .with_packet_interceptor(parts.interceptor)?
        .with_datagram(parts.datagrams)?
        .start()?)
}

async fn fetch(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let target = address(&args.address)?;
    let statistics = ByConnection::default();
    let parts = controllers(contenders, &args.cc)?
        .with_observers(statistics.observers())
        .parts();
    let tls = trust::client(args.ca.as_deref())?;
    let limits = limits(Some(args.max_ack_delay.into()))?;
    let local = if target.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let failed = |e: &dyn std::fmt::Display| Failure::run(format!("{target}: {e}"));
    let mut client = client(tls, local, limits, parts).map_err(|e| failed(&e))?;
    let mut transfer = Transfer::start(args, target, &client, statistics)
        .await
        .map_err(|e| failed(&e))?;
    transfer.watch().await?;
    transfer.wait_for_reports().await;
    let summary = transfer.summary();
    transfer.close();
    if args.json {
        output::print_json(&summary)?;
    } else {
        output::print(format!("{}\n", summary.text()).as_bytes())?;
    }
    // So that the peers learn of the end; a second is plenty.
    let _ = tokio::time::timeout(SECOND, client.wait_idle()).await;
    recorded::write(
        args.qlog.as_deref().map(|f| (f, args.qlog_version.get())),
        args.report.as_deref(),
        &summary,
        &transfer.progress.recordings(),
    )?;
    if summary.bytes == 0 {
        return Err(failed(&"nothing was transferred"));
    }
    Ok(())
}

/// A transfer under way.
struct Transfer<'a> {
    args: &'a Args,
    target: SocketAddr,
    statistics: ByConnection,
    progress: Arc<Progress>,
    streams: JoinSet<()>,
    connections: Vec<Connection>,
    started: Instant,
    intervals: Vec<Interval>,
}

impl<'a> Transfer<'a> {
    /// Connects and starts all streams.
    async fn start(
        args: &'a Args,
        target: SocketAddr,
        client: &Client,
        statistics: ByConnection,
    ) -> Result<Self, s2n_quic::connection::Error> {
        let progress = Arc::new(Progress::default());
        let mut streams = JoinSet::new();
        let mut connections = Vec::new();
        for index in 0..args.connections as usize {
            let connect = Connect::new(target).with_server_name(args.server_name.as_str());
            let mut connection = client.connect(connect).await?;
            connection.keep_alive(true)?;
            if args.upload
                && args.records()
                && let Some(sender) = statistics.of(connection.id())
            {
                sender.record();
            }
            start(args, index, &mut connection, &progress, &mut streams).await?;
            connections.push(connection);
        }
        Ok(Self {
            args,
            target,
            statistics,
            progress,
            streams,
            connections,
            started: Instant::now(),
            intervals: Vec::new(),
        })
    }

    /// Shows each second until the time is over, all streams have ended, or Ctrl-C.
    async fn watch(&mut self) -> Result<(), Failure> {
        let args = self.args;
        if !args.json {
            output::print(format!("{}\n", Interval::HEADING).as_bytes())?;
        }
        let default = args.bytes.is_none().then_some(DEFAULT_DURATION);
        let limit = args.duration.or(default);
        let mut seconds = tokio::time::interval(SECOND);
        seconds.tick().await;
        let until = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(until);
        loop {
            tokio::select! {
                () = &mut until => return Ok(()),
                _ = tokio::signal::ctrl_c() => return Ok(()),
                _ = self.streams.join_next() => if self.streams.is_empty() { return Ok(()) },
                _ = seconds.tick() => {
                    let second = self.interval();
                    self.intervals.push(second);
                    if !args.json {
                        output::print(format!("{}\n", second.line()).as_bytes())?;
                    }
                }
            }
        }
    }

    /// Waits for what the server has not told yet, and takes the last interval.
    async fn wait_for_reports(&mut self) {
        if self.args.upload && self.streams.is_empty() {
            // It does so several times a second.
            let told = async {
                while self.moved() < self.progress.sent.load(Relaxed) {
                    tokio::time::sleep(SECOND / 20).await;
                }
            };
            let _ = tokio::time::timeout(SECOND, told).await;
        }
        if self.args.records() && !self.args.upload {
            // Its last samples are under way.
            tokio::time::sleep(SECOND / 4).await;
        }
        let last = self.interval();
        if last.bytes > 0 {
            self.intervals.push(last);
        }
    }

    /// Ends all connections, and keeps what their senders saw.
    fn close(&self) {
        for (index, connection) in self.connections.iter().enumerate() {
            if self.args.upload
                && let Some(sender) = self.statistics.of(connection.id())
            {
                self.progress.record(index, sender.take_all_samples());
            }
            connection.close(0_u32.into());
        }
    }

    fn summary(&self) -> Summary<'_> {
        let args = self.args;
        let duration_s = self.intervals.last().map_or(0.0, |i| i.end_s);
        let bytes = self.intervals.iter().map(|i| i.bytes).sum();
        Summary {
            address: self.target.to_string(),
            direction: if args.upload { "upload" } else { "download" },
            controller: &args.cc,
            server_controller: self.progress.first_report().map(|r| r.controller),
            connections: args.connections,
            streams: args.streams,
            duration_s,
            bytes,
            rate_mbps: mbps(bytes, duration_s),
            sender: self.sender(),
            intervals: &self.intervals,
        }
    }

    /// Since the last interval.
    fn interval(&self) -> Interval {
        let start = self.intervals.last().map_or(0.0, |i| i.end_s);
        let before: u64 = self.intervals.iter().map(|i| i.bytes).sum();
        let bytes = self.moved().saturating_sub(before);
        let end = self.started.elapsed().as_secs_f64();
        Interval::new(start, end, bytes, self.sender())
    }

    /// What has arrived.
    fn moved(&self) -> u64 {
        if self.args.upload {
            self.progress.received_by_server()
        } else {
            self.progress.received.load(Relaxed)
        }
    }

    /// The state of the first connection's sender.
    fn sender(&self) -> Option<SenderState> {
        if self.args.upload {
            let first = self.connections.first()?;
            self.statistics.of(first.id()).map(|s| s.state())
        } else {
            self.progress.first_report().map(|r| r.sender)
        }
    }
}

/// Starts the streams of one connection.
async fn start(
    args: &Args,
    index: usize,
    connection: &mut Connection,
    progress: &Arc<Progress>,
    transfers: &mut JoinSet<()>,
) -> Result<(), s2n_quic::connection::Error> {
    for _ in 0..args.streams {
        let (from, mut to) = connection.open_bidirectional_stream().await?.split();
        let count = args.bytes.map(Bytes::get);
        let request = if args.upload {
            Request::Upload
        } else {
            Request::Download {
                count,
                recorded: args.records(),
            }
        };
        let progress = progress.clone();
        transfers.spawn(async move {
            let asked = to.send(request.encode().to_vec().into()).await;
            match request {
                _ if asked.is_err() => {}
                Request::Download { .. } => {
                    let _ = to.finish();
                    receive(from, &progress.received).await;
                }
                Request::Upload => send(to, count, &progress.sent).await,
            }
        });
    }
    let handle = connection.handle();
    let acceptor = connection.accept_receive_stream().await;
    drop(handle);
    if let Ok(Some(stream)) = acceptor {
        tokio::spawn(read_reports(stream, index, progress.clone()));
    }
    Ok(())
}

/// Reads the server's reports, one JSON object a line.
async fn read_reports(mut stream: ReceiveStream, connection: usize, progress: Arc<Progress>) {
    let mut buffer = Vec::new();
    while let Ok(Some(data)) = stream.receive().await {
        buffer.extend_from_slice(&data);
        while let Some(end) = buffer.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = buffer.drain(..=end).collect();
            if let Ok(report) = serde_json::from_slice(&line) {
                progress.report(connection, report);
            }
        }
        // Not one of our servers.
        if buffer.len() > 1 << 16 {
            return;
        }
    }
}
