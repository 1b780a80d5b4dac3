//! One connection of a server.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use s2n_quic::Connection;
use s2n_quic::connection::Handle;
use s2n_quic::stream::BidirectionalStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use crate::SECOND;
use crate::choice::{Choices, MAX_SPEC, Ticket};
use crate::protocol::{Answer, REQUEST, Report, Request, SAMPLES};
use crate::report::Event;
use crate::statistics::{ByConnection, SenderState, Statistics};
use crate::streams::{read, receive, send};

/// How often the client is told, so that what it shows is fresh.
const REPORTS_A_SECOND: u32 = 5;

/// How long a last report waits for what has arrived of uploads to be counted.
const COUNTING: Duration = Duration::from_secs(1);

/// Takes what happens.
pub(crate) type Tell = Box<dyn Fn(&Event<'_>) + Send + Sync>;

/// What all connections of a server share.
pub(crate) struct House {
    pub(crate) statistics: ByConnection,
    pub(crate) choices: Arc<Choices>,
    /// The controller of clients that asked for none.
    pub(crate) controller: String,
    /// Told of what happens; must not block.
    pub(crate) tell: Tell,
    /// Connections with a transfer.
    pub(crate) transferring: AtomicU64,
}

/// What is known of one connection.
#[derive(Debug)]
struct Session {
    peer: SocketAddr,
    controller: String,
    sender: Option<Arc<Statistics>>,
    received: AtomicU64,
    /// Streams of which it is not known what they are for, and uploads under way.
    uncounted: AtomicU64,
    has_transferred: AtomicBool,
    /// The client wants a last report.
    is_over: Notify,
    ticket: Mutex<Option<Ticket>>,
}

impl Session {
    fn report(&self) -> Report {
        Report {
            controller: self.controller.clone(),
            received_bytes: self.received.load(Relaxed),
            sender: self
                .sender
                .as_ref()
                .map_or_else(SenderState::default, |s| s.state()),
            ..Report::default()
        }
    }

    /// Waits until all uploads have ended and what came is counted, but not for long.
    async fn count_uploads(&self) {
        let until = Instant::now() + COUNTING;
        while self.uncounted.load(Relaxed) > 0 && Instant::now() < until {
            tokio::time::sleep(COUNTING / 100).await;
        }
    }
}

/// A stream that may still bring something to be counted.
struct Uncounted(Arc<Session>);

impl Uncounted {
    fn new(session: &Arc<Session>) -> Self {
        session.uncounted.fetch_add(1, Relaxed);
        Self(session.clone())
    }
}

impl Drop for Uncounted {
    fn drop(&mut self) {
        self.0.uncounted.fetch_sub(1, Relaxed);
    }
}

/// Serves one connection to its end. Whether it had a transfer.
pub(crate) async fn serve(connection: Connection, house: Arc<House>) -> bool {
    let Ok(peer) = connection.remote_addr() else {
        return false;
    };
    let chosen = house.choices.of(peer);
    let session = Arc::new(Session {
        peer,
        controller: chosen.unwrap_or_else(|| house.controller.clone()),
        sender: house.statistics.of(connection.id()),
        received: AtomicU64::new(0),
        uncounted: AtomicU64::new(0),
        has_transferred: AtomicBool::new(false),
        is_over: Notify::new(),
        ticket: Mutex::new(None),
    });
    let (handle, mut acceptor) = connection.split();
    let mut tasks = JoinSet::new();
    // On its own, as a client may grant no stream for it and take nothing from it.
    tasks.spawn(report(handle, session.clone()));
    let mut seconds = tokio::time::interval(SECOND);
    seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    seconds.tick().await;
    loop {
        tokio::select! {
            stream = acceptor.accept_bidirectional_stream() => match stream {
                Ok(Some(stream)) => {
                    let uncounted = Uncounted::new(&session);
                    tasks.spawn(answer(stream, uncounted, house.clone()));
                }
                Ok(None) | Err(_) => break,
            },
            Some(_) = tasks.join_next() => {}
            _ = seconds.tick() => {
                let report = session.report();
                (house.tell)(&Event::Second { peer, report: &report });
            }
        }
    }
    let report = session.report();
    (house.tell)(&Event::Closed {
        peer,
        report: &report,
    });
    let has_transferred = session.has_transferred.load(Relaxed);
    if has_transferred {
        house.transferring.fetch_sub(1, Relaxed);
    }
    has_transferred
}

/// Tells the client several times a second what its sender does; a client that no longer wants to
/// know is told no more.
async fn report(mut handle: Handle, session: Arc<Session>) {
    let Ok(mut stream) = handle.open_send_stream().await else {
        return;
    };
    let mut ticks = tokio::time::interval(SECOND / REPORTS_A_SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_last = tokio::select! {
            _ = ticks.tick() => false,
            () = session.is_over.notified() => true,
        };
        if is_last {
            session.count_uploads().await;
            if let Some(sender) = &session.sender {
                sender.end_sample();
            }
        }
        loop {
            let samples = session.sender.as_ref().map(|s| s.take_samples(SAMPLES));
            let samples = samples.unwrap_or_default();
            let is_all = samples.len() < SAMPLES;
            let report = Report {
                is_last: is_last && is_all,
                samples,
                ..session.report()
            };
            let Ok(mut line) = serde_json::to_vec(&report) else {
                return;
            };
            line.push(b'\n');
            if stream.send(line.into()).await.is_err() {
                return;
            }
            if is_all {
                break;
            }
        }
    }
}

/// Does what the client asks on a stream; a stream that fails ends.
async fn answer(stream: BidirectionalStream, uncounted: Uncounted, house: Arc<House>) {
    let session = uncounted.0.clone();
    let (mut from, mut to) = stream.split();
    let Some(request) = read(&mut from, Vec::new(), REQUEST).await else {
        return;
    };
    let Some((head, rest)) = request.split_first_chunk::<REQUEST>() else {
        return;
    };
    let request = Request::decode(head);
    if matches!(request, Some(Request::Download { .. } | Request::Upload))
        && !session.has_transferred.swap(true, Relaxed)
    {
        house.transferring.fetch_add(1, Relaxed);
    }
    match request {
        Some(Request::Download { count, recorded }) => {
            drop(uncounted);
            if let Some(sender) = session.sender.as_ref().filter(|_| recorded) {
                sender.record();
            }
            let _ = send(&mut to, count).await;
        }
        Some(Request::Upload) => {
            let received = |bytes| {
                session.received.fetch_add(bytes, Relaxed);
            };
            received(rest.len() as u64);
            let _ = receive(&mut from, received).await;
        }
        Some(Request::Controller(length)) if length <= MAX_SPEC as u64 => {
            drop(uncounted);
            let length = length as usize;
            let Some(spec) = read(&mut from, rest.to_vec(), length).await else {
                return;
            };
            let spec = String::from_utf8_lossy(&spec[..length]);
            let refusal = match house.choices.ask(session.peer, &spec) {
                Ok(ticket) => {
                    let mut kept = session
                        .ticket
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner);
                    // The one before goes first, or it would take this one's right with it.
                    kept.take();
                    *kept = Some(ticket);
                    String::new()
                }
                Err(refusal) => refusal,
            };
            if let Ok(answer) = serde_json::to_vec(&Answer { refusal }) {
                let _ = to.send(answer.into()).await;
                let _ = to.close().await;
            }
        }
        Some(Request::LastReport) => {
            drop(uncounted);
            session.is_over.notify_one();
        }
        Some(Request::Controller(_)) | None => {}
    }
}
