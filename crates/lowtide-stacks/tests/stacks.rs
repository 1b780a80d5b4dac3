//! noq and quinn in virtual time, with their own controllers and with Lowtide's.

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::probe::{AckSeen, Delivery, Departure, DropCause, LossSeen};
use lowtide_sim::queue::{QueueKind, QueueLimit};
use lowtide_sim::source::SourceConfig;
use lowtide_sim::stack::Error;
use lowtide_sim::transport::{EcnFeedback, TransportConfig};
use lowtide_sim::{FlowConfig, Outcome, Probe, SenderKind, SimConfig, Simulation};
use lowtide_stacks::{noq, quinn};

/// What is seen of all flows.
#[derive(Clone, Debug, Default, PartialEq)]
struct Watch {
    delivered: Bytes,
    dropped: Bytes,
    lost: Bytes,
    marked: u64,
    rtts: Vec<Duration>,
    largest_window: Bytes,
    frames: Vec<Duration>,
    complete: Vec<Time>,
    last_arrival: Time,
}

impl Watch {
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
        self.marked += u64::from(exit.ecn == lowtide_cc::Ecn::Ce);
    }

    fn on_loss(&mut self, _flow: usize, loss: &LossSeen<'_>) {
        self.lost += loss.bytes;
    }

    fn on_ack(&mut self, _flow: usize, ack: &AckSeen<'_>) {
        self.rtts.extend(ack.rtt);
        let window = ack.controller.map_or(Bytes::ZERO, |c| c.cwnd());
        self.largest_window = self.largest_window.max(window);
    }

    fn on_frame(&mut self, _flow: usize, written_at: Time, now: Time) {
        self.frames.push(now.since(written_at));
    }

    fn on_flow_complete(&mut self, _flow: usize, now: Time) {
        self.complete.push(now);
    }
}

/// A controller of either stack, or of ours.
fn sender(name: &str) -> SenderKind {
    let mut stock = noq::STOCK.iter().chain(quinn::STOCK);
    if let Some(stock) = stock.find(|stock| stock.name == name) {
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

const STACKS: [&str; 2] = ["noq", "quinn"];

#[test]
fn the_textbook_controllers_of_the_stacks_do_what_the_models_do() {
    // noq and quinn leave slow start at the first loss only.
    for (name, like) in [("cubic", "cubic:hystart=false"), ("newreno", "newreno")] {
        for mbps in [10, 50] {
            let model = model(config(like, mbps, 15));
            for stack in STACKS {
                let real = run(stack, &config(&format!("{stack}/{name}"), mbps, 15));
                let throughput = real.delivered.as_f64() / model.delivered.as_f64();
                let rtt = real.mean_rtt_ms() / model.mean_rtt_ms();
                let shows = format!("{stack}/{name}, {mbps}: × {throughput}, RTT × {rtt}");
                assert!((0.97..1.03).contains(&throughput), "{shows}");
                assert!((0.9..1.1).contains(&rtt), "{shows}");
                let window = real.largest_window.as_f64() / model.largest_window.as_f64();
                assert!((0.8..1.2).contains(&window), "{shows}, window × {window}");
            }
        }
    }
}

#[test]
fn bbr_of_the_stacks_fills_most_of_the_link() {
    for name in ["noq/bbr3", "quinn/bbr"] {
        let (stack, _) = name.split_once('/').unwrap();
        let config = config(name, 10, 10);
        let mbps = run(stack, &config).mbps(&config);
        assert!((7.0..10.01).contains(&mbps), "{name}: {mbps}");
    }
}

#[test]
fn lowtides_controllers_in_noq_agree_with_the_model() {
    for spec in ["cubic", "bbr", "bbr3", "rbbr", "ebb"] {
        for mbps in [10, 50] {
            let config = config(spec, mbps, 10);
            let throughput =
                run("noq", &config).delivered.as_f64() / model(config).delivered.as_f64();
            assert!(
                (0.95..1.05).contains(&throughput),
                "{spec}, {mbps} Mbit/s: × {throughput}"
            );
        }
    }
}

#[test]
fn runs_repeat_to_the_byte() {
    for name in ["noq/cubic", "quinn/cubic", "quinn/bbr", "rbbr"] {
        let stack = name.split_once('/').map_or("noq", |(stack, _)| stack);
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
    for stack in STACKS {
        let mut config = config(&format!("{stack}/newreno"), 10, 10);
        config.forward.loss = LossModel::Random(0.02);
        config.flows.push(config.flows[0].clone());
        let watch = run(stack, &config);
        // What was dropped shortly before the end is not known to be lost; timers may add some.
        let known = watch.lost.as_f64() / watch.dropped.as_f64();
        assert!((0.9..1.1).contains(&known), "{stack}: {known}");
    }
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
    for stack in STACKS {
        let mut config = config(&format!("{stack}/newreno"), 10, 6);
        config.forward.queue = QueueKind::parse("codel").unwrap();
        config.forward.buffer = QueueLimit::Unlimited;
        let marked = run(stack, &config);
        assert!(marked.marked > 3 && marked.dropped.is_zero(), "{stack}");
        assert!(marked.mean_rtt_ms() < 60.0, "{stack}: the marks count");
        config.flows[0].ecn = EcnFeedback::Off;
        let dropped = run(stack, &config);
        assert!(
            dropped.marked == 0 && !dropped.dropped.is_zero(),
            "{stack}: {dropped:?}"
        );
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
    let refused = |stack: &str, name: &str| {
        let config = config(name, 10, 1);
        try_run(stack, &config).unwrap_err().to_string()
    };
    assert!(refused("noq", "quinn/bbr").contains("another QUIC stack"));
    assert!(refused("quinn", "noq/bbr3").contains("another QUIC stack"));
    assert!(refused("quinn", "bbr").contains("rate"));
    let error = Simulation::new(config("noq/cubic", 10, 1)).unwrap_err();
    assert!(error.to_string().contains("noq/cubic"), "{error}");
}

#[test]
fn the_versions_shown_are_those_of_the_lock_file() {
    let lock = include_str!("../../../Cargo.lock");
    for stock in noq::STOCK.iter().chain(quinn::STOCK) {
        let (package, version) = stock.source.split_once(' ').unwrap();
        let entry = format!("name = \"{package}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&entry), "{}: {}", stock.name, stock.source);
    }
}
