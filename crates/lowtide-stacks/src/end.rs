//! One end of a connection of a stack without clock and sockets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use lowtide_cc::Ecn;
use lowtide_host::Observer;
use lowtide_sim::stack::Error;
use lowtide_sim::{FlowConfig, SimConfig};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Name in the certificate of the receivers, which are the servers.
pub(crate) const SERVER_NAME: &str = "localhost";

/// Where the ends seem to be.
pub(crate) const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 5000);
pub(crate) const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4433);

/// Flow control is no limit here.
pub(crate) const FLOW_CONTROL_WINDOW: u32 = 1 << 30;

/// What a sender keeps of what has been written and not acknowledged: a window must never find it too
/// small. The data are all the same zeros, so that it takes no memory.
pub(crate) const SEND_WINDOW: u64 = 1 << 26;

/// Packets that may leave as one, as with the segmentation offload of a socket: what the stacks ask
/// for at most.
pub(crate) const SEGMENTS: usize = 10;

/// What the ends of a flow are made of.
pub(crate) struct Setup<'a> {
    pub(crate) config: &'a SimConfig,
    pub(crate) flow: &'a FlowConfig,
    pub(crate) packet_size: u16,
    pub(crate) seed: u64,
    pub(crate) certificate: &'a Certificate,
    /// Watches the sender's controller.
    pub(crate) observer: Arc<dyn Observer>,
}

/// A receiver's certificate. Ed25519, whose signatures are all of one size, so that handshakes are too.
pub(crate) struct Certificate {
    pub(crate) certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Certificate {
    pub(crate) fn new() -> Result<Self, Error> {
        let failed = |e: rcgen::Error| Error::Setup(Box::new(e));
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).map_err(failed)?;
        let parameters =
            rcgen::CertificateParams::new([SERVER_NAME.to_string()]).map_err(failed)?;
        let certificate = parameters.self_signed(&key).map_err(failed)?;
        Ok(Self {
            certificate: certificate.der().clone(),
            key: key.serialize_der(),
        })
    }

    pub(crate) fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.clone()))
    }
}

/// A stack.
pub(crate) trait Stack {
    type End: End;

    /// The sender and the receiver of a flow.
    fn ends(&mut self, setup: &Setup<'_>) -> Result<[Self::End; 2], Error>;
}

/// One end of a connection with one stream of data.
pub(crate) trait End {
    /// A client begins its connection, a server waits for it.
    fn connect(&mut self, now: Instant) -> Result<(), Error>;

    /// When [`on_timeout`](Self::on_timeout) is due.
    fn timeout(&mut self) -> Option<Instant>;

    fn on_timeout(&mut self, now: Instant);

    fn receive(&mut self, now: Instant, ecn: Ecn, datagram: &[u8]);

    /// What has happened since the last call is taken note of; why the connection was closed, where that has happened.
    fn update(&mut self, now: Instant) -> Option<String>;

    /// Whether data may be written.
    fn is_up(&self) -> bool;

    /// Writes so many bytes of data, or fewer; how many.
    fn write(&mut self, bytes: usize) -> usize;

    /// No more data follows.
    fn finish(&mut self);

    /// No more data follows, and what has been written need not arrive.
    fn reset(&mut self);

    /// Whether all data has been acknowledged after [`finish`](Self::finish).
    fn is_delivered(&self) -> bool;

    /// Reads all data that is there, in order; how much.
    fn read(&mut self) -> u64;

