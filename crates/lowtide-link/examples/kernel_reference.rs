//! The Linux kernel's own controllers over the emulated link, beside ours in the simulator.
//!
//! `cargo run --release -p lowtide-link --example kernel_reference -- [--seconds N] [--runs N]
//! [--pair KERNEL=OURS]... [TRACE]...`, as root on Linux with the kernel's controllers: `tcp_bbr`, or with
//! `--pair ebb=ebb` what `lowtide kernel load` has loaded. Two constant links, then the traces given. One bulk
//! TCP flow each. `docs/fidelity-kernel.md` and `docs/kernel.md` say what is compared.

#[cfg(target_os = "linux")]
mod measure {
    use std::error::Error;
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration as WallDuration, Instant};
    use std::{fs, thread};

    use lowtide_cc::registry;
    use lowtide_cc::units::{Bytes, Duration, Rate, Time};
    use lowtide_link::{Addresses, Emulation, Namespace, PathConfig, Tunnel};
    use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
    use lowtide_sim::probe::{Delivery, DropCause, Sent};
    use lowtide_sim::queue::QueueLimit;
    use lowtide_sim::transport::TransportConfig;
    use lowtide_sim::{FlowConfig, PipeConfig, Probe, SenderKind, SimConfig, Simulation, trace};

    type Failure = Box<dyn Error + Send + Sync>;

    const RTT: Duration = Duration::from_millis(40);
    const PACKET: u16 = 1500;
    const PORT: u16 = 9001;
    /// Kernel controller, ours; unless others are asked for.
    const PAIRS: [(&str, &str); 3] = [
        ("bbr", "bbr"),
        ("cubic", "cubic"),
        ("cubic", "cubic:hystart=false"),
    ];
    /// Runs of the simulator, whose controllers draw phases and sources by seed.
    const SEEDS: u64 = 10;

    /// What is measured of a run, the same in the kernel and in the simulator: at the link.
    #[derive(Clone, Copy, Debug, Default)]
    struct Measured {
        /// Bytes of IP packets that left the link, over the whole time.
        mbps: f64,
        /// Mean over these packets of the time in queue, link and propagation, plus that of the way
        /// back.
        rtt_ms: f64,
        /// Share of the packets sent that found the queue full.
        dropped: f64,
    }

    fn mean(all: &[Measured]) -> Measured {
        let of = |f: fn(&Measured) -> f64| all.iter().map(f).sum::<f64>() / all.len() as f64;
        Measured {
            mbps: of(|m| m.mbps),
            rtt_ms: of(|m| m.rtt_ms),
            dropped: of(|m| m.dropped),
        }
    }

    /// Least and most of a value.
    fn range(all: &[Measured], f: fn(&Measured) -> f64) -> (f64, f64) {
        all.iter()
            .map(f)
            .fold((f64::MAX, f64::MIN), |(least, most), v| {
                (least.min(v), most.max(v))
            })
    }

    struct Case {
        name: String,
        link: Arc<Link>,
        buffer: QueueLimit,
    }

    impl Case {
        fn forward(&self) -> PipeConfig {
            PipeConfig::link_with_delay(self.link.clone(), self.buffer, RTT.div(2))
        }
    }

    /// Windows of the kernel must not be what limits.
    fn allow_large_windows() {
        for name in ["tcp_wmem", "tcp_rmem"] {
            let file = format!("/proc/sys/net/ipv4/{name}");
            if let Err(e) = fs::write(&file, "4096 1048576 268435456") {
                eprintln!("warning: cannot write {file}: {e}; windows may limit the flow");
            }
        }
    }

    fn send(to: SocketAddr, controller: &str, done: &AtomicBool) -> std::io::Result<()> {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
        socket.set_tcp_congestion(controller.as_bytes())?;
        socket.connect(&to.into())?;
        // So that a full window does not hide the end.
        socket.set_write_timeout(Some(WallDuration::from_millis(100)))?;
        let mut stream: TcpStream = socket.into();
        let data = vec![0; 256 * 1024];
        while !done.load(Ordering::Relaxed) {
            match stream.write(&data) {
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn in_the_kernel(case: &Case, controller: &str, seconds: u64) -> Result<Measured, Failure> {
        let (far, near) = (Namespace::new()?, Namespace::new()?);
        far.run(allow_large_windows)?;
        near.run(allow_large_windows)?;
        let tunnel = Arc::new(Tunnel::between(far, near, PACKET, Addresses::ALL)?);
        let path = PathConfig {
            down: case.forward(),
            up: PipeConfig::delay_only(RTT - RTT.div(2)),
            base_rtt: RTT,
            seed: 1,
            ports: None,
        };
        let to: SocketAddr = (tunnel.addresses().near(), PORT).into();
        let listener = tunnel.near().run(|| TcpListener::bind(to))??;
        let emulation = Emulation::between(&tunnel, &path, [(), ()])?;
        let started = emulation.started_at();
        let done = AtomicBool::new(false);
        let end = started + WallDuration::from_secs(seconds);
        let summary = thread::scope(|scope| {
            let sending = scope.spawn(|| tunnel.far().run(|| send(to, controller, &done)));
            scope.spawn(|| {
                let mut buffer = vec![0; 1 << 20];
                if let Ok((mut stream, _)) = listener.accept() {
                    let _ = stream.set_read_timeout(Some(WallDuration::from_millis(100)));
                    while !done.load(Ordering::Relaxed) {
                        let _ = stream.read(&mut buffer);
                    }
                }
            });
            while Instant::now() < end && !sending.is_finished() {
                thread::sleep(WallDuration::from_millis(1));
            }
            let summary = emulation.finish();
            done.store(true, Ordering::Relaxed);
            // Ends the accepting if nobody came.
            let _ = tunnel.near().run(|| TcpStream::connect(to));
            match sending.join() {
                Ok(sent) => sent?.map_err(|e| {
                    format!("a flow with the kernel's '{controller}' cannot be sent: {e}")
                })?,
                Err(_) => return Err("the sender panicked".into()),
            }
            Ok::<_, Failure>(summary?.0)
        })?;
        for complaint in &summary.complaints {
            eprintln!("warning: {}, {controller}: {complaint}", case.name);
        }
        let delay = |d: &lowtide_link::DirectionSummary| d.delay_ms.map_or(f64::NAN, |p| p.mean);
        Ok(Measured {
            mbps: summary.down.throughput_mbps,
            rtt_ms: delay(&summary.down) + delay(&summary.up),
            dropped: summary.down.dropped_queue_packets as f64
                / summary.down.offered_packets.max(1) as f64,
        })
    }

    /// The same at the simulator's link.
    #[derive(Default)]
    struct AtLink {
        sent: u64,
        dropped: u64,
        bytes: Bytes,
        delays: Duration,
        delivered: u64,
    }

    impl Probe for AtLink {
        fn on_send(&mut self, _: &Sent) {
            self.sent += 1;
        }

        fn on_drop(&mut self, _: usize, _: Time, _: Bytes, _: DropCause) {
            self.dropped += 1;
        }

        fn on_deliver(&mut self, delivery: &Delivery<'_>) {
            self.bytes += delivery.bytes;
            self.delays += delivery.now.since(delivery.sent_at);
            self.delivered += 1;
        }
    }

    fn in_the_simulator(
        case: &Case,
        controller: &str,
        seconds: u64,
        seed: u64,
    ) -> Result<Measured, Failure> {
        let spec = registry::parse(controller)?;
        let duration = Duration::from_secs(seconds);
        let config = SimConfig {
            forward: case.forward(),
            reverse: PipeConfig::delay_only(RTT - RTT.div(2)),
            flows: vec![FlowConfig {
                transport: TransportConfig::tcp(),
                ..FlowConfig::bulk(SenderKind::Controlled {
                    estimator: spec.receiver(),
                    controller: Arc::new(move |c| spec.build(c)),
                })
            }],
            duration,
            packet_size: Bytes::new(u64::from(PACKET)),
            ack_size: Bytes::new(60),
            seed,
        };
        let mut at = AtLink::default();
        Simulation::new(config)?.run(&mut at);
        let there = at.delays.as_millis_f64() / at.delivered.max(1) as f64;
        Ok(Measured {
            mbps: at.bytes.as_f64() * 8e-6 / duration.as_secs_f64(),
            rtt_ms: there + (RTT - RTT.div(2)).as_millis_f64(),
            dropped: at.dropped as f64 / at.sent.max(1) as f64,
        })
    }

    fn load() -> String {
        let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        text.split_whitespace().next().unwrap_or("?").to_string()
    }

    struct Arguments {
        seconds: u64,
        runs: usize,
        pairs: Vec<(String, String)>,
        traces: Vec<PathBuf>,
    }

    fn arguments() -> Result<Arguments, Failure> {
        let mut parsed = Arguments {
            seconds: 30,
            runs: 3,
            pairs: Vec::new(),
            traces: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            let mut number = || {
                value()
                    .parse::<u64>()
                    .map_err(|_| format!("{argument} needs a number"))
            };
            match argument.as_str() {
                "--seconds" => parsed.seconds = number()?.max(1),
                "--runs" => parsed.runs = number()?.max(1) as usize,
                "--pair" => {
                    let pair = value();
                    let (kernel, ours) = pair
                        .split_once('=')
                        .ok_or("--pair needs the kernel's controller and ours: bbr=bbr")?;
                    parsed.pairs.push((kernel.to_owned(), ours.to_owned()));
                }
                _ => parsed.traces.push(argument.into()),
            }
        }
        if parsed.pairs.is_empty() {
            parsed.pairs = PAIRS
                .iter()
                .map(|(kernel, ours)| ((*kernel).to_owned(), (*ours).to_owned()))
                .collect();
        }
        Ok(parsed)
    }

    pub(crate) fn run() -> Result<(), Failure> {
        let Arguments {
            seconds,
            runs,
            pairs,
            traces,
        } = arguments()?;
        let constant = |mbps, bdp| {
            let rate = Rate::from_mbps(mbps);
            Ok::<_, Failure>(Case {
                name: format!("{mbps} Mbit/s, {bdp} BDP"),
                link: Arc::new(Link::constant(rate)?),
                buffer: QueueLimit::Bdp(bdp),
            })
        };
        let mut cases = vec![constant(20, 2.0)?, constant(100, 1.0)?];
        for file in traces {
            cases.push(Case {
                name: file
                    .file_name()
                    .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
                link: Arc::new(trace::parse(
                    Some(&file),
                    &fs::read(&file)?,
                    MAHIMAHI_OPPORTUNITY,
                )?),
                buffer: QueueLimit::Packets(200),
            });
        }
        println!(
            "{seconds} s a run, RTT {} ms; kernel: mean of {runs} runs (least–most), \
             simulator: mean of {SEEDS} seeds\n",
            RTT.as_millis_f64()
        );
        println!(
            "| link | kernel / ours | Mbit/s: kernel | ours | | mean RTT, ms: kernel | ours | | \
             dropped, %: kernel | ours | load |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        for case in &cases {
            let mut known: Vec<(&str, Vec<Measured>)> = Vec::new();
            for (kernel, ours) in &pairs {
                if !known.iter().any(|(name, _)| name == kernel) {
                    let measured = (0..runs)
                        .map(|_| in_the_kernel(case, kernel, seconds))
                        .collect::<Result<Vec<_>, _>>()?;
                    known.push((kernel, measured));
                }
                let Some((_, measured)) = known.iter().find(|(name, _)| name == kernel) else {
                    continue;
                };
                let simulated = (1..=SEEDS)
                    .map(|seed| in_the_simulator(case, ours, seconds, seed))
                    .collect::<Result<Vec<_>, _>>()?;
                let (k, s) = (mean(measured), mean(&simulated));
                let (slow, fast) = range(measured, |m| m.mbps);
                let (short, long) = range(measured, |m| m.rtt_ms);
                let change = |ours: f64, kernel: f64| (ours / kernel - 1.0) * 100.0;
                println!(
                    "| {} | {kernel} / {ours} | {:.2} ({slow:.2}–{fast:.2}) | {:.2} | {:+.1} % | \
                     {:.1} ({short:.1}–{long:.1}) | {:.1} | {:+.1} % | {:.2} | {:.2} | {} |",
                    case.name,
                    k.mbps,
                    s.mbps,
                    change(s.mbps, k.mbps),
                    k.rtt_ms,
                    s.rtt_ms,
                    change(s.rtt_ms, k.rtt_ms),
                    k.dropped * 100.0,
                    s.dropped * 100.0,
                    load(),
                );
            }
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
