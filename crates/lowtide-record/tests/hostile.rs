//! What anybody can send to a recorder's server, and what comes of it.

use std::collections::VecDeque;
use std::net::SocketAddr;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_record::wire::{CHALLENGE, HELLO, START};
use lowtide_record::{Client, ClientError, Limits, Noted, Outbox, Plan, QueueBand, Server, Token};
use proptest::prelude::*;

#[derive(Default)]
struct Sent(Vec<(SocketAddr, Vec<u8>)>);

impl Outbox for Sent {
    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        self.0.push((to, datagram.to_vec()));
    }
}

impl Sent {
    fn bytes_to(&self, address: SocketAddr) -> usize {
        let to = self.0.iter().filter(|(to, _)| *to == address);
        to.map(|(_, datagram)| datagram.len()).sum()
    }
}

const MS: Duration = Duration::from_millis(1);
const START_TIME: Time = Time::from_nanos(50_000_000_000);

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn server_at() -> SocketAddr {
    at("192.0.2.1:4456")
}

fn plan() -> Plan {
    Plan {
        down: true,
        up: true,
        duration: Duration::from_secs(5),
        max_rate: Rate::from_mbps(10),
        max_volume: Bytes::new(5_000_000),
        queue: QueueBand::default(),
        packet: 1400,
    }
}

fn server(limits: Limits, token: Token) -> Server {
    Server::new(limits, token, [9; 32])
}

/// A client's datagrams until it has been accepted: hello, start, its first feedback. And all that the server said.
fn handshake(
    server: &mut Server,
    from: SocketAddr,
    token: Token,
    random: u8,
) -> (Client, Vec<Vec<u8>>, Sent) {
    let mut now = START_TIME;
    let mut client = Client::new(now, plan(), token, server_at(), [random; 32]);
    let (mut said, mut heard) = (Vec::new(), Sent::default());
    for _ in 0..6 {
        let mut to_server = Sent::default();
        client.poll(now, &mut to_server);
        let mut to_client = Sent::default();
        for (_, datagram) in to_server.0 {
            now += MS;
            server.receive(now, from, &datagram, &mut to_client);
            said.push(datagram);
        }
        let mut more = Sent::default();
        for (to, datagram) in to_client.0 {
            assert_eq!(to, from);
            now += MS;
            client.receive(now, server_at(), &datagram, &mut more);
            heard.0.push((to, datagram));
        }
        for (_, datagram) in more.0 {
            server.receive(now, from, &datagram, &mut heard);
            let last = heard.0.last().cloned();
            if let Some((_, answer)) = last {
                client.receive(now, server_at(), &answer, &mut Sent::default());
            }
            said.push(datagram);
        }
    }
    (client, said, heard)
}

#[test]
fn nobody_gets_more_than_was_sent_in_their_name() {
    let victim = at("203.0.113.9:7");
    let mut server = server(Limits::default(), Token::none());
    let (_, said, _) = handshake(&mut server, at("198.51.100.1:5000"), Token::none(), 1);
    assert_eq!(said[0].len(), HELLO);
    assert_eq!(said[1].len(), START);
    // All that a client ever said, in the victim's name, again and again, and cut off.
    let mut sent = Sent::default();
    let mut received = 0;
    let mut now = START_TIME + MS * 100;
    for n in 0..20_000 {
        let datagram = &said[n % said.len()];
        let datagram = &datagram[..datagram.len() - n % 7];
        now += Duration::from_micros(50);
        received += datagram.len();
        server.receive(now, victim, datagram, &mut sent);
        server.poll(now, &mut sent);
    }
    let got = sent.bytes_to(victim);
    assert!(got > 0 && got * 2 < received, "{got} of {received}");
    // A second's challenges and those that were saved up.
    assert!(got <= (200 + 201) * CHALLENGE, "{got}");
    let mut sent = Sent::default();
    server.receive(now, victim, &said[0][..HELLO - 1], &mut sent);
    assert!(sent.0.is_empty(), "a short hello is not answered");
}

#[test]
fn a_start_again_is_answered_again_but_begins_nothing() {
    let from = at("198.51.100.1:5000");
    let mut server = server(Limits::default(), Token::none());
    let (_, said, _) = handshake(&mut server, from, Token::none(), 1);
    assert_eq!(server.sessions(), 1);
    let now = START_TIME + MS * 50;
    let mut sent = Sent::default();
    server.receive(now, from, &said[1], &mut sent);
    assert_eq!(server.sessions(), 1);
    assert!(sent.0.len() == 1 && sent.0[0].1.len() <= START);
    // Elsewhere its cookie is none.
    let mut sent = Sent::default();
    server.receive(now, at("198.51.100.1:5001"), &said[1], &mut sent);
    assert!(sent.0.is_empty());
    // After its session has been forgotten it is too old.
    let later = now + Duration::from_secs(40);
    server.poll(later, &mut sent);
    assert_eq!(server.sessions(), 0);
    server.receive(later, from, &said[1], &mut sent);
    assert!(sent.0.is_empty() && server.sessions() == 0);
}

