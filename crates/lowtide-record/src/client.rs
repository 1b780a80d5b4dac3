//! The end that asks.

use std::net::SocketAddr;

use lowtide_cc::units::{Bytes, Duration, Time};

use crate::Outbox;
use crate::flow::{EndKeys, FILL, Flow, LIGHT, LOGS, PROBES, Peer};
use crate::keys::{Cookie, Key, Nonce, Token};
use crate::log::{Arrival, Log, read_page};
use crate::plan::Plan;
use crate::wire::{self, Packet, Reason};

/// What is not answered is said again after this,
const AGAIN: Duration = Duration::from_millis(500);
/// and no more after this.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the server may take to end after this end has.
const LATE: Duration = Duration::from_secs(5);
/// How long it takes at most to end what was interrupted.
const HASTE: Duration = Duration::from_secs(10);
/// Pages that are asked for at a time, first. Twice as many where all of them came, half where not.
const AT_A_TIME: usize = 64;
const LEAST_AT_A_TIME: usize = 16;
const MOST_AT_A_TIME: usize = 512;

/// Why nothing was recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// Nobody answers.
    #[error(
        "nobody answers at {0}: is 'lowtide serve --record' running there, and does a firewall let UDP through?"
    )]
    NoAnswer(SocketAddr),
    /// The server does not want to.
    #[error("the server does not record: {}", match .0 {
        Reason::Token => "it wants a secret (--token-file), or has another one",
        Reason::Busy => "it records as much as it may at a time or in an hour; try again later",
        Reason::Plan => "it cannot do what was asked for; is it of another version?",
    })]
    Refused(Reason),
    /// The recording was stopped before it had begun.
    #[error("it was interrupted before anything was recorded")]
    Interrupted,
}

/// What both ends have noted of a session.
#[derive(Clone, Debug)]
pub struct Noted {
    /// What was recorded: the plan that the server granted.
    pub plan: Plan,
    /// What came down, by this end's clock.
    pub down: NotedWay,
    /// What came up, by the server's.
    pub up: NotedWay,
    /// Bytes of IP and UDP headers.
    pub headers: u16,
    /// Why it is not all of what was asked for.
    pub problem: Option<String>,
}

/// What the receiver of a way has noted.
#[derive(Clone, Debug, Default)]
pub struct NotedWay {
    /// Packets that filled the link.
    pub fill: Log,
    /// Full-sized packets while it was quiet.
    pub probes: Log,
    /// Small packets, all the time.
    pub light: Log,
    /// How many packets were sent to fill the link.
    pub sent: u32,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Since the session began.
    pub elapsed: Duration,
    /// Bytes that came down to fill the link.
    pub down: Bytes,
    /// Bytes that went up.
    pub up: Bytes,
}

#[derive(Debug)]
enum State {
    Hello,
    Start(Cookie),
    Running(Box<Flow>),
    Asking(Box<Flow>, Asking),
    Ended,
}

#[derive(Debug, Default)]
struct Asking {
    /// By log: its pages, as far as they have come; `None` before anything is known.
    pages: [Option<Vec<Option<Vec<Arrival>>>>; LOGS as usize],
    /// The most pages that a log can have.
    most: usize,
    last_progress: Time,
    last_ask: Time,
    at_a_time: usize,
    outstanding: usize,
}

/// Records a link with a [`Server`](crate::Server). It has no clock and no socket.
#[derive(Debug)]
pub struct Client {
    plan: Plan,
    token: Token,
    server: SocketAddr,
    nonce: Nonce,
    proof: Key,
    state: State,
    since: Time,
    /// When it ends, whatever the server does.
    until: Time,
    last_said: Option<Time>,
    began: Time,
    outcome: Option<Result<Noted, ClientError>>,
    problem: Option<String>,
    out: Vec<u8>,
}

impl Client {
    /// A recording ends so long after the time asked for at the latest, whatever its server does: nine seconds of it are
    /// the quiet and the draining around the filling, and the wait for the server's own end.
    pub const BEYOND: Duration = Duration::from_secs(30);

    /// With randomness that nobody else knows.
    #[must_use]
    pub fn new(now: Time, plan: Plan, token: Token, server: SocketAddr, random: [u8; 32]) -> Self {
        let key = Key::new(random);
        Self {
            plan,
            token,
            server,
            nonce: key.tag(b"nonce"),
            proof: key.derive("proof", &[]),
            state: State::Hello,
            since: now,
            until: now + plan.duration + Self::BEYOND,
            last_said: None,
            began: now,
            outcome: None,
            problem: None,
            out: Vec::new(),
        }
    }

    /// How it ended, as soon as it has.
    pub fn outcome(&mut self) -> Option<Result<Noted, ClientError>> {
        self.outcome.take()
    }

