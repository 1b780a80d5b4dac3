//! The link with real packets: in network namespaces, where the machine allows them, and before a
//! UDP service, everywhere. Times are only ever bounded from below: a busy machine is late.
#![cfg(target_os = "linux")]

mod ecn;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::{Duration as WallDuration, Instant};

use lowtide_cc::units::{Duration, Rate};
use lowtide_link::{Addresses, Emulation, Error, Namespace, PathConfig, Relay, Tunnel};
use lowtide_sim::PipeConfig;
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;

const ONE_WAY: Duration = Duration::from_millis(10);

fn path(mbps: u64, buffer: QueueLimit) -> PathConfig {
    let link = Arc::new(Link::constant(Rate::from_mbps(mbps)).unwrap());
    PathConfig {
        down: PipeConfig::link_with_delay(link, buffer, ONE_WAY),
        up: PipeConfig::delay_only(ONE_WAY),
        base_rtt: ONE_WAY * 2,
        seed: 1,
        ports: None,
    }
}

/// A link between the ends of a tunnel.
fn between(tunnel: &Arc<Tunnel>, path: &PathConfig) -> Emulation {
    Emulation::between(tunnel, path, [(), ()]).unwrap()
}

/// A link that is in nobody's way.
fn fast() -> PathConfig {
    path(100, QueueLimit::Unlimited)
}

/// A socket that does not wait for ever.
fn bound(at: impl ToSocketAddrs) -> UdpSocket {
    let socket = UdpSocket::bind(at).unwrap();
    let limit = Some(WallDuration::from_secs(10));
    socket.set_read_timeout(limit).unwrap();
    socket
}

/// The same in a namespace.
fn bound_in(namespace: &Namespace, at: (Ipv4Addr, u16)) -> UdpSocket {
    namespace.run(|| bound(at)).unwrap()
}

/// A socket of this machine's own, at a free port.
fn local() -> UdpSocket {
    bound("127.0.0.1:0")
}

/// A relay to a service, and its address.
fn relay_to(service: &UdpSocket) -> (Relay, SocketAddr) {
    let listen = "127.0.0.1:0".parse().unwrap();
    let relay = Relay::new(listen, service.local_addr().unwrap()).unwrap();
    let at = relay.address().unwrap();
    (relay, at)
}

/// Two joined namespaces; `None`, and a line that says so, where the machine does not allow them.
fn tunnel(mtu: u16) -> Option<Arc<Tunnel>> {
    let made = Namespace::new().and_then(|far| {
        let near = Namespace::new()?;
        Tunnel::between(far, near, mtu, Addresses::ALL)
    });
    match made {
        Ok(tunnel) => Some(Arc::new(tunnel)),
        Err(e @ (Error::NoNamespace(_) | Error::NoTunDevice(_) | Error::Tunnel { .. })) => {
            eprintln!("skipped: {e}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

/// One that begins at the near end of another.
fn behind(outer: &Tunnel, mtu: u16) -> Arc<Tunnel> {
    let made = outer.near().run(|| {
        let here = Namespace::current()?;
        let within = Addresses::within(&here)?;
        Tunnel::between(here, Namespace::new()?, mtu, within)
    });
    Arc::new(made.unwrap().unwrap())
}

#[test]
fn tcp_between_namespaces_passes_the_link_and_nothing_else() {
    const VOLUME: usize = 500_000;
    let Some(tunnel) = tunnel(1500) else {
        return;
    };
    let to: SocketAddr = (tunnel.addresses().near(), 7000).into();
    let listener = tunnel.near().run(|| TcpListener::bind(to)).unwrap();
    let listener = listener.unwrap();
    let emulation = between(&tunnel, &path(20, QueueLimit::Bdp(2.0)));
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let stream = tunnel.far().run(|| TcpStream::connect(to)).unwrap();
            stream.unwrap().write_all(&vec![7; VOLUME]).unwrap();
        });
        let mut received = Vec::new();
        let (mut stream, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), tunnel.addresses().far());
        stream.read_to_end(&mut received).unwrap();
        assert!(received.len() == VOLUME && received.iter().all(|b| *b == 7));
    });
    // 20 Mbit/s carry them in 0.2 s; two round trips come before.
    let least = WallDuration::from_millis(200 + 30);
    assert!(begun.elapsed() > least, "{:?}", begun.elapsed());
    let (summary, _) = emulation.finish().unwrap();
    let (down, up) = (&summary.down, &summary.up);
    assert!(down.delivered_bytes as usize > VOLUME && down.throughput_mbps < 20.0);
    assert!(up.delivered_packets > 50 && up.delivered_bytes < 100_000);
    assert_eq!(down.missed_packets + down.refused_packets, 0);
    let least_delay = down.delay_ms.unwrap().p50;
    assert!(least_delay > 10.0, "{least_delay}");
    assert!(down.release_error_ms.is_some() && down.cpu_s > 0.0);
}