#[test]
fn without_the_secret_nothing_begins() {
    let token = || Token::of("a secret of both ends").unwrap();
    let from = at("198.51.100.1:5000");
    for wrong in [Token::none(), Token::of("another of sixteen").unwrap()] {
        let mut server = server(Limits::default(), token());
        let (mut client, _, heard) = handshake(&mut server, from, wrong, 1);
        assert_eq!(server.sessions(), 0);
        let refused = client.outcome();
        assert!(
            matches!(refused, Some(Err(ClientError::Refused(_)))),
            "{refused:?}"
        );
        assert!(heard.bytes_to(from) < HELLO + START);
    }
    let mut server = server(Limits::default(), token());
    handshake(&mut server, from, token(), 1);
    assert_eq!(server.sessions(), 1);
}

#[test]
fn sessions_and_volume_are_bounded() {
    let limits = Limits {
        sessions: 3,
        sessions_per_address: 1,
        volume_per_hour: Bytes::new(10_000_000),
        ..Limits::default()
    };
    let mut server = server(limits, Token::none());
    let mut begin = |address: &str, random| {
        handshake(&mut server, at(address), Token::none(), random);
        server.sessions()
    };
    assert_eq!(begin("198.51.100.1:5000", 1), 1);
    assert_eq!(begin("198.51.100.1:5001", 2), 1, "one of an address");
    assert_eq!(begin("[2001:db8::1]:5000", 3), 2);
    assert_eq!(begin("[2001:db8::2]:5000", 4), 2, "one of a network");
    assert_eq!(
        begin("198.51.100.2:5000", 5),
        2,
        "the hour's volume is taken"
    );
}

#[test]
fn a_server_stops_sending_to_who_is_silent_and_to_who_proves_nothing() {
    let from = at("198.51.100.1:5000");
    let mut server = server(Limits::default(), Token::none());
    let (_, said, _) = handshake(&mut server, from, Token::none(), 1);
    let mut sent = Sent::default();
    let mut now = START_TIME + MS * 20;
    while now < START_TIME + Duration::from_secs(60) {
        server.poll(now, &mut sent);
        // What is said again is not heard again.
        server.receive(now, from, said.last().unwrap(), &mut sent);
        now += MS;
    }
    // A second of probes, ten packets and those that ask whether the way works again, and feedback, for 5 s.
    let got = sent.bytes_to(from);
    assert!(got < 300_000, "{got}");
    assert_eq!(server.sessions(), 0);
}

/// When a server reads its clock at a time of the client's.
type Clock = fn(Time) -> Time;

/// From three seconds on a twentieth as fast: what this server has to say goes on and on.
fn slowed(at: Time) -> Time {
    let turn = START_TIME + Duration::from_secs(3);
    turn.min(at) + Duration::from_nanos(at.since(turn).as_nanos() / 20)
}

/// A recording over a way of 10 ms: how it ended, and when. Each datagram passes through `carry`, which has its time and
/// whether it goes to the server; so does the client each millisecond, through `meddle`.
fn recorded(
    plan: Plan,
    clock: Clock,
    mut carry: impl FnMut(Time, bool, &mut Vec<u8>) -> bool,
    mut meddle: impl FnMut(Time, &mut Client),
) -> (Result<Noted, ClientError>, Duration) {
    let from = at("198.51.100.1:5000");
    let mut server = server(Limits::default(), Token::none());
    let mut client = Client::new(START_TIME, plan, Token::none(), server_at(), [3; 32]);
    let mut under_way: VecDeque<(Time, bool, Vec<u8>)> = VecDeque::new();
    let mut now = START_TIME;
    while now < START_TIME + Duration::from_secs(300) {
        let (mut up, mut down) = (Sent::default(), Sent::default());
        while under_way.front().is_some_and(|(due, ..)| *due <= now)
            && let Some((due, is_up, datagram)) = under_way.pop_front()
        {
            if is_up {
                server.receive(clock(due), from, &datagram, &mut down);
            } else {
                client.receive(due, server_at(), &datagram, &mut up);
            }
        }
        meddle(now, &mut client);
        client.poll(now, &mut up);
        server.poll(clock(now), &mut down);
        if let Some(outcome) = client.outcome() {
            return (outcome, now.since(START_TIME));
        }
        for (is_up, sent) in [(true, up), (false, down)] {
            for (_, mut datagram) in sent.0 {
                if carry(now, is_up, &mut datagram) {
                    under_way.push_back((now + MS * 10, is_up, datagram));
                }
            }
        }
        now += MS;
    }
    panic!("it does not end");
}

/// The types of datagrams, behind the four bytes that all begin with.
const DATA: u8 = 6;
const PAGE: u8 = 9;