    /// The next datagrams that leave now, of one size but for the last, into `buffer`; the size.
    fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<(usize, Ecn)>;
}

/// The end of a stack that is called `proto` where this stands: quinn's interface, which noq has
/// inherited. Where the two differ, functions beside it do: `handle`, `poll_transmit`, `write`,
/// `endpoint`.
macro_rules! end {
    () => {
        pub(crate) struct End {
            endpoint: proto::Endpoint,
            /// What a client connects with.
            client: Option<proto::ClientConfig>,
            /// Where the other end seems to be.
            peer: SocketAddr,
            connection: Option<(proto::ConnectionHandle, proto::Connection)>,
            /// What a caller of the stack does at each event of the connection.
            attend: Attend,
            is_sender: bool,
            stream: Option<proto::StreamId>,
            is_up: bool,
            is_delivered: bool,
        }

        type Attend = Box<dyn FnMut(Instant, &mut proto::Connection)>;

        /// The transport's defaults, but for what would limit it.
        fn transport(setup: &Setup<'_>) -> proto::TransportConfig {
            let datagram = setup.packet_size - crate::end::HEADERS;
            let window = proto::VarInt::from(crate::end::FLOW_CONTROL_WINDOW);
            // The handshake must not be taken for congestion, whatever the path's RTT.
            let rtt = setup.config.base_rtt(&setup.flow.access);
            let mut transport = proto::TransportConfig::default();
            transport
                .initial_mtu(datagram)
                .min_mtu(datagram)
                .mtu_discovery_config(None)
                .send_window(crate::end::SEND_WINDOW)
                .stream_receive_window(window)
                .receive_window(window)
                .max_idle_timeout(None)
                .initial_rtt(rtt.max(Duration::from_millis(333)).into());
            transport
        }

        /// Asks the receiver for acknowledgments as the flow has them, where that is not the stack's
        /// default.
        fn ask_for_acknowledgments(transport: &mut proto::TransportConfig, flow: &FlowConfig) {
            if let TransportConfig::Quic {
                ack_every,
                max_ack_delay,
                ..
            } = flow.transport
                && flow.transport != TransportConfig::quic()
            {
                let mut frequency = proto::AckFrequencyConfig::default();
                frequency
                    .ack_eliciting_threshold(proto::VarInt::from(ack_every.saturating_sub(1)))
                    .max_ack_delay(Some(max_ack_delay.into()));
                transport.ack_frequency_config(Some(frequency));
            }
        }

        fn endpoint_config(setup: &Setup<'_>, stream: u64) -> Result<proto::EndpointConfig, Error> {
            let mut seed = [0; 32];
            seed[..8].copy_from_slice(&seed::derive(setup.seed, stream).to_le_bytes());
            let mut config = proto::EndpointConfig::default();
            config.rng_seed(Some(seed));
            config
                .max_udp_payload_size(setup.packet_size - crate::end::HEADERS)
                .map_err(failed)?;
            Ok(config)
        }

        fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
            Error::Setup(Box::new(error))
        }

        fn client(
            setup: &Setup<'_>,
            transport: proto::TransportConfig,
            attend: Attend,
        ) -> Result<End, Error> {
            let mut roots = RootCertStore::empty();
            let certificate = setup.certificate.certificate.clone();
            roots.add(certificate).map_err(failed)?;
            let client = proto::ClientConfig::with_root_certificates(Arc::new(roots));
            let mut client = client.map_err(failed)?;
            client.transport_config(Arc::new(transport));
            let config = endpoint_config(setup, CLIENT_STREAM)?;
            Ok(End {
                client: Some(client),
                is_sender: true,
                ..End::on(endpoint(config, None), crate::end::SERVER, attend)
            })
        }

        fn server(
            setup: &Setup<'_>,
            transport: proto::TransportConfig,
            attend: Attend,
        ) -> Result<End, Error> {
            let chain = vec![setup.certificate.certificate.clone()];
            let server = proto::ServerConfig::with_single_cert(chain, setup.certificate.key());
            let mut server = server.map_err(failed)?;
            server.transport_config(Arc::new(transport));
            let config = endpoint_config(setup, SERVER_STREAM)?;
            let endpoint = endpoint(config, Some(server));
            Ok(End::on(endpoint, crate::end::CLIENT, attend))
        }

        impl End {
            fn on(endpoint: proto::Endpoint, peer: SocketAddr, attend: Attend) -> Self {
                Self {
                    endpoint,
                    client: None,
                    peer,
                    connection: None,
                    attend,
                    is_sender: false,
                    stream: None,
                    is_up: false,
                    is_delivered: false,
                }
            }

            /// The connection and its stream of data.
            fn stream(&mut self) -> Option<(&mut proto::Connection, proto::StreamId)> {
                let (_, connection) = self.connection.as_mut()?;
                Some((connection, self.stream?))
            }

            /// Why the connection was closed, where one of the events says so.
            fn take_events(&mut self) -> Option<String> {
                let (handle, connection) = self.connection.as_mut()?;
                let mut closed = None;
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = self.endpoint.handle_event(*handle, event) {
                        connection.handle_event(event);
                    }
                }
                while let Some(event) = connection.poll() {
                    match event {
                        proto::Event::Connected => {
                            self.is_up = true;
                            if self.is_sender {
                                self.stream = connection.streams().open(proto::Dir::Uni);
                            }
                        }
                        proto::Event::Stream(proto::StreamEvent::Opened { dir }) => {
                            self.stream = connection.streams().accept(dir).or(self.stream);
                        }
                        proto::Event::Stream(proto::StreamEvent::Finished { .. }) => {
                            self.is_delivered = true;
                        }
                        proto::Event::ConnectionLost { reason } => {
                            closed = Some(reason.to_string());
                        }
                        _ => {}
                    }
                }
                closed
            }
        }