#[test]
fn what_the_model_drops_and_loses_is_counted_and_does_not_arrive() {
    let Some(tunnel) = tunnel(1500) else {
        return;
    };
    let addresses = tunnel.addresses();
    let far = bound_in(tunnel.far(), (addresses.far(), 7001));
    let near = bound_in(tunnel.near(), (addresses.near(), 7001));
    // 2 of the 8 find no room while the first takes 100 ms; half of the rest is lost.
    let mut path = path(1, QueueLimit::Packets(5));
    path.down.loss = LossModel::Random(0.5);
    path.down.link = Arc::new(Link::constant(Rate::from_bytes_per_sec(10_000)).unwrap());
    let emulation = between(&tunnel, &path);
    for n in 0..8 {
        let packet = [n; 972];
        far.send_to(&packet, (addresses.near(), 7001)).unwrap();
    }
    let mut buffer = [0; 1500];
    let mut arrived = Vec::new();
    near.set_read_timeout(Some(WallDuration::from_secs(3)))
        .unwrap();
    while let Ok((length, _)) = near.recv_from(&mut buffer) {
        assert_eq!(length, 972);
        arrived.push(buffer[0]);
    }
    let down = emulation.finish().unwrap().0.down;
    assert_eq!(down.offered_packets, 8);
    assert_eq!(down.dropped_queue_packets, 2);
    assert_eq!(down.delivered_packets, arrived.len() as u64);
    assert_eq!(down.lost_packets + down.delivered_packets, 6);
    assert!(arrived.is_sorted() && down.lost_packets > 0 && !arrived.is_empty());
}

#[test]
fn links_nest_and_are_gone_when_they_end() {
    let Some(outer) = tunnel(1500) else {
        return;
    };
    let run_outer = between(&outer, &fast());
    let inner = behind(&outer, 1500);
    let run_inner = between(&inner, &fast());
    let outermost = (outer.addresses().far(), 7002);
    let service = bound_in(outer.far(), outermost);
    let innermost = (inner.addresses().near(), 7002);
    let client = bound_in(inner.near(), innermost);
    let begun = Instant::now();
    client.send_to(b"through two links", outermost).unwrap();
    let mut buffer = [0; 64];
    let (length, from) = service.recv_from(&mut buffer).unwrap();
    assert_eq!(from, SocketAddr::from(innermost));
    service.send_to(&buffer[..length], from).unwrap();
    let length = client.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"through two links");
    // Two links of 20 ms.
    assert!(begun.elapsed() > WallDuration::from_millis(40));
    run_inner.finish().unwrap();
    run_outer.finish().unwrap();

    let devices = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let name = "lowtide-1:";
    assert!(outer.near().run(devices).unwrap().contains(name));
    drop(inner);
    assert!(!outer.near().run(devices).unwrap().contains(name));
}

#[test]
fn the_relay_serves_each_client_apart_and_counts_headers() {
    let service = local();
    let (relay, at) = relay_to(&service);
    let emulation = Emulation::before(&relay, &fast(), [(), ()]).unwrap();
    let clients: Vec<UdpSocket> = (0..3).map(|_| local()).collect();
    let begun = Instant::now();
    let mut ports = Vec::new();
    for (n, client) in clients.iter().enumerate() {
        client.send_to(&[n as u8; 100], at).unwrap();
        let mut buffer = [0; 200];
        let (length, from) = service.recv_from(&mut buffer).unwrap();
        assert_eq!(buffer[..length], [n as u8; 100]);
        ports.push(from.port());
        service.send_to(&[n as u8; 50], from).unwrap();
    }
    for (n, client) in clients.iter().enumerate() {
        let mut buffer = [0; 200];
        let length = client.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..length], [n as u8; 50], "each has his own answer");
    }
    assert!(begun.elapsed() > WallDuration::from_millis(20));
    ports.dedup();
    assert_eq!(ports.len(), 3);
    let (summary, _) = emulation.finish().unwrap();
    assert_eq!(summary.up.delivered_bytes, 3 * (100 + 28));
    assert_eq!(summary.down.delivered_bytes, 3 * (50 + 28));
}

