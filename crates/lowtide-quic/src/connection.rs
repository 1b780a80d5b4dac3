//! What the parts of one connection share.
//!
//! s2n-quic builds its providers one by one for an endpoint and tells only some of them which
//! connection they are called for. The parts find each other so:
//! - events: called with a context of our own for each connection;
//! - packet interceptor: told the connection's number;
//! - congestion controller: made just after the events' context of its connection, by which it is
//!   found; a controller for a new path of a connection is made without one and just before the
//!   event of the new path, which adopts it;
//! - datagrams: made just after the event of the peer's transport parameters.
//!
//! All this happens on the endpoint's own thread; the locks are never contended.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use lowtide_cc::Ecn;
use lowtide_cc::controller::PeerSignal;
use lowtide_cc::controllers::rbbr::frame::Frame;
use lowtide_cc::controllers::rbbr::{Receiver, ReceiverConfig};
use lowtide_cc::units::{Bytes, Rate};
use lowtide_host::timestamps::{Arrivals, Report, frame};
use s2n_quic::provider::congestion_controller::Timestamp;

use crate::clock::Clock;

/// Locks; what a panic elsewhere left behind is still good enough to go on with.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// "No packet number": above 2^62, the largest there is.
const NO_NUMBER: u64 = u64::MAX;

/// Ranges kept of one packet's ACK frames, at most. More do not fit into a packet of 1500
/// bytes, but a jumbo packet may have them; the controller then falls back to the newest packets.
const MAX_RANGES: usize = 1024;

/// Feedback that the controller has not seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// Packet number that carried it.
    pub(crate) carrier: u64,
    pub(crate) rate: Rate,
}

/// The acknowledged ranges of the newest packet with ACK frames.
#[derive(Debug)]
struct AckedRanges {
    carrier: u64,
    ranges: Vec<RangeInclusive<u64>>,
}

/// What is made of the packets that arrive.
#[derive(Debug)]
struct Received {
    /// The peer's estimator for what it sends to us.
    estimator: Receiver,
    /// Arrivals that the peer is told of, where it has asked.
    arrivals: Option<Arrivals>,
    clock: Clock,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    id: u64,
    /// The peer speaks the extension.
    negotiated: AtomicBool,
    /// Number of the 1-RTT packet that is leaving now.
    leaving: AtomicU64,
    acked: Mutex<AckedRanges>,
    /// The codepoint that its controller asks for, unless ECN is not to be used.
    ecn: AtomicU8,
    uses_ecn: bool,
    /// The peer's estimator is to know of a regular flow; otherwise it should rest, as it does for an
    /// endpoint that sends only acknowledgments, or does not run RBBR.
    is_regular: AtomicBool,
    /// A packet should carry it.
    signal_due: AtomicBool,
    /// The packet under way carries it.
    signal_written: AtomicBool,
    /// The packet under way has room for it.
    slot_open: AtomicBool,
    has_feedback: AtomicBool,
    feedback: Mutex<Option<Heard>>,
    newest_carrier: AtomicU64,
    received: Mutex<Received>,
    /// This endpoint asks for timestamps.
    asks_for_timestamps: bool,
    /// What the peer has said of packets that it received.
    reported: Mutex<Report>,
}

impl Connection {
    fn new(id: u64, config: &Config) -> Self {
        let asks_for_timestamps = config.asks_for_timestamps;
        Self {
            id,
            uses_ecn: config.uses_ecn,
            negotiated: AtomicBool::new(false),
            leaving: AtomicU64::new(NO_NUMBER),
            acked: Mutex::new(AckedRanges {
                carrier: NO_NUMBER,
                ranges: Vec::new(),
            }),
            ecn: AtomicU8::new(Ecn::NotEct.bits()),
            is_regular: AtomicBool::new(false),
            signal_due: AtomicBool::new(false),
            signal_written: AtomicBool::new(false),
            slot_open: AtomicBool::new(false),
            has_feedback: AtomicBool::new(false),
            feedback: Mutex::new(None),
            newest_carrier: AtomicU64::new(NO_NUMBER),
            received: Mutex::new(Received {
                estimator: Receiver::new(&config.receiver),
                arrivals: None,
                clock: Clock::default(),
            }),
            asks_for_timestamps,
            reported: Mutex::default(),
        }
    }

    /// Number that s2n-quic gives the connection.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    // Negotiation

    pub(crate) fn on_peer_parameters(&self, speaks_extension: bool, asks_for_timestamps: bool) {
        self.negotiated.store(speaks_extension, Relaxed);
        lock(&self.received).arrivals = asks_for_timestamps.then(Arrivals::default);
    }

    #[inline]
    pub(crate) fn is_negotiated(&self) -> bool {
        self.negotiated.load(Relaxed)
    }

    // Interceptor → controller: packet numbers and acknowledged ranges

    #[inline]
    pub(crate) fn set_leaving(&self, number: u64) {
        self.leaving.store(number, Relaxed);
    }

