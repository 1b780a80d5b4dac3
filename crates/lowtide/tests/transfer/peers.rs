//! Attackers: QUIC endpoints that keep the protocol's rules and nobody's interests.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use lowtide_quic::certificate::SelfSigned;
use s2n_quic::client::Connect;
use s2n_quic::provider::event::events::{Subject, TransportParametersReceived};
use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::packet_interceptor::PacketInterceptor;
use s2n_quic::provider::tls::rustls;
use s2n_quic::stream::BidirectionalStream;
use s2n_quic::{Client, Connection, Server};

const ALPN: &[u8] = b"lowtide/1";

/// An event loop that both of a test's sides share with nobody.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// A server on a free port that does with each connection what it likes.
pub(crate) async fn serve<F>(with: impl Fn(Connection) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let own = SelfSigned::new(["localhost"]).unwrap();
    let tls = rustls::Server::builder()
        .with_certificate(own.certificate, own.key)
        .unwrap()
        .with_application_protocols([ALPN].into_iter())
        .unwrap();
    let mut server = Server::builder()
        .with_tls(tls.build().unwrap())
        .unwrap()
        .with_io("127.0.0.1:0")
        .unwrap()
        .start()
        .unwrap();
    let address = server.local_addr().unwrap();
    tokio::spawn(async move {
        while let Some(connection) = server.accept().await {
            tokio::spawn(with(connection));
        }
    });
    address
}

/// Answers a download with zeros until the client has had enough.
pub(crate) async fn answer(stream: BidirectionalStream) {
    let (mut from, mut to) = stream.split();
    let mut request = Vec::new();
    while let Ok(Some(data)) = from.receive().await {
        request.extend_from_slice(&data);
    }
    let left = match request.get(..9).map(|r| r.split_first().unwrap()) {
        Some((b'D' | b'R', count)) => u64::from_be_bytes(count.try_into().unwrap()),
        _ => return,
    };
    let mut left = if left == 0 { u64::MAX } else { left };
    while left > 0 {
        let size = left.min(50_000);
        if to.send(vec![0; size as usize].into()).await.is_err() {
            return;
        }
        left -= size;
    }
    let _ = to.close().await;
}

/// A request for an upload; what follows is read as fast as it comes.
pub(crate) const UPLOAD: [u8; 9] = *b"U\0\0\0\0\0\0\0\0";

/// Makes a hole where a stream starts: the next packet with a request for an upload says nothing but
/// "acknowledge this" instead.
#[derive(Clone, Default)]
pub(crate) struct Hole(Arc<AtomicBool>);

impl Hole {
    pub(crate) fn open(&self) {
        self.0.store(true, Relaxed);
    }
}

impl PacketInterceptor for Hole {
    fn intercept_tx_payload(
        &mut self,
        _subject: &Subject,
        packet: &s2n_quic_core::packet::interceptor::Packet,
        payload: &mut s2n_codec::encoder::scatter::Buffer<'_>,
    ) {
        const PING: u8 = 1;
        if !packet.number.space().is_application_data() || !self.0.load(Relaxed) {
            return;
        }
        let bytes = payload.flatten().as_mut_slice();
        if bytes.windows(UPLOAD.len()).any(|b| b == UPLOAD) {
            bytes.fill(PING);
            self.0.store(false, Relaxed);
        }
    }
}

/// Adds up what a server grants a stream of each connection, which is its window, too.
#[derive(Clone, Default)]
pub(crate) struct Granted(Arc<AtomicU64>);

impl Granted {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

impl Subscriber for Granted {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}

    fn on_transport_parameters_received(
        &mut self,
        (): &mut (),
        _: &ConnectionMeta,
        event: &TransportParametersReceived<'_>,
    ) {
        let granted = event
            .transport_parameters
            .initial_max_stream_data_bidi_remote;
        self.0.fetch_add(granted, Relaxed);
    }
}

/// A client that lets the server open so many streams.
pub(crate) struct Attacker {
    client: Client,
    server: SocketAddr,
    pub(crate) hole: Hole,
    pub(crate) granted: Granted,
    kept: Mutex<Vec<Connection>>,
}

impl Attacker {
    pub(crate) fn of(server: SocketAddr, streams_for_server: u64) -> Self {
        let limits = Limits::new()
            .with_max_open_remote_unidirectional_streams(streams_for_server)
            .unwrap();
        let (hole, granted) = (Hole::default(), Granted::default());
        let client = Client::builder()
            .with_tls(lowtide_transfer::tls_for_any_server().unwrap())
            .unwrap()
            .with_io("127.0.0.1:0")
            .unwrap()
            .with_limits(limits)
            .unwrap()
            .with_event(granted.clone())
            .unwrap()
            .with_packet_interceptor(hole.clone())
            .unwrap()
            .start()
            .unwrap();
        Self {
            client,
            server,
            hole,
            granted,
            kept: Mutex::default(),
        }
    }

    pub(crate) async fn connect(&self) -> Connection {
        let connect = Connect::new(self.server).with_server_name("localhost");
        self.client.connect(connect).await.unwrap()
    }

    /// Keeps a connection open.
    pub(crate) fn keep(&self, mut connection: Connection) {
        connection.keep_alive(true).unwrap();
        self.kept.lock().unwrap().push(connection);
    }
}
