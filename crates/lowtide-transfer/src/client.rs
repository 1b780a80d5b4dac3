//! A client's connections to a server.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use lowtide_cc::units::Duration;
use lowtide_quic::Parts;
use s2n_quic::client::Connect;
use s2n_quic::connection::{self, Handle};
use s2n_quic::provider::event;
use s2n_quic::provider::io;
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::stream;
use s2n_quic::{Client, Connection};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::DEFAULT_CONTROLLER;
use crate::bounds::{HANDSHAKE, SILENCE};
use crate::peer::printable;
use crate::progress::{Progress, read_reports};
use crate::protocol::{Answer, MAX_LINE, Request, TOO_MANY};
use crate::statistics::ByConnection;
use crate::streams::{receive, send};

/// CONNECTION_REFUSED (RFC 9000 §20.1).
const REFUSED: u64 = 0x2;

/// What is not said better below.
fn why_connection(error: connection::Error) -> String {
    let refused = || {
        "the server takes no more connections: see 'serve --max-connections' and \
                      '--max-connections-per-address'"
            .to_string()
    };
    match error {
        connection::Error::MaxHandshakeDurationExceeded { .. } => format!(
            "nothing answers (UDP) for {} s: is 'lowtide serve' running there, and does every firewall \
             on the way let UDP to this port through?",
            HANDSHAKE.as_secs()
        ),
        connection::Error::IdleTimerExpired { .. } => {
            format!("nothing came from the server for {} s", SILENCE.as_secs())
        }
        connection::Error::Closed { .. } => "the server closed the connection".to_string(),
        connection::Error::StatelessReset { .. } => {
            "the server was started anew and does not know the connection".to_string()
        }
        connection::Error::Transport { code, .. } if code.as_u64() == REFUSED => refused(),
        connection::Error::Application { error, .. } if u64::from(error) == u64::from(TOO_MANY) => {
            refused()
        }
        other => printable(&other.to_string()),
    }
}

fn why_stream(error: stream::Error) -> String {
    match error {
        stream::Error::ConnectionError { error, .. } => why_connection(error),
        stream::Error::StreamReset { .. } => "the server gave up a stream".to_string(),
        other => printable(&other.to_string()),
    }
}

/// Counts the packets that come from the server, whatever they say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Packets(Arc<AtomicU64>);

impl Packets {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl event::Subscriber for Packets {
    type ConnectionContext = ();

    fn create_connection_context(
        &mut self,
        _meta: &event::ConnectionMeta,
        _info: &event::ConnectionInfo<'_>,
    ) {
    }

    #[inline]
    fn on_packet_received(
        &mut self,
        (): &mut (),
        _meta: &event::ConnectionMeta,
        _event: &event::events::PacketReceived,
    ) {
        self.0.fetch_add(1, Relaxed);
    }
}

pub(crate) fn endpoint(
    tls: rustls::Client,
    local: &str,
    limits: Limits,
    parts: Parts,
    packets: Packets,
) -> Result<Client, Box<dyn Error>> {
    Ok(Client::builder()
        .with_tls(tls)?
        .with_io(parts.codepoints.on(io::Default::new(local)?))?
        .with_limits(limits)?
        .with_congestion_controller(parts.controller)?
        .with_event((parts.events, packets))?
        .with_packet_interceptor(parts.interceptor)?
        .with_datagram(parts.datagrams)?
        .start()?)
}

/// What is to be transferred, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server.
    pub target: SocketAddr,
    /// Name that the server's certificate must have.
    pub server_name: String,
    /// PEM file of the one certificate that is trusted; `None`: any.
    pub certificate: Option<PathBuf>,
    /// Whether this side sends.
    pub is_upload: bool,
    /// Bytes on each stream; `None`: until the time is over.
    pub count: Option<u64>,
    /// How long; `None`: until [`count`](Self::count) are there.
    pub duration: Option<Duration>,
    /// Connections, 1 at least.
    pub connections: u32,
    /// Streams on each of them, 1 to 100.
    pub streams: u32,
    /// Longest delay of this side's acknowledgments.
    pub max_ack_delay: Duration,
    /// What the side that sends shall send by; `None`: [`DEFAULT_CONTROLLER`] on an upload, what the server likes on a
    /// download.
    pub controller: Option<String>,
    /// Whether the senders are recorded.
    pub is_recorded: bool,
}

