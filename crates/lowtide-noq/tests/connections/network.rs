//! Two `noq-proto` endpoints and the simulator's network between them, in virtual time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use bytes::BytesMut;
use lowtide_cc::Ecn;
use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_host::contract::{self, Shared};
use lowtide_host::{AckSeen, Make, Observer};
use lowtide_noq::{Controllers, Extension, ExtensionSeen};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::network::{Arrival, Dropped, Packet, Tap};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::{AccessConfig, Direction, Network, NetworkConfig, PipeConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, FourTuple, PathId, ServerConfig, StreamEvent, StreamId, TransportConfig,
    VarInt,
};
use rustls::RootCertStore;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// IPv4 and UDP headers, which links and queues carry too.
const HEADERS: u64 = 28;

/// A forger forges no more often.
const FORGERY_PERIOD: Duration = Duration::from_millis(2);

const WINDOW: u32 = 1 << 26;

/// What the sender of data writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// Without an end.
    Bulk,
    /// This many bytes, then nothing.
    Bytes(u64),
    /// This many bytes each period.
    Every(Duration, u64),
}

/// What a hostile end sends in a datagram, if it sends one now.
pub(crate) type Forge = Box<dyn FnMut(Time) -> Option<Vec<u8>>>;

pub(crate) struct Scenario {
    pub(crate) forward: PipeConfig,
    pub(crate) reverse: PipeConfig,
    pub(crate) seconds: u64,
    pub(crate) source: Source,
    pub(crate) make: Make,
    /// Whether sender and receiver run RBBR's extension.
    pub(crate) extensions: [bool; 2],
    /// Which end forges datagrams.
    pub(crate) forger: Option<(usize, Forge)>,
    /// When the receiver's port changes.
    pub(crate) new_port_at: Option<Time>,
    pub(crate) mtu_discovery: bool,
}

pub(crate) fn make(spec: &str) -> Make {
    let spec = registry::parse(spec).unwrap();
    Arc::new(move |config| spec.build(config))
}

impl Scenario {
    /// Bulk data for 8 s over a link of one rate with 40 ms RTT and a buffer in BDP.
    pub(crate) fn new(spec: &str, rate: Rate, buffer: f64) -> Self {
        let there = Duration::from_millis(20);
        let link = Arc::new(Link::constant(rate).unwrap());
        Self {
            forward: PipeConfig::link_with_delay(link, QueueLimit::Bdp(buffer), there),
            reverse: PipeConfig::delay_only(there),
            seconds: 8,
            source: Source::Bulk,
            make: make(spec),
            extensions: [false; 2],
            forger: None,
            new_port_at: None,
            mtu_discovery: false,
        }
    }

    pub(crate) fn with_loss(mut self, share: f64) -> Self {
        self.forward.loss = LossModel::Random(share);
        self
    }

    pub(crate) fn with_extensions(mut self) -> Self {
        self.extensions = [true; 2];
        self
    }
}

/// What was seen of a run.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Data delivered in the last three quarters of the run, per second.
    pub(crate) goodput: Rate,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    /// When packets with data left, and their sizes.
    pub(crate) departures: Vec<(Time, u64)>,
    /// When packets of either end left.
    pub(crate) last_packet: Time,
    pub(crate) rtts: Vec<Duration>,
    pub(crate) estimate: Option<Rate>,
    /// What the sender knew of the extension last.
    pub(crate) extension: ExtensionSeen,
    pub(crate) breaches: Vec<String>,
}

impl Seen {
    pub(crate) fn mean_rtt_ms(&self) -> f64 {
        let sum: f64 = self.rtts.iter().map(|rtt| rtt.as_millis_f64()).sum();
        sum / self.rtts.len() as f64
    }
}

#[derive(Debug, Default)]
struct Rtts(Mutex<Vec<Duration>>, Mutex<ExtensionSeen>);

impl Observer for Rtts {
    fn on_ack(&self, ack: &AckSeen<'_>) {
        *self.1.lock().unwrap() = ack.extension;
        // The controllers pass their phase of start-up in less than two seconds.
        if ack.now >= Time::ZERO + Duration::from_secs(2) {
            self.0.lock().unwrap().extend(ack.rtt);
        }
    }
}

struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    extension: Option<Extension>,
    has_extension: bool,
    address: SocketAddr,
    stream: Option<StreamId>,
    is_up: bool,
}

/// A datagram on its way.
#[derive(Debug)]
struct Datagram {
    from: SocketAddr,
    payload: Vec<u8>,
}

impl Tap<Datagram> for Seen {
    fn on_drop(&mut self, dropped: Dropped<Datagram>) {
        if dropped.direction == Direction::Forward {
            self.dropped += 1;
        }
    }
}

/// Both ends of a connection, the network between them, and what drives the sender.
struct Run {
    base: Instant,
    now: Time,
    /// The sender of data is the server, 0; the receiver the client, 1.
    ends: [End; 2],
    network: Network<Datagram>,
    source: Source,
    written: u64,
    next_write: Time,
    received: u64,
    quarter: Time,
    forger: Option<(usize, Forge)>,
    next_forgery: Time,
    seen: Seen,
}