    /// The number of the 1-RTT packet that just left, once.
    #[inline]
    pub(crate) fn take_leaving(&self) -> Option<u64> {
        let number = self.leaving.swap(NO_NUMBER, Relaxed);
        (number != NO_NUMBER).then_some(number)
    }

    /// An ACK frame in packet `carrier` covers `range`.
    #[inline]
    pub(crate) fn on_acked_range(&self, carrier: u64, range: RangeInclusive<u64>) {
        let mut acked = lock(&self.acked);
        if acked.carrier != carrier {
            acked.carrier = carrier;
            acked.ranges.clear();
        }
        if acked.ranges.len() < MAX_RANGES {
            acked.ranges.push(range);
        }
    }

    #[inline]
    pub(crate) fn with_acked_ranges<T>(&self, f: impl FnOnce(&[RangeInclusive<u64>]) -> T) -> T {
        f(&lock(&self.acked).ranges)
    }

    // Controller → interceptor: the codepoint

    #[inline]
    pub(crate) fn set_ecn(&self, ecn: Ecn) {
        if self.uses_ecn {
            self.ecn.store(ecn.bits(), Relaxed);
        }
    }

    #[inline]
    pub(crate) fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.ecn.load(Relaxed))
    }

    // Controller → slot → interceptor: the signal

    /// Sets what the peer's estimator should know, and whether it is time to tell it.
    #[inline]
    pub(crate) fn set_signal(&self, signal: Option<PeerSignal>, due: bool) {
        let is_regular = signal == Some(PeerSignal::Regular);
        self.is_regular.store(is_regular, Relaxed);
        self.signal_due.store(due && signal.is_some(), Relaxed);
    }

    /// Whether the packet under way should make room for a frame.
    #[inline]
    pub(crate) fn wants_slot(&self) -> bool {
        self.signal_due.load(Relaxed) && self.is_negotiated()
    }

    pub(crate) fn open_slot(&self) {
        self.slot_open.store(true, Relaxed);
    }

    /// Whether the packet under way has room for a frame; once.
    #[inline]
    pub(crate) fn take_slot(&self) -> bool {
        self.slot_open.load(Relaxed) && self.slot_open.swap(false, Relaxed)
    }

    /// The signal is in a packet.
    pub(crate) fn on_signal_written(&self) {
        self.signal_written.store(true, Relaxed);
    }

    /// Whether the packet that just left has the signal; once.
    #[inline]
    pub(crate) fn take_signal_written(&self) -> bool {
        self.signal_written.load(Relaxed) && self.signal_written.swap(false, Relaxed)
    }

    /// The frame with our current signal, and `rate` as our estimate.
    pub(crate) fn frame(&self, rate: Option<Rate>) -> Frame {
        Frame {
            signal: if self.is_regular.load(Relaxed) {
                PeerSignal::Regular
            } else {
                PeerSignal::Suspend
            },
            rate: rate.unwrap_or(Rate::ZERO),
        }
    }

    // Peer → estimator → peer

    /// A packet arrived with `bytes` that the path's congestion controls; `frame`: what its frame
    /// said.
    #[inline]
    pub(crate) fn on_received(
        &self,
        at: Timestamp,
        number: u64,
        bytes: Bytes,
        frame: Option<Frame>,
    ) {
        let mut received = lock(&self.received);
        let now = received.clock.time(at);
        if let Some(frame) = frame {
            received.estimator.on_signal(frame.signal);
        }
        if !bytes.is_zero() {
            received.estimator.on_packet(now, bytes);
            if let Some(arrivals) = &mut received.arrivals {
                arrivals.on_packet(number, now);
            }
        }
        drop(received);
        if let Some(frame) = frame
            && !frame.rate.is_zero()
        {
            self.on_feedback(number, frame.rate);
        }
    }

    fn on_feedback(&self, carrier: u64, rate: Rate) {
        let newest = self.newest_carrier.load(Relaxed);
        if newest != NO_NUMBER && carrier <= newest {
            return;
        }
        self.newest_carrier.store(carrier, Relaxed);
        *lock(&self.feedback) = Some(Heard { carrier, rate });
        self.has_feedback.store(true, Relaxed);
    }

    /// The newest feedback, once.
    #[inline]
    pub(crate) fn take_feedback(&self) -> Option<Heard> {
        if !self.has_feedback.load(Relaxed) {
            return None;
        }
        self.has_feedback.store(false, Relaxed);
        lock(&self.feedback).take()
    }

    /// An acknowledgment leaves: the estimate that it should carry.
    #[inline]
    pub(crate) fn estimate_for_ack(&self, at: Timestamp) -> Option<Rate> {
        let mut received = lock(&self.received);
        let now = received.clock.time(at);
        received.estimator.feedback_for_ack(now)
    }

    pub(crate) fn estimate(&self) -> Option<Rate> {
        lock(&self.received).estimator.estimate()
    }

    // Timestamps, both ways

    /// Appends the frame with timestamps that an acknowledgment with so much room should carry.
    #[inline]
    pub(crate) fn write_timestamps(&self, room: usize, out: &mut Vec<u8>) {
        if let Some(arrivals) = &mut lock(&self.received).arrivals {
            frame::write(arrivals, room, out);
        }
    }

    /// Takes in the frame with timestamps that `payload` begins with. Returns its length; 0 where there
    /// is none, or none was asked for.
    #[inline]
    pub(crate) fn on_timestamps(&self, payload: &[u8]) -> usize {
        if !self.asks_for_timestamps {
            return 0;
        }
        let Some((report, rest)) = frame::split(payload) else {
            return 0;
        };
        // What cannot be read says nothing.
        let _ = lock(&self.reported).read(report);
        payload.len() - rest.len()
    }

    /// What the peer has last reported of our packets.
    #[inline]
    pub(crate) fn with_reported<T>(&self, f: impl FnOnce(Option<&Report>) -> T) -> T {
        if self.asks_for_timestamps {
            f(Some(&lock(&self.reported)))
        } else {
            f(None)
        }
    }
}