impl Plan {
    /// The controller of what this side sends: acknowledgments at least.
    pub(crate) fn own_controller(&self) -> &str {
        let own = self.controller.as_deref().filter(|_| self.is_upload);
        own.unwrap_or(DEFAULT_CONTROLLER)
    }
}

/// Connections and their streams.
#[derive(Debug)]
pub(crate) struct Connections {
    pub(crate) progress: Arc<Progress>,
    /// Each ends with its stream, or with what went wrong.
    pub(crate) streams: JoinSet<Result<(), String>>,
    connections: Vec<Connected>,
    /// Streams end when this is true.
    stop: watch::Sender<bool>,
    /// Connections whose server was still there when it was asked for a last report.
    alive: Arc<AtomicUsize>,
    /// The server sends by the controller that was asked for as long as this connection lives.
    asked: Option<Owner>,
}

/// Closes its connection when it is dropped. s2n-quic by itself lets the streams of a dropped one end
/// first, and the server's reports never do.
#[derive(Debug)]
struct Owner(Handle);

impl Owner {
    fn close(&self) {
        self.0.close(0_u32.into());
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.close();
    }
}

#[derive(Debug)]
struct Connected {
    id: u64,
    owner: Owner,
}

async fn connect(client: &Client, plan: &Plan) -> Result<(Connection, Owner), String> {
    let connect = Connect::new(plan.target).with_server_name(plan.server_name.as_str());
    let mut connection = client.connect(connect).await.map_err(why_connection)?;
    let owner = Owner(connection.handle());
    connection.keep_alive(true).map_err(why_connection)?;
    Ok((connection, owner))
}

/// Asks for the controller of the connections that follow.
async fn ask(client: &Client, plan: &Plan, spec: &str) -> Result<Owner, String> {
    let (mut connection, owner) = connect(client, plan).await?;
    let asked = async {
        let stream = connection.open_bidirectional_stream().await;
        let (mut from, mut to) = stream.map_err(why_connection)?.split();
        let mut request = Request::Controller(spec.len() as u64).encode().to_vec();
        request.extend_from_slice(spec.as_bytes());
        to.send(request.into()).await.map_err(why_stream)?;
        to.finish().map_err(why_stream)?;
        let mut answer = Vec::new();
        while let Some(data) = from.receive().await.map_err(why_stream)? {
            answer.extend_from_slice(&data);
            if answer.len() > MAX_LINE {
                break;
            }
        }
        let answer: Result<Answer, _> = serde_json::from_slice(&answer);
        answer.map_err(|_| "no answer to --cc that is one; is its version the same?".to_string())
    };
    let answer = tokio::time::timeout(SILENCE, asked).await;
    let answer = answer.map_err(|_| "the server does not answer --cc".to_string())??;
    match answer.refusal.as_str() {
        "" => Ok(owner),
        refusal => Err(format!(
            "the server does not send by --cc {spec}: {refusal}"
        )),
    }
}

