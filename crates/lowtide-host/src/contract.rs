//! Whether a host keeps the contract: a controller that notes what it is told and checks it.
//!
//! For tests of hosts. It works as the controller inside of it does. Its memory grows with the packets
//! declared lost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::Ecn;
use lowtide_cc::controller::{
    AckEvent, Config, Controller, Feedback, LossEvent, PacketSent, TimeoutEvent,
};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

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
    /// Least time from a packet's sending to its acknowledgment.
    pub least_age: Option<Duration>,
    /// Timeouts and persistent congestion.
    pub timeouts: u64,
    /// Largest window after an acknowledgment, bytes.
    pub largest_window: u64,
    /// What the host did against the contract, in words.
    pub breaches: Vec<String>,
    /// Controllers made.
    pub controllers: u64,
    /// Numbers of packets that the host discarded (RFC 9002 §6.4), of which controllers are not told.
    /// A host that discards packets adds them here before its next event.
    pub discarded: Vec<u64>,
    /// The last bandwidth estimate.
    pub bandwidth: Option<Rate>,
}

/// The notes of all controllers of one [`recorded`].
pub type Shared = Arc<Mutex<Notes>>;

fn lock(notes: &Shared) -> MutexGuard<'_, Notes> {
    notes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes the controllers that `make` makes, recorded. For hosts whose transmissions each have a fate
/// of their own, as QUIC's packets.
#[must_use]
pub fn recorded(make: Make) -> (Make, Shared) {
    recorded_by(make, Fates::OfPackets, None)
}

/// Does what [`recorded`] does, with controllers that ask for `ecn` whatever they make of marks.
#[must_use]
pub fn recorded_with_ecn(make: Make, ecn: Ecn) -> (Make, Shared) {
    recorded_by(make, Fates::OfPackets, Some(ecn))
}

/// Does what [`recorded`] does, for TCP: what is acknowledged there is data. A transmission may
/// leave the flight without notice because another with the same data arrived, and a spurious
/// timeout brings back what it gave up, so that bytes in flight are checked against their bounds,
/// and a time of sending may be earlier than the last.
#[must_use]
pub fn recorded_tcp(make: Make) -> (Make, Shared) {
    recorded_by(make, Fates::OfData, None)
}

fn recorded_by(make: Make, fates: Fates, ecn: Option<Ecn>) -> (Make, Shared) {
    let notes = Shared::default();
    let for_all = notes.clone();
    let make = move |config: &Config| -> Box<dyn Controller> {
        lock(&for_all).controllers += 1;
        Box::new(Recorder {
            inner: make(config),
            notes: for_all.clone(),
            fates,
            ecn,
            in_flight: Packets::default(),
            lost: Packets::default(),
            lost_may_be_in_flight: false,
            announced: None,
            lost_since_ack: Bytes::ZERO,
            marked_at: None,
            last_number: None,
            last_time: Time::ZERO,
        })
    };
    (Arc::new(make), notes)
}

/// Whether acknowledgments and losses are of packets or of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fates {
    OfPackets,
    OfData,
}

/// Packets by number, and their total size.
#[derive(Debug, Default)]
struct Packets {
    known: HashMap<u64, (Bytes, Time)>,
    total: Bytes,
}

impl Packets {
    fn insert(&mut self, number: u64, bytes: Bytes, sent_at: Time) {
        self.known.insert(number, (bytes, sent_at));
        self.total += bytes;
    }

    fn remove(&mut self, number: u64) -> Option<(Bytes, Time)> {
        let known = self.known.remove(&number)?;
        self.total -= known.0;
        Some(known)
    }
}

/// A controller that checks its host.
#[derive(Debug)]
struct Recorder {
    inner: Box<dyn Controller>,
    notes: Shared,
    fates: Fates,
    /// Codepoint that is asked for in the controller's place.
    ecn: Option<Ecn>,
    in_flight: Packets,
    /// Declared lost; may be acknowledged after all.
    lost: Packets,
    /// A spurious timeout brought some of `lost` back; the host does not say which.
    lost_may_be_in_flight: bool,
    /// What a loss event left out of its bytes in flight because the acknowledgment to come covers it,
    /// and when that was.
    announced: Option<(Time, Bytes)>,
    /// Declared lost since the last acknowledgment, and not taken back.
    lost_since_ack: Bytes,
    /// When marks were reported whose acknowledgment is to follow.
    marked_at: Option<Time>,
    last_number: Option<u64>,
    last_time: Time,
}

