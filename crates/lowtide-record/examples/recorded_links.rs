//! Records links of the simulator in virtual time and holds what was recorded against what they could carry:
//!
//! ```sh
//! cargo run --release -p lowtide-record --example recorded_links -- TRACES [OUT]
//! ```
//!
//! prints the tables of `docs/results/recorded-links.md`; with OUT it writes each recording there, beside the same part of
//! the true link.

#[path = "../tests/virtual_link/mod.rs"]
mod virtual_link;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_record::{Plan, Recording, Way, files};
use lowtide_sim::PipeConfig;
use lowtide_sim::impairment::{Jitter, LossModel, MovingDelay};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY, Opportunities};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::trace::{self, delay, generate, mahimahi};
use virtual_link::{Clock, plan, record};

const BIN: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(1);
/// Bins begin between two milliseconds, in which traces have all their opportunities.
const EDGE: Duration = Duration::from_micros(500);
const ONE_WAY: Duration = Duration::from_millis(20);

/// A link to record.
struct Case {
    name: String,
    link: Arc<Link>,
    change: fn(&mut PipeConfig),
    delays: Option<PathBuf>,
}

fn cases(traces: &Path) -> Vec<Case> {
    let of_trace = |name: &str, file: &str| {
        let path = traces.join(file);
        let bytes = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let link = trace::parse(Some(&path), &bytes, MAHIMAHI_OPPORTUNITY);
        Case {
            name: name.to_string(),
            link: Arc::new(link.unwrap_or_else(|e| panic!("{}: {e}", path.display()))),
            change: |_| (),
            delays: None,
        }
    };
    let generated = |name: &str, mbps: u64| {
        let named = generate::named().iter().find(|n| n.name == name);
        let model = named
            .expect("a model")
            .model()
            .with_mean(Rate::from_mbps(mbps));
        let schedule = model.generate(Duration::from_secs(120), 7).expect("a link");
        Case {
            name: format!("generated {name}, {mbps} Mbit/s"),
            link: Arc::new(Link::Rates(schedule)),
            change: |_| (),
            delays: None,
        }
    };
    let constant = |name: &str, mbps: u64, change: fn(&mut PipeConfig)| Case {
        name: name.to_string(),
        link: Arc::new(Link::constant(Rate::from_mbps(mbps)).expect("a link")),
        change,
        delays: None,
    };
    let lte = "mahimahi/TMobile-LTE-short.down";
    let mut starlink = of_trace("Starlink, its delay moving", "starlink/leocc-a.down");
    starlink.delays = Some(traces.join("starlink/leocc-a.delay.csv"));
    let mut lossy = of_trace("LTE T-Mobile, 1 % loss", lte);
    lossy.change = |pipe| pipe.loss = LossModel::Random(0.01);
    let mut jittery = of_trace("LTE T-Mobile, jitter of 10 ms, reordering", lte);
    jittery.change = |pipe| {
        pipe.jitter = Some(Jitter {
            max: Duration::from_millis(10),
            reorder: true,
        });
    };
    let mut short = of_trace("LTE T-Mobile, a queue of 50 ms", lte);
    short.change = |pipe| pipe.buffer = QueueLimit::Time(Duration::from_millis(50));
    vec![
        of_trace("LTE AT&T, driving", "mahimahi/ATT-LTE-driving-2016.down"),
        of_trace("LTE T-Mobile", lte),
        of_trace("LTE Verizon", "mahimahi/Verizon-LTE-short.down"),
        of_trace("LTE New York, taxi", "nyc/trace-2768760-taxi3"),
        of_trace(
            "LTE New York, Times Square",
            "nyc/trace-3201711-timessquare",
        ),
        of_trace("5G", "5g/xu5g_0.csv"),
        of_trace(
            "5G mmWave uplink, walking",
            "5g/mmwave-uplink-walking-1.csv",
        ),
        of_trace("WiFi, office", "wifi/office-wifi_0.csv"),
        starlink,
        generated("4g-mobility", 20),
        generated("mmwave-mobility", 200),
        constant("constant, 500 Mbit/s", 500, |_| ()),
        lossy,
        jittery,
        short,
        constant("constant, 50 Mbit/s, an outage of 3 s", 50, |pipe| {
            let steps = [(0, 50), (20, 0), (23, 50)];
            let steps =
                steps.map(|(s, mbps)| (Time::from_nanos(s * 1_000_000_000), Rate::from_mbps(mbps)));
            let after = lowtide_sim::link::AfterLast::Hold;
            let schedule = lowtide_sim::link::RateSchedule::new(steps.into(), after);
            pipe.link = Arc::new(Link::Rates(schedule.expect("a link")));
        }),
    ]
}

