//! One end of a session: what it sends, what it notes of what comes, and what it tells of that.

use std::net::SocketAddr;

use lowtide_cc::units::{Bytes, Duration, Time};

use crate::Outbox;
use crate::keys::Key;
use crate::log::{Arrival, Log};
use crate::plan::Plan;
use crate::replay::Replay;
use crate::steering::{Feedback, Steering};
use crate::wire::{self, DATA_HEADER, Kind, Packet, Report, Stamp};

/// Feedback comes so often,
const FEEDBACK: Duration = Duration::from_millis(10);
/// or as soon as so many packets have come, but not more often than this.
const MANY: u32 = 32;
const LEAST_FEEDBACK: Duration = Duration::from_millis(2);
/// An end that hears nothing for so long sends no more data.
pub(crate) const SILENCE: Duration = Duration::from_secs(5);

/// Headers of IPv6 and UDP; the other end may have the larger headers, behind a translator.
const MOST_HEADERS: usize = 48;

/// Packets that are said to have been sent at the same time: sending them takes less than 0.1 ms.
const OF_A_TIME: usize = 16;

/// What is noted of: packets that fill the link, full-sized ones while it is quiet, and feedback.
pub(crate) const FILL: u8 = 0;
pub(crate) const PROBES: u8 = 1;
pub(crate) const LIGHT: u8 = 2;
pub(crate) const LOGS: u8 = 3;

/// The keys of an end.
#[derive(Clone, Debug)]
pub(crate) struct EndKeys {
    /// Signs what it sends.
    pub(crate) own: Key,
    /// Signs what comes.
    pub(crate) peer: Key,
    /// Makes what only a packet that came can say.
    pub(crate) proof: Key,
}

/// Whom an end talks to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) session: u64,
    pub(crate) address: SocketAddr,
    /// Bytes of IP and UDP headers.
    pub(crate) headers: u16,
}

impl Peer {
    pub(crate) fn new(session: u64, address: SocketAddr) -> Self {
        Self {
            session,
            address,
            headers: if address.ip().to_canonical().is_ipv4() {
                28
            } else {
                48
            },
        }
    }
}

/// One end of a session.
#[derive(Debug)]
pub(crate) struct Flow {
    keys: EndKeys,
    peer: Peer,
    plan: Plan,
    /// The zero of this end's times.
    epoch: Time,
    started: Option<Time>,
    last_heard: Time,
    control_number: u32,
    outgoing: Outgoing,
    incoming: Incoming,
    peer_is_done: bool,
    peer_sent: u32,
    wants_stop: bool,
    /// Whether the end keeps reporting although it hears nothing: one of two must.
    persists: bool,
    out: Vec<u8>,
    noise: Vec<u8>,
}

#[derive(Debug)]
struct Outgoing {
    fills: bool,
    steering: Steering,
    volume_left: u64,
    probes: u32,
    next_probe: Time,
    fill_end: Time,
}

#[derive(Debug)]
struct Incoming {
    seen: [Replay; LOGS as usize],
    logs: [Log; LOGS as usize],
    report: Report,
    since_feedback: u32,
    is_urgent: bool,
    last_feedback: Time,
}

impl Flow {
    /// An end that sends data if `fills`. Its times count from `epoch`.
    pub(crate) fn new(epoch: Time, plan: Plan, fills: bool, peer: Peer, keys: EndKeys) -> Self {
        let packet = Bytes::new(plan.packet.into());
        let mut noise = vec![0; usize::from(plan.packet)];
        // What cannot be compressed on the way; each packet has the same.
        blake3::Hasher::new_keyed(&[1; 32])
            .finalize_xof()
            .fill(&mut noise);
        Self {
            keys,
            peer,
            plan,
            epoch,
            started: None,
            last_heard: epoch,
            control_number: 0,
            outgoing: Outgoing {
                fills,
                steering: Steering::new(epoch, plan.queue, packet, plan.max_rate),
                volume_left: plan.volume_of_way().get(),
                probes: 0,
                next_probe: epoch,
                fill_end: Time::MAX,
            },
            incoming: Incoming {
                seen: Default::default(),
                logs: [
                    Log::new(plan.most_packets()),
                    Log::new(1000),
                    // It may last longer than it should by what its end waits for the other's.
                    Log::new(plan.most_feedback() + 2000),
                ],
                report: Report::default(),
                since_feedback: 0,
                is_urgent: false,
                last_feedback: epoch,
            },
            peer_is_done: false,
            peer_sent: 0,
            wants_stop: false,
            persists: false,
            out: Vec::with_capacity(usize::from(plan.packet)),
            noise,
        }
    }

    /// Begins, if the flow has not yet.
    pub(crate) fn start(&mut self, now: Time) {
        if self.started.is_none() {
            self.started = Some(now);
            self.outgoing.next_probe = now;
            self.outgoing.fill_end = now + Plan::QUIET + self.plan.duration;
        }
    }

