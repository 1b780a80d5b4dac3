//! s2n-quic, noq and quinn in virtual time, with their own controllers and with Lowtide's.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_cc::{Ecn, registry};
use lowtide_host::{Mirror, Stock, contract};
use lowtide_quic::virtual_time as s2n;
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, LossSeen, Sent};
use lowtide_sim::queue::{QueueKind, QueueLimit};
use lowtide_sim::source::SourceConfig;
use lowtide_sim::stack::Error;
use lowtide_sim::transport::{EcnFeedback, TransportConfig};
use lowtide_sim::{FlowConfig, Outcome, Probe, SenderKind, SimConfig, Simulation};
use lowtide_stacks::quinn::Pacing;
use lowtide_stacks::{noq, quinn};

/// What is seen of all flows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Watch {
    delivered: Bytes,
    dropped: Bytes,
    lost: Bytes,
    /// Packets behind the bottleneck, by their codepoint's value.
    codepoints: [u64; 4],
    /// Packets acknowledged, and those of which the arrival is known.
    acked: usize,
    received_at: usize,
    last_bandwidth: Option<Rate>,
    rtts: Vec<Duration>,
    largest_window: Bytes,
    frames: Vec<Duration>,
    complete: Vec<Time>,
    last_arrival: Time,
}

impl Watch {
    fn marked(&self) -> u64 {
        self.codepoints[Ecn::Ce as usize]
    }

    fn mbps(&self, config: &SimConfig) -> f64 {
        Rate::from_volume(self.delivered, config.duration).as_mbps()
    }

    fn mean_rtt_ms(&self) -> f64 {
        let sum: f64 = self.rtts.iter().map(|rtt| rtt.as_millis_f64()).sum();
        sum / self.rtts.len() as f64
    }
}

impl Probe for Watch {
    fn on_deliver(&mut self, delivery: &Delivery<'_>) {
        self.delivered += delivery.bytes;
        self.last_arrival = delivery.now;
    }

    fn on_drop(&mut self, _flow: usize, _now: Time, bytes: Bytes, _cause: DropCause) {
        self.dropped += bytes;
    }

    fn on_bottleneck_exit(&mut self, exit: &Departure) {
        self.codepoints[exit.ecn as usize] += 1;
    }

    fn on_loss(&mut self, _flow: usize, loss: &LossSeen<'_>) {
        self.lost += loss.bytes;
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        self.rtts.extend(ack.rtt);
        let window = ack.controller.map_or(Bytes::ZERO, |c| c.cwnd());
        self.largest_window = self.largest_window.max(window);
        self.acked += ack.packets.len();
        let known = ack.packets.iter().filter(|p| p.received_at.is_some());
        self.received_at += known.count();
        self.last_bandwidth = ack.controller.and_then(|c| c.snapshot().bandwidth);
    }

    fn on_frame(&mut self, _flow: usize, written_at: Time, now: Time) {
        self.frames.push(now.since(written_at));
    }

    fn on_flow_complete(&mut self, _flow: usize, now: Time) {
        self.complete.push(now);
    }
}

/// All controllers of the stacks.
fn stock() -> impl Iterator<Item = &'static Stock> {
    [s2n::STOCK, noq::STOCK, quinn::STOCK].into_iter().flatten()
}

/// A controller of a stack, or of ours.
fn sender(name: &str) -> SenderKind {
    if let Some(stock) = stock().find(|stock| stock.name == name) {
        return SenderKind::Stock(stock);
    }
    SenderKind::of(&registry::parse(name).unwrap())
}

/// One bulk flow of `seconds` over a link of one rate with 40 ms RTT and two BDP of buffer.
fn config(name: &str, mbps: u64, seconds: u64) -> SimConfig {
    let there = Duration::from_millis(20);
    let link = Link::constant(Rate::from_mbps(mbps)).unwrap();
    let flows = vec![FlowConfig::bulk(sender(name))];
    let duration = Duration::from_secs(seconds);
    SimConfig::over(link, QueueLimit::Bdp(2.0), there, flows, duration)
}

fn try_run(stack: &str, config: &SimConfig) -> Result<(Outcome, Watch), Error> {
    match stack {
        "s2n" => s2n::run(config, Watch::default()),
        "noq" => noq::run(config, Watch::default()),
        _ => quinn::run(config, Watch::default()),
    }
}

fn run(stack: &str, config: &SimConfig) -> Watch {
    try_run(stack, config).unwrap().1
}

fn model(config: SimConfig) -> Watch {
    let mut watch = Watch::default();
    Simulation::new(config).unwrap().run(&mut watch);
    watch
}

