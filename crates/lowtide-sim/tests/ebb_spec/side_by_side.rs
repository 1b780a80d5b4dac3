//! Two controllers that are told the same.

use std::sync::{Arc, Mutex};

use lowtide_cc::controller::{AckEvent, AckedPacket, LossEvent, PacketSent, TimeoutEvent};
use lowtide_cc::units::{Bytes, Time};
use lowtide_cc::{Config, Controller, registry};

use crate::reference::Reference;

/// What was seen of both.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) events: u64,
    pub(crate) acks: u64,
    pub(crate) losses: u64,
    pub(crate) marks: u64,
    pub(crate) timeouts: u64,
    pub(crate) undone: u64,
    pub(crate) arrivals_known: u64,
    pub(crate) app_limited: u64,
    pub(crate) drains: u64,
    pub(crate) concessions: u64,
    /// Times that the competitive mode began.
    pub(crate) competitions: u64,
    pub(crate) competes: bool,
    /// The first event after which they differed.
    pub(crate) difference: Option<String>,
}

/// What both are told besides what happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tales {
    /// Makes another time of an arrival.
    pub(crate) clock: fn(Time) -> Time,
    /// Another packet size, from this acknowledgment on.
    pub(crate) packets: fn(u64) -> Option<Bytes>,
}

impl Tales {
    pub(crate) const NONE: Self = Self {
        clock: |at| at,
        packets: |_| None,
    };
}

/// ebb, which steers, and beside it what its specification describes.
#[derive(Debug)]
pub(crate) struct SideBySide {
    ebb: Box<dyn Controller>,
    reference: Reference,
    tales: Tales,
    phase: &'static str,
    seen: Arc<Mutex<Seen>>,
}

impl SideBySide {
    pub(crate) fn new(config: &Config, tales: Tales, seen: Arc<Mutex<Seen>>) -> Self {
        Self {
            ebb: registry::build("ebb", config).unwrap(),
            reference: Reference::new(config),
            tales,
            phase: "",
            seen,
        }
    }

    fn compare(&mut self, now: Time, event: &str) {
        let (ebb, reference) = (&self.ebb, &self.reference);
        let mut seen = self.seen.lock().unwrap();
        seen.events += 1;
        let phase = reference.snapshot().phase;
        seen.drains += u64::from(phase == "Drain" && self.phase != "Drain");
        self.phase = phase;
        let competes = reference.competes();
        seen.competitions += u64::from(competes && !seen.competes);
        seen.competes = competes;
        seen.concessions = reference.concessions();
        let shown = |c: &dyn Controller| (c.cwnd(), c.pacing_rate(), c.send_quantum());
        let (ours, theirs) = (shown(&**ebb), shown(reference));
        if ours != theirs && seen.difference.is_none() {
            seen.difference = Some(format!(
                "event {} ({event}) at {now:?}: ebb {ours:?}, by the text {theirs:?}\n{:?}\n{:#?}\n{:#?}",
                seen.events,
                ebb.snapshot(),
                ebb,
                reference,
            ));
        }
    }

    fn count(&self, count: impl FnOnce(&mut Seen)) {
        count(&mut self.seen.lock().unwrap());
    }
}

impl lowtide_cc::Wrap for SideBySide {
    type Inner = dyn Controller;

    fn inner(&self) -> &Self::Inner {
        &*self.ebb
    }
    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.ebb
    }
    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.ebb.on_packet_sent(sent);
        self.reference.on_packet_sent(sent);
        self.compare(sent.now, "sent");
    }
    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.count(|seen| {
            seen.acks += 1;
            seen.arrivals_known += u64::from(ack.packets[0].received_at.is_some());
            seen.app_limited += u64::from(ack.rate_sample.is_some_and(|s| s.app_limited));
        });
        let told = |p: &AckedPacket| AckedPacket {
            received_at: p.received_at.map(self.tales.clock),
            ..*p
        };
        let packets: Vec<AckedPacket> = ack.packets.iter().map(told).collect();
        let packets = &packets;
        let told = AckEvent { packets, ..*ack };
        self.ebb.on_ack(&told);
        self.reference.on_ack(&told);
        self.compare(ack.now, "acked");
        let acks = self.seen.lock().unwrap().acks;
        if let Some(packet) = (self.tales.packets)(acks) {
            Controller::on_mtu_change(self, packet);
            self.compare(ack.now, "mtu");
        }
    }
    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.count(|seen| seen.losses += 1);
        self.ebb.on_loss(loss);
        self.reference.on_loss(loss);
        self.compare(loss.now, "lost");
    }
    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        self.count(|seen| seen.marks += marked_packets);
        self.ebb.on_ecn_ce(now, sent_at, marked_packets);
        self.reference.on_ecn_ce(now, sent_at, marked_packets);
        self.compare(now, "marked");
    }
    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        self.count(|seen| seen.timeouts += 1);
        self.ebb.on_timeout(timeout);
        self.reference.on_timeout(timeout);
        self.compare(timeout.now, "timeout");
    }
    fn on_spurious_timeout(&mut self, now: Time) {
        self.count(|seen| seen.undone += 1);
        self.ebb.on_spurious_timeout(now);
        self.reference.on_spurious_timeout(now);
        self.compare(now, "undo");
    }
    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.ebb.on_mtu_change(max_datagram);
        self.reference.on_mtu_change(max_datagram);
    }
}