#[test]
fn a_recording_ends_when_it_said_whatever_its_server_does() {
    let most = plan().duration + Client::BEYOND;
    let all = |_: Time, _: bool, _: &mut Vec<u8>| true;
    let (noted, took) = recorded(plan(), slowed, all, |_, _| {});
    let noted = noted.unwrap();
    assert!(noted.problem.unwrap().contains("did not end"));
    assert!(
        noted.down.fill.arrivals().len() > 100 && took <= most,
        "{took:?}"
    );

    // A page each nine seconds: one that asks by silence alone would wait for all of them.
    let mut last = START_TIME;
    let slow_pages = |now: Time, _: bool, datagram: &mut Vec<u8>| {
        let passes = datagram[4] != PAGE || now.since(last) > Duration::from_secs(9);
        if datagram[4] == PAGE && passes {
            last = now;
        }
        passes
    };
    let (noted, took) = recorded(plan(), |at| at, slow_pages, |_, _| {});
    assert!(noted.unwrap().problem.unwrap().contains("did not tell all"));
    assert!(took <= most, "{took:?}");

    let (noted, took) = recorded(plan(), |at| at, all, |_, _| {});
    assert_eq!(noted.unwrap().problem, None);
    assert!(took < plan().duration + Duration::from_secs(7), "{took:?}");
}

#[test]
fn what_is_stopped_ends_in_ten_seconds_and_keeps_what_came() {
    let stopped = START_TIME + Duration::from_secs(4);
    let stop = |now: Time, client: &mut Client| {
        if now >= stopped {
            client.stop(now, "enough");
        }
    };
    let (noted, took) = recorded(plan(), slowed, |_, _, _| true, stop);
    let noted = noted.unwrap();
    assert_eq!(noted.problem.unwrap(), "enough");
    assert!(noted.down.fill.arrivals().len() > 100);
    assert!(took <= Duration::from_secs(14), "{took:?}");
    // Before anybody has answered there is nothing to keep.
    let (noted, took) = recorded(plan(), slowed, |_, _, _| false, stop);
    assert_eq!(noted.unwrap_err(), ClientError::Interrupted);
    assert!(took <= Duration::from_secs(4), "{took:?}");
}

#[test]
fn data_that_is_shorter_than_it_should_be_is_not_noted() {
    let cut = |_: Time, is_up: bool, datagram: &mut Vec<u8>| {
        if is_up && datagram[4] == DATA {
            datagram.truncate(54);
        }
        true
    };
    let (noted, _) = recorded(plan(), |at| at, cut, |_, _| {});
    let noted = noted.unwrap();
    assert!(noted.down.fill.arrivals().len() > 100);
    let up = noted.up;
    assert_eq!(
        (up.fill.arrivals(), up.probes.arrivals()),
        (&[][..], &[][..])
    );
}

#[test]
fn what_a_server_notes_is_bounded_for_small_packets_too() {
    let much = |packet| Plan {
        up: true,
        down: false,
        max_volume: Bytes::new(4_000_000_000),
        max_rate: Rate::from_mbps(1000),
        duration: Duration::from_secs(600),
        packet,
        ..plan()
    };
    for (packet, granted) in [(1400, 4_000_000_000), (300, 900_000_000)] {
        let mut volume = None;
        let see = |now: Time, client: &mut Client| {
            volume = volume.or(client.granted().map(|plan| plan.max_volume));
            if volume.is_some() {
                client.stop(now, "seen");
            }
        };
        let _ = recorded(much(packet), |at| at, |_, _, _| true, see);
        assert_eq!(volume, Some(Bytes::new(granted)), "{packet}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn nothing_that_comes_breaks_a_server_or_a_client(
        changes in prop::collection::vec((0usize..8, 0usize..200, any::<u8>(), 0u64..3000), 1..60),
        noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..10),
    ) {
        let from = at("198.51.100.1:5000");
        let mut server = server(Limits::default(), Token::none());
        let (mut client, said, heard) = handshake(&mut server, from, Token::none(), 1);
        let mut now = START_TIME + MS * 20;
        let mut sent = Sent::default();
        for (which, byte, value, wait) in changes {
            now += MS * wait;
            let mut datagram = said[which % said.len()].clone();
            let at = byte % datagram.len();
            datagram[at] = value;
            server.receive(now, from, &datagram, &mut sent);
            server.poll(now, &mut sent);
            let mut answer = heard.0[which % heard.0.len()].1.clone();
            let at = byte % answer.len();
            answer[at] = value;
            client.receive(now, server_at(), &answer, &mut sent);
            client.poll(now, &mut sent);
        }
        for datagram in noise {
            server.receive(now, from, &datagram, &mut sent);
            client.receive(now, server_at(), &datagram, &mut sent);
        }
        prop_assert!(server.sessions() <= 1);
    }
}
