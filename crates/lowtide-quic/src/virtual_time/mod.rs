//! Whole s2n-quic connections in virtual time, over the simulator's links.
//!
//! The same configuration that [`lowtide_sim::Simulation`] runs with its own transport runs here with
//! s2n-quic: handshake, streams, loss detection, acknowledgments and timers are the real ones, only
//! clock and network are not. What is different from the model:
//! - packets have headers and sizes of their own; links and queues carry them with 28 bytes of IPv4
//!   and UDP;
//! - clock and timers of s2n-quic count microseconds, and what is due within a millisecond counts as
//!   due;
//! - `ack_every` becomes the nearest that s2n-quic offers: each packet, about every second one, or
//!   every tenth;
//! - which bytes are sent again is not visible: the next bytes sent after a loss are taken for them;
//!   lone acknowledgments of a sender do not count as sent;
//! - what the receiver's estimator believes is not visible to the probe.

mod network;
mod stock;

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as StdDuration;
use std::{fmt, mem, panic};

use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_host::Factory;
use lowtide_sim::network::seed::{self, Stream};
use lowtide_sim::source::{Source, SourceConfig};
use lowtide_sim::stack::{self, Error, Timed};
use lowtide_sim::transport::{EcnFeedback, TransportConfig};
use lowtide_sim::{FlowConfig, Outcome, Probe, SenderKind, SimConfig};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use s2n_quic::client::Connect;
use s2n_quic::provider::io::testing::{Executor, Handle, Io, primary, spawn, time};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Server};

use self::network::{Driven, Hosts, Shared};
use self::stock::Choice;
pub use self::stock::STOCK;
use crate::certificate::SelfSigned;
use crate::controllers::{Controllers, Parts};
use crate::limits::MAX_ACK_DELAY;

/// Name in the certificate of virtual servers.
const SERVER_NAME: &str = "localhost";

/// Flow control is no limit here: as much as any window that the simulator can reach.
const FLOW_CONTROL_WINDOW: u64 = 1 << 30;

/// What an application hands to a stream at once.
const CHUNK: usize = 1 << 16;

/// What a stream's send buffer holds: what is in flight stays there, and a window must never find it
/// too small, or a bulk sender would be taken for application-limited. The data are all the same
/// zeros, so that it takes no memory.
const SEND_BUFFER: u32 = 1 << 26;

/// Packets that an endpoint takes from its virtual socket at once: as many as that holds.
const RECEIVED_AT_ONCE: usize = 1024;

/// The most memory for them, which is s2n-quic's default; with small packets it would be more than all
/// else that a flow needs.
const RECEIVE_BUFFER: usize = 8 << 20;

/// A sender's own `max_ack_delay`, RFC 9000's default; it has next to nothing to acknowledge.
const CLIENT_ACK_DELAY: StdDuration = StdDuration::from_millis(25);

/// The streams of randomness that a flow's seed gives its endpoints.
const SERVER_STREAM: u64 = 1;
const CLIENT_STREAM: u64 = 2;

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

fn setup<E: fmt::Display>(error: E) -> Error {
    Error::Setup(format!("s2n-quic: {error}").into())
}

/// Randomness for s2n-quic from a seed.
struct Seeded(Pcg64Mcg);

impl Seeded {
    fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }
}

impl s2n_quic_core::random::Generator for Seeded {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        self.0.fill_bytes(dest);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        self.0.fill_bytes(dest);
    }
}

impl s2n_quic::provider::random::Provider for Seeded {
    type Generator = Self;
    type Error = std::convert::Infallible;

    fn start(self) -> Result<Self, Self::Error> {
        Ok(self)
    }
}

/// Runs a configuration with s2n-quic and hands back its outcome and the probe.
///
/// # Errors
/// When the configuration cannot run with s2n-quic; see [`Error`].
///
/// # Panics
/// When the probe or a controller does; the memory of the run's endpoints is not freed then.
pub fn run<P: Probe + Send + 'static>(config: &SimConfig, probe: P) -> Result<(Outcome, P), Error> {
    let packet_size = stack::check(config)?;
    let certificate = SelfSigned::new([SERVER_NAME]).map_err(setup)?;
    let network = Shared::new(Hosts::new(config, probe));
    let mut executor = Executor::new(Driven(network.clone()), config.seed);
    let handle = executor.handle().clone();
    executor.enter(|| start(config, packet_size, &certificate, &network, &handle))?;
    let run = AssertUnwindSafe(|| executor.run());
    if let Err(panic) = panic::catch_unwind(run) {
        // When dropped it would poll its tasks once more, also the one that panicked. Its memory is lost.
        mem::forget(executor);
        panic::resume_unwind(panic);
    }
    drop(executor);
    network.into_inner()?.finish()
}