impl Recorder {
    fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            lock(&self.notes).breaches.push(what());
        }
    }

    fn check_inflight(&self, inflight: Bytes, after: &str) {
        let most = if self.lost_may_be_in_flight {
            self.in_flight.total + self.lost.total
        } else {
            self.in_flight.total
        };
        self.check(
            match self.fates {
                Fates::OfPackets => inflight == most,
                Fates::OfData => inflight <= most,
            },
            || {
                format!(
                    "inflight is {inflight} after {after}, where packets of {most} are in flight"
                )
            },
        );
    }

    /// Something happens at `now`.
    fn on_time(&mut self, now: Time) {
        for number in std::mem::take(&mut lock(&self.notes).discarded) {
            self.in_flight.remove(number);
            self.lost.remove(number);
        }
        self.check(now >= self.last_time, || {
            format!("the time goes back from {:?} to {now:?}", self.last_time)
        });
        self.last_time = now;
    }

    /// No acknowledgment followed that marks belong to, or that a loss event announced.
    fn on_other_than_ack(&mut self) {
        let marked_at = self.marked_at.take();
        self.check(marked_at.is_none(), || {
            format!("marks were reported at {marked_at:?}, but no acknowledgment followed")
        });
        let announced = self.announced.take();
        self.check(announced.is_none(), || {
            format!(
                "a loss event left out bytes of the flight ({announced:?}), but no acknowledgment \
                 followed that covers them"
            )
        });
    }

    fn check_record(&self, number: u64, known: Option<(Bytes, Time)>, told: (Bytes, Time)) {
        let is_so = known.is_some_and(|(bytes, sent_at)| {
            let may_be_earlier = self.fates == Fates::OfData;
            bytes == told.0 && (sent_at == told.1 || may_be_earlier && sent_at > told.1)
        });
        self.check(is_so, || match known {
            Some(known) => format!(
                "packet {number} was sent with {} at {:?}, and comes back with {} at {:?}",
                known.0, known.1, told.0, told.1
            ),
            None => format!(
                "packet {number} is not in flight: it was never sent, or was acknowledged or \
                     declared lost before"
            ),
        });
    }
}

impl lowtide_cc::Wrap for Recorder {
    type Inner = dyn Controller;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut Self::Inner {
        &mut *self.inner
    }

