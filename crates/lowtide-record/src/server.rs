//! The end that answers recorders.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::network::TokenBucket;

use crate::Outbox;
use crate::flow::{EndKeys, Flow, LOGS, Peer};
use crate::keys::{COOKIE_LIFE, Cookie, Key, Nonce, Token};
use crate::plan::Plan;
use crate::wire::{self, Packet, Reason};

/// What a server gives at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Recordings at a time.
    pub sessions: usize,
    /// Recordings at a time of one address (IPv6: of one /64).
    pub sessions_per_address: usize,
    /// The longest recording.
    pub duration: Duration,
    /// The highest rate each way.
    pub rate: Rate,
    /// The largest volume of one.
    pub volume: Bytes,
    /// The largest volume of all, in an hour.
    pub volume_per_hour: Bytes,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 4,
            sessions_per_address: 1,
            duration: Duration::from_secs(600),
            rate: Rate::from_mbps(1000),
            volume: Bytes::new(4_000_000_000),
            volume_per_hour: Bytes::new(20_000_000_000),
        }
    }
}

/// Challenges a second: whoever is named falsely gets no more.
const CHALLENGES: u64 = 200;
/// A session ends when its client is silent for so long.
const FORGOTTEN: Duration = Duration::from_secs(30);
/// Pages of its notes that a client may ask for, of each that there is, and besides.
const ASKS: u64 = 8;
const MORE_ASKS: u64 = 1000;
/// Nonces of starts that are kept until their cookies are too old.
const KEPT: usize = 4096;

#[derive(Debug)]
struct Session {
    id: u64,
    flow: Flow,
    client: Nonce,
    /// What was said to the start, to be said again.
    accept: Vec<u8>,
    asks: u64,
}

/// Answers recorders. It has no clock and no socket, and what it keeps is bounded by its [`Limits`].
#[derive(Debug)]
pub struct Server {
    limits: Limits,
    token: Token,
    secret: Key,
    counter: u64,
    sessions: Vec<Session>,
    /// Clients' nonces of sessions that have ended, which do not begin again.
    ended: VecDeque<(Time, Nonce)>,
    challenges: TokenBucket,
    hour: TokenBucket,
    out: Vec<u8>,
}

impl Server {
    /// With a secret of its own, which must be random.
    #[must_use]
    pub fn new(limits: Limits, token: Token, secret: [u8; 32]) -> Self {
        let an_hour = Duration::from_secs(3600);
        Self {
            limits,
            token,
            secret: Key::new(secret),
            counter: 0,
            sessions: Vec::new(),
            ended: VecDeque::new(),
            challenges: TokenBucket::new(
                Rate::from_bytes_per_sec(CHALLENGES),
                Bytes::new(CHALLENGES),
            ),
            hour: TokenBucket::new(
                Rate::from_volume(limits.volume_per_hour, an_hour),
                limits.volume_per_hour,
            ),
            out: Vec::new(),
        }
    }

    /// Sessions under way.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// A datagram that arrived at `arrived`.
    pub fn receive(
        &mut self,
        arrived: Time,
        from: SocketAddr,
        datagram: &[u8],
        outbox: &mut impl Outbox,
    ) {
        let Some(read) = wire::read(datagram) else {
            return;
        };
        match read.packet {
            Packet::Hello { nonce } => {
                if self.challenges.takes(arrived, Bytes::new(1)) {
                    let cookie = self.secret.cookie(arrived, from, &nonce);
                    self.say(&Packet::Challenge { nonce, cookie }, from, outbox);
                }
            }
            Packet::Start {
                nonce,
                cookie,
                plan,
            } => {
                if self.secret.accepts(arrived, from, &nonce, &cookie) {
                    let is_signed = read.is_signed_by(self.token.key());
                    self.start(arrived, from, (nonce, cookie), plan, is_signed, outbox);
                }
            }
            Packet::Data { session, .. }
            | Packet::Feedback { session, .. }
            | Packet::Ask { session, .. }
            | Packet::End { session, .. } => {
                let Some(at) = self.sessions.iter().position(|s| s.id == session) else {
                    return;
                };
                if self.sessions[at].flow.is_of_peer(&read, from) {
                    self.hear(arrived, at, &read.packet, outbox);
                }
            }
            Packet::Challenge { .. }
            | Packet::Accept { .. }
            | Packet::Refuse { .. }
            | Packet::Page { .. } => {}
        }
    }

    fn say(&mut self, packet: &Packet<'_>, to: SocketAddr, outbox: &mut impl Outbox) {
        wire::write(packet, self.token.key(), &mut self.out);
        outbox.send(to, &self.out);
    }

