//! What both ends have noted, as a link.

use lowtide_cc::units::{Bytes, Duration, Rate};

use crate::client::{Noted, NotedWay};
use crate::clock::{Clocks, Point};
use crate::log::Arrival;
use crate::plan::Plan;
use crate::wire::FEEDBACK;

/// A span of the recording, from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Beginning of the span.
    pub from: Duration,
    /// End of the span.
    pub to: Duration,
}

impl Span {
    /// Length of the span.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.to - self.from
    }
}

/// A packet of a recorded way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    /// Time of arrival, from the recording's beginning.
    pub at: Duration,
    /// Size of the packet, IP header included.
    pub bytes: Bytes,
    /// Queueing delay: how much longer the packet took than one that met no queue. Known of packets
    /// that filled the link.
    pub queue: Option<Duration>,
}

/// One recorded way.
#[derive(Clone, Debug)]
pub struct Way {
    /// Packets in the order in which they came: those that filled the link, and the feedback among them, which takes its
    /// share of it.
    pub came: Vec<Came>,
    /// Length of the recording.
    pub length: Duration,
    /// Spans in which the link may have been idle: what came then is the least that it can carry.
    pub idle: Vec<Span>,
    /// Spans in which nothing came, although packets were sent and lost.
    pub outages: Vec<Span>,
    /// Packets that were sent to fill the link.
    pub sent: u32,
    /// Filling packets that came before the recording began.
    pub left_out: u32,
    /// Filling packets that never came.
    pub lost: u32,
    /// Filling packets that came after one that was sent later.
    pub reordered: u32,
    /// Half of the shortest round trip.
    pub base_delay: Duration,
    /// How much the delay varied without a queue: percentile 90 over the least.
    pub jitter: Duration,
}

/// A whole recording.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What was recorded.
    pub plan: Plan,
    /// Towards the client.
    pub down: Option<Way>,
    /// Towards the server.
    pub up: Option<Way>,
    /// One-way delays of the way that was not kept backlogged, if one was not: the least of each 100 ms.
    pub quiet_delay: Vec<(Duration, Duration)>,
    /// What is known of the clocks.
    pub clocks: Clocks,
    /// When it begins, after the session did: what came before there was a queue is left out.
    pub began: Duration,
    /// Why it is not all of what was asked for.
    pub problem: Option<String>,
}

/// Idle spans that are closer to each other are one.
const CLOSE: Duration = Duration::from_millis(20);
/// What delays vary by besides, of processors that wake late.
const MARGIN_US: f64 = 1000.0;
/// Lost packets make an outage of a pause where there is one for each of this.
const LOST_EVERY: Duration = Duration::from_millis(200);
/// The longest delay that is believed. Files of delays take no longer one.
const LONGEST: Duration = Duration::from_secs(100);
const DELAY_STEP_US: f64 = 100_000.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
}

/// The time axis is the client's clock, µs.
fn point(direction: Direction, arrival: &Arrival) -> Point {
    let at = match direction {
        Direction::Down => arrival.arrived,
        Direction::Up => arrival.sent,
    };
    (f64::from(at), arrival.delay() as f64)
}

/// One packet of a way, µs.
struct Passed {
    number: u32,
    /// By the client's clock.
    at: f64,
    queue: f64,
}

