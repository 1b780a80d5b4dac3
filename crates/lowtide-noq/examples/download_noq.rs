//! 100 MB between two endpoints of this machine, sent by the controller that is named: `ebb`, unless
//! another is (`-- rbbr`, with the receiver's estimate).

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use lowtide_noq::Controllers;
use noq::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let spec = std::env::args().nth(1).unwrap_or_else(|| "ebb".to_string());
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_string()])?;
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(Controllers::new(&spec)?));
    let transport = Arc::new(transport);

    let mut config = ServerConfig::with_single_cert(vec![own.cert.der().clone()], key.into())?;
    config.transport_config(transport.clone());
    let server = Endpoint::server(config, any)?;
    let address = server.local_addr()?;
    tokio::spawn(async move {
        while let Some(incoming) = server.accept().await {
            let Ok(connection) = incoming.await else {
                continue;
            };
            tokio::spawn(lowtide_noq::run(connection.clone()));
            if let Ok(mut stream) = connection.open_uni().await {
                let _ = stream.write_all(&vec![0; 100_000_000]).await;
                let _ = stream.finish();
                connection.closed().await;
            }
        }
    });

    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone())?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(transport);
    let client = Endpoint::client(any)?;
    let connection = client.connect_with(config, address, "localhost")?.await?;
    tokio::spawn(lowtide_noq::run(connection.clone()));
    let mut stream = connection.accept_uni().await?;
    let (start, mut received) = (Instant::now(), 0);
    while let Some(chunk) = stream.read_chunk(usize::MAX).await? {
        received += chunk.len();
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{spec}: {received} bytes in {seconds:.2} s");
    Ok(())
}