/// A controller's way to its connection; empty until it is known, and always where the endpoint
/// has only the controller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Link(Arc<OnceLock<Arc<Connection>>>);

impl Link {
    #[inline]
    pub(crate) fn get(&self) -> Option<&Arc<Connection>> {
        self.0.get()
    }

    fn set(&self, connection: Arc<Connection>) {
        // Set once; a second owner would be a mistake of the host.
        let _ = self.0.set(connection);
    }
}

/// What the connections of an endpoint have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    /// The estimator for peers that send with RBBR.
    pub(crate) receiver: ReceiverConfig,
    /// Peers are asked for timestamps.
    pub(crate) asks_for_timestamps: bool,
    /// Packets carry the codepoint of their controller; otherwise none.
    pub(crate) uses_ecn: bool,
}

/// The connections of one endpoint.
#[derive(Debug)]
pub(crate) struct Connections {
    config: Config,
    /// The codepoint of the packet that is being written.
    leaving_ecn: AtomicU8,
    by_id: Mutex<HashMap<u64, Arc<Connection>>>,
    /// Has a context and no controller yet.
    newborn: Mutex<Weak<Connection>>,
    /// Has a controller and no connection yet.
    new_path: Mutex<Option<Link>>,
    /// Has parameters and no datagrams yet.
    negotiating: Mutex<Weak<Connection>>,
}

impl Connections {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            leaving_ecn: AtomicU8::new(Ecn::NotEct.bits()),
            by_id: Mutex::default(),
            newborn: Mutex::default(),
            new_path: Mutex::default(),
            negotiating: Mutex::default(),
        }
    }

    /// Whether this endpoint asks its peers for timestamps.
    pub(crate) fn asks_for_timestamps(&self) -> bool {
        self.config.asks_for_timestamps
    }

    // Interceptor → I/O: the codepoint

    #[inline]
    pub(crate) fn set_leaving_ecn(&self, ecn: Ecn) {
        self.leaving_ecn.store(ecn.bits(), Relaxed);
    }

    /// The codepoint of what was just written; Not-ECT where that is no packet of a connection, or one
    /// that was written before.
    #[inline]
    pub(crate) fn take_leaving_ecn(&self) -> Ecn {
        Ecn::from_bits(self.leaving_ecn.swap(Ecn::NotEct.bits(), Relaxed))
    }

    pub(crate) fn create(&self, id: u64) -> Arc<Connection> {
        let connection = Arc::new(Connection::new(id, &self.config));
        lock(&self.by_id).insert(id, connection.clone());
        *lock(&self.newborn) = Arc::downgrade(&connection);
        connection
    }

    pub(crate) fn remove(&self, id: u64) {
        lock(&self.by_id).remove(&id);
    }

    pub(crate) fn find(&self, id: u64) -> Option<Arc<Connection>> {
        lock(&self.by_id).get(&id).cloned()
    }

    /// How many connections are known.
    pub(crate) fn count(&self) -> usize {
        lock(&self.by_id).len()
    }

    /// The way to the connection for which a controller is being made.
    pub(crate) fn link_for_controller(&self) -> Link {
        let link = Link::default();
        match std::mem::take(&mut *lock(&self.newborn)).upgrade() {
            Some(connection) => link.set(connection),
            None => *lock(&self.new_path) = Some(link.clone()),
        }
        link
    }

    /// The controller made last is that of a new path of `connection`.
    pub(crate) fn adopt(&self, connection: &Arc<Connection>) {
        if let Some(link) = lock(&self.new_path).take() {
            link.set(connection.clone());
        }
    }

    pub(crate) fn set_negotiating(&self, connection: &Arc<Connection>) {
        *lock(&self.negotiating) = Arc::downgrade(connection);
    }

    pub(crate) fn take_negotiating(&self) -> Option<Arc<Connection>> {
        std::mem::take(&mut *lock(&self.negotiating)).upgrade()
    }
}