impl Recording {
    /// Makes a recording of what was noted. `None` where nothing came of what was to be recorded.
    #[must_use]
    pub fn of(noted: &Noted) -> Option<Self> {
        let plan = noted.plan;
        let points = |direction, way: &NotedWay, fills| -> Vec<Point> {
            let logs = if fills {
                [&way.fill, &way.probes]
            } else {
                [&way.light, &way.probes]
            };
            let arrivals = logs.into_iter().flat_map(|log| log.arrivals());
            arrivals.map(|a| point(direction, a)).collect()
        };
        let down = points(Direction::Down, &noted.down, plan.down);
        let up = points(Direction::Up, &noted.up, plan.up);
        let clocks = Clocks::of(&down, &up);
        let passed =
            |direction, way: &NotedWay, points: &[Point]| passed(direction, &clocks, way, points);
        let down_passed = plan
            .down
            .then(|| passed(Direction::Down, &noted.down, &down));
        let up_passed = plan.up.then(|| passed(Direction::Up, &noted.up, &up));
        // It begins when a queue stands on all ways.
        let began = |passed: &Option<Vec<Passed>>| passed.as_deref().map(|p| began(p, &plan));
        let beginnings = [began(&down_passed), began(&up_passed)];
        let zero = beginnings
            .into_iter()
            .flatten()
            .flatten()
            .fold(0.0, f64::max);
        let way = |direction, passed: Option<Vec<Passed>>, noted_way: &NotedWay| {
            let jitter = jitter(direction, &clocks, noted_way);
            let light = light(direction, &clocks, noted_way, noted.headers);
            passed.and_then(|passed| way(&passed, &light, zero, noted_way, &plan, jitter, &clocks))
        };
        let recording = Self {
            plan,
            down: way(Direction::Down, down_passed, &noted.down),
            up: way(Direction::Up, up_passed, &noted.up),
            quiet_delay: match (plan.down, plan.up) {
                (true, false) => quiet_delay(Direction::Up, &clocks, &up, zero),
                (false, true) => quiet_delay(Direction::Down, &clocks, &down, zero),
                _ => Vec::new(),
            },
            clocks,
            began: span(0.0, zero).to,
            problem: noted.problem.clone(),
        };
        (recording.down.is_some() || recording.up.is_some()).then_some(recording)
    }
}

/// A delay without the clocks' offset.
fn delay(direction: Direction, clocks: &Clocks, (at, delay): Point) -> f64 {
    match direction {
        Direction::Down => delay - clocks.offset_at(at),
        Direction::Up => delay + clocks.offset_at(at),
    }
}

/// When feedback came, by the client's clock, and its bytes.
fn light(direction: Direction, clocks: &Clocks, way: &NotedWay, headers: u16) -> Vec<(f64, Bytes)> {
    let bytes = Bytes::new(FEEDBACK as u64 + u64::from(headers));
    let arrivals = way.light.arrivals().iter();
    let at = |arrival: &Arrival| client_time(direction, clocks, arrival);
    arrivals.map(|arrival| (at(arrival), bytes)).collect()
}

/// When a packet arrived, by the client's clock.
fn client_time(direction: Direction, clocks: &Clocks, arrival: &Arrival) -> f64 {
    match direction {
        Direction::Down => f64::from(arrival.arrived),
        Direction::Up => {
            f64::from(arrival.sent) + delay(direction, clocks, point(direction, arrival))
        }
    }
}

fn passed(direction: Direction, clocks: &Clocks, way: &NotedWay, points: &[Point]) -> Vec<Passed> {
    let least = points.iter().map(|p| delay(direction, clocks, *p));
    let least = least.fold(f64::INFINITY, f64::min);
    let mut passed: Vec<Passed> = way
        .fill
        .arrivals()
        .iter()
        .map(|arrival| Passed {
            number: arrival.number,
            at: client_time(direction, clocks, arrival),
            queue: delay(direction, clocks, point(direction, arrival)) - least,
        })
        .collect();
    passed.sort_by(|a, b| a.at.total_cmp(&b.at));
    passed
}

/// When a queue first stood; where it never did, after a quarter of what there is.
fn began(passed: &[Passed], plan: &Plan) -> Option<f64> {
    let (first, last) = (passed.first()?, passed.last()?);
    let low = plan.queue.low.as_nanos() as f64 / 1e3;
    let met = passed.iter().find(|p| p.queue >= low).map(|p| p.at);
    let latest = first.at + (last.at - first.at) / 4.0;
    Some(met.unwrap_or(latest).min(latest))
}