    /// Makes this the end of a client, which keeps reporting.
    pub(crate) fn persisting(mut self) -> Self {
        self.persists = true;
        self
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn peer(&self) -> Peer {
        self.peer
    }

    /// What an end notes of a kind at most.
    pub(crate) fn most_noted(&self) -> usize {
        self.plan
            .most_packets()
            .max(self.plan.most_feedback() + 2000)
    }

    /// Since it was made.
    pub(crate) fn age(&self, now: Time) -> Duration {
        now.since(self.epoch)
    }

    pub(crate) fn last_heard(&self) -> Time {
        self.last_heard
    }

    pub(crate) fn logs(&self) -> &[Log; LOGS as usize] {
        &self.incoming.logs
    }

    pub(crate) fn steering(&self) -> &Steering {
        &self.outgoing.steering
    }

    /// Filling packets that the other end has sent, as it says.
    pub(crate) fn peer_sent(&self) -> u32 {
        self.peer_sent
    }

    /// Bytes that it has sent to fill the link.
    pub(crate) fn filled(&self) -> Bytes {
        Bytes::new(self.plan.volume_of_way().get() - self.outgoing.volume_left)
    }

    /// Whether this end has nothing more to send.
    pub(crate) fn is_done(&self, now: Time) -> bool {
        let end = self.outgoing.fill_end;
        self.started.is_some() && now >= end + Plan::DRAIN + Plan::QUIET + Plan::QUIET
    }

    /// Whether both ends are through.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        self.is_done(now) && self.peer_is_done
    }

    /// Ends filling now, at both ends.
    pub(crate) fn stop(&mut self, now: Time) {
        self.wants_stop = true;
        self.end_filling(now);
    }

    fn end_filling(&mut self, now: Time) {
        if now < self.outgoing.fill_end {
            self.outgoing.fill_end = now;
        }
    }

    fn micros(&self, at: Time) -> u32 {
        (at.since(self.epoch).as_nanos() / 1000) as u32
    }

    /// A number for what is neither data nor feedback.
    pub(crate) fn next_number(&mut self) -> u32 {
        self.control_number += 1;
        self.control_number - 1
    }

    /// Whether such a number comes for the first time.
    pub(crate) fn is_new(&mut self, number: u32) -> bool {
        self.incoming.seen[LIGHT as usize].is_new(number)
    }

    /// Whether a datagram is the other end's. Data that is shorter than the plan's packets is not: it would count for more
    /// than it was.
    pub(crate) fn is_of_peer(&self, read: &wire::Read<'_>, from: SocketAddr) -> bool {
        let is_whole = !matches!(read.packet, Packet::Data { .. })
            || read.length + MOST_HEADERS >= usize::from(self.plan.packet);
        is_whole && from == self.peer.address && read.is_signed_by(&self.keys.peer)
    }

    /// A packet that the other end has signed, and that arrived at `arrived`. One that comes again is not heard again.
    pub(crate) fn hear(&mut self, arrived: Time, packet: &Packet<'_>) {
        let at = self.micros(arrived);
        let note = |stamp: Stamp| Arrival {
            number: stamp.number,
            sent: stamp.sent,
            arrived: at,
        };
        let incoming = &mut self.incoming;
        match *packet {
            Packet::Data {
                stamp, kind, proof, ..
            } => {
                let log = match kind {
                    Kind::Fill => FILL,
                    Kind::Probe => PROBES,
                };
                let seen = &mut incoming.seen[usize::from(log)];
                let arrival = note(stamp);
                // One beyond the plan's volume is not even told of.
                if stamp.number as usize > 2 * self.plan.most_packets()
                    || !seen.is_new(stamp.number)
                    || !incoming.logs[usize::from(log)].push(arrival)
                {
                    return;
                }
                self.last_heard = self.last_heard.max(arrived);
                let report = &mut incoming.report;
                match kind {
                    Kind::Fill => {
                        report.received += 1;
                        incoming.since_feedback += 1;
                        if stamp.number >= report.newest {
                            report.newest = stamp.number + 1;
                            report.proof = proof;
                            report.delay = arrival.delay();
                            report.arrived = at;
                        }
                    }
                    Kind::Probe => {
                        if report.newest == 0 {
                            report.delay = arrival.delay();
                            report.arrived = at;
                        }
                        incoming.is_urgent = true;
                    }
                }
            }
            Packet::Feedback { stamp, report, .. } => {
                if !incoming.seen[LIGHT as usize].is_new(stamp.number) {
                    return;
                }
                self.last_heard = self.last_heard.max(arrived);
                incoming.logs[LIGHT as usize].push(note(stamp));
                self.peer_sent = self.peer_sent.max(report.next);
                self.peer_is_done |= report.is_done;
                if report.stop {
                    self.end_filling(arrived);
                }
                self.learn(arrived, &report);
            }
            // Whoever hands it over has looked whether it is new.
            _ => self.last_heard = self.last_heard.max(arrived),
        }
    }

