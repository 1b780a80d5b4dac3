//! What a client knows of its transfer, from what comes and from what the server says.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lowtide_lab::transfer::{Sample, SampledFlow};
use s2n_quic::stream::ReceiveStream;

use crate::protocol::{MAX_LINE, Report};
use crate::record::Record;
use crate::statistics::SenderState;

/// What is known of one connection.
#[derive(Debug)]
struct Peer {
    /// The server's newest report.
    report: Option<Report>,
    /// What the sender saw, if it is wanted.
    record: Option<Record>,
}

/// What all connections and streams of a transfer share.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    /// When data came last, or with uploads a report, in milliseconds since the start.
    heard_ms: AtomicU64,
    is_upload: bool,
    /// Downloads: what came in.
    received: AtomicU64,
    peers: Mutex<Vec<Peer>>,
}

impl Progress {
    pub(crate) fn new(connections: u32, is_upload: bool, is_recorded: bool) -> Self {
        let peer = |_| Peer {
            report: None,
            record: is_recorded.then(|| Record::new(connections as usize)),
        };
        Self {
            started: Instant::now(),
            heard_ms: AtomicU64::new(0),
            is_upload,
            received: AtomicU64::new(0),
            peers: Mutex::new((0..connections).map(peer).collect()),
        }
    }

    fn peers(&self) -> MutexGuard<'_, Vec<Peer>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn hear(&self) {
        self.heard_ms
            .store(self.elapsed().as_millis() as u64, Relaxed);
    }

    /// When something of the transfer came last, since the start.
    pub(crate) fn heard_at(&self) -> Duration {
        Duration::from_millis(self.heard_ms.load(Relaxed))
    }

    /// For how long nothing has come.
    pub(crate) fn silence(&self) -> Duration {
        self.elapsed().saturating_sub(self.heard_at())
    }

    /// Data came.
    pub(crate) fn add_received(&self, bytes: u64) {
        self.hear();
        self.received.fetch_add(bytes, Relaxed);
    }

    /// Adds to a connection's record, if there is one.
    pub(crate) fn record(&self, connection: usize, samples: Vec<Sample>) {
        let now_us = self.elapsed().as_micros() as u64;
        let mut peers = self.peers();
        if let Some(record) = peers.get_mut(connection).and_then(|p| p.record.as_mut()) {
            samples.into_iter().for_each(|s| record.add(s, now_us));
        }
    }

    fn report(&self, connection: usize, mut report: Report) {
        let samples = std::mem::take(&mut report.samples);
        if self.is_upload {
            self.hear();
        } else {
            self.record(connection, samples);
        }
        if let Some(peer) = self.peers().get_mut(connection) {
            peer.report = Some(report);
        }
    }

    /// What has arrived.
    pub(crate) fn received(&self) -> u64 {
        if !self.is_upload {
            return self.received.load(Relaxed);
        }
        let peers = self.peers();
        let counts = peers.iter().filter_map(|p| p.report.as_ref());
        counts.fold(0, |sum, r| sum.saturating_add(r.received_bytes))
    }

    /// The controller of what the server sends.
    pub(crate) fn server_controller(&self) -> Option<String> {
        let peers = self.peers();
        let report = peers.first()?.report.as_ref()?;
        Some(report.controller.clone())
    }

    /// The servers' senders.
    pub(crate) fn server_sender(&self) -> Option<SenderState> {
        let peers = self.peers();
        SenderState::together(
            peers
                .iter()
                .filter_map(|p| p.report.as_ref())
                .map(|r| r.sender),
        )
    }

    /// Whether the server has said its last on all connections.
    pub(crate) fn is_confirmed(&self) -> bool {
        let has_ended = |p: &Peer| p.report.as_ref().is_some_and(|r| r.is_last);
        self.peers().iter().all(has_ended)
    }

    /// What the senders saw; nothing is left.
    pub(crate) fn take_flows(&self) -> Vec<SampledFlow> {
        let mut peers = self.peers();
        let records = peers.iter_mut().filter_map(|p| p.record.as_mut());
        records.map(Record::take).collect()
    }
}

/// Reads the server's reports, one JSON object a line.
pub(crate) async fn read_reports(
    mut stream: ReceiveStream,
    connection: usize,
    progress: Arc<Progress>,
) {
    let mut buffer = Vec::new();
    while let Ok(Some(data)) = stream.receive().await {
        buffer.extend_from_slice(&data);
        let mut lines = buffer.split(|b| *b == b'\n').peekable();
        let mut read = 0;
        while let Some(line) = lines.next()
            && lines.peek().is_some()
        {
            read += line.len() + 1;
            if let Ok(report) = serde_json::from_slice(line) {
                progress.report(connection, report);
            }
        }
        buffer.drain(..read);
        // Not one of our servers.
        if buffer.len() > MAX_LINE {
            return;
        }
    }
}
