//! The link with real packets: in network namespaces, where the machine allows them, and before a
//! UDP service, everywhere. Times are only ever bounded from below: a busy machine is late.
#![cfg(target_os = "linux")]

mod ecn;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
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

fn wait_no_longer(socket: &UdpSocket) {
    let limit = Some(WallDuration::from_secs(10));
    socket.set_read_timeout(limit).unwrap();
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

#[test]
fn tcp_between_namespaces_passes_the_link_and_nothing_else() {
    const VOLUME: usize = 500_000;
    let Some(tunnel) = tunnel(1500) else {
        return;
    };
    let to: SocketAddr = (tunnel.addresses().near(), 7000).into();
    let listener = tunnel.near().run(|| TcpListener::bind(to)).unwrap();
    let listener = listener.unwrap();
    let emulation = Emulation::between(&tunnel, &path(20, QueueLimit::Bdp(2.0)), [(), ()]).unwrap();
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
    let bind = |address| UdpSocket::bind((address, 7001));
    let far = tunnel.far().run(|| bind(addresses.far())).unwrap().unwrap();
    let near = tunnel
        .near()
        .run(|| bind(addresses.near()))
        .unwrap()
        .unwrap();
    // 2 of the 8 find no room while the first takes 100 ms; half of the rest is lost.
    let mut path = path(1, QueueLimit::Packets(5));
    path.down.loss = LossModel::Random(0.5);
    path.down.link = Arc::new(Link::constant(Rate::from_bytes_per_sec(10_000)).unwrap());
    let emulation = Emulation::between(&tunnel, &path, [(), ()]).unwrap();
    for n in 0..8 {
        let packet = [n; 972];
        far.send_to(&packet, (addresses.near(), 7001)).unwrap();
    }
    wait_no_longer(&near);
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
    let run_outer =
        Emulation::between(&outer, &path(100, QueueLimit::Unlimited), [(), ()]).unwrap();
    let inner = outer
        .near()
        .run(|| {
            let here = Namespace::current()?;
            let within = Addresses::within(&here)?;
            Tunnel::between(here, Namespace::new()?, 1500, within)
        })
        .unwrap()
        .unwrap();
    let inner = Arc::new(inner);
    let run_inner =
        Emulation::between(&inner, &path(100, QueueLimit::Unlimited), [(), ()]).unwrap();
    let outermost = (outer.addresses().far(), 7002);
    let service = outer.far().run(|| UdpSocket::bind(outermost)).unwrap();
    let service = service.unwrap();
    let innermost = (inner.addresses().near(), 7002);
    let client = inner.near().run(|| UdpSocket::bind(innermost)).unwrap();
    let client = client.unwrap();
    wait_no_longer(&client);
    wait_no_longer(&service);
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
    let service = UdpSocket::bind("127.0.0.1:0").unwrap();
    wait_no_longer(&service);
    let listen = "127.0.0.1:0".parse().unwrap();
    let relay = Relay::new(listen, service.local_addr().unwrap()).unwrap();
    let emulation = Emulation::before(&relay, &path(100, QueueLimit::Unlimited), [(), ()]).unwrap();
    let clients: Vec<UdpSocket> = (0..3)
        .map(|_| UdpSocket::bind("127.0.0.1:0").unwrap())
        .collect();
    let begun = Instant::now();
    let mut ports = Vec::new();
    for (n, client) in clients.iter().enumerate() {
        wait_no_longer(client);
        client
            .send_to(&[n as u8; 100], relay.address().unwrap())
            .unwrap();
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
    let service = UdpSocket::bind("127.0.0.1:0").unwrap();
    service.set_nonblocking(true).unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    let relay = Relay::new(listen, service.local_addr().unwrap()).unwrap();
    let at = relay.address().unwrap();
    let emulation =
        Emulation::before(&relay, &path(1000, QueueLimit::Unlimited), [(), ()]).unwrap();
    let first = UdpSocket::bind("127.0.0.1:0").unwrap();
    first.send_to(&[], at).unwrap();
    first.send_to(&[1; 65_507], at).unwrap();
    for _ in 0..1_100 {
        let client = UdpSocket::bind("127.0.0.1:0").unwrap();
        let _ = client.send_to(&[2], at);
    }
    // The service drops out and comes back: the system reports that with the next packet.
    thread::sleep(WallDuration::from_millis(200));
    service.set_nonblocking(false).unwrap();
    wait_no_longer(&service);
    first.send_to(b"still there?", at).unwrap();
    let mut buffer = vec![0; 65_536];
    let asked = loop {
        let (length, from) = service.recv_from(&mut buffer).unwrap();
        if &buffer[..length] == b"still there?" {
            break from;
        }
    };
    service.send_to(b"yes", asked).unwrap();
    wait_no_longer(&first);
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
    let run_outer =
        Emulation::between(&outer, &path(100, QueueLimit::Unlimited), [(), ()]).unwrap();
    let inner = outer.near().run(|| {
        let here = Namespace::current()?;
        let within = Addresses::within(&here)?;
        Tunnel::between(here, Namespace::new()?, 1280, within)
    });
    let inner = Arc::new(inner.unwrap().unwrap());
    let run_inner =
        Emulation::between(&inner, &path(100, QueueLimit::Unlimited), [(), ()]).unwrap();
    let target = SocketAddr::from((inner.addresses().near(), 7003));
    let service = inner.near().run(|| UdpSocket::bind(target)).unwrap();
    let service = service.unwrap();
    let (relay, emulation, large, small) = outer
        .far()
        .run(|| {
            let relay = Relay::new("127.0.0.1:0".parse().unwrap(), target).unwrap();
            let path = path(100, QueueLimit::Unlimited);
            let emulation = Emulation::before(&relay, &path, [(), ()]).unwrap();
            let client = || UdpSocket::bind("127.0.0.1:0").unwrap();
            (relay, emulation, client(), client())
        })
        .unwrap();
    let at = relay.address().unwrap();
    for socket in [&service, &large, &small] {
        wait_no_longer(socket);
    }
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
