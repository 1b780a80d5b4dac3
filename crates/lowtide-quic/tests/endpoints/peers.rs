//! Two endpoints and a download from one to the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use lowtide_quic::certificate::SelfSigned;
use lowtide_quic::{Controllers, Parts, Rbbr};
use s2n_quic::client::Connect;
use s2n_quic::provider::io::testing::network::Network;
use s2n_quic::provider::io::testing::{Handle, Model, primary, spawn, test_seed, time};
use s2n_quic::provider::limits::Limits;
use s2n_quic::{Client, Server, provider};

/// One way delay of the network.
pub(crate) const DELAY: Duration = Duration::from_millis(20);

/// Longer than any run.
pub(crate) const FOREVER: Duration = Duration::from_secs(3_600);

/// Starts an endpoint of the given type with the given parts.
macro_rules! endpoint {
    ($type:ident, $handle:expr, $tls:expr, $parts:expr) => {
        endpoint!($type, $handle, $tls, $parts, |_| {})
    };
    ($type:ident, $handle:expr, $tls:expr, $parts:expr, $on_socket:expr) => {{
        let parts: $crate::peers::Pieces<_, _> = $parts;
        let io = $handle
            .builder()
            .with_base_mtu(1228)
            .with_initial_mtu(1228)
            .with_max_mtu(1500)
            .on_socket($on_socket)
            .build()
            .unwrap();
        $type::builder()
            .with_io(parts.codepoints.on(io))
            .unwrap()
            .with_tls($tls)
            .unwrap()
            .with_limits($crate::peers::limits())
            .unwrap()
            .with_congestion_controller(parts.controller)
            .unwrap()
            .with_event(parts.events)
            .unwrap()
            .with_packet_interceptor(parts.interceptor)
            .unwrap()
            .with_datagram(parts.datagrams)
            .unwrap()
            .start()
            .unwrap()
    }};
}
pub(crate) use endpoint;

/// What became of a download.
#[derive(Clone, Debug, Default)]
pub(crate) struct Download {
    received: Arc<AtomicU64>,
    /// It came to its end.
    done: Arc<AtomicBool>,
    /// Why the client's connection ended, if not so.
    error: Arc<Mutex<Option<String>>>,
    took: Arc<Mutex<Duration>>,
}

impl Download {
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Relaxed)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Relaxed)
    }

    pub(crate) fn took(&self) -> Duration {
        *self.took.lock().unwrap()
    }

    pub(crate) fn error(&self) -> String {
        self.error.lock().unwrap().clone().unwrap_or_default()
    }
}

pub(crate) fn model() -> Model {
    let model = Model::default();
    model.set_delay(DELAY);
    model
}

/// A network that drops what exceeds 200 packets on their way: a flow cannot grow forever, so that
/// BBR reaches ProbeBW.
pub(crate) fn narrow() -> Model {
    let model = model();
    model.set_max_inflight(200);
    model
}

/// Runs endpoints over `network` until all primary tasks have ended.
fn run(network: impl Network, start: impl FnOnce(&Handle, &SelfSigned)) {
    let certificate = SelfSigned::new(["localhost"]).unwrap();
    test_seed(network, 1, |handle| {
        start(handle, &certificate);
        Ok(())
    })
    .unwrap();
}

/// A download of `size` from one of two endpoints to the other, given up after `patience`.
pub(crate) fn download(
    network: impl Network,
    size: usize,
    patience: Duration,
    server: impl FnOnce(&Handle, (&str, &str)) -> Server,
    client: impl FnOnce(&Handle, &str) -> Client,
) -> Download {
    let mut download = None;
    run(network, |handle, certificate| {
        let server = server(handle, (&certificate.certificate, &certificate.key));
        let connect = Connect::new(server.local_addr().unwrap()).with_server_name("localhost");
        spawn(serve(server, size));
        let client = client(handle, &certificate.certificate);
        download = Some(fetch(client, connect, patience));
    });
    download.unwrap()
}

/// A server with all parts of these controllers.
pub(crate) fn server(
    controllers: impl Into<Controllers>,
) -> impl FnOnce(&Handle, (&str, &str)) -> Server {
    move |handle, tls| endpoint!(Server, handle, tls, controllers.into().parts().into())
}

