//! Whether a host keeps the contract: a controller that notes what it is told and checks it.
//!
//! For tests of hosts. It works as the controller inside of it does.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::controller::{
    AckEvent, Config, Controller, Feedback, LossEvent, PacketSent, PeerSignal, Snapshot,
    TimeoutEvent,
};
use lowtide_cc::units::{Bytes, Rate, Time};

use crate::factory::Make;

/// What the host did.
#[derive(Debug, Default)]
pub struct Notes {
    /// Packets acknowledged.
    pub acked_packets: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Packets marked ECN-CE.
    pub ce: u64,
    /// Packet sizes that the path was said to carry, bytes.
    pub mtus: Vec<u64>,
    /// Feedback: carrier and rate.
    pub feedback: Vec<(u64, Rate)>,
    /// Timeouts and persistent congestion.
    pub timeouts: u64,
    /// Largest window after an acknowledgment, bytes.
    pub largest_window: u64,
    /// What the host did against the contract, in words.
    pub breaches: Vec<String>,
    /// Controllers made.
    pub controllers: u64,
    /// The last bandwidth estimate.
    pub bandwidth: Option<Rate>,
}

/// The notes of all controllers of one [`recorded`].
pub type Shared = Arc<Mutex<Notes>>;

fn lock(notes: &Shared) -> MutexGuard<'_, Notes> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the controllers that `make` makes, recorded.
#[must_use]
pub fn recorded(make: Make) -> (Make, Shared) {
    let notes = Shared::default();
    let for_all = notes.clone();
    let make = move |config: &Config| -> Box<dyn Controller> {
        lock(&for_all).controllers += 1;
        Box::new(Recorder {
            inner: make(config),
            notes: for_all.clone(),
            in_flight: HashMap::new(),
            lost_since_ack: Bytes::ZERO,
            last_number: None,
            last_time: Time::ZERO,
        })
    };
    (Arc::new(make), notes)
}

/// A controller that checks its host.
#[derive(Debug)]
struct Recorder {
    inner: Box<dyn Controller>,
    notes: Shared,
    in_flight: HashMap<u64, (Bytes, Time)>,
    lost_since_ack: Bytes,
    last_number: Option<u64>,
    last_time: Time,
}

impl Recorder {
    fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            lock(&self.notes).breaches.push(what());
        }
    }

    fn total(&self) -> Bytes {
        self.in_flight.values().map(|(bytes, _)| *bytes).sum()
    }

    fn on_time(&mut self, now: Time) {
        self.check(now >= self.last_time, || format!("time goes back to {now}"));
        self.last_time = now;
    }

    fn take(&mut self, number: u64, bytes: Bytes, sent_at: Time, what: &str) {
        let known = self.in_flight.remove(&number);
        self.check(known == Some((bytes, sent_at)), || {
            format!("{what} {number} of {bytes} at {sent_at}, sent was {known:?}")
        });
    }
}

impl Controller for Recorder {
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.on_time(sent.now);
        self.check(self.last_number < Some(sent.number), || {
            format!("number {} does not grow", sent.number)
        });
        self.last_number = Some(sent.number);
        self.in_flight.insert(sent.number, (sent.bytes, sent.now));
        self.check(self.total() == sent.inflight, || format!("{sent:?}"));
        self.inner.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.on_time(ack.now);
        self.check(!ack.packets.is_empty(), || "empty ACK".to_string());
        self.check(ack.packets.is_sorted_by_key(|p| p.number), || {
            "ACK out of order".to_string()
        });
        for packet in ack.packets {
            self.take(packet.number, packet.bytes, packet.sent_at, "acked");
        }
        let sum: Bytes = ack.packets.iter().map(|p| p.bytes).sum();
        self.check(sum == ack.bytes_acked, || format!("{ack:?}"));
        self.check(self.total() == ack.inflight, || format!("{ack:?}"));
        let lost = std::mem::take(&mut self.lost_since_ack);
        self.check(lost == ack.bytes_lost, || format!("{lost} lost, {ack:?}"));
        let newest = ack.packets.last().map(|p| ack.now.since(p.sent_at));
        // The sample may be that of a newer packet that only acknowledged.
        self.check(ack.rtt.is_none() || ack.rtt <= newest, || {
            format!("RTT {:?}, newest packet {newest:?}", ack.rtt)
        });
        let settled = ack.bytes_acked + ack.bytes_lost;
        self.check(
            ack.prior_inflight >= ack.inflight + ack.bytes_acked
                && ack.prior_inflight <= ack.inflight + settled,
            || format!("{ack:?}"),
        );
        self.inner.on_ack(ack);
        let mut notes = lock(&self.notes);
        notes.acked_packets += ack.packets.len() as u64;
        notes.largest_window = notes.largest_window.max(self.inner.cwnd().get());
        notes.bandwidth = self.inner.snapshot().bandwidth;
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.on_time(loss.now);
        for packet in loss.packets {
            self.take(packet.number, packet.bytes, packet.sent_at, "lost");
        }
        let sum: Bytes = loss.packets.iter().map(|p| p.bytes).sum();
        self.check(sum == loss.bytes_lost, || format!("{loss:?}"));
        self.check(self.total() == loss.inflight, || format!("{loss:?}"));
        self.lost_since_ack += loss.bytes_lost;
        lock(&self.notes).lost_packets += loss.packets.len() as u64;
        self.inner.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        lock(&self.notes).timeouts += 1;
        self.inner.on_timeout(timeout);
    }

    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        lock(&self.notes).ce += marked_packets;
        self.inner.on_ecn_ce(now, sent_at, marked_packets);
    }

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        // Probes that s2n-quic gives up or finds acknowledged count as packets like all others.
        lock(&self.notes).mtus.push(max_datagram.get());
        self.inner.on_mtu_change(max_datagram);
    }

    fn on_feedback(&mut self, feedback: &Feedback) {
        let seen = (feedback.carrier, feedback.rate);
        lock(&self.notes).feedback.push(seen);
        self.inner.on_feedback(feedback);
    }

    fn on_wakeup(&mut self, now: Time) {
        self.inner.on_wakeup(now);
    }

    fn next_wakeup(&self) -> Option<Time> {
        self.inner.next_wakeup()
    }

    fn cwnd(&self) -> Bytes {
        self.inner.cwnd()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.inner.pacing_rate()
    }

    fn send_quantum(&self) -> Bytes {
        self.inner.send_quantum()
    }

    fn peer_signal(&self) -> Option<PeerSignal> {
        self.inner.peer_signal()
    }

    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }
}
