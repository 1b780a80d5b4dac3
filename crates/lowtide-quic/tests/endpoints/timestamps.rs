//! Receive timestamps, from good peers and from others.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lowtide_host::timestamps::encode;
use lowtide_quic::lowtide_cc::controller::AckedPacket;
use lowtide_quic::{AckSeen, CAPABILITY, Controllers, Factory, Observer};

use crate::hostile::forged_download;
use crate::peers::{Download, client, download, model, plain_client, server};

const SIZE: usize = 3_000_000;
const PATIENCE: Duration = Duration::from_secs(60);

/// What the sender's controller was told.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<AckedPacket>>);

impl Observer for Told {
    fn on_ack(&self, ack: &AckSeen<'_>) {
        self.0.lock().unwrap().extend(ack.packets);
    }
}

impl Told {
    /// The share of packets of which the arrival is known.
    fn share(&self) -> f64 {
        let packets = self.0.lock().unwrap();
        let known = packets.iter().filter(|p| p.received_at.is_some()).count();
        known as f64 / packets.len() as f64
    }
}

/// The sender of downloads, and what it is told.
fn sender(asks: bool) -> (Controllers, Arc<Told>) {
    let told = Arc::new(Told::default());
    let factory = Factory::new("bbr").unwrap().with_seed(1);
    let controllers = Controllers::from(factory.with_observer(told.clone()));
    let controllers = if asks {
        controllers.with_timestamps()
    } else {
        controllers
    };
    (controllers, told)
}

#[test]
fn arrivals_are_reported_to_who_asks_by_peers_that_know_how() {
    for (asks, peer_speaks) in [(true, true), (false, true), (true, false)] {
        let (controllers, told) = sender(asks);
        let client = if peer_speaks { client } else { plain_client };
        let download = download(model(), SIZE, PATIENCE, server(controllers), client);
        assert!(download.is_done(), "{}", download.error());
        let share = told.share();
        if !(asks && peer_speaks) {
            assert!(share == 0.0, "{asks} {peer_speaks}: {share}");
            continue;
        }
        // But for the handshake's packets all are known.
        assert!(share > 0.99, "{share}");
        // The network's delay is constant: so is the clocks' difference.
        let packets = told.0.lock().unwrap();
        let ages = packets
            .iter()
            .filter_map(|p| Some(p.received_at?.as_nanos() as i64 - p.sent_at.as_nanos() as i64));
        let spread = ages.clone().max().unwrap() - ages.min().unwrap();
        assert!(spread < 2_000_000, "{spread} ns");
    }
}

/// Downloads from who asks for timestamps to a client that forges what it sends.
fn download_by(forge: impl FnMut(u64) -> Vec<u8> + Send + 'static) -> (Download, Arc<Told>) {
    let (controllers, told) = sender(true);
    let download = forged_download(controllers, SIZE, PATIENCE, CAPABILITY, forge);
    (download, told)
}

fn frame(report: &[u8]) -> Vec<u8> {
    [b"RT\x40", &[report.len() as u8][..], report].concat()
}

#[test]
fn reports_that_cannot_be_read_say_nothing_and_the_connection_goes_on() {
    let mut good = Vec::new();
    encode(1_000, (0..9).map(|n| (1_000 - n, 99)), 100, &mut good);
    let unreadable: [(&str, Vec<u8>); 5] = [
        ("empty", Vec::new()),
        ("cut", good[..good.len() - 1].to_vec()),
        ("endless", vec![0xff; 200]),
        ("too many", vec![9, 1, 0, 0x40, 129]),
        ("before the first packet", vec![1, 1, 0, 3, 9, 0, 0, 0]),
    ];
    for (name, report) in unreadable {
        let (download, told) = download_by(move |_| frame(&report));
        assert!(download.is_done(), "{name}: {}", download.error());
        assert!(told.share() == 0.0, "{name}");
    }
    // Which packets an acknowledgment newly covers is the network's affair: reports of all, in turn.
    let (download, told) = download_by(|n| {
        let newest = 128 * (1 + n % 20);
        let mut report = Vec::new();
        encode(newest, (0..128).map(|n| (newest - n, 99)), 200, &mut report);
        frame(&report)
    });
    assert!(download.is_done(), "{}", download.error());
    assert!(told.share() > 0.0);
}

#[test]
fn a_part_of_a_frame_closes_the_connection() {
    // More than the packet has.
    let (download, _) = download_by(|_| b"RT\x7f\xff".to_vec());
    assert!(!download.is_done());
    let error = download.error();
    assert!(error.contains("Transport"), "{error}");
}