/// Ends a run as the lab does, after so many packets.
struct Ending(u32);

impl Probe for Ending {
    fn on_send(&mut self, _sent: &Sent) {
        self.0 -= 1;
        if self.0 == 0 {
            panic::resume_unwind(Box::new("ended"));
        }
    }
}

#[test]
fn a_run_that_is_ended_ends_alone() {
    for name in ["s2n/cubic", "noq/cubic", "quinn/cubic"] {
        let (stack, _) = name.split_once('/').unwrap();
        let config = config(name, 10, 2);
        let before = run(stack, &config);
        let ended = AssertUnwindSafe(|| match stack {
            "s2n" => s2n::run(&config, Ending(200)).map(drop),
            "noq" => noq::run(&config, Ending(200)).map(drop),
            _ => quinn::run(&config, Ending(200)).map(drop),
        });
        let panic = panic::catch_unwind(ended).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"ended"), "{name}");
        assert_eq!(run(stack, &config), before, "{name}");
    }
}

#[test]
fn a_connection_that_a_stack_closes_is_no_idle_one() {
    // `docs/findings/quinn-stream-gaps.md`.
    for (name, mbps, bdp) in [("quinn/cubic", 74, 10.0), ("noq/cubic", 50, 12.0)] {
        let (stack, _) = name.split_once('/').unwrap();
        let mut config = config(name, mbps, 4);
        config.forward.buffer = QueueLimit::Bdp(bdp);
        let error = try_run(stack, &config).unwrap_err();
        let Error::Closed { flow, at, reason } = error else {
            panic!("{name}: {error}");
        };
        assert!(flow == 0 && at > Time::ZERO, "{name}: {at}");
        assert!(reason.contains("too many gaps"), "{name}: {reason}");
    }
}

/// The stacks that leave clock and sockets to their callers.
const STACKS: [&str; 2] = ["noq", "quinn"];

#[test]
fn the_textbook_controllers_of_the_stacks_do_what_the_models_do() {
    // noq and quinn leave slow start at the first loss only.
    for (name, like, rates, least_rtt, least_window) in [
        ("noq/cubic", "cubic:hystart=false", &[10, 50][..], 0.9, 0.8),
        ("noq/newreno", "newreno", &[10, 50], 0.9, 0.8),
        ("quinn/cubic", "cubic:hystart=false", &[10, 50], 0.9, 0.8),
        ("quinn/newreno", "newreno", &[10, 50], 0.9, 0.8),
        ("s2n/cubic", "cubic", &[10], 0.8, 0.5),
    ] {
        for &mbps in rates {
            let model = model(config(like, mbps, 15));
            let (stack, _) = name.split_once('/').unwrap();
            let real = run(stack, &config(name, mbps, 15));
            let throughput = real.delivered.as_f64() / model.delivered.as_f64();
            let rtt = real.mean_rtt_ms() / model.mean_rtt_ms();
            let shows = format!("{name}, {mbps}: × {throughput}, RTT × {rtt}");
            assert!((0.97..1.03).contains(&throughput), "{shows}");
            assert!((least_rtt..1.1).contains(&rtt), "{shows}");
            let window = real.largest_window.as_f64() / model.largest_window.as_f64();
            assert!(
                (least_window..1.2).contains(&window),
                "{shows}, window × {window}"
            );
        }
    }
}

#[test]
fn the_stacks_own_controllers_fill_most_of_the_link() {
    for (name, seconds, least) in [
        ("noq/bbr3", 10, 7.0),
        ("quinn/bbr", 10, 7.0),
        ("s2n/bbr", 15, 9.0),
        ("s2n/cubic", 15, 9.0),
    ] {
        let (stack, _) = name.split_once('/').unwrap();
        let config = config(name, 10, seconds);
        let watch = run(stack, &config);
        let (mbps, rtt) = (watch.mbps(&config), watch.mean_rtt_ms());
        assert!((least..10.01).contains(&mbps), "{name}: {mbps} Mbit/s");
        assert!((41.0..120.0).contains(&rtt), "{name}: {rtt} ms");
    }
}

