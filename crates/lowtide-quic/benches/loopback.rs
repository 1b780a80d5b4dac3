//! Goodput over the loopback interface and processor time: our controllers beside s2n-quic's own, in
//! turns.
//!
//! `cargo bench -p lowtide-quic --features self-signed --bench loopback -- [MEGABYTES] [ROUNDS]`
//! prints the medians over the rounds and each one's ratio to s2n-quic's BBR. Only ratios count: the
//! absolute rates are those of the machine and of what else it does. Processor time is that of both
//! ends together, which share the process.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use lowtide_quic::{Controllers, certificate::SelfSigned};
use rustix::time::{ClockId, clock_gettime};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber, events};
use s2n_quic::provider::{congestion_controller as stock, limits::Limits};
use s2n_quic::{Client, Server, client::Connect};

/// The sender under test.
#[derive(Clone, Copy, PartialEq)]
enum Sender {
    /// A controller of ours with nothing else.
    Alone(&'static str),
    /// With all parts at both ends, so that RBBR's frames travel.
    Parts(&'static str),
    StockBbr,
    StockCubic,
}

const SENDERS: &[(&str, Sender)] = &[
    ("s2n-quic's BBR", Sender::StockBbr),
    ("bbr", Sender::Alone("bbr")),
    ("bbr, all parts", Sender::Parts("bbr")),
    ("rbbr, with frames", Sender::Parts("rbbr")),
    ("s2n-quic's CUBIC", Sender::StockCubic),
    ("cubic", Sender::Alone("cubic")),
    // What the host can carry whatever the controller.
    ("window, 200 packets", Sender::Alone("window:packets=200")),
];

fn limits() -> Result<Limits, Box<dyn Error>> {
    Ok(Limits::new()
        .with_data_window(64 << 20)?
        .with_bidirectional_local_data_window(64 << 20)?
        .with_bidirectional_remote_data_window(64 << 20)?
        .with_max_send_buffer_size(32 << 20)?)
}

/// What a transfer took, times in seconds.
struct Cost {
    elapsed: f64,
    processor: f64,
    lost_share: f64,
}

/// Counts what the sender sends and loses.
#[derive(Clone, Debug, Default)]
struct Losses(Arc<(AtomicU64, AtomicU64)>);

impl Losses {
    fn share(&self) -> f64 {
        self.0.1.load(Relaxed) as f64 / self.0.0.load(Relaxed).max(1) as f64
    }
}

impl Subscriber for Losses {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo) {}

    fn on_packet_sent(&mut self, (): &mut (), _: &ConnectionMeta, _: &events::PacketSent) {
        self.0.0.fetch_add(1, Relaxed);
    }

    fn on_packet_lost(&mut self, (): &mut (), _: &ConnectionMeta, _: &events::PacketLost) {
        self.0.1.fetch_add(1, Relaxed);
    }
}

/// Processor time of this process so far, seconds.
fn processor() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Answers each stream of one connection with `bytes`.
async fn serve(mut server: Server, bytes: usize) -> Option<()> {
    let mut connection = server.accept().await?;
    while let Ok(Some(mut stream)) = connection.accept_bidirectional_stream().await {
        static DATA: [u8; 1 << 16] = [0; 1 << 16];
        for _ in 0..bytes / DATA.len() {
            let chunk = bytes::Bytes::from_static(&DATA);
            if stream.send(chunk).await.is_err() {
                break;
            }
        }
        let _ = stream.close().await;
    }
    Some(())
}

/// `bytes` from a server with this sender.
async fn transfer(own: &SelfSigned, sender: Sender, bytes: usize) -> Result<Cost, Box<dyn Error>> {
    let builder = Server::builder()
        .with_tls((own.certificate.as_str(), own.key.as_str()))?
        .with_io("127.0.0.1:0")?
        .with_limits(limits()?)?;
    let losses = Losses::default();
    let server = match sender {
        Sender::StockBbr => builder
            .with_event(losses.clone())?
            .with_congestion_controller(stock::Bbr::default())?
            .start()?,
        Sender::StockCubic => builder
            .with_event(losses.clone())?
            .with_congestion_controller(stock::Cubic::default())?
            .start()?,
        Sender::Alone(spec) => builder
            .with_event(losses.clone())?
            .with_congestion_controller(Controllers::new(spec)?)?
            .start()?,
        Sender::Parts(spec) => {
            let parts = Controllers::new(spec)?.parts();
            builder
                .with_congestion_controller(parts.controller)?
                .with_event((parts.events, losses.clone()))?
                .with_packet_interceptor(parts.interceptor)?
                .with_datagram(parts.datagrams)?
                .start()?
        }
    };
    let address = server.local_addr()?;
    let served = tokio::spawn(serve(server, bytes));

    let builder = Client::builder()
        .with_tls(own.certificate.as_str())?
        .with_io("127.0.0.1:0")?
        .with_limits(limits()?)?;
    let client = if let Sender::Parts(_) = sender {
        let parts = Controllers::new("rbbr")?.parts();
        builder
            .with_congestion_controller(parts.controller)?
            .with_event(parts.events)?
            .with_packet_interceptor(parts.interceptor)?
            .with_datagram(parts.datagrams)?
            .start()?
    } else {
        builder.start()?
    };
    let connect = Connect::new(address).with_server_name("localhost");
    let mut connection = client.connect(connect).await?;
    let mut stream = connection.open_bidirectional_stream().await?;
    stream.send(vec![b'?'].into()).await?;
    let start = (Instant::now(), processor());
    let mut received = 0;
    while let Some(data) = stream.receive().await? {
        received += data.len();
    }
    let cost = Cost {
        elapsed: start.0.elapsed().as_secs_f64(),
        processor: processor() - start.1,
        lost_share: losses.share(),
    };
    connection.close(0_u32.into());
    served.abort();
    if received < bytes / (1 << 16) * (1 << 16) {
        return Err(format!("only {received} bytes arrived").into());
    }
    Ok(cost)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().filter_map(|a| a.parse::<usize>().ok());
    let megabytes = numbers.next().unwrap_or(500);
    let rounds = numbers.next().unwrap_or(5).max(1);
    let own = SelfSigned::new(["localhost"])?;
    let gigabytes = megabytes as f64 / 1_000.0;
    let mut rates = vec![Vec::new(); SENDERS.len()];
    let mut costs = vec![Vec::new(); SENDERS.len()];
    let mut losses = vec![Vec::new(); SENDERS.len()];
    for _ in 0..rounds {
        for (n, (name, sender)) in SENDERS.iter().enumerate() {
            let cost = transfer(&own, *sender, megabytes * 1_000_000)
                .await
                .map_err(|error| format!("{name}: {error}"))?;
            rates[n].push(gigabytes * 8.0 / cost.elapsed);
            costs[n].push(cost.processor / gigabytes);
            losses[n].push(cost.lost_share);
        }
    }
    let rates: Vec<f64> = rates.into_iter().map(median).collect();
    let costs: Vec<f64> = costs.into_iter().map(median).collect();
    let losses: Vec<f64> = losses.into_iter().map(median).collect();
    println!(
        "{:20} {:>6} {:>6}  {:>8} {:>6}  {:>6}",
        "", "Gbit/s", "ratio", "CPU s/GB", "ratio", "lost %"
    );
    for (n, (name, _)) in SENDERS.iter().enumerate() {
        let (rate, cost) = (rates[n], costs[n]);
        println!(
            "{name:20} {rate:6.2} {:6.2}  {cost:8.2} {:6.2}  {:6.2}",
            rate / rates[0],
            cost / costs[0],
            losses[n] * 100.0
        );
    }
    Ok(())
}
