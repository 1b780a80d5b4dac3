//! `lowtide_noq::run` on connections of noq itself, over the loopback interface.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_host::contract;
use lowtide_noq::{Controllers, Factory};
use noq::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// Far more than it takes. Loopback moves gigabytes in the seconds in which a busy machine does not get
/// round to ten reports.
const MAX_BYTES: usize = 16_000_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn feedback_flows_beside_a_download() {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let own = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let spec = registry::parse("rbbr").unwrap();
    let (make, notes) = contract::recorded(Arc::new(move |config| spec.build(config)));
    let transport = |controllers: Controllers| {
        let mut transport = TransportConfig::default();
        transport.congestion_controller_factory(Arc::new(controllers));
        Arc::new(transport)
    };

    let chain = vec![own.cert.der().clone()];
    let mut config = ServerConfig::with_single_cert(chain, key.into()).unwrap();
    config.transport_config(transport(Factory::with_controller("recorded", make).into()));
    let server = Endpoint::server(config, any).unwrap();
    let address = server.local_addr().unwrap();
    tokio::spawn(async move {
        let connection = server.accept().await.unwrap().await.unwrap();
        tokio::spawn(lowtide_noq::run(connection.clone()));
        let mut stream = connection.open_uni().await.unwrap();
        let data = vec![0; 1 << 16];
        while stream.write_all(&data).await.is_ok() {}
    });

    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone()).unwrap();
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    config.transport_config(transport(Controllers::new("rbbr").unwrap()));
    let client = Endpoint::client(any).unwrap();
    let connecting = client.connect_with(config, address, "localhost").unwrap();
    let connection = connecting.await.unwrap();
    let extension = tokio::spawn(lowtide_noq::run(connection.clone()));
    let mut stream = connection.accept_uni().await.unwrap();
    let mut received = 0;
    while notes.lock().unwrap().feedback.len() < 10 {
        received += stream.read_chunk(1 << 20).await.unwrap().unwrap().len();
        assert!(received < MAX_BYTES, "no feedback");
    }
    connection.close(0_u32.into(), b"");
    assert!(
        extension.await.unwrap().is_err(),
        "ends with its connection"
    );
    assert_eq!(notes.lock().unwrap().breaches, [""; 0]);
}