fn main() {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let traces = arguments.next().expect("the folder of traces");
    let out = arguments.next();
    println!(
        "| link | true mean, Mbit/s | recorded | error | not backlogged | of backlogged 100 ms within 3 % | error of 100 ms, p50 | p95 | gaps found | queue p5/p50/p95, ms | lost |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for case in cases(&traces) {
        let mut down =
            PipeConfig::link_with_delay(case.link.clone(), QueueLimit::Unlimited, ONE_WAY);
        if let Some(delays) = &case.delays {
            let delays = delay::parse(&fs::read(delays).expect("delays")).expect("delays");
            down = down.with_moving_delay(Arc::new(delays));
        }
        (case.change)(&mut down);
        let link = down.link.clone();
        let behind = down.least_delay();
        let moving = down.moving.clone();
        let up = PipeConfig::delay_only(ONE_WAY);
        let asked = Plan {
            duration: Duration::from_secs(60),
            ..plan(60)
        };
        let recording = record(asked, down, up, Clock::default()).expect("a recording");
        let way = recording.down.as_ref().expect("the way down");
        let from = Time::ZERO + recording.began - behind;
        println!(
            "| {} | {} |",
            case.name,
            row(&arrivals(&link, moving.as_deref(), from, way.length), way)
        );
        if let Some(out) = &out {
            write(out, &case.name, &recording, &link, from);
        }
    }
}

/// What a link that is never idle brings to the receiver in each millisecond of a recording.
fn arrivals(link: &Link, moving: Option<&MovingDelay>, from: Time, length: Duration) -> Vec<Bytes> {
    let count = length.as_nanos() / STEP.as_nanos();
    let mut bytes = vec![Bytes::ZERO; count as usize];
    // Where delays fall, packets wait for those before them.
    let mut latest = 0;
    // Where they move, what is under way when it begins counts, too.
    let before = if moving.is_some() { 100 } else { 0 };
    for n in 0..count + before {
        let at = from + EDGE + STEP * n - STEP * before;
        let late = moving.map_or(Duration::ZERO, |m| delay_at(m, at) - m.least());
        let lands = n + late.as_nanos() / STEP.as_nanos();
        latest = lands.max(latest);
        if let Some(place) = latest.checked_sub(before)
            && let Some(place) = bytes.get_mut(place as usize)
        {
            *place += link.volume_between(at, at + STEP);
        }
    }
    bytes
}

/// The step of a moving delay that holds at a time of its first repetition.
fn delay_at(moving: &MovingDelay, at: Time) -> Duration {
    let steps = moving.steps().take_while(|(from, _)| *from <= at);
    steps.last().map_or(moving.least(), |(_, delay)| delay)
}