#[test]
fn lowtides_controllers_carry_data_like_the_models() {
    let in_s2n = registry::all()
        .iter()
        .map(|entry| ("s2n", entry.name, 10, 8));
    let in_noq = ["cubic", "bbr", "bbr3", "rbbr", "ebb"]
        .into_iter()
        .flat_map(|spec| [("noq", spec, 10, 10), ("noq", spec, 50, 10)]);
    let in_quinn = ["cubic:hystart=false", "newreno"].map(|spec| ("quinn", spec, 10, 10));
    for (stack, spec, mbps, seconds) in in_s2n.chain(in_noq).chain(in_quinn) {
        let config = config(spec, mbps, seconds);
        let (real, model) = (run(stack, &config), model(config));
        let throughput = real.delivered.as_f64() / model.delivered.as_f64();
        let rtt = real.mean_rtt_ms() / model.mean_rtt_ms();
        let shows = format!("{stack}, {spec}, {mbps}: throughput × {throughput}, RTT × {rtt}");
        assert!((0.95..1.05).contains(&throughput), "{shows}");
        // What queued in C4's first round trips stays its longest RTT for seconds, and these differ.
        let tolerance = if spec == "c4" { 0.5 } else { 0.15 };
        assert!((rtt - 1.0).abs() < tolerance, "{shows}");
    }
}

#[test]
fn in_quinn_lowtides_controllers_fill_the_link_and_are_told_what_happens() {
    for entry in registry::all() {
        let mut config = config(entry.name, 10, 8);
        let spec = registry::parse(entry.name).unwrap();
        let (controller, notes) = contract::recorded(Arc::new(move |c| spec.build(c)));
        config.flows[0].sender = SenderKind::Controlled {
            controller,
            estimator: None,
        };
        let watch = run("quinn", &config);
        let (mbps, rtt) = (watch.mbps(&config), watch.mean_rtt_ms());
        let shows = format!("{}: {mbps:.2} Mbit/s, {rtt:.1} ms", entry.name);
        assert_eq!(notes.lock().unwrap().breaches, [""; 0], "{shows}");
        // The default window of 20 packets; Sprout as over noq.
        if !["window", "sprout"].contains(&entry.name) {
            assert!((8.5..10.01).contains(&mbps), "{shows}");
        }
        assert!((40.0..122.0).contains(&rtt), "{shows}");
    }
}

/// The volume that has left since the first second.
#[derive(Default)]
struct Leaving(Bytes);

impl Probe for Leaving {
    fn on_send(&mut self, sent: &Sent) {
        if sent.now >= Time::ZERO + Duration::from_secs(1) {
            self.0 += sent.bytes;
        }
    }
}

#[test]
fn in_quinn_the_window_keeps_a_flow_to_its_rate_and_the_pacer_does_not() {
    let rate = Rate::from_mbps(5);
    // A window that is never full and a rate.
    let paced = Mirror::default();
    paced.update(|shown| (shown.cwnd, shown.pacing_rate) = (Bytes::new(1_000_000), Some(rate)));
    let sent = |pacing| {
        let mut config = config("bbr", 100, 5);
        let shown = paced.clone();
        config.flows[0].sender = SenderKind::Controlled {
            controller: Arc::new(move |_| Box::new(shown.clone())),
            estimator: None,
        };
        let (_, left) = quinn::run_paced(pacing, &config, Leaving::default()).unwrap();
        Rate::from_volume(left.0, Duration::from_secs(4)).as_mbps()
    };
    let by_window = sent(Pacing::Window);
    assert!((4.9..5.2).contains(&by_window), "{by_window} Mbit/s");
    let by_pacer = sent(Pacing::Quinn);
    assert!(by_pacer > 90.0, "{by_pacer} Mbit/s");
}

#[test]
fn runs_repeat_to_the_byte() {
    for (stack, name) in [
        ("noq", "noq/cubic"),
        ("quinn", "quinn/cubic"),
        ("quinn", "quinn/bbr"),
        ("quinn", "ebb"),
        ("noq", "rbbr"),
        ("s2n", "s2n/cubic"),
        ("s2n", "s2n/bbr"),
        ("s2n", "rbbr"),
    ] {
        let mut config = config(name, 10, 4);
        config.forward.loss = LossModel::Random(0.01);
        config.flows.push(config.flows[0].clone());
        let first = run(stack, &config);
        assert!(first.lost > Bytes::ZERO, "{name}");
        assert_eq!(first, run(stack, &config), "{name}");
        config.seed += 1;
        assert_ne!(first, run(stack, &config), "{name}");
    }
}

#[test]
fn losses_are_those_of_the_network() {
    for (stack, name, most) in [
        ("s2n", "newreno", 1.01),
        // Timers may add some.
        ("noq", "noq/newreno", 1.1),
        ("quinn", "quinn/newreno", 1.1),
    ] {
        let mut config = config(name, 10, 10);
        config.forward.loss = LossModel::Random(0.02);
        config.flows.push(config.flows[0].clone());
        let watch = run(stack, &config);
        // What was dropped shortly before the end is not known to be lost.
        let known = watch.lost.as_f64() / watch.dropped.as_f64();
        assert!((0.9..most).contains(&known), "{stack}: {known}");
        // 1.22 MSS / (RTT √p), Mathis et al. 1997, is 2.6 Mbit/s for each.
        let mbps = watch.mbps(&config);
        assert!((3.0..7.5).contains(&mbps), "{stack}: {mbps}");
    }
}