    fn learn(&mut self, now: Time, report: &Report) {
        if !self.outgoing.fills || report.arrived == 0 {
            return;
        }
        // When the packet was sent, by this end's clock: its arrival less its delay.
        let sent = i64::from(report.arrived).saturating_sub(report.delay);
        let Ok(sent) = u32::try_from(sent) else {
            return;
        };
        let now_us = self.micros(now);
        if sent > now_us {
            return;
        }
        let rtt = Duration::from_micros((now_us - sent).into());
        let steering = &mut self.outgoing.steering;
        if report.newest == 0 {
            steering.on_probe(report.delay, rtt);
        } else if report.newest <= steering.sent()
            && report.proof == self.keys.proof.proof(report.newest - 1)
        {
            steering.on_feedback(
                now,
                &Feedback {
                    newest: report.newest,
                    received: report.received,
                    delay: report.delay,
                    rtt,
                    arrived: report.arrived,
                },
            );
        }
    }

    /// Sends what is due. When something is next, unless something comes.
    pub(crate) fn poll(&mut self, now: Time, outbox: &mut impl Outbox) -> Option<Time> {
        let started = self.started?;
        let is_silent = now.since(self.last_heard) > SILENCE;
        if is_silent && !self.persists {
            return None;
        }
        let mut wake = self.poll_feedback(now, outbox);
        if is_silent || self.is_done(now) || !self.outgoing.fills {
            return Some(wake);
        }
        let filling = started + Plan::QUIET;
        let end = self.outgoing.fill_end;
        let quiet_again = end + Plan::DRAIN;
        let next = if now < filling.min(end) {
            self.poll_probe(now, outbox).min(filling)
        } else if now < end {
            self.poll_fill(now, outbox).min(end)
        } else if now < quiet_again {
            quiet_again
        } else if now < quiet_again + Plan::QUIET {
            self.poll_probe(now, outbox)
        } else {
            quiet_again + Plan::QUIET * 2
        };
        wake = wake.min(next);
        Some(wake)
    }

    fn poll_feedback(&mut self, now: Time, outbox: &mut impl Outbox) -> Time {
        let incoming = &mut self.incoming;
        let since = now.since(incoming.last_feedback);
        let is_due = incoming.is_urgent
            || since >= FEEDBACK
            || (incoming.since_feedback >= MANY && since >= LEAST_FEEDBACK);
        if is_due {
            incoming.is_urgent = false;
            incoming.since_feedback = 0;
            incoming.last_feedback = now;
            let mut report = incoming.report;
            report.next = self.outgoing.steering.sent();
            report.is_done = self.is_done(now);
            report.stop = self.wants_stop;
            let stamp = Stamp {
                number: self.next_number(),
                sent: self.micros(now),
            };
            let session = self.peer.session;
            let packet = Packet::Feedback {
                session,
                stamp,
                report,
            };
            self.send(&packet, outbox);
        }
        let wait = if self.incoming.since_feedback >= MANY {
            LEAST_FEEDBACK
        } else {
            FEEDBACK
        };
        self.incoming.last_feedback + wait
    }

    /// Sends a packet of the session.
    pub(crate) fn send(&mut self, packet: &Packet<'_>, outbox: &mut impl Outbox) {
        wire::write(packet, &self.keys.own, &mut self.out);
        outbox.send(self.peer.address, &self.out);
    }

    fn send_data(&mut self, now: Time, kind: Kind, number: u32, outbox: &mut impl Outbox) {
        let packet = Packet::Data {
            session: self.peer.session,
            stamp: Stamp {
                number,
                sent: self.micros(now),
            },
            kind,
            proof: self.keys.proof.proof(number),
        };
        wire::write(&packet, &self.keys.own, &mut self.out);
        let length = usize::from(self.plan.packet - self.peer.headers);
        self.out
            .extend_from_slice(&self.noise[..length.saturating_sub(DATA_HEADER)]);
        outbox.send(self.peer.address, &self.out);
    }

    fn poll_probe(&mut self, now: Time, outbox: &mut impl Outbox) -> Time {
        if now >= self.outgoing.next_probe {
            let number = self.outgoing.probes;
            self.outgoing.probes += 1;
            self.outgoing.next_probe = now + Plan::QUIET_INTERVAL;
            self.send_data(now, Kind::Probe, number, outbox);
        }
        self.outgoing.next_probe
    }

    fn poll_fill(&mut self, now: Time, outbox: &mut impl Outbox) -> Time {
        let size = u64::from(self.plan.packet);
        for _ in 0..OF_A_TIME {
            if self.outgoing.volume_left < size {
                self.end_filling(now);
                return now;
            }
            let Some(number) = self.outgoing.steering.send(now) else {
                let next = self.outgoing.steering.next_send(now);
                // Several at a time are cheaper, and no worse for a link with a queue.
                return next.map_or(Time::MAX, |at| at.max(now + Duration::from_micros(500)));
            };
            self.outgoing.volume_left -= size;
            self.send_data(now, Kind::Fill, number, outbox);
        }
        // At once, but not with this time.
        now
    }
}