        impl crate::end::End for End {
            fn connect(&mut self, now: Instant) -> Result<(), Error> {
                if let Some(client) = self.client.clone() {
                    let name = crate::end::SERVER_NAME;
                    let connection = self.endpoint.connect(now, client, self.peer, name);
                    self.connection = Some(connection.map_err(failed)?);
                }
                Ok(())
            }

            fn timeout(&mut self) -> Option<Instant> {
                self.connection.as_mut()?.1.poll_timeout()
            }

            fn on_timeout(&mut self, now: Instant) {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_timeout(now);
                }
            }

            fn receive(&mut self, now: Instant, ecn: Ecn, datagram: &[u8]) {
                let ecn = proto::EcnCodepoint::from_bits(ecn.bits());
                match handle(&mut self.endpoint, now, self.peer, ecn, datagram) {
                    Some(proto::DatagramEvent::NewConnection(incoming)) => {
                        let accepted = self.endpoint.accept(incoming, now, &mut Vec::new(), None);
                        self.connection = accepted.ok().or(self.connection.take());
                    }
                    Some(proto::DatagramEvent::ConnectionEvent(_, event)) => {
                        if let Some((_, connection)) = &mut self.connection {
                            connection.handle_event(event);
                        }
                    }
                    // Of what belongs to no connection nothing is of interest.
                    Some(proto::DatagramEvent::Response(_)) | None => {}
                }
            }

            fn update(&mut self, now: Instant) -> Option<String> {
                let closed = self.take_events();
                if self.is_up
                    && let Some((_, connection)) = &mut self.connection
                {
                    (self.attend)(now, connection);
                }
                closed
            }

            fn is_up(&self) -> bool {
                self.is_up
            }

            fn write(&mut self, bytes: usize) -> usize {
                static DATA: [u8; crate::end::CHUNK] = [0; crate::end::CHUNK];
                let data = bytes::Bytes::from_static(&DATA[..bytes.min(DATA.len())]);
                let stream = self.stream();
                stream.map_or(0, |(connection, id)| {
                    write(&mut connection.send_stream(id), data)
                })
            }

            fn finish(&mut self) {
                if let Some((connection, id)) = self.stream() {
                    // One that is closed is finished.
                    let _ = connection.send_stream(id).finish();
                }
            }

            fn reset(&mut self) {
                if let Some((connection, id)) = self.stream() {
                    let _ = connection.send_stream(id).reset(proto::VarInt::from(0_u32));
                }
            }

            fn is_delivered(&self) -> bool {
                self.is_delivered
            }

            fn read(&mut self) -> u64 {
                let mut total = 0;
                if let Some((connection, id)) = self.stream()
                    && let Ok(mut chunks) = connection.recv_stream(id).read(true)
                {
                    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                        total += chunk.bytes.len() as u64;
                    }
                    // Credit for the peer leaves with the next packets anyway.
                    let _ = chunks.finalize();
                }
                total
            }

            fn transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<(usize, Ecn)> {
                let (_, connection) = self.connection.as_mut()?;
                let transmit = poll_transmit(connection, now, buffer)?;
                let ecn = Ecn::from_bits(transmit.ecn.map_or(0, |ecn| ecn as u8));
                Some((transmit.segment_size.unwrap_or(transmit.size), ecn))
            }
        }
    };
}

pub(crate) use end;

/// What an application hands to a stream at once.
pub(crate) const CHUNK: usize = 1 << 16;

/// IPv4 and UDP headers.
pub(crate) const HEADERS: u16 = lowtide_sim::stack::HEADERS.get() as u16;