fn row(arrivals: &[Bytes], way: &Way) -> String {
    let of_bin = (BIN.as_nanos() / STEP.as_nanos()) as usize;
    let whole = arrivals.len() / of_bin - 1;
    let mut volumes = vec![Bytes::ZERO; whole];
    for came in way.came.iter().filter(|came| came.at >= EDGE) {
        let bin = ((came.at - EDGE).as_nanos() / BIN.as_nanos()) as usize;
        if let Some(volume) = volumes.get_mut(bin) {
            *volume += came.bytes;
        }
    }
    let truth: Vec<Bytes> = arrivals
        .chunks(of_bin)
        .take(whole)
        .map(|bin| bin.iter().copied().sum())
        .collect();
    let is_idle = |n: usize| {
        let (start, end) = (EDGE + BIN * n as u64, EDGE + BIN * (n + 1) as u64);
        way.idle.iter().any(|s| s.from < end && start < s.to)
    };
    let packet = way
        .came
        .iter()
        .map(|c| c.bytes)
        .max()
        .unwrap_or(Bytes::ZERO);
    let mut errors = Vec::new();
    let mut close = 0;
    for n in (0..whole).filter(|n| !is_idle(*n)) {
        let (true_bytes, seen) = (truth[n].as_f64(), volumes[n].as_f64());
        let error = (seen - true_bytes).abs();
        // A packet belongs to the bin in which its last byte came, and an opportunity to its millisecond.
        let is_close =
            error <= (0.03 * true_bytes).max(packet.as_f64() + MAHIMAHI_OPPORTUNITY.as_f64());
        close += usize::from(is_close);
        errors.push(error / true_bytes.max(packet.as_f64()));
    }
    errors.sort_by(f64::total_cmp);
    let percentile = |p: usize| errors.get((errors.len().max(1) - 1) * p / 100).copied();
    let percent =
        |share: Option<f64>| share.map_or("-".to_string(), |s| format!("{:.1} %", s * 100.0));
    // A pause of the link is found where the recording has none of its packets.
    let (mut gaps, mut found) = (0, 0);
    for n in 0..whole {
        if truth[n].get() < packet.get() {
            gaps += 1;
            found += usize::from(volumes[n].get() <= 2 * packet.get());
        }
    }
    let mean = |bytes: &[Bytes]| {
        Rate::from_volume(bytes.iter().copied().sum(), BIN * whole as u64).as_mbps()
    };
    let (true_mean, mean) = (mean(&truth), mean(&volumes));
    let [p5, p50, p95] = way.queue_percentiles().map(Duration::as_millis_f64);
    format!(
        "{true_mean:.2} | {mean:.2} | {:+.1} % | {} | {} | {} | {} | {found}/{gaps} | {p5:.0}/{p50:.0}/{p95:.0} | {}",
        (mean / true_mean - 1.0) * 100.0,
        percent(Some(way.idle_share())),
        percent(Some(close as f64 / errors.len().max(1) as f64)),
        percent(percentile(50)),
        percent(percentile(95)),
        percent(Some(f64::from(way.lost) / f64::from(way.sent.max(1)))),
    )
}

fn write(out: &Path, name: &str, recording: &Recording, link: &Link, from: Time) {
    let plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let Some(way) = &recording.down else { return };
    let put = |end: &str, bytes: &[u8]| {
        let path = out.join(format!("{plain}.{end}"));
        fs::write(&path, bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    };
    put("down", &files::opportunities(way, "down"));
    put("down.csv", &files::rates(way, "down"));
    put(
        "json",
        &files::json(recording, &origin(name)).expect("JSON"),
    );
    // The true link from where the recording begins, in its own form.
    let count = way.length.as_nanos() / STEP.as_nanos();
    let steps = (0..count).map(|n| {
        let at = from + EDGE + STEP * n;
        link.volume_between(at, at + STEP)
    });
    if let Link::Opportunities(trace) = link {
        let of_step = steps.map(|bytes| bytes.get() / trace.size().get());
        let mut times: Vec<u32> = (1..)
            .zip(of_step)
            .flat_map(|(ms, times)| std::iter::repeat_n(ms, times as usize))
            .collect();
        times.push(count as u32);
        let trace = Opportunities::new(times, trace.size()).expect("a trace");
        let mut text = Vec::new();
        mahimahi::write(&trace, &mut text).expect("memory");
        put("true.down", &text);
    } else {
        let mut text = "time_ms,rate_kbps\n".to_string();
        for (n, bytes) in steps.enumerate() {
            text.push_str(&format!("{n},{}\n", bytes.get() * 8));
        }
        put("true.csv", text.as_bytes());
    }
}

/// Where a server has its name stands that of the link.
fn origin(name: &str) -> files::Origin {
    files::Origin {
        server: name.to_string(),
        unix_time_s: 0,
        kernel_times: false,
    }
}
