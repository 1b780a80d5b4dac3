//! Marks of the link's queue, as the kernel's own TCP gets them.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use lowtide_link::Namespace;
use lowtide_sim::queue::{QueueKind, QueueLimit};
use socket2::SockRef;

use super::{between, path, tunnel};

/// What a namespace has counted of TCP and IP (proc(5), `net/netstat`).
fn counters() -> HashMap<String, u64> {
    let text = fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let groups = lines.chunks_exact(2).flat_map(|pair| {
        let names = pair[0].split_whitespace().map(str::to_string);
        let values = pair[1].split_whitespace().map(|v| v.parse().unwrap_or(0));
        names.zip(values)
    });
    groups.collect()
}

/// How TCP in a namespace uses ECN (Linux, Documentation/networking/ip-sysctl.rst). False where it may
/// not be said.
fn set_tcp_ecn(namespace: &Namespace, mode: &str) -> bool {
    let set = || fs::write("/proc/sys/net/ipv4/tcp_ecn", mode).is_ok();
    namespace.run(set).unwrap()
}

/// What became of a transfer.
struct Transfer {
    marked: u64,
    dropped: u64,
    ect0: u64,
    /// CE marks that the receiver's IP has seen.
    arrived: u64,
    /// Packets that the sender's TCP counts as delivered with CE. Without accurate ECN, which Linux 6.18
    /// does not let one ask for yet, the receiver says that there are marks until it is told of an answer.
    reported: u64,
}

/// A transfer whose ends ask for ECN by `mode`, through a queue that marks. `None`, and a line that says
/// so, where the machine cannot.
fn transfer(mode: &str) -> Option<Transfer> {
    const VOLUME: usize = 2_000_000;
    let tunnel = tunnel(1500)?;
    if ![tunnel.far(), tunnel.near()]
        .into_iter()
        .all(|end| set_tcp_ecn(end, mode))
    {
        eprintln!("skipped: TCP cannot be told to use ECN by net.ipv4.tcp_ecn={mode}");
        return None;
    }
    let to: SocketAddr = (tunnel.addresses().near(), 7000).into();
    let listener = tunnel.near().run(|| TcpListener::bind(to)).unwrap();
    let listener = listener.unwrap();
    let mut path = path(20, QueueLimit::Packets(1000));
    path.down.queue = QueueKind::parse("codel:target=1ms,interval=20ms").unwrap();
    let emulation = between(&tunnel, &path);
    thread::scope(|scope| {
        let sent = scope.spawn(|| {
            let stream = tunnel.far().run(|| TcpStream::connect(to)).unwrap();
            let mut stream = stream.unwrap();
            // Not every controller of the kernel answers marks; this one does.
            SockRef::from(&stream).set_tcp_congestion(b"reno").unwrap();
            stream.write_all(&vec![7; VOLUME]).unwrap();
            stream
        });
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = vec![0; VOLUME];
        stream.read_exact(&mut received).unwrap();
        // The last acknowledgment has arrived when the answer has.
        stream.write_all(b"all").unwrap();
        let mut sender = sent.join().unwrap();
        sender.read_exact(&mut [0; 3]).unwrap();
    });
    let arrived = tunnel.near().run(counters).unwrap();
    let reported = tunnel.far().run(counters).unwrap();
    let down = emulation.finish().unwrap().0.down;
    assert_eq!(down.delivered_ecn.ce, down.marked_packets);
    Some(Transfer {
        marked: down.marked_packets,
        dropped: down.dropped_managed_packets,
        ect0: down.offered_ecn.ect0,
        arrived: arrived["InCEPkts"],
        reported: reported["TCPDeliveredCE"],
    })
}

#[test]
fn marks_arrive_at_the_kernels_tcp_to_the_packet_and_only_where_it_asked_for_them() {
    let Some(classic) = transfer("1") else {
        return;
    };
    assert!(classic.marked > 5 && classic.ect0 > 1_000);
    assert_eq!(classic.arrived, classic.marked);
    assert!(classic.reported >= classic.marked);
    assert_eq!(classic.dropped, 0);
    // Without ECN the same queue drops.
    let Some(without) = transfer("0") else {
        return;
    };
    assert_eq!((without.marked, without.arrived, without.ect0), (0, 0, 0));
    assert_eq!(without.reported, 0);
    assert!(without.dropped > 0);
}