fn jitter(direction: Direction, clocks: &Clocks, way: &NotedWay) -> f64 {
    let probes = way.probes.arrivals().iter();
    let mut delays: Vec<f64> = probes
        .map(|a| delay(direction, clocks, point(direction, a)))
        .collect();
    delays.sort_by(f64::total_cmp);
    match delays[..] {
        [] => 0.0,
        [least, ..] => delays[(delays.len() - 1) * 9 / 10] - least,
    }
}

fn span(from: f64, to: f64) -> Span {
    let micros = |us: f64| Duration::from_nanos((us.max(0.0) * 1e3) as u64);
    Span {
        from: micros(from),
        to: micros(to),
    }
}

fn way(
    passed: &[Passed],
    light: &[(f64, Bytes)],
    zero: f64,
    noted: &NotedWay,
    plan: &Plan,
    jitter: f64,
    clocks: &Clocks,
) -> Option<Way> {
    let low = plan.queue.low.as_nanos() as f64 / 1e3;
    let margin = (MARGIN_US + jitter).min(low / 2.0);
    let (mut idle, mut outages): (Vec<Span>, Vec<Span>) = (Vec::new(), Vec::new());
    let mut came = Vec::new();
    let (mut latest, mut highest, mut reordered) = (None::<f64>, 0u32, 0);
    for packet in passed {
        reordered += u32::from(packet.number < highest);
        if packet.at >= zero {
            let before = latest.unwrap_or(packet.at).max(zero);
            // Without a queue it would have come then; if nothing came after that, the link may have waited for it.
            if packet.at - packet.queue + margin > before && packet.at > before {
                let span = span(before - zero, packet.at - zero);
                let missing = u64::from(packet.number.saturating_sub(highest));
                let is_outage = missing >= 2 && LOST_EVERY * missing >= span.length();
                let spans = if is_outage && span.length() >= LOST_EVERY {
                    &mut outages
                } else {
                    &mut idle
                };
                match spans.last_mut() {
                    Some(last) if span.from - last.to <= CLOSE => last.to = span.to,
                    _ => spans.push(span),
                }
            }
            came.push(Came {
                at: span(0.0, packet.at - zero).to,
                bytes: Bytes::new(plan.packet.into()),
                queue: Some(span(0.0, packet.queue).to),
            });
        }
        latest = Some(packet.at);
        highest = highest.max(packet.number.saturating_add(1));
    }
    let end = latest.filter(|_| !came.is_empty())?;
    let during = light.iter().filter(|(at, _)| (zero..=end).contains(at));
    came.extend(during.map(|(at, bytes)| Came {
        at: span(0.0, at - zero).to,
        bytes: *bytes,
        queue: None,
    }));
    came.sort_by_key(|came| came.at);
    Some(Way {
        length: span(0.0, end - zero).to,
        came,
        idle,
        outages,
        sent: noted.sent,
        left_out: passed.iter().filter(|packet| packet.at < zero).count() as u32,
        lost: noted.sent.saturating_sub(passed.len() as u32),
        reordered,
        base_delay: span(0.0, clocks.base_rtt_us / 2.0).to.min(LONGEST),
        jitter: span(0.0, jitter).to,
    })
}

fn quiet_delay(
    direction: Direction,
    clocks: &Clocks,
    points: &[Point],
    zero: f64,
) -> Vec<(Duration, Duration)> {
    let mut steps: Vec<(u64, f64)> = Vec::new();
    let mut sorted: Vec<Point> = points.iter().filter(|p| p.0 >= zero).copied().collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    for point in sorted {
        let step = ((point.0 - zero) / DELAY_STEP_US) as u64;
        let delay = delay(direction, clocks, point);
        match steps.last_mut() {
            Some((last, least)) if *last == step => *least = least.min(delay),
            _ => steps.push((step, delay)),
        }
    }
    let step = Duration::from_nanos((DELAY_STEP_US * 1e3) as u64);
    let steps = steps.into_iter();
    let mut steps: Vec<(Duration, Duration)> = steps
        .map(|(n, delay)| (step * n, span(0.0, delay).to.min(LONGEST)))
        .collect();
    if let Some(first) = steps.first_mut() {
        first.0 = Duration::ZERO;
    }
    steps
}