fn transport(controllers: Controllers, mtu_discovery: bool) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(Arc::new(controllers))
        .send_window(u64::from(WINDOW))
        .stream_receive_window(VarInt::from(WINDOW))
        .receive_window(VarInt::from(WINDOW));
    if !mtu_discovery {
        transport.initial_mtu(1472).mtu_discovery_config(None);
    }
    Arc::new(transport)
}

fn endpoint_config(seed: u8) -> Arc<EndpointConfig> {
    let mut config = EndpointConfig::default();
    config.rng_seed(Some([seed; 32]));
    Arc::new(config)
}

/// Runs a scenario with a controller that checks its host.
pub(crate) fn run(scenario: Scenario) -> (Seen, Shared) {
    let (recorded, notes) = contract::recorded(scenario.make.clone());
    let rtts = Arc::new(Rtts::default());
    let sender = Controllers::with_controller("recorded", recorded)
        .with_seed(1)
        .with_observer(rtts.clone());
    let receiver = Controllers::with_controller("receiver", scenario.make.clone()).with_seed(2);
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_string()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut server =
        ServerConfig::with_single_cert(vec![certificate.der().clone()], private).unwrap();
    server.transport_config(transport(sender, scenario.mtu_discovery));
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    client.transport_config(transport(receiver, scenario.mtu_discovery));

    let address = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let end = |seed, server, port, has_extension| End {
        endpoint: Endpoint::new(endpoint_config(seed), server, true),
        connection: None,
        extension: None,
        has_extension,
        address: address(port),
        stream: None,
        is_up: false,
    };
    let [sends, receives] = scenario.extensions;
    let mut ends = [
        end(1, Some(Arc::new(server)), 4433, sends),
        end(2, None, 5000, receives),
    ];
    let base = Instant::now();
    let connection = ends[1]
        .endpoint
        .connect(base, client, address(4433), "localhost")
        .unwrap();
    ends[1].connection = Some(connection);
    let network = NetworkConfig {
        base_rtt: scenario.forward.delay + scenario.reverse.delay,
        forward: scenario.forward,
        reverse: scenario.reverse,
        access: vec![AccessConfig::default()],
        seed: 1,
    };
    let duration = Duration::from_secs(scenario.seconds);
    let mut run = Run {
        base,
        now: Time::ZERO,
        ends,
        network: Network::new(&network),
        source: scenario.source,
        written: 0,
        next_write: Time::ZERO,
        received: 0,
        quarter: Time::ZERO + duration.div(4),
        forger: scenario.forger,
        next_forgery: Time::ZERO,
        seen: Seen::default(),
    };
    run.until(Time::ZERO + duration, scenario.new_port_at);
    let mut seen = run.seen;
    seen.goodput = Rate::from_volume(Bytes::new(run.received), duration.div(4) * 3);
    seen.estimate = run.ends[1].extension.as_ref().and_then(|e| e.estimate());
    seen.rtts = std::mem::take(&mut *rtts.0.lock().unwrap());
    seen.extension = *rtts.1.lock().unwrap();
    seen.breaches = notes.lock().unwrap().breaches.clone();
    (seen, notes)
}

impl Run {
    fn instant(&self) -> Instant {
        self.base + std::time::Duration::from(self.now.since(Time::ZERO))
    }

    fn until(&mut self, end: Time, new_port_at: Option<Time>) {
        let mut new_port_at = new_port_at;
        loop {
            for which in [0, 1] {
                self.serve(which);
            }
            let Some(next) = self.next().filter(|next| *next < end) else {
                return;
            };
            self.now = next.max(self.now);
            if new_port_at.is_some_and(|at| self.now >= at) {
                new_port_at = None;
                let address = &mut self.ends[1].address;
                address.set_port(address.port() + 1);
            }
            while let Some(arrival) = self.network.advance(self.now, &mut self.seen) {
                self.arrive(arrival);
            }
            let now = self.instant();
            for end in &mut self.ends {
                if let Some((_, connection)) = &mut end.connection
                    && connection.poll_timeout().is_some_and(|at| at <= now)
                {
                    connection.handle_timeout(now);
                }
            }
        }
    }

    fn next(&mut self) -> Option<Time> {
        let base = self.base;
        let writes = self.ends[0].is_up && matches!(self.source, Source::Every(..));
        let write = writes.then_some(self.next_write);
        let timers = self.ends.iter_mut().filter_map(|end| {
            let at = end.connection.as_mut()?.1.poll_timeout()?;
            Some(Time::ZERO + at.saturating_duration_since(base).into())
        });
        let network = self.network.next_event();
        timers.chain(network).chain(write).min()
    }