/// A server with a controller and without the other parts.
pub(crate) fn bare_server<C: provider::congestion_controller::Provider>(
    controller: C,
) -> impl FnOnce(&Handle, (&str, &str)) -> Server {
    move |handle, tls| {
        let builder = Server::builder().with_io(handle.builder().build().unwrap());
        let builder = builder.unwrap().with_tls(tls).unwrap();
        let builder = builder.with_congestion_controller(controller).ok();
        builder.unwrap().start().unwrap()
    }
}

/// A client with RBBR's parts.
pub(crate) fn client(handle: &Handle, tls: &str) -> Client {
    endpoint!(Client, handle, tls, Rbbr::default().parts().into())
}

/// A client that is s2n-quic's alone.
pub(crate) fn plain_client(handle: &Handle, tls: &str) -> Client {
    let builder = Client::builder().with_io(handle.builder().build().unwrap());
    builder.unwrap().with_tls(tls).unwrap().start().unwrap()
}

pub(crate) fn limits() -> Limits {
    lowtide_quic::limits()
        .with_data_window(1 << 30)
        .and_then(|l| l.with_bidirectional_local_data_window(1 << 30))
        .and_then(|l| l.with_bidirectional_remote_data_window(1 << 30))
        .and_then(|l| l.with_max_send_buffer_size(1 << 26))
        .and_then(|l| l.with_max_idle_timeout(Duration::from_secs(5)))
        .unwrap()
}

/// An endpoint's parts, of which the interceptor and the datagrams may be a test's.
pub(crate) struct Pieces<I, D> {
    pub(crate) controller: lowtide_quic::Controllers,
    pub(crate) events: lowtide_quic::Events,
    pub(crate) interceptor: I,
    pub(crate) datagrams: D,
    pub(crate) codepoints: lowtide_quic::Codepoints,
}

impl From<Parts> for Pieces<lowtide_quic::Interceptor, lowtide_quic::Datagrams> {
    fn from(parts: Parts) -> Self {
        Self {
            controller: parts.controller,
            events: parts.events,
            interceptor: parts.interceptor,
            datagrams: parts.datagrams,
            codepoints: parts.codepoints,
        }
    }
}

/// Sends `count` bytes on each stream that a client opens.
async fn serve(mut server: Server, count: usize) {
    while let Some(mut connection) = server.accept().await {
        spawn(async move {
            while let Ok(Some(stream)) = connection.accept_bidirectional_stream().await {
                spawn(async move {
                    let (_from, mut to) = stream.split();
                    let _ = to.send(Bytes::from(vec![7; count])).await;
                    let _ = to.close().await;
                });
            }
        });
    }
}

/// Fetches one stream; ends the run when it is there, fails, or after `patience`.
fn fetch(client: Client, connect: Connect, patience: Duration) -> Download {
    let download = Download::default();
    let mine = download.clone();
    let over = Arc::new(AtomicBool::new(false));
    let is_over = over.clone();
    spawn(async move {
        let start = time::now();
        let fetched = async {
            let mut connection = client.connect(connect).await?;
            let mut stream = connection.open_bidirectional_stream().await?;
            stream.send(Bytes::from_static(b"?")).await?;
            while let Some(data) = stream.receive().await? {
                assert!(data.iter().all(|b| *b == 7));
                mine.received.fetch_add(data.len() as u64, Relaxed);
            }
            Ok::<_, Box<dyn std::error::Error>>(())
        };
        match fetched.await {
            Ok(()) => mine.done.store(true, Relaxed),
            Err(e) => *mine.error.lock().unwrap() = Some(format!("{e:?}")),
        }
        *mine.took.lock().unwrap() = time::now().saturating_duration_since(start);
        over.store(true, Relaxed);
        // The client closes only with the run.
        time::delay(FOREVER).await;
        drop(client);
    });
    primary::spawn(async move {
        let start = time::now();
        while !is_over.load(Relaxed) && time::now().saturating_duration_since(start) < patience {
            time::delay(Duration::from_millis(10)).await;
        }
    });
    download
}