impl Way {
    /// Bytes that came.
    #[must_use]
    pub fn volume(&self) -> Bytes {
        self.came.iter().map(|came| came.bytes).sum()
    }

    /// The mean rate.
    #[must_use]
    pub fn mean(&self) -> Rate {
        Rate::from_volume(self.volume(), self.length)
    }

    /// The share of its time in which the link was not kept backlogged.
    #[must_use]
    pub fn idle_share(&self) -> f64 {
        let idle: u64 = self.idle.iter().map(|s| s.length().as_nanos()).sum();
        idle as f64 / self.length.as_nanos().max(1) as f64
    }

    /// The longest time in which nothing came.
    #[must_use]
    pub fn longest_gap(&self) -> Duration {
        let gaps = self.came.windows(2).map(|two| two[1].at - two[0].at);
        gaps.max().unwrap_or(Duration::ZERO)
    }

    /// Queueing delays: percentiles 5, 50 and 95.
    #[must_use]
    pub fn queue_percentiles(&self) -> [Duration; 3] {
        let mut queues: Vec<Duration> = self.came.iter().filter_map(|c| c.queue).collect();
        queues.sort_unstable();
        [5, 50, 95].map(|p| queues[(queues.len().max(1) - 1) * p / 100])
    }

    /// Bytes in each interval from the beginning; the last one may not be whole.
    #[must_use]
    pub fn volumes(&self, interval: Duration) -> Vec<Bytes> {
        let bin = |at: Duration| (at.as_nanos() / interval.as_nanos().max(1)) as usize;
        let mut bins = vec![Bytes::ZERO; bin(self.length) + 1];
        for came in &self.came {
            bins[bin(came.at)] += came.bytes;
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use lowtide_sim::trace::{delay, mahimahi, series};
    use proptest::prelude::*;

    use super::*;
    use crate::files;
    use crate::log::Log;
    use crate::plan::QueueBand;

    fn log() -> impl Strategy<Value = Log> {
        let near = (0u32..2000, 0u32..3_000_000, 0u32..3_000_000);
        let any = (any::<u32>(), any::<u32>(), any::<u32>());
        let arrivals = prop::collection::vec(prop_oneof![4 => near, 1 => any], 0..60);
        arrivals.prop_map(|arrivals| {
            let mut log = Log::new(1000);
            for (number, sent, arrived) in arrivals {
                log.push(Arrival {
                    number,
                    sent,
                    arrived,
                });
            }
            log
        })
    }

    fn noted_way() -> impl Strategy<Value = NotedWay> {
        (log(), log(), log(), any::<u32>()).prop_map(|(fill, probes, light, sent)| NotedWay {
            fill,
            probes,
            light,
            sent,
        })
    }

    proptest! {
        // A recording of an hour has 360,000 rates.
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn whatever_the_other_end_has_noted_makes_files_that_are_read_or_none(
            down in noted_way(), up in noted_way(), ways in 1u8..4,
        ) {
            let plan = Plan {
                down: ways & 1 != 0,
                up: ways & 2 != 0,
                duration: Duration::from_secs(2),
                max_rate: Rate::from_mbps(10),
                max_volume: Bytes::new(1_000_000),
                queue: QueueBand::default(),
                packet: 1400,
            };
            let noted = Noted { plan, down, up, headers: 28, problem: None };
            if let Some(recording) = Recording::of(&noted) {
                for way in [&recording.down, &recording.up].into_iter().flatten() {
                    let trace = files::opportunities(way, "down");
                    prop_assert!(mahimahi::parse(&trace, Bytes::new(1504)).is_ok());
                    prop_assert!(series::parse(&files::rates(way, "down")).is_ok());
                    prop_assert!(delay::parse(&files::base_delay(way)).is_ok());
                    prop_assert!(way.queue_percentiles().is_sorted());
                }
                if let Some(delays) = files::quiet_delay(&recording) {
                    prop_assert!(delay::parse(&delays).is_ok());
                }
            }
        }
    }
}