    fn arrive(&mut self, arrival: Arrival<Datagram>) {
        let ecn = EcnCodepoint::from_bits(arrival.packet.ecn.bits());
        let Datagram { from, payload } = arrival.packet.payload;
        let which = match arrival.direction {
            Direction::Forward => 1,
            Direction::Reverse => 0,
        };
        let now = self.instant();
        let end = &mut self.ends[which];
        // Of a port that is no longer in use nothing arrives: the peer's first packet tells.
        let path = FourTuple::new(from, Some(end.address.ip()));
        let (payload, mut answer) = (BytesMut::from(&payload[..]), Vec::new());
        let event = end.endpoint.handle(now, path, ecn, payload, &mut answer);
        match event {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = end.endpoint.accept(incoming, now, &mut answer, None);
                end.connection = Some(accepted.unwrap());
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut end.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.serve(which);
    }

    /// Lets an end do all that it can do now.
    fn serve(&mut self, which: usize) {
        if self.ends[which].connection.is_none() {
            return;
        }
        let now = self.instant();
        self.ends[which].take_events();
        self.ends[which].exchange(now);
        if self.ends[which].is_up {
            self.forge(which);
        }
        if which == 0 && self.ends[which].is_up {
            self.write();
        } else {
            self.read(which);
        }
        self.transmit(which);
    }

    /// Sends what a forger of this end has ready.
    fn forge(&mut self, which: usize) {
        let time = self.now;
        if let Some((_, connection)) = &mut self.ends[which].connection
            && let Some((forger, forge)) = &mut self.forger
            && *forger == which
            && time >= self.next_forgery
            && let Some(payload) = forge(time)
        {
            self.next_forgery = time + FORGERY_PERIOD;
            connection.datagrams().send(payload.into(), true).unwrap();
        }
    }

    /// The sender's application writes what its source has and flow control admits.
    fn write(&mut self) {
        let end = &mut self.ends[0];
        let Some((_, connection)) = &mut end.connection else {
            return;
        };
        let stream = *end
            .stream
            .get_or_insert_with(|| connection.streams().open(Dir::Uni).unwrap());
        let mut left = match self.source {
            Source::Bulk => u64::MAX,
            Source::Bytes(total) => total - self.written,
            Source::Every(period, bytes) => {
                let is_due = self.now >= self.next_write;
                if is_due {
                    self.next_write = self.now + period;
                }
                if is_due { bytes } else { 0 }
            }
        };
        static DATA: [u8; 1 << 16] = [0; 1 << 16];
        while left > 0 {
            let chunk = &DATA[..DATA.len().min(left as usize)];
            let Ok(written) = connection.send_stream(stream).write(chunk) else {
                break;
            };
            left -= written as u64;
            self.written += written as u64;
        }
    }

    /// The receiver's application reads all there is.
    fn read(&mut self, which: usize) {
        let end = &mut self.ends[which];
        let Some(stream) = end.stream else {
            return;
        };
        let Some((_, connection)) = &mut end.connection else {
            return;
        };
        let mut stream = connection.recv_stream(stream);
        if let Ok(mut chunks) = stream.read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                let bytes = chunk.bytes.len() as u64;
                self.seen.delivered += bytes;
                if self.now >= self.quarter {
                    self.received += bytes;
                }
            }
            let _ = chunks.finalize();
        }
    }

    /// Hands the packets that may leave now to the network.
    fn transmit(&mut self, which: usize) {
        let (now, time) = (self.instant(), self.now);
        let end = &mut self.ends[which];
        let Some((_, connection)) = &mut end.connection else {
            return;
        };
        let (mut sent, mut buffer) = (Vec::new(), Vec::new());
        let most = NonZeroUsize::new(10).unwrap();
        while let Some(transmit) = connection.poll_transmit(now, most, &mut buffer) {
            let size = transmit.segment_size.unwrap_or(transmit.size);
            for payload in buffer[..transmit.size].chunks(size) {
                sent.push((transmit.ecn, payload.to_vec()));
            }
            buffer.clear();
        }
        let from = end.address;
        for (ecn, payload) in sent {
            self.seen.last_packet = time;
            if which == 0 && payload.len() > 200 {
                self.seen.departures.push((time, payload.len() as u64));
            }
            let packet = Packet {
                flow: 0,
                bytes: Bytes::new(payload.len() as u64 + HEADERS),
                ecn: Ecn::from_bits(ecn.map_or(0, |ecn| ecn as u8)),
                payload: Datagram { from, payload },
            };
            let direction = Direction::BOTH[which];
            self.network.send(time, direction, packet, &mut self.seen);
        }
    }
}

impl End {
    /// What happened on the connection since the last call.
    fn take_events(&mut self) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected => self.is_up = true,
                Event::Stream(StreamEvent::Opened { dir }) => {
                    self.stream = connection.streams().accept(dir).or(self.stream);
                }
                Event::ConnectionLost { reason } => panic!("{}: {reason}", self.address),
                _ => {}
            }
        }
    }

    /// RBBR's extension, in the order that [`Extension`] asks for.
    fn exchange(&mut self, now: Instant) {
        if !self.has_extension || !self.is_up {
            return;
        }
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        let extension = self.extension.get_or_insert_with(|| {
            let controller = connection.congestion_state(PathId::ZERO).unwrap();
            Extension::new(controller.clone_box())
        });
        while let Some(payload) = connection.datagrams().recv() {
            extension.on_datagram(now, &payload);
        }
        extension.on_received(now, &connection.stats());
        if let Some(payload) = extension.poll_datagram(now) {
            connection.datagrams().send(payload, true).unwrap();
        }
    }
}