    fn on_packet_sent(&mut self, sent: &PacketSent) {
        self.on_time(sent.now);
        self.check(self.last_number < Some(sent.number), || {
            format!(
                "packet {} leaves after packet {}: numbers must grow",
                sent.number,
                self.last_number.unwrap_or_default()
            )
        });
        self.last_number = Some(sent.number);
        self.on_other_than_ack();
        if sent.inflight == sent.bytes && self.fates == Fates::OfData {
            // Nothing else is in flight: the rest was removed without notice.
            self.in_flight = Packets::default();
            self.lost_may_be_in_flight = false;
        }
        self.in_flight.insert(sent.number, sent.bytes, sent.now);
        self.check_inflight(sent.inflight, "the sending of a packet");
        self.inner.on_packet_sent(sent);
    }

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.on_time(ack.now);
        let marked_at = self.marked_at.take();
        self.check(marked_at.is_none_or(|at| at == ack.now), || {
            format!(
                "marks were reported at {marked_at:?}, but their acknowledgment at {:?}",
                ack.now
            )
        });
        self.check(!ack.packets.is_empty(), || {
            "an acknowledgment covers no packets: such a one is not to be reported".to_string()
        });
        self.check(ack.packets.is_sorted_by_key(|p| p.number), || {
            "the packets of an acknowledgment are not in the order of their numbers".to_string()
        });
        let mut from_flight = Bytes::ZERO;
        for packet in ack.packets {
            let known = self.in_flight.remove(packet.number);
            from_flight += known.map_or(Bytes::ZERO, |(bytes, _)| bytes);
            let known = known.or_else(|| self.lost.remove(packet.number));
            self.check_record(packet.number, known, (packet.bytes, packet.sent_at));
        }
        let sum: Bytes = ack.packets.iter().map(|p| p.bytes).sum();
        self.check(sum == ack.bytes_acked, || {
            format!(
                "bytes_acked is {} where the packets of the acknowledgment have {sum}",
                ack.bytes_acked
            )
        });
        self.check_inflight(ack.inflight, "an acknowledgment");
        let lost = std::mem::take(&mut self.lost_since_ack);
        self.check(lost == ack.bytes_lost, || {
            format!(
                "bytes_lost is {} in an acknowledgment, {lost} were declared lost since the last one",
                ack.bytes_lost
            )
        });
        if let Some((at, bytes)) = self.announced.take()
            && self.fates == Fates::OfPackets
        {
            self.check(at == ack.now && bytes == from_flight, || {
                format!(
                    "a loss event at {at:?} left out {bytes} of the flight as acknowledged; the \
                     acknowledgment at {:?} covers {from_flight}",
                    ack.now
                )
            });
        }
        let ages = || ack.packets.iter().map(|p| ack.now.since(p.sent_at));
        match self.fates {
            // The sample may be that of a newer packet that only acknowledged.
            Fates::OfPackets => self
                .check(ack.rtt.is_none() || ack.rtt <= ages().next_back(), || {
                    format!(
                        "the RTT sample is {:?}, but the newest acknowledged packet left only {:?} ago",
                        ack.rtt.unwrap_or_default(),
                        ages().next_back().unwrap_or_default()
                    )
                }),
            Fates::OfData => self.check(ack.rtt.is_none_or(|rtt| ages().any(|a| a == rtt)), || {
                format!(
                    "the RTT sample is {:?}, the age of none of the acknowledged packets",
                    ack.rtt.unwrap_or_default()
                )
            }),
        }
        if self.fates == Fates::OfPackets {
            let settled = from_flight + ack.bytes_lost;
            self.check(
                ack.prior_inflight >= ack.inflight + from_flight
                    && ack.prior_inflight <= ack.inflight + settled,
                || {
                    format!(
                        "prior_inflight is {} in an acknowledgment of {from_flight} with {} lost and \
                         {} left in flight",
                        ack.prior_inflight, ack.bytes_lost, ack.inflight
                    )
                },
            );
        }
        self.inner.on_ack(ack);
        let mut notes = lock(&self.notes);
        notes.acked_packets += ack.packets.len() as u64;
        let ages = ack.packets.iter().map(|p| ack.now.since(p.sent_at));
        notes.least_age = ages.chain(notes.least_age).min();
        notes.largest_window = notes.largest_window.max(self.inner.cwnd().get());
        notes.bandwidth = self.inner.snapshot().bandwidth;
    }

    fn on_loss(&mut self, loss: &LossEvent<'_>) {
        self.on_time(loss.now);
        self.on_other_than_ack();
        self.check(!loss.packets.is_empty(), || {
            "a loss event names no packets: such a one is not to be reported".to_string()
        });
        self.check(loss.packets.is_sorted_by_key(|p| p.number), || {
            "the packets of a loss event are not in the order of their numbers".to_string()
        });
        for packet in loss.packets {
            let known = self.in_flight.remove(packet.number).or_else(|| {
                self.lost_may_be_in_flight
                    .then(|| self.lost.remove(packet.number))
                    .flatten()
            });
            self.check_record(packet.number, known, (packet.bytes, packet.sent_at));
            self.lost
                .insert(packet.number, packet.bytes, packet.sent_at);
        }
        let sum: Bytes = loss.packets.iter().map(|p| p.bytes).sum();
        self.lost_since_ack += sum;
        self.check(sum == loss.bytes_lost, || {
            format!(
                "bytes_lost is {} where the packets of the loss event have {sum}",
                loss.bytes_lost
            )
        });
        // What the same acknowledgment covers is out of flight already.
        let left_out = self.in_flight.total - loss.inflight;
        if self.fates == Fates::OfPackets && !left_out.is_zero() {
            self.announced = Some((loss.now, left_out));
        }
        self.check_inflight(loss.inflight + left_out, "a loss event");
        lock(&self.notes).lost_packets += loss.packets.len() as u64;
        self.inner.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &TimeoutEvent) {
        lock(&self.notes).timeouts += 1;
        self.inner.on_timeout(timeout);
    }

    fn on_spurious_timeout(&mut self, now: Time) {
        self.on_time(now);
        self.lost_may_be_in_flight = true;
        self.lost_since_ack = Bytes::ZERO;
        self.inner.on_spurious_timeout(now);
    }

    fn on_ecn_ce(&mut self, now: Time, sent_at: Time, marked_packets: u64) {
        self.on_time(now);
        self.check(marked_packets > 0, || {
            "marks were reported of no packet: that is not to be reported".to_string()
        });
        self.check(sent_at <= now, || {
            format!(
                "marks of a packet were reported at {now:?} that is said to leave at {sent_at:?}"
            )
        });
        self.marked_at = Some(now);
        lock(&self.notes).ce += marked_packets;
        self.inner.on_ecn_ce(now, sent_at, marked_packets);
    }

    fn ecn(&self) -> Ecn {
        self.ecn.unwrap_or_else(|| self.inner.ecn())
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
}

#[cfg(test)]
mod tests {
    use lowtide_cc::controller::AckedPacket;
    use lowtide_cc::registry;

    use super::*;

    #[test]
    fn a_breach_is_a_sentence() {
        let spec = registry::parse("newreno").unwrap();
        let (make, notes) = recorded(Arc::new(move |config| spec.build(config)));
        let mut controller = make(&Config::default());
        let bytes = Bytes::new(1_200);
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut sent = PacketSent {
            now: at(1),
            number: 0,
            bytes,
            inflight: bytes,
            app_limited: false,
        };
        controller.on_packet_sent(&sent);
        sent.number = 1;
        controller.on_packet_sent(&sent);
        let acked = [AckedPacket {
            number: 7,
            bytes,
            sent_at: at(1),
            received_at: None,
        }];
        controller.on_ack(&AckEvent {
            now: at(40),
            packets: &acked,
            bytes_acked: bytes,
            bytes_lost: Bytes::ZERO,
            rtt: Some(Duration::from_millis(50)),
            prior_inflight: bytes + bytes,
            inflight: bytes + bytes,
            rate_sample: None,
        });
        assert_eq!(
            notes.lock().unwrap().breaches,
            [
                "inflight is 1200 B after the sending of a packet, where packets of 2400 B are in flight",
                "packet 7 is not in flight: it was never sent, or was acknowledged or declared lost before",
                "the RTT sample is 50ms, but the newest acknowledged packet left only 39ms ago",
            ]
        );
    }
}