#[test]
fn a_flow_that_asks_for_timestamps_gets_them_from_the_model_and_from_s2n_quic() {
    let mut config = config("bbr", 10, 4);
    assert!(run("s2n", &config).received_at == 0 && model(config.clone()).received_at == 0);
    if let TransportConfig::Quic { timestamps, .. } = &mut config.flows[0].transport {
        *timestamps = true;
    }
    for watch in [run("s2n", &config), model(config)] {
        let share = watch.received_at as f64 / watch.acked as f64;
        assert!(share > 0.99, "{share}");
    }
}

#[test]
fn a_source_that_pauses_is_application_limited_and_its_receiver_does_not_sample_the_pauses() {
    let mut config = config("rbbr", 10, 12);
    config.flows[0].source = SourceConfig::OnOff {
        on: Duration::from_secs(1),
        off: Duration::from_secs(1),
        rate: Rate::from_mbps(20),
    };
    let watch = run("s2n", &config);
    let estimate = watch.last_bandwidth.unwrap().as_mbps();
    assert!((9.0..10.1).contains(&estimate), "{estimate} Mbit/s");
    // The application writes twice what fits: after the first pause it is behind.
    let mbps = watch.mbps(&config);
    assert!((8.5..10.0).contains(&mbps), "{mbps} Mbit/s");
}

#[test]
fn sources_write_what_they_have_and_no_more() {
    for stack in STACKS {
        let with = |source| {
            let mut config = config(&format!("{stack}/cubic"), 10, 6);
            config.flows[0].source = source;
            let watch = run(stack, &config);
            (watch.mbps(&config), watch)
        };
        let (mbps, steady) = with(SourceConfig::ConstantRate(Rate::from_mbps(2)));
        // Headers: a packet of 1500 bytes has about 1430 of data, but writes are of 1500.
        assert!((1.9..2.4).contains(&mbps), "{stack}: {mbps}");
        assert!(steady.largest_window < Bytes::new(100_000), "{stack}");

        let (_, sized) = with(SourceConfig::Sized(Bytes::new(1_000_000)));
        assert!(
            (1_000_000..1_080_000).contains(&sized.delivered.get()),
            "{stack}"
        );
        let [complete] = sized.complete[..] else {
            panic!("{stack}: complete {:?}", sized.complete);
        };
        assert!(complete > sized.last_arrival - Duration::from_millis(500));

        let video = SourceConfig::Video {
            rate: Rate::from_mbps(2),
            fps: 25,
            spread: 0.3,
        };
        let (_, video) = with(video);
        let frames = video.frames.len();
        // The handshake takes two round trips, and what is on its way at the end does not arrive.
        assert!((146..=150).contains(&frames), "{stack}: {frames} frames");
        let longest = video.frames.iter().skip(25).max().unwrap();
        assert!(*longest < Duration::from_millis(60), "{stack}: {longest}");
    }
}

#[test]
fn a_flow_stops_and_starts_when_it_is_told_to() {
    for stack in STACKS {
        let mut config = config(&format!("{stack}/cubic"), 10, 6);
        config.flows[0].start = Time::ZERO + Duration::from_secs(1);
        config.flows[0].stop = Some(Time::ZERO + Duration::from_secs(3));
        let watch = run(stack, &config);
        let megabits = watch.delivered.as_f64() * 8.0 / 1e6;
        assert!((16.0..21.5).contains(&megabits), "{stack}: {megabits}");
    }
}

#[test]
fn a_queue_that_marks_marks_what_the_stacks_send() {
    for name in ["s2n/cubic", "noq/newreno", "quinn/newreno"] {
        let (stack, _) = name.split_once('/').unwrap();
        let mut config = config(name, 10, 6);
        config.forward.queue = QueueKind::parse("codel").unwrap();
        config.forward.buffer = QueueLimit::Unlimited;
        let marked = run(stack, &config);
        assert!(marked.marked() > 3 && marked.dropped.is_zero(), "{stack}");
        assert!(marked.mean_rtt_ms() < 60.0, "{stack}: the marks count");
        config.flows[0].ecn = EcnFeedback::Off;
        let dropped = run(stack, &config);
        assert!(
            dropped.marked() == 0 && !dropped.dropped.is_zero(),
            "{stack}: {dropped:?}"
        );
    }
}

