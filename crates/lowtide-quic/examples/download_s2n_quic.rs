//! 100 MB between two endpoints of this machine, sent by the controller that is named: `ebb`, unless
//! another is (`-- rbbr`). Receivers report when packets arrived, and RBBR's estimate.

use std::error::Error;
use std::time::Instant;

use lowtide_quic::{Controllers, certificate::SelfSigned};
use s2n_quic::provider::io;
use s2n_quic::{Client, Server, client::Connect};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let spec = std::env::args().nth(1).unwrap_or_else(|| "ebb".to_string());
    let own = SelfSigned::new(["localhost"])?;
    let parts = Controllers::new(&spec)?.with_timestamps().parts();
    let mut server = Server::builder()
        .with_tls((own.certificate.as_str(), own.key.as_str()))?
        .with_io(parts.codepoints.on(io::Default::new("127.0.0.1:0")?))?
        .with_limits(lowtide_quic::limits())?
        .with_congestion_controller(parts.controller)?
        .with_event(parts.events)?
        .with_packet_interceptor(parts.interceptor)?
        .with_datagram(parts.datagrams)?
        .start()?;
    let address = server.local_addr()?;
    tokio::spawn(async move {
        while let Some(mut connection) = server.accept().await {
            while let Ok(Some(mut stream)) = connection.accept_bidirectional_stream().await {
                let _ = stream.send(vec![0; 100_000_000].into()).await;
                let _ = stream.close().await;
            }
        }
    });

    let parts = Controllers::new(&spec)?.with_timestamps().parts();
    let client = Client::builder()
        .with_tls(own.certificate.as_str())?
        .with_io(parts.codepoints.on(io::Default::new("127.0.0.1:0")?))?
        .with_limits(lowtide_quic::limits())?
        .with_congestion_controller(parts.controller)?
        .with_event(parts.events)?
        .with_packet_interceptor(parts.interceptor)?
        .with_datagram(parts.datagrams)?
        .start()?;
    let connect = Connect::new(address).with_server_name("localhost");
    let mut connection = client.connect(connect).await?;
    let mut stream = connection.open_bidirectional_stream().await?;
    stream.send(vec![b'?'].into()).await?;
    let (start, mut received) = (Instant::now(), 0);
    while let Some(data) = stream.receive().await? {
        received += data.len();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{spec}: {received} bytes in {seconds:.2} s");
    Ok(())
}