impl Connections {
    /// Connects and starts all streams.
    pub(crate) async fn open(
        client: &Client,
        plan: &Plan,
        statistics: &ByConnection,
    ) -> Result<Self, String> {
        let asked = match &plan.controller {
            Some(spec) if !plan.is_upload => Some(ask(client, plan, spec).await?),
            _ => None,
        };
        let mut made = Vec::new();
        for _ in 0..plan.connections {
            made.push(connect(client, plan).await?);
        }
        let progress = Progress::new(plan.connections, plan.is_upload, plan.is_recorded);
        let mut opened = Self {
            progress: Arc::new(progress),
            streams: JoinSet::new(),
            connections: Vec::new(),
            stop: watch::channel(false).0,
            alive: Arc::default(),
            asked,
        };
        for (index, (connection, owner)) in made.into_iter().enumerate() {
            if plan.is_upload
                && plan.is_recorded
                && let Some(sender) = statistics.of(connection.id())
            {
                sender.record();
            }
            opened.start(connection, owner, index, plan);
        }
        Ok(opened)
    }

    /// Starts the streams of one connection. Nothing waits here: a server may grant no stream and
    /// send no reports.
    fn start(&mut self, connection: Connection, owner: Owner, index: usize, plan: &Plan) {
        let id = connection.id();
        let (handle, mut acceptor) = connection.split();
        for _ in 0..plan.streams {
            let progress = self.progress.clone();
            let stop = self.stop.subscribe();
            let moved = transfer(handle.clone(), plan.clone(), progress, stop);
            self.streams.spawn(moved);
        }
        let progress = self.progress.clone();
        tokio::spawn(async move {
            if let Ok(Some(stream)) = acceptor.accept_receive_stream().await {
                read_reports(stream, index, progress).await;
            }
        });
        self.connections.push(Connected { id, owner });
    }

    /// s2n-quic's numbers of them.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u64> {
        self.connections.iter().map(|c| c.id)
    }

    /// Ends all streams and asks for the server's last reports.
    pub(crate) fn ask_for_last_reports(&self) {
        self.stop.send_replace(true);
        for connection in &self.connections {
            let mut handle = connection.owner.0.clone();
            let alive = self.alive.clone();
            tokio::spawn(async move {
                let request = Request::LastReport.encode().to_vec();
                if let Ok(mut stream) = handle.open_bidirectional_stream().await
                    && stream.send(request.into()).await.is_ok()
                    // Not before it is acknowledged.
                    && stream.close().await.is_ok()
                {
                    alive.fetch_add(1, Relaxed);
                }
            });
        }
    }

    /// Whether the server has acknowledged all these questions.
    pub(crate) fn are_alive(&self) -> bool {
        self.alive.load(Relaxed) == self.connections.len()
    }

    /// Ends all connections.
    pub(crate) fn close(&self) {
        let transfers = self.connections.iter().map(|c| &c.owner);
        transfers.chain(&self.asked).for_each(Owner::close);
    }
}

/// One stream's part of a transfer.
async fn transfer(
    mut handle: Handle,
    plan: Plan,
    progress: Arc<Progress>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), String> {
    let stream = handle.open_bidirectional_stream().await;
    let (mut from, mut to) = stream.map_err(why_connection)?.split();
    let request = if plan.is_upload {
        Request::Upload
    } else {
        Request::Download {
            count: plan.count,
            recorded: plan.is_recorded,
        }
    };
    let request = request.encode().to_vec();
    to.send(request.into()).await.map_err(why_stream)?;
    if plan.is_upload {
        return tokio::select! {
            sent = send(&mut to, plan.count) => sent.map_err(why_stream),
            _ = stop.wait_for(|stop| *stop) => {
                let _ = to.reset(0_u32.into());
                Ok(())
            }
        };
    }
    let _ = to.finish();
    let mut got = 0;
    let received = receive(&mut from, |bytes| {
        got += bytes;
        progress.add_received(bytes);
    });
    tokio::select! {
        received = received => received.map_err(why_stream)?,
        _ = stop.wait_for(|stop| *stop) => {
            let _ = from.stop_sending(0_u32.into());
            return Ok(());
        }
    }
    match plan.count {
        Some(count) if got == count => Ok(()),
        Some(count) => Err(format!("a stream brought {got} instead of {count} bytes")),
        None => Err("the server ended a stream before the time was over".to_string()),
    }
}