fn limits(max_ack_delay: StdDuration, initial_rtt: Duration) -> Result<Limits, Error> {
    Limits::new()
        .with_max_ack_delay(max_ack_delay)
        .and_then(|l| l.with_data_window(FLOW_CONTROL_WINDOW))
        .and_then(|l| l.with_bidirectional_local_data_window(FLOW_CONTROL_WINDOW))
        .and_then(|l| l.with_bidirectional_remote_data_window(FLOW_CONTROL_WINDOW))
        .and_then(|l| l.with_unidirectional_data_window(FLOW_CONTROL_WINDOW))
        .and_then(|l| l.with_max_send_buffer_size(SEND_BUFFER))
        .and_then(|l| l.with_max_idle_timeout(StdDuration::from_secs(3_600)))
        .and_then(|l| l.with_max_handshake_duration(StdDuration::from_secs(3_600)))
        .and_then(|l| l.with_initial_round_trip_time(initial_rtt.into()))
        .map_err(setup)
}

/// The receiver's `max_ack_delay` that makes s2n-quic acknowledge about every `ack_every` packets.
fn max_ack_delay(transport: TransportConfig) -> Result<StdDuration, Error> {
    match transport {
        TransportConfig::Quic {
            ack_every,
            max_ack_delay,
            ..
        } => Ok(match ack_every {
            0 | 1 => StdDuration::ZERO,
            2..10 => MAX_ACK_DELAY,
            _ => max_ack_delay.into(),
        }),
        TransportConfig::Tcp { .. } => Err(Error::NotQuic),
    }
}

/// What the endpoints of a run are built with.
struct Endpoints<'a> {
    handle: &'a Handle,
    certificate: &'a SelfSigned,
    packet_size: u16,
    initial_rtt: Duration,
}

impl Endpoints<'_> {
    fn io(&self) -> std::io::Result<Io> {
        let received = RECEIVED_AT_ONCE * usize::from(self.packet_size);
        self.handle
            .builder()
            .with_base_mtu(1228)
            .with_initial_mtu(self.packet_size)
            .with_max_mtu(self.packet_size)
            .with_internal_recv_buffer_size(received.min(RECEIVE_BUFFER))?
            .build()
    }

    fn server(
        &self,
        choice: Choice,
        parts: Parts,
        ack_delay: StdDuration,
        seed: u64,
    ) -> Result<Server, Error> {
        let limits = limits(ack_delay, self.initial_rtt)?;
        let tls = (
            self.certificate.certificate.as_str(),
            self.certificate.key.as_str(),
        );
        let server = || -> Result<Server, BoxedError> {
            Ok(Server::builder()
                .with_io(parts.codepoints.on(self.io()?))?
                .with_tls(tls)?
                .with_limits(limits)?
                .with_random(Seeded::new(seed::derive(seed, SERVER_STREAM)))?
                .with_congestion_controller(choice.senders(parts.controller))?
                .with_event(parts.events)?
                .with_packet_interceptor(parts.interceptor)?
                .with_datagram(parts.datagrams)?
                .start()?)
        };
        server().map_err(setup)
    }

    fn client(&self, choice: Choice, parts: Parts, seed: u64) -> Result<Client, Error> {
        let limits = limits(CLIENT_ACK_DELAY, self.initial_rtt)?;
        let client = || -> Result<Client, BoxedError> {
            Ok(Client::builder()
                .with_io(parts.codepoints.on(self.io()?))?
                .with_tls(self.certificate.certificate.as_str())?
                .with_limits(limits)?
                .with_random(Seeded::new(seed::derive(seed, CLIENT_STREAM)))?
                .with_congestion_controller(choice.senders(parts.controller))?
                .with_event(parts.events)?
                .with_packet_interceptor(parts.interceptor)?
                .with_datagram(parts.datagrams)?
                .start()?)
        };
        client().map_err(setup)
    }
}

fn start<P: Probe + Send + 'static>(
    config: &SimConfig,
    packet_size: u16,
    certificate: &SelfSigned,
    network: &Shared<P>,
    handle: &Handle,
) -> Result<(), Error> {
    network.lock().now();
    let (duration, ending) = (config.duration, network.clone());
    primary::spawn(async move {
        time::delay(duration.into()).await;
        ending.lock().end();
    });
    let endpoints = Endpoints {
        handle,
        certificate,
        packet_size,
        // Senders and receivers must not take the handshake for congestion, whatever the path's
        // RTT.
        initial_rtt: config
            .base_rtt(&config.flows[0].access)
            .max(Duration::from_millis(333)),
    };
    for index in 0..config.flows.len() {
        start_flow(config, index, &endpoints, network)?;
    }
    Ok(())
}