    /// What is recorded, as the server granted it; `None` before it has.
    #[must_use]
    pub fn granted(&self) -> Option<&Plan> {
        match &self.state {
            State::Running(flow) | State::Asking(flow, _) => Some(flow.plan()),
            _ => None,
        }
    }

    /// How far it is, once it has begun.
    #[must_use]
    pub fn progress(&self, now: Time) -> Option<Progress> {
        let (State::Running(flow) | State::Asking(flow, _)) = &self.state else {
            return None;
        };
        let came = flow.logs()[usize::from(FILL)].arrivals().len() as u64;
        Some(Progress {
            elapsed: now.since(self.began),
            down: Bytes::new(came * u64::from(flow.plan().packet)),
            up: flow.filled(),
        })
    }

    /// Ends it early, within ten seconds: what has come until then is kept.
    pub fn stop(&mut self, now: Time, why: &str) {
        match &mut self.state {
            State::Hello | State::Start(_) => return self.fail(ClientError::Interrupted),
            State::Running(flow) => flow.stop(now),
            State::Asking(..) => {}
            State::Ended => return,
        }
        self.until = self.until.min(now + HASTE);
        self.problem.get_or_insert_with(|| why.to_string());
    }

    fn fail(&mut self, error: ClientError) {
        self.state = State::Ended;
        self.outcome = Some(Err(error));
    }

    /// A datagram that arrived at `arrived`.
    pub fn receive(
        &mut self,
        arrived: Time,
        from: SocketAddr,
        datagram: &[u8],
        outbox: &mut impl Outbox,
    ) {
        if from != self.server {
            return;
        }
        let Some(read) = wire::read(datagram) else {
            return;
        };
        match (&mut self.state, &read.packet) {
            (State::Hello, Packet::Challenge { nonce, cookie }) if *nonce == self.nonce => {
                self.state = State::Start(*cookie);
                self.last_said = None;
                self.poll(arrived, outbox);
            }
            (State::Start(_), Packet::Refuse { nonce, reason }) if *nonce == self.nonce => {
                let reason = *reason;
                self.fail(ClientError::Refused(reason));
            }
            (
                State::Start(_),
                Packet::Accept {
                    nonce,
                    session,
                    server,
                    plan,
                },
            ) if *nonce == self.nonce && read.is_signed_by(self.token.key()) => {
                // Less than was asked for is well, more is not.
                let asked = self.plan;
                let plan = Plan {
                    down: asked.down,
                    up: asked.up,
                    queue: asked.queue,
                    packet: asked.packet,
                    ..asked.within(plan.duration, plan.max_rate, plan.max_volume)
                };
                if plan.check().is_err() {
                    return self.fail(ClientError::Refused(Reason::Plan));
                }
                let [peer, own] = self.token.session(&self.nonce, server);
                let proof = self.proof.clone();
                let keys = EndKeys { own, peer, proof };
                let peer = Peer::new(*session, self.server);
                let mut flow = Flow::new(self.since, plan, plan.up, peer, keys).persisting();
                flow.start(arrived);
                // It has just been heard.
                flow.hear(arrived, &read.packet);
                self.began = arrived;
                self.state = State::Running(Box::new(flow));
            }
            (State::Running(flow), Packet::Data { .. } | Packet::Feedback { .. })
                if flow.is_of_peer(&read, from) =>
            {
                flow.hear(arrived, &read.packet);
            }
            (
                State::Asking(flow, asking),
                &Packet::Page {
                    number,
                    log,
                    page,
                    pages,
                    arrivals,
                    ..
                },
            ) if log < LOGS && flow.is_of_peer(&read, from) => {
                let is_new = flow.is_new(number);
                if is_new {
                    asking.take(arrived, usize::from(log), page, pages, arrivals);
                }
            }
            _ => {}
        }
    }