    fn start(
        &mut self,
        now: Time,
        from: SocketAddr,
        (nonce, cookie): (Nonce, Cookie),
        plan: Plan,
        is_signed: bool,
        outbox: &mut impl Outbox,
    ) {
        let refuse = |reason| Packet::Refuse { nonce, reason };
        if !is_signed {
            return self.say(&refuse(Reason::Token), from, outbox);
        }
        // One whose answer was lost.
        if let Some(session) = self.sessions.iter().find(|s| s.client == nonce) {
            if session.flow.peer().address == from {
                outbox.send(from, &session.accept);
            }
            return;
        }
        self.forget(now);
        if self.ended.iter().any(|(_, ended)| *ended == nonce) {
            return;
        }
        if plan.check().is_err() {
            return self.say(&refuse(Reason::Plan), from, outbox);
        }
        let limits = self.limits;
        let plan = plan.within(limits.duration, limits.rate, limits.volume);
        let address = network(from);
        let of_address = self.sessions.iter();
        let of_address = of_address.filter(|s| network(s.flow.peer().address) == address);
        if of_address.count() >= limits.sessions_per_address
            || self.sessions.len() >= limits.sessions
            || self.ended.len() + self.sessions.len() >= KEPT
            || plan.check().is_err()
            || !self.hour.takes(now, plan.max_volume)
        {
            return self.say(&refuse(Reason::Busy), from, outbox);
        }
        self.counter += 1;
        let counter = self.counter.to_le_bytes();
        let server = self
            .secret
            .derive("nonce", &[&counter, &nonce])
            .tag(&cookie);
        let id = self.secret.derive("session", &[&counter]).proof(0);
        let [own, peer] = self.token.session(&nonce, &server);
        let proof = self.secret.derive("proof", &[&counter]);
        let keys = EndKeys { own, peer, proof };
        let flow = Flow::new(now, plan, plan.down, Peer::new(id, from), keys);
        let accept = Packet::Accept {
            nonce,
            session: id,
            server,
            plan,
        };
        self.say(&accept, from, outbox);
        self.sessions.push(Session {
            id,
            flow,
            client: nonce,
            accept: self.out.clone(),
            asks: 0,
        });
    }

    fn hear(&mut self, arrived: Time, at: usize, packet: &Packet<'_>, outbox: &mut impl Outbox) {
        let session = &mut self.sessions[at];
        match *packet {
            Packet::Ask {
                number, log, page, ..
            } => {
                if log >= LOGS || !session.flow.is_new(number) {
                    return;
                }
                let log_of = &session.flow.logs()[usize::from(log)];
                let pages = log_of.pages();
                let all: u64 = session
                    .flow
                    .logs()
                    .iter()
                    .map(|l| u64::from(l.pages()))
                    .sum();
                let arrivals = log_of.page(page).unwrap_or_default();
                session.asks += 1;
                if session.asks > ASKS * all + MORE_ASKS {
                    return;
                }
                session.flow.hear(arrived, packet);
                let number = session.flow.next_number();
                let page = Packet::Page {
                    session: session.id,
                    number,
                    log,
                    page,
                    pages,
                    arrivals: &arrivals,
                };
                session.flow.send(&page, outbox);
            }
            Packet::End { number, .. } => {
                if session.flow.is_new(number) {
                    self.end(arrived, at);
                }
            }
            _ => {
                session.flow.start(arrived);
                session.flow.hear(arrived, packet);
            }
        }
    }

    fn end(&mut self, now: Time, at: usize) {
        let session = self.sessions.swap_remove(at);
        let plan = session.flow.plan();
        // What came was not sent by this end, but counts.
        let came = session.flow.logs()[0].arrivals().len() as u64 * u64::from(plan.packet);
        let used = session.flow.filled() + Bytes::new(came);
        self.hour.give_back(plan.max_volume - used);
        self.ended.push_back((now, session.client));
    }

    fn forget(&mut self, now: Time) {
        while let Some((at, _)) = self.ended.front()
            && now.since(*at) > COOKIE_LIFE
        {
            self.ended.pop_front();
        }
    }

    /// Sends what is due. When something is next, unless something comes.
    pub fn poll(&mut self, now: Time, outbox: &mut impl Outbox) -> Option<Time> {
        self.forget(now);
        let mut at = 0;
        while at < self.sessions.len() {
            let flow = &self.sessions[at].flow;
            let lasts = flow.plan().length() + FORGOTTEN * 4;
            // One that has not started has no time of its own.
            if now.since(flow.last_heard()) > FORGOTTEN || flow.age(now) > lasts {
                self.end(now, at);
            } else {
                at += 1;
            }
        }
        let flows = self.sessions.iter_mut().map(|s| &mut s.flow);
        let next = flows.map(|flow| {
            let forgotten = flow.last_heard() + FORGOTTEN;
            flow.poll(now, outbox)
                .map_or(forgotten, |at| at.min(forgotten))
        });
        next.min()
    }
}

/// The network that counts as one address.
fn network(address: SocketAddr) -> u128 {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits() >> 64 << 64 | 1 << 127,
    }
}