#[test]
fn a_flood_of_clients_and_absurd_datagrams_leave_the_relay_alive() {
    let service = local();
    service.set_nonblocking(true).unwrap();
    let (relay, at) = relay_to(&service);
    let emulation =
        Emulation::before(&relay, &path(1000, QueueLimit::Unlimited), [(), ()]).unwrap();
    let first = local();
    first.send_to(&[], at).unwrap();
    first.send_to(&[1; 65_507], at).unwrap();
    for _ in 0..1_100 {
        let client = local();
        let _ = client.send_to(&[2], at);
    }
    // The service drops out and comes back: the system reports that with the next packet.
    thread::sleep(WallDuration::from_millis(200));
    service.set_nonblocking(false).unwrap();
    first.send_to(b"still there?", at).unwrap();
    let mut buffer = vec![0; 65_536];
    let asked = loop {
        let (length, from) = service.recv_from(&mut buffer).unwrap();
        if &buffer[..length] == b"still there?" {
            break from;
        }
    };
    service.send_to(b"yes", asked).unwrap();
    let length = first.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..length], b"yes");
    let up = emulation.finish().unwrap().0.up;
    assert!(up.offered_packets >= 3 && up.refused_packets > 0, "{up:?}");
}

/// Two links behind each other, the second with a smaller MTU: its router tells by ICMP what is too
/// large.
#[test]
fn an_error_of_one_client_leaves_the_relay_to_the_others_and_is_counted() {
    let Some(outer) = tunnel(1500) else {
        return;
    };
    let run_outer = between(&outer, &fast());
    let inner = behind(&outer, 1280);
    let run_inner = between(&inner, &fast());
    let service = bound_in(inner.near(), (inner.addresses().near(), 7003));
    let begin = || {
        let (relay, at) = relay_to(&service);
        let emulation = Emulation::before(&relay, &fast(), [(), ()]).unwrap();
        (at, emulation, local(), local())
    };
    let (at, emulation, large, small) = outer.far().run(begin).unwrap();
    let exchange = |client: &UdpSocket, question: &[u8]| {
        let mut buffer = [0; 2000];
        client.send_to(question, at).unwrap();
        loop {
            let (length, from) = service.recv_from(&mut buffer).unwrap();
            if &buffer[..length] == question {
                service.send_to(b"answer", from).unwrap();
                break;
            }
        }
        let length = client.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"answer");
    };
    exchange(&small, b"before");
    // With UDP a first packet that is too large is not fragmented but rejected.
    large.send_to(&[7; 1400], at).unwrap();
    let end = Instant::now() + WallDuration::from_secs(10);
    let rejected = || outer.near().run(sent_icmp).unwrap();
    while rejected() == 0 {
        assert!(Instant::now() < end, "no router has rejected the packet");
        thread::sleep(WallDuration::from_millis(5));
    }
    for _ in 0..3 {
        thread::sleep(WallDuration::from_millis(50));
        assert!(!emulation.is_broken(), "{:?}", emulation.finish());
        exchange(&small, b"the other goes on");
    }
    exchange(&large, b"and so does this one");
    let (summary, _) = emulation.finish().unwrap();
    let rejected = &summary.up.rejected_packets;
    assert_eq!(rejected.get("EMSGSIZE"), Some(&1), "{summary:?}");
    assert_eq!(summary.up.delivered_packets, 6);
    run_inner.finish().unwrap();
    run_outer.finish().unwrap();
}

/// How often this namespace has said that something cannot be reached (proc(5), `net/snmp`).
fn sent_icmp() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let mut lines = text.lines().filter(|line| line.starts_with("Icmp:"));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let mut columns = names.split_whitespace().zip(values.split_whitespace());
    let found = columns.find(|(name, _)| *name == "OutDestUnreachs");
    found.unwrap().1.parse().unwrap()
}

#[test]
fn addresses_that_cannot_be_used_are_named() {
    let busy = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = busy.local_addr().unwrap();
    let error = Relay::new(at, at).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("cannot listen on {at}: ")),
        "{error}"
    );
}
