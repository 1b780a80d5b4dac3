//! A recorder and its server over the simulator's network, in virtual time.

use std::net::SocketAddr;

use lowtide_cc::Ecn;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_record::{
    Client, ClientError, Limits, Outbox, Plan, QueueBand, Recording, Server, Token,
};
use lowtide_sim::network::Packet;
use lowtide_sim::{AccessConfig, Direction, Network, NetworkConfig, PipeConfig};

pub(crate) const SERVER: &str = "192.0.2.1:4456";
pub(crate) const CLIENT: &str = "198.51.100.1:5000";

/// A clock that was set otherwise, and runs faster by so many parts in a million.
#[derive(Clone, Copy, Default)]
pub(crate) struct Clock {
    pub(crate) ahead: Duration,
    pub(crate) ppm: f64,
}

impl Clock {
    fn read(self, at: Time) -> Time {
        let drift = at.as_nanos() as f64 * self.ppm * 1e-6;
        Time::from_nanos((at.as_nanos() as i64 + drift as i64) as u64) + self.ahead
    }

    fn back(self, at: Time) -> Time {
        let own = (at - self.ahead).as_nanos() as f64;
        Time::from_nanos((own / (1.0 + self.ppm * 1e-6)) as u64 + 1)
    }
}

struct Sent(Vec<Vec<u8>>);

impl Outbox for Sent {
    fn send(&mut self, _: SocketAddr, datagram: &[u8]) {
        self.0.push(datagram.to_vec());
    }
}

pub(crate) fn plan(seconds: u64) -> Plan {
    Plan {
        down: true,
        up: false,
        duration: Duration::from_secs(seconds),
        max_rate: Rate::from_mbps(1000),
        max_volume: Bytes::new(4_000_000_000),
        queue: QueueBand::default(),
        packet: 1400,
    }
}

/// Records a link; the server's clock is another one.
pub(crate) fn record(
    plan: Plan,
    down: PipeConfig,
    up: PipeConfig,
    clock: Clock,
) -> Result<Recording, ClientError> {
    let config = NetworkConfig {
        base_rtt: down.delay + up.delay,
        forward: down,
        reverse: up,
        access: vec![AccessConfig::default()],
        seed: 1,
    };
    let mut network: Network<Vec<u8>> = Network::new(&config);
    let (server_at, client_at): (SocketAddr, SocketAddr) =
        (SERVER.parse().unwrap(), CLIENT.parse().unwrap());
    let mut now = Time::ZERO;
    let limits = Limits {
        rate: Rate::from_mbps(2000),
        ..Limits::default()
    };
    let mut server = Server::new(limits, Token::none(), [5; 32]);
    let mut client = Client::new(now, plan, Token::none(), server_at, [6; 32]);
    let mut sent = Sent(Vec::new());
    let carry = |network: &mut Network<Vec<u8>>, now, direction, sent: &mut Sent| {
        for payload in sent.0.drain(..) {
            let packet = Packet {
                flow: 0,
                bytes: Bytes::new(payload.len() as u64 + 28),
                ecn: Ecn::NotEct,
                payload,
            };
            network.send(now, direction, packet, &mut ());
        }
    };
    loop {
        let of_client = client.poll(now, &mut sent);
        carry(&mut network, now, Direction::Reverse, &mut sent);
        if let Some(outcome) = client.outcome() {
            return outcome.map(|noted| Recording::of(&noted).expect("something came"));
        }
        let of_server = server.poll(clock.read(now), &mut sent);
        carry(&mut network, now, Direction::Forward, &mut sent);
        let of_server = of_server.map(|at| clock.back(at));
        let wakes = [of_client, of_server].into_iter().flatten();
        let wake = wakes.min().expect("one of them waits for something");
        let wake = wake.max(now + Duration::from_micros(1));
        match network.advance(wake, &mut ()) {
            Some(arrival) => {
                now = arrival.at;
                let payload = &arrival.packet.payload;
                if arrival.direction == Direction::Forward {
                    client.receive(now, server_at, payload, &mut sent);
                    carry(&mut network, now, Direction::Reverse, &mut sent);
                } else {
                    server.receive(clock.read(now), client_at, payload, &mut sent);
                    carry(&mut network, now, Direction::Forward, &mut sent);
                }
            }
            None => now = wake,
        }
    }
}