fn start_flow<P: Probe + Send + 'static>(
    config: &SimConfig,
    index: usize,
    endpoints: &Endpoints<'_>,
    network: &Shared<P>,
) -> Result<(), Error> {
    let flow = &config.flows[index];
    let choice = Choice::of(&flow.sender)?;
    let seed = Stream::Flow(index).seed(config.seed);
    let ack_delay = max_ack_delay(flow.transport)?;

    // Acknowledgments are not ECN-capable in the model either.
    let of_receiver = choice.of_receiver();
    let mut receiver = Factory::with_controller("receiver", of_receiver.make.clone());
    if let SenderKind::Controlled {
        estimator: Some(estimator),
        ..
    } = &flow.sender
    {
        receiver = receiver.with_receiver(*estimator);
    }
    let receiver = Controllers::from(receiver.with_seed(seed)).without_ecn();
    let server = endpoints.server(of_receiver, receiver.parts(), ack_delay, seed)?;
    let server_address = server.local_addr().map_err(setup)?;
    let frames = Frames::default();
    let arrived = Arrived {
        flow: index,
        frames: frames.clone(),
        network: network.clone(),
    };
    spawn(receive(server, arrived));

    let sender = Factory::with_controller("sender", choice.make.clone())
        .with_seed(seed)
        .with_observer(network.observer(index));
    let mut sender = Controllers::from(sender);
    if flow.transport.reports_timestamps() {
        sender = sender.with_timestamps();
    }
    if flow.ecn == EcnFeedback::Off {
        sender = sender.without_ecn();
    }
    let client = endpoints.client(choice, sender.parts(), seed)?;
    let address = client.local_addr().map_err(setup)?;
    network.lock().add_flow(address);

    let connect = Connect::new(server_address).with_server_name(SERVER_NAME);
    let sender = Application {
        source: Source::new(flow.source, flow.start, config.packet_size, seed),
        is_sized: matches!(flow.source, SourceConfig::Sized(_)),
        frames,
        flow: index,
        end: Time::ZERO + config.duration + Duration::from_secs(1),
        network: network.clone(),
    };
    spawn(send(client, connect, sender, flow.clone()));
    Ok(())
}

/// A video's frames on their way: where in the stream each ends, and when it was written.
#[derive(Clone, Default)]
struct Frames(Arc<Mutex<VecDeque<(u64, Time)>>>);

impl Frames {
    fn push(&self, end: u64, written_at: Time) {
        let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frames.push_back((end, written_at));
    }

    /// When the next frame was written, if all of it has been read.
    fn take(&self, read: u64) -> Option<Time> {
        let mut frames = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, written_at) = *frames.front().filter(|(end, _)| *end <= read)?;
        frames.pop_front();
        Some(written_at)
    }
}

/// A flow's application.
struct Application<P> {
    source: Source,
    frames: Frames,
    is_sized: bool,
    flow: usize,
    /// After the end of the run.
    end: Time,
    network: Shared<P>,
}

async fn sleep_until<P: Probe + Send + 'static>(network: &Shared<P>, until: Time) {
    let now = network.lock().now();
    time::delay(until.since(now).into()).await;
}

/// Connects and sends what the source writes. A run whose connection fails fails.
async fn send<P: Probe + Send + 'static>(
    client: Client,
    connect: Connect,
    app: Application<P>,
    flow: FlowConfig,
) {
    let (index, network) = (app.flow, app.network.clone());
    if let Err(error) = try_send(&client, connect, app, &flow).await {
        let mut network = network.lock();
        let now = network.now();
        network.close(index, now, error.to_string());
    }
}

async fn try_send<P: Probe + Send + 'static>(
    client: &Client,
    connect: Connect,
    mut app: Application<P>,
    flow: &FlowConfig,
) -> Result<(), Box<dyn std::error::Error>> {
    static DATA: [u8; CHUNK] = [0; CHUNK];
    let mut written = 0;
    sleep_until(&app.network, flow.start).await;
    let mut connection = client.connect(connect).await?;
    let mut stream = connection.open_send_stream().await?;
    loop {
        let now = app.network.lock().now();
        if flow.stop.is_some_and(|stop| now >= stop) {
            break;
        }
        let available = app.source.available(now).get().min(CHUNK as u64) as usize;
        if available > 0 {
            app.source.take(Bytes::new(available as u64));
            written += available as u64;
            while let Some(at) = app.source.completed_frame() {
                app.frames.push(written, at);
            }
            stream
                .send(bytes::Bytes::from_static(&DATA[..available]))
                .await?;
        } else if let Some(next) = app.source.next_write() {
            sleep_until(&app.network, next).await;
        } else {
            break;
        }
    }
    stream.finish()?;
    stream.close().await?;
    if app.is_sized {
        let mut network = app.network.lock();
        let now = network.now();
        network.dumbbell.probe.on_flow_complete(app.flow, now);
    }
    // What has been sent must stay acknowledged until the end.
    sleep_until(&app.network, app.end).await;
    Ok(())
}

/// What a flow's receiver tells of what arrives.
struct Arrived<P> {
    flow: usize,
    frames: Frames,
    network: Shared<P>,
}

/// Accepts the flow's connection and throws away what it brings.
async fn receive<P: Probe + Send + 'static>(mut server: Server, arrived: Arrived<P>) {
    let Some(mut connection) = server.accept().await else {
        return;
    };
    let Ok(Some(mut stream)) = connection.accept_receive_stream().await else {
        return;
    };
    let mut read = 0;
    while let Ok(Some(data)) = stream.receive().await {
        read += data.len() as u64;
        while let Some(written_at) = arrived.frames.take(read) {
            let mut network = arrived.network.lock();
            let now = network.now();
            let probe = &mut network.dumbbell.probe;
            probe.on_frame(arrived.flow, written_at, now);
        }
    }
    // What has arrived must stay acknowledged until the end.
    let _ = connection.accept_receive_stream().await;
}
