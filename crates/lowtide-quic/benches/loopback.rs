//! Goodput over the loopback interface: our controllers beside s2n-quic's own, in turns.
//!
//! `cargo bench -p lowtide-quic --features self-signed --bench loopback -- [MEGABYTES] [ROUNDS]`
//! prints the medians over the rounds and each one's ratio to s2n-quic's BBR. Only ratios count: the
//! absolute rates are those of the machine and of what else it does.

use std::error::Error;
use std::time::Instant;

use lowtide_quic::{Provider, certificate::SelfSigned};
use s2n_quic::provider::{congestion_controller as stock, limits::Limits};
use s2n_quic::{Client, Server, client::Connect};

/// Who sends.
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
];

fn limits() -> Result<Limits, Box<dyn Error>> {
    Ok(Limits::new()
        .with_data_window(64 << 20)?
        .with_bidirectional_local_data_window(64 << 20)?
        .with_bidirectional_remote_data_window(64 << 20)?
        .with_max_send_buffer_size(32 << 20)?)
}

/// Seconds for `bytes` from a server with this sender.
async fn transfer(own: &SelfSigned, sender: Sender, bytes: usize) -> Result<f64, Box<dyn Error>> {
    let builder = Server::builder()
        .with_tls((own.certificate.as_str(), own.key.as_str()))?
        .with_io("127.0.0.1:0")?
        .with_limits(limits()?)?;
    let mut server = match sender {
        Sender::StockBbr => builder
            .with_congestion_controller(stock::Bbr::default())?
            .start()?,
        Sender::StockCubic => builder
            .with_congestion_controller(stock::Cubic::default())?
            .start()?,
        Sender::Alone(spec) => builder
            .with_congestion_controller(Provider::new(spec)?)?
            .start()?,
        Sender::Parts(spec) => {
            let parts = Provider::new(spec)?.parts();
            builder
                .with_congestion_controller(parts.controller)?
                .with_event(parts.events)?
                .with_packet_interceptor(parts.interceptor)?
                .with_datagram(parts.datagrams)?
                .start()?
        }
    };
    let address = server.local_addr()?;
    let served = tokio::spawn(async move {
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
    });

    let builder = Client::builder()
        .with_tls(own.certificate.as_str())?
        .with_io("127.0.0.1:0")?
        .with_limits(limits()?)?;
    let client = if let Sender::Parts(_) = sender {
        let parts = Provider::new("rbbr")?.parts();
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
    let start = Instant::now();
    let mut received = 0;
    while let Some(data) = stream.receive().await? {
        received += data.len();
    }
    let seconds = start.elapsed().as_secs_f64();
    connection.close(0_u32.into());
    served.abort();
    if received < bytes / (1 << 16) * (1 << 16) {
        return Err(format!("only {received} bytes arrived").into());
    }
    Ok(seconds)
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
    let mut rates = vec![Vec::new(); SENDERS.len()];
    for _ in 0..rounds {
        for (rates, (_, sender)) in rates.iter_mut().zip(SENDERS) {
            let seconds = transfer(&own, *sender, megabytes * 1_000_000).await?;
            rates.push(megabytes as f64 * 8.0 / 1_000.0 / seconds);
        }
    }
    let medians: Vec<f64> = rates.into_iter().map(median).collect();
    for ((name, _), median) in SENDERS.iter().zip(&medians) {
        println!("{name:20} {median:6.2} Gbit/s {:5.2}", median / medians[0]);
    }
    Ok(())
}
