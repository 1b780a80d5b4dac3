//! What the lack of a pacing rate in quinn costs: the same controllers over noq, which paces at their rate,
//! over quinn by a window that opens at the rate, and over quinn by its own pacer alone. The table that
//! `-- --nocapture` prints is that of `docs/adopt/quinn.md`.

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::Direction;
use lowtide_sim::link::Link;
use lowtide_sim::probe::{Delivery, Departure, DropCause};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::trace::{self, generate};
use lowtide_sim::{FlowConfig, Probe, SenderKind, SimConfig};
use lowtide_stacks::quinn::Pacing;
use lowtide_stacks::{noq, quinn};

const RTT: Duration = Duration::from_millis(40);
const LENGTH: Duration = Duration::from_secs(30);

#[derive(Default)]
struct Seen {
    delivered: Bytes,
    dropped: Bytes,
    sojourns: Vec<Duration>,
    frames: Vec<Duration>,
}

impl Probe for Seen {
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        self.delivered += delivery.bytes;
    }

    fn on_drop(&mut self, _flow: usize, _now: Time, bytes: Bytes, _cause: DropCause) {
        self.dropped += bytes;
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        if exit.direction == Direction::Forward {
            self.sojourns.push(exit.sojourn);
        }
    }

    fn on_frame(&mut self, _flow: usize, written_at: Time, now: Time) {
        self.frames.push(now.since(written_at));
    }
}

/// The 95th percentile in milliseconds; zero of nothing.
fn p95(mut values: Vec<Duration>) -> f64 {
    values.sort_unstable();
    let index = values.len().saturating_sub(1) * 95 / 100;
    values.get(index).map_or(0.0, |value| value.as_millis_f64())
}

/// Throughput, the packets' p95 on the shared link, the share lost, and the frames' p95.
struct Row {
    mbps: f64,
    p95_ms: f64,
    lost: f64,
    frame_ms: f64,
}

impl Row {
    fn of(seen: Seen) -> Self {
        let sent = seen.delivered + seen.dropped;
        Self {
            mbps: Rate::from_volume(seen.delivered, LENGTH).as_mbps(),
            p95_ms: p95(seen.sojourns),
            lost: seen.dropped.as_f64() / sent.as_f64(),
            frame_ms: p95(seen.frames),
        }
    }
}

/// The rows of a controller over noq, over quinn by the window, and over quinn by its pacer.
fn measure(link: &Link, buffer: QueueLimit, spec: &str, source: SourceConfig) -> [Row; 3] {
    let mut flow = FlowConfig::bulk(SenderKind::of(&registry::parse(spec).unwrap()));
    flow.source = source;
    let config = SimConfig::over(link.clone(), buffer, RTT.div(2), vec![flow], LENGTH);
    let by = |pacing| {
        quinn::run_paced(pacing, &config, Seen::default())
            .unwrap()
            .1
    };
    let noq = noq::run(&config, Seen::default()).unwrap().1;
    [noq, by(Pacing::Window), by(Pacing::Quinn)].map(Row::of)
}

fn show(name: &str, spec: &str, rows: &[Row; 3]) {
    for (host, row) in ["noq", "quinn, window", "quinn, its pacer"]
        .iter()
        .zip(rows)
    {
        println!(
            "| {name} | {spec} | {host} | {:.2} | {:.1} | {:.2} | {:.1} |",
            row.mbps,
            row.p95_ms,
            100.0 * row.lost,
            row.frame_ms
        );
    }
}

/// Links of different kinds, each with its buffer; the recorded ones where there are any.
fn links() -> Vec<(String, Link, QueueLimit)> {
    let constant = Link::constant(Rate::from_mbps(20)).unwrap();
    let lte = generate::named()
        .iter()
        .find(|named| named.name == "lte")
        .unwrap();
    let lte = lte.model().generate(LENGTH, 1).unwrap();
    let large = QueueLimit::Bytes(Bytes::new(1_200_000));
    let mut links = vec![
        (
            "20 Mbit/s, 10 BDP".to_string(),
            constant.clone(),
            QueueLimit::Bdp(10.0),
        ),
        (
            "20 Mbit/s, 1 BDP".to_string(),
            constant,
            QueueLimit::Bdp(1.0),
        ),
        ("4G-like".to_string(), Link::Rates(lte), large),
    ];
    if let Some(traces) = std::env::var_os("LOWTIDE_TRACES") {
        for name in ["TMobile-LTE-short.down", "Verizon-LTE-short.down"] {
            let path = std::path::Path::new(&traces).join("mahimahi").join(name);
            let bytes = std::fs::read(&path).unwrap();
            let link = trace::parse(Some(&path), &bytes, Bytes::new(1500)).unwrap();
            links.push((name.to_string(), link, large));
        }
    }
    links
}

#[test]
fn by_the_window_quinn_keeps_most_of_what_a_pacing_rate_gives() {
    for (name, link, buffer) in links() {
        for spec in ["ebb", "bbr", "bbr3", "cubic"] {
            let rows = measure(&link, buffer, spec, SourceConfig::Bulk);
            show(&name, spec, &rows);
            let [noq, window, _] = rows;
            let shows = format!("{name}, {spec}");
            assert!(window.mbps > 0.85 * noq.mbps, "{shows}");
        }
    }
}

#[test]
fn a_video_over_quinn_is_not_held_back_by_the_window() {
    let link = Link::constant(Rate::from_mbps(20)).unwrap();
    let video = SourceConfig::Video {
        rate: Rate::from_mbps(8),
        fps: 30,
        spread: 0.3,
    };
    for spec in ["ebb", "bbr", "bbr3", "cubic"] {
        let rows = measure(&link, QueueLimit::Bdp(1.0), spec, video);
        show("8 Mbit/s video, 20 Mbit/s", spec, &rows);
        let [noq, window, _] = rows;
        assert!(window.frame_ms < 1.25 * noq.frame_ms, "{spec}");
    }
}
