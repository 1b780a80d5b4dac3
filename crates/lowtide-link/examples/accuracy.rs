//! How exact the emulated link is on this machine: schedule, added delay, processor time.
//!
//! `cargo run --release -p lowtide-link --example accuracy [SECONDS]`, as root on Linux. A sender in
//! one namespace keeps the link busy with UDP datagrams that carry their sending times; the receiver
//! in the other compares each arrival with the time that the simulator's link gives it.

#[cfg(target_os = "linux")]
mod measure {
    use std::error::Error;
    use std::net::UdpSocket;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration as WallDuration, Instant};

    use lowtide_cc::units::{Bytes, Duration, Rate, Time};
    use lowtide_link::{
        Addresses, Distribution, Emulation, Namespace, PathConfig, Summary, Tunnel,
    };
    use lowtide_sim::PipeConfig;
    use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY, Opportunities, Server};
    use lowtide_sim::queue::QueueLimit;

    /// One opportunity of a mahimahi trace is one packet.
    const MTU: u16 = 1504;
    const HEADERS: usize = 28;
    const ONE_WAY: Duration = Duration::from_millis(20);
    const PORT: u16 = 9000;
    /// How much more is sent than passes.
    const EXCESS: f64 = 1.05;
    /// The sender sleeps so long between bursts.
    const BURST: WallDuration = WallDuration::from_micros(200);

    type Failure = Box<dyn Error + Send + Sync>;

    /// What the receiver saw, against the model.
    #[derive(Default)]
    struct Seen {
        late: Distribution,
        early: Distribution,
    }

    fn tunnel() -> Result<Arc<Tunnel>, Failure> {
        let (far, near) = (Namespace::new()?, Namespace::new()?);
        Ok(Arc::new(Tunnel::between(far, near, MTU, Addresses::ALL)?))
    }

    /// A socket at the far end, connected to the near one.
    fn towards_near(tunnel: &Tunnel) -> Result<UdpSocket, Failure> {
        let addresses = tunnel.addresses();
        let connected = tunnel.far().run(|| {
            let socket = UdpSocket::bind((addresses.far(), 0))?;
            socket.connect((addresses.near(), PORT))?;
            Ok::<UdpSocket, std::io::Error>(socket)
        });
        Ok(connected??)
    }

    /// As many opportunities in each millisecond as make the rate.
    fn opportunities(rate: Rate) -> Result<Link, Failure> {
        const LENGTH_MS: u64 = 1000;
        let times = (1..=LENGTH_MS)
            .flat_map(|ms| {
                let until = |ms: u64| {
                    rate.volume_in(Duration::from_millis(ms)).get() / MAHIMAHI_OPPORTUNITY.get()
                };
                (until(ms - 1)..until(ms)).map(move |_| ms as u32)
            })
            .collect();
        Ok(Link::Opportunities(Opportunities::new(
            times,
            MAHIMAHI_OPPORTUNITY,
        )?))
    }

    fn send(socket: &UdpSocket, start: Instant, rate: Rate, done: &AtomicBool) {
        let mut packet = vec![0; usize::from(MTU) - HEADERS];
        let mut sent = 0_u64;
        let begun = Instant::now();
        while !done.load(Ordering::Relaxed) {
            let due = rate.as_f64() * EXCESS * begun.elapsed().as_secs_f64();
            while (sent as f64) < due {
                let now = start.elapsed().as_nanos() as u64;
                packet[..8].copy_from_slice(&now.to_le_bytes());
                // What the system refuses is as good as dropped.
                let _ = socket.send(&packet);
                sent += u64::from(MTU);
            }
            thread::sleep(BURST);
        }
    }

    fn receive(socket: &UdpSocket, start: Instant, link: Arc<Link>, done: &AtomicBool) -> Seen {
        let mut seen = Seen::default();
        let mut server = Server::new(link);
        let mut left = Time::ZERO;
        let mut packet = vec![0; usize::from(MTU)];
        while !done.load(Ordering::Relaxed) {
            let Ok(length) = socket.recv(&mut packet) else {
                continue;
            };
            let now = Time::from_nanos(start.elapsed().as_nanos() as u64);
            let Some(stamp) = packet.first_chunk() else {
                continue;
            };
            let sent = Time::from_nanos(u64::from_le_bytes(*stamp));
            let size = Bytes::new((length + HEADERS) as u64);
            left = server.serve(left.max(sent), size, sent < left);
            let ideal = left + ONE_WAY;
            seen.late.record(now.since(ideal));
            seen.early.record(ideal.since(now));
        }
        seen
    }

    fn busy(link: Link, rate: Rate, seconds: u64) -> Result<(Seen, Summary), Failure> {
        let link = Arc::new(link);
        let tunnel = tunnel()?;
        let buffer = QueueLimit::Time(Duration::from_millis(50));
        let path = PathConfig {
            down: PipeConfig::link_with_delay(link.clone(), buffer, ONE_WAY),
            up: PipeConfig::delay_only(ONE_WAY),
            base_rtt: ONE_WAY * 2,
            seed: 1,
            ports: None,
        };
        let addresses = tunnel.addresses();
        let receiver = tunnel.near().run(|| {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
            let any: std::net::SocketAddr = (addresses.near(), PORT).into();
            socket.bind(&any.into())?;
            let _ = socket.set_recv_buffer_size(64 << 20);
            socket.set_read_timeout(Some(WallDuration::from_millis(100)))?;
            Ok::<UdpSocket, std::io::Error>(socket.into())
        })??;
        let sender = towards_near(&tunnel)?;
        let emulation = Emulation::between(&tunnel, &path, [(), ()])?;
        let start = emulation.started_at();
        let done = AtomicBool::new(false);
        let seen = thread::scope(|scope| {
            let receiving = scope.spawn(|| receive(&receiver, start, link, &done));
            scope.spawn(|| send(&sender, start, rate, &done));
            thread::sleep(WallDuration::from_secs(seconds));
            done.store(true, Ordering::Relaxed);
            receiving.join()
        });
        let seen = seen.map_err(|_| "the receiver panicked")?;
        Ok((seen, emulation.finish()?.0))
    }

    /// Round trips of single packets over a link that takes no time.
    fn added_delay(seconds: u64) -> Result<Distribution, Failure> {
        let tunnel = tunnel()?;
        let free = || PipeConfig::delay_only(Duration::ZERO);
        let path = PathConfig {
            down: free(),
            up: free(),
            base_rtt: Duration::ZERO,
            seed: 1,
            ports: None,
        };
        let addresses = tunnel.addresses();
        let echo = tunnel
            .near()
            .run(|| UdpSocket::bind((addresses.near(), PORT)))??;
        echo.set_read_timeout(Some(WallDuration::from_millis(100)))?;
        let asker = towards_near(&tunnel)?;
        asker.set_read_timeout(Some(WallDuration::from_millis(100)))?;
        let emulation = Emulation::between(&tunnel, &path, [(), ()])?;
        let done = AtomicBool::new(false);
        let mut round_trips = Distribution::default();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut packet = [0; 64];
                while !done.load(Ordering::Relaxed) {
                    if let Ok((length, from)) = echo.recv_from(&mut packet) {
                        let _ = echo.send_to(&packet[..length], from);
                    }
                }
            });
            let begun = Instant::now();
            let mut packet = [0; 64];
            while begun.elapsed() < WallDuration::from_secs(seconds) {
                let asked = Instant::now();
                if asker.send(&packet).is_ok() && asker.recv(&mut packet).is_ok() {
                    let took = asked.elapsed().as_nanos() as u64;
                    round_trips.record(Duration::from_nanos(took));
                }
                thread::sleep(WallDuration::from_millis(1));
            }
            done.store(true, Ordering::Relaxed);
        });
        emulation.finish()?;
        Ok(round_trips)
    }

    fn load() -> String {
        let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        text.split_whitespace().next().unwrap_or("?").to_string()
    }

    pub(crate) fn run() -> Result<(), Failure> {
        let seconds = std::env::args().nth(1).map_or(Ok(10), |s| s.parse())?;
        println!("load average {} at the start; {seconds} s a row\n", load());
        println!(
            "| link | delivered, Mbit/s | sent on late, ms: p50 | p99 | max | > 1 ms, % | \
             received late, ms: p50 | p99 | max | early, ms: max | CPU, % of a core: down | up | \
             missed | load |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
        for mbps in [10, 100, 1000] {
            let rate = Rate::from_mbps(mbps);
            for (kind, link) in [
                ("rate", Link::constant(rate)?),
                ("opportunities", opportunities(rate)?),
            ] {
                let (seen, summary) = busy(link, rate, seconds)?;
                let down = &summary.down;
                let (Some(sent), Some(received), Some(early)) = (
                    down.release_error_ms,
                    seen.late.percentiles(),
                    seen.early.percentiles(),
                ) else {
                    println!("| {mbps} Mbit/s, {kind} | nothing arrived |");
                    continue;
                };
                let share = |cpu: f64| cpu / summary.duration_s * 100.0;
                println!(
                    "| {mbps} Mbit/s, {kind} | {:.2} | {:.3} | {:.3} | {:.2} | {:.2} | {:.3} | \
                     {:.3} | {:.2} | {:.3} | {:.0} | {:.0} | {} | {} |",
                    down.throughput_mbps,
                    sent.p50,
                    sent.p99,
                    sent.max,
                    down.late_share * 100.0,
                    received.p50,
                    received.p99,
                    received.max,
                    early.max,
                    share(down.cpu_s),
                    share(summary.up.cpu_s),
                    down.missed_packets,
                    load(),
                );
            }
        }
        if let Some(p) = added_delay(seconds)?.percentiles() {
            println!(
                "\nround trip of one packet over a link that takes no time, ms: p50 {:.3}, \
                 p99 {:.3}, max {:.2}",
                p.p50, p.p99, p.max
            );
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    measure::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the emulated link needs Linux");
}