#[test]
fn a_queue_that_marks_sees_the_codepoint_asked_for_and_its_marks_are_told() {
    for (ecn, feedback, left) in [
        (Ecn::Ect0, EcnFeedback::Accurate, Ecn::Ect0),
        (Ecn::Ect1, EcnFeedback::Accurate, Ecn::Ect1),
        (Ecn::NotEct, EcnFeedback::Accurate, Ecn::NotEct),
        (Ecn::Ect0, EcnFeedback::Off, Ecn::NotEct),
    ] {
        let mut config = config("newreno", 10, 6);
        config.forward.queue = QueueKind::parse("codel").unwrap();
        config.forward.buffer = QueueLimit::Unlimited;
        config.flows[0].ecn = feedback;
        let spec = registry::parse("newreno").unwrap();
        let make = Arc::new(move |config: &_| spec.build(config));
        let (controller, notes) = contract::recorded_with_ecn(make, ecn);
        config.flows[0].sender = SenderKind::Controlled {
            controller,
            estimator: None,
        };
        let watch = run("s2n", &config);
        let notes = notes.lock().unwrap();
        // What a client has in flight of a handshake is discarded, of which the notes know nothing.
        let of_marks = notes.breaches.iter().find(|b| b.contains("marks"));
        assert_eq!(of_marks, None, "{ecn:?}");
        let (seen, told) = (watch.codepoints, notes.ce);
        let shows = format!("{ecn:?}, {feedback:?}: {seen:?}, {told} told");
        let (as_left, marked) = (seen[left as usize], watch.marked());
        let all: u64 = seen.iter().sum();
        assert!(as_left + marked > all * 9 / 10, "{shows}");
        assert_eq!(left.is_capable(), marked > 0, "{shows}");
        assert_eq!(left.is_capable(), watch.dropped.is_zero(), "{shows}");
        // s2n-quic marks a packet itself every ten to a hundred round trips.
        assert!(told <= marked && marked <= told + 15, "{shows}");
        let others = [Ecn::Ect0, Ecn::Ect1].into_iter().filter(|e| *e != left);
        let others: u64 = others.map(|e| seen[e as usize]).sum();
        assert_eq!(others, 0, "{shows}");
    }
}

#[test]
fn acknowledgments_come_as_often_as_asked() {
    for stack in STACKS {
        let mut config = config(&format!("{stack}/cubic"), 10, 4);
        let often = run(stack, &config).rtts.len();
        config.flows[0].transport = TransportConfig::Quic {
            ack_every: 10,
            max_ack_delay: Duration::from_millis(25),
            timestamps: false,
        };
        let seldom = run(stack, &config).rtts.len();
        let ratio = often as f64 / seldom as f64;
        assert!((4.0..6.0).contains(&ratio), "{stack}: {often}, {seldom}");
    }
}

#[test]
fn what_a_stack_cannot_carry_is_refused() {
    let refused = |stack: &str, name: &str, change: fn(&mut SimConfig)| {
        let mut config = config(name, 10, 1);
        change(&mut config);
        try_run(stack, &config).unwrap_err().to_string()
    };
    for (stack, name, change, problem) in [
        (
            "noq",
            "quinn/bbr",
            (|_| {}) as fn(&mut SimConfig),
            "another QUIC stack",
        ),
        ("quinn", "noq/bbr3", |_| {}, "another QUIC stack"),
        (
            "quinn",
            "bbr",
            |c| c.flows[0].sender = SenderKind::Oracle,
            "oracle",
        ),
        (
            "s2n",
            "bbr",
            |c| c.flows[0].sender = SenderKind::Oracle,
            "oracle",
        ),
        ("s2n", "bbr", |c| c.packet_size = Bytes::new(600), "600 B"),
        ("s2n", "bbr", |c| c.flows.clear(), "at least one flow"),
        (
            "s2n",
            "bbr",
            |c| c.flows[0].ecn = EcnFeedback::Classic,
            "ECN-Echo",
        ),
        (
            "s2n",
            "bbr",
            |c| c.flows[0].transport = TransportConfig::tcp(),
            "TCP",
        ),
    ] {
        let error = refused(stack, name, change);
        assert!(error.contains(problem), "{stack}, {name}: {error}");
    }
    let error = Simulation::new(config("noq/cubic", 10, 1)).unwrap_err();
    assert!(error.to_string().contains("noq/cubic"), "{error}");
}

#[test]
fn the_versions_shown_are_those_of_the_lock_file() {
    let lock = include_str!("../../../Cargo.lock");
    for stock in stock() {
        let (package, version) = stock.source.split_once(' ').unwrap();
        let entry = format!("name = \"{package}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&entry), "{}: {}", stock.name, stock.source);
    }
}
