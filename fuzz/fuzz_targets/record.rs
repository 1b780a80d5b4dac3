//! What anybody may send to whoever answers recorders.
#![no_main]

use lowtide_cc::units::{Duration, Time};
use lowtide_record::{Limits, Outbox, Server, Token, wire};
use std::net::SocketAddr;

struct Counted(usize);

impl Outbox for Counted {
    fn send(&mut self, _: SocketAddr, datagram: &[u8]) {
        self.0 += datagram.len();
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wire::check(data);
    let mut now = Time::from_nanos(1_000_000_000);
    let mut server = Server::new(Limits::default(), Token::none(), [7; 32]);
    let (mut received, mut sent) = (0, Counted(0));
    for datagram in data.split(|byte| *byte == 0xff) {
        now += Duration::from_millis(1);
        received += datagram.len();
        server.receive(now, ([192, 0, 2, 1], 9).into(), datagram, &mut sent);
        server.poll(now, &mut sent);
    }
    // Nobody who cannot receive has a cookie.
    assert!(sent.0 <= received && server.sessions() == 0);
});
