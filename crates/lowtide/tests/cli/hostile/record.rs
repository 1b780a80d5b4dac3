//! A server of recorders that does not let its client go.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration as Wall, Instant};

use lowtide_cc::units::{Duration, Time};
use lowtide_record::{Limits, Outbox, Server, Token};

use crate::program::{Folder, has};

struct To<'a>(&'a UdpSocket);

impl Outbox for To<'_> {
    fn send(&mut self, to: SocketAddr, datagram: &[u8]) {
        let _ = self.0.send_to(datagram, to);
    }
}

/// A server whose clock almost stops three seconds after a session has begun: what it has to say goes on and on.
/// `turned` is set when it has.
fn serve(socket: &UdpSocket, turned: &AtomicBool, end: &AtomicBool) {
    socket.set_read_timeout(Some(Wall::from_millis(1))).unwrap();
    let started = Instant::now();
    let mut turn: Option<Time> = None;
    let clock = |turn: Option<Time>| {
        let at = Time::ZERO + Duration::from_nanos(started.elapsed().as_nanos() as u64);
        let turn = turn.unwrap_or(at);
        turn.min(at) + Duration::from_nanos(at.since(turn).as_nanos() / 50)
    };
    let mut server = Server::new(Limits::default(), Token::none(), [7; 32]);
    let mut datagram = [0; 2000];
    while !end.load(Relaxed) {
        if let Ok((length, from)) = socket.recv_from(&mut datagram) {
            server.receive(clock(turn), from, &datagram[..length], &mut To(socket));
        }
        if turn.is_none() && server.sessions() > 0 {
            turn = Some(clock(None) + Duration::from_secs(3));
        }
        server.poll(clock(turn), &mut To(socket));
        turned.store(turn.is_some_and(|turn| clock(Some(turn)) > turn), Relaxed);
    }
}

#[test]
fn the_first_interruption_ends_a_recording_whose_server_does_not() {
    let folder = Folder::new();
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let (turned, end) = (AtomicBool::new(false), AtomicBool::new(false));
    let ran = thread::scope(|scope| {
        scope.spawn(|| serve(&socket, &turned, &end));
        let limits = "--max-rate 5mbit --duration 60s";
        let mut record = folder.begin(&format!("record {address} --down {limits} -o x"));
        record.until(|| turned.load(Relaxed));
        record.signal("INT");
        let ran = record.ran();
        end.store(true, Relaxed);
        ran
    });
    has(&ran.code(130).err, &["it was interrupted"]);
    let trace = folder.read("x.down");
    assert!(trace.lines().filter(|line| !line.starts_with('#')).count() > 100);
    has(&folder.read("x.json"), &["it was interrupted"]);
}