    /// Says what is due. When something is next, unless something comes.
    pub fn poll(&mut self, now: Time, outbox: &mut impl Outbox) -> Option<Time> {
        match &mut self.state {
            State::Hello | State::Start(_) => {
                if now.since(self.since) > PATIENCE {
                    self.fail(ClientError::NoAnswer(self.server));
                    return None;
                }
                let is_due = self.last_said.is_none_or(|at| now.since(at) >= AGAIN);
                if is_due {
                    self.last_said = Some(now);
                    let nonce = self.nonce;
                    let packet = match self.state {
                        State::Start(cookie) => Packet::Start {
                            nonce,
                            cookie,
                            plan: self.plan,
                        },
                        _ => Packet::Hello { nonce },
                    };
                    wire::write(&packet, self.token.key(), &mut self.out);
                    outbox.send(self.server, &self.out);
                }
                self.last_said.map(|at| at + AGAIN)
            }
            State::Running(flow) => {
                let is_silent = now.since(flow.last_heard()) > PATIENCE;
                let is_late = flow.is_done(now - LATE) || now >= self.until;
                let next = flow.poll(now, outbox).map(|at| at.min(self.until));
                let is_over = flow.is_over(now);
                if is_silent || (is_late && !is_over) {
                    let problem = if is_silent {
                        "the server went silent"
                    } else {
                        "the server did not end when it should have"
                    };
                    self.problem.get_or_insert_with(|| problem.to_string());
                }
                if is_silent || is_late || is_over {
                    let State::Running(flow) = std::mem::replace(&mut self.state, State::Ended)
                    else {
                        return None;
                    };
                    let asking = Asking {
                        most: Log::pages_of(flow.most_noted()),
                        last_progress: now,
                        ..Asking::default()
                    };
                    self.state = State::Asking(flow, asking);
                    return Some(now);
                }
                next
            }
            State::Asking(flow, asking) => {
                let is_late = now.since(asking.last_progress) > PATIENCE || now >= self.until;
                if is_late {
                    let problem = "the server did not tell all that it has noted".to_string();
                    self.problem.get_or_insert(problem);
                }
                if !is_late && asking.poll(now, flow, outbox) {
                    return Some((asking.last_ask + AGAIN).min(self.until));
                }
                // Twice: nothing says whether it came, and the server has time of its own for those who do not.
                for _ in 0..2 {
                    let number = flow.next_number();
                    let session = flow.peer().session;
                    flow.send(&Packet::End { session, number }, outbox);
                }
                let State::Asking(flow, asking) = std::mem::replace(&mut self.state, State::Ended)
                else {
                    return None;
                };
                self.outcome = Some(Ok(noted(&flow, asking, self.problem.take())));
                None
            }
            State::Ended => None,
        }
    }
}

impl Asking {
    fn take(&mut self, now: Time, log: usize, page: u32, pages: u32, bytes: &[u8]) {
        let known =
            self.pages[log].get_or_insert_with(|| vec![None; self.most.min(pages as usize)]);
        self.outstanding = self.outstanding.saturating_sub(1);
        if let (Some(place), Some(arrivals)) = (known.get_mut(page as usize), read_page(bytes))
            && place.is_none()
        {
            *place = Some(arrivals);
        }
        self.last_progress = now;
    }

    /// Asks for what is missing; false when nothing is.
    fn poll(&mut self, now: Time, flow: &mut Flow, outbox: &mut impl Outbox) -> bool {
        let mut missing = Vec::new();
        for (log, pages) in (0..LOGS).zip(&self.pages) {
            match pages {
                None => missing.push((log, 0)),
                Some(pages) => {
                    let open = (0..).zip(pages).filter(|(_, page)| page.is_none());
                    let room = MOST_AT_A_TIME.saturating_sub(missing.len());
                    missing.extend(open.map(|(page, _)| (log, page)).take(room));
                }
            }
        }
        if missing.is_empty() {
            return false;
        }
        if self.outstanding == 0 || now.since(self.last_ask) >= AGAIN {
            self.at_a_time = match (self.at_a_time, self.outstanding) {
                (0, _) => AT_A_TIME,
                (n, 0) => (2 * n).min(MOST_AT_A_TIME),
                (n, _) => (n / 2).max(LEAST_AT_A_TIME),
            };
            self.last_ask = now;
            self.outstanding = missing.len().min(self.at_a_time);
            for (log, page) in missing.into_iter().take(self.at_a_time) {
                let number = flow.next_number();
                let session = flow.peer().session;
                let ask = Packet::Ask {
                    session,
                    number,
                    log,
                    page,
                };
                flow.send(&ask, outbox);
            }
        }
        true
    }
}

fn noted(flow: &Flow, asking: Asking, problem: Option<String>) -> Noted {
    let mut told: Vec<Log> = asking
        .pages
        .into_iter()
        .map(|pages| {
            let mut log = Log::new(usize::MAX);
            for arrival in pages.into_iter().flatten().flatten().flatten() {
                log.push(arrival);
            }
            log
        })
        .collect();
    let mut of_server = |log: u8| std::mem::take(&mut told[usize::from(log)]);
    let own = |log: u8| flow.logs()[usize::from(log)].clone();
    Noted {
        plan: *flow.plan(),
        down: NotedWay {
            fill: own(FILL),
            probes: own(PROBES),
            light: own(LIGHT),
            sent: flow.peer_sent(),
        },
        up: NotedWay {
            fill: of_server(FILL),
            probes: of_server(PROBES),
            light: of_server(LIGHT),
            sent: flow.steering().sent(),
        },
        headers: flow.peer().headers,
        problem,
    }
}
