//! The files of a recording, as text.

use std::fmt::Write;

use lowtide_cc::units::Duration;
use lowtide_sim::link::{MAHIMAHI_OPPORTUNITY, Opportunities};
use lowtide_sim::trace::mahimahi;
use serde::Serialize;

use crate::recording::{Recording, Span, Way};

/// Width of a step of the rate series.
const STEP: Duration = Duration::from_millis(10);
/// Spans that are written out; there may be more.
const MOST_SPANS: usize = 1000;

/// Version of the JSON; a change that a reader could stumble over raises it.
const SCHEMA: u32 = 1;

/// A recorded way as mahimahi's opportunities, one whenever the bytes of one have come. Comments say what it is and
/// where it is a lower bound; `lowtide trace convert --to mahimahi` takes them out for mahimahi itself, which knows none.
#[must_use]
pub fn opportunities(way: &Way, name: &str) -> Vec<u8> {
    let size = MAHIMAHI_OPPORTUNITY.get();
    let (mut text, mut times, mut bytes) = (comments(way, name), Vec::new(), 0);
    for came in &way.came {
        bytes += came.bytes.get();
        let ms = came.at.as_nanos().div_ceil(1_000_000) as u32;
        while bytes >= size {
            bytes -= size;
            times.push(ms);
        }
    }
    let length = way.length.as_nanos().div_ceil(1_000_000) as u32;
    // The last one is the length.
    if times.last() != Some(&length.max(1)) {
        times.push(length.max(1));
    }
    if let Ok(trace) = Opportunities::new(times, MAHIMAHI_OPPORTUNITY) {
        // Memory takes it all.
        let _ = mahimahi::write(&trace, &mut text);
    }
    text
}

/// A recorded way as a rate series.
#[must_use]
pub fn rates(way: &Way, name: &str) -> Vec<u8> {
    let mut text = comments(way, name);
    text.extend_from_slice(b"time_ms,rate_kbps\n");
    let mut volumes = way.volumes(STEP);
    // The last one is not whole, but without it there may be nothing.
    if volumes.len() > 1 && volumes[..volumes.len() - 1].iter().any(|v| !v.is_zero()) {
        volumes.pop();
    }
    for (n, volume) in volumes.iter().enumerate() {
        let kbps = volume.get() as f64 * 8.0 / STEP.as_millis_f64();
        let line = format!("{},{kbps}\n", n as u64 * (STEP.as_nanos() / 1_000_000));
        text.extend_from_slice(line.as_bytes());
    }
    text
}

/// A recorded way's one-way delay without a queue. It has one value: what moves it under a standing queue is in the times of
/// the opportunities already.
#[must_use]
pub fn base_delay(way: &Way) -> Vec<u8> {
    let ms = way.base_delay.as_millis_f64();
    let why =
        "# half of the shortest round trip; how it moved is in the times of the opportunities\n";
    format!("{why}time_ms,delay_ms\n0,{ms:.3}\n").into_bytes()
}

/// The delays of the way that was not recorded, over time; `None` where both were.
#[must_use]
pub fn quiet_delay(recording: &Recording) -> Option<Vec<u8>> {
    if recording.quiet_delay.is_empty() {
        return None;
    }
    let mut text =
        "# one-way delays of the way without load, the least of each 100 ms\n".to_string();
    text.push_str("time_ms,delay_ms\n");
    for (at, delay) in &recording.quiet_delay {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{:.3}", at.as_millis_f64(), delay.as_millis_f64());
    }
    Some(text.into_bytes())
}

/// Each packet of a way: when it came, and its queueing delay (not of feedback).
#[must_use]
pub fn packets(way: &Way) -> Vec<u8> {
    let mut text = "time_us,bytes,queue_us\n".to_string();
    for came in &way.came {
        let queue = came.queue.map(|queue| queue.as_micros().to_string());
        let (at, bytes) = (came.at.as_micros(), came.bytes.get());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{at},{bytes},{}", queue.unwrap_or_default());
    }
    text.into_bytes()
}

fn comments(way: &Way, name: &str) -> Vec<u8> {
    let mut text = format!(
        "# recorded by lowtide {}, {name}: {:.3} s, mean {:.3} Mbit/s, base delay {:.1} ms one way\n",
        env!("CARGO_PKG_VERSION"),
        way.length.as_secs_f64(),
        way.mean().as_mbps(),
        way.base_delay.as_millis_f64(),
    );
    if !way.idle.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "# {:.1} % of it not backlogged: lower bounds, in the spans",
            way.idle_share() * 100.0
        );
    }
    for span in way.idle.iter().take(MOST_SPANS) {
        let (from, to) = (span.from.as_secs_f64(), span.to.as_secs_f64());
        let _ = writeln!(text, "# not backlogged: {from:.3}-{to:.3} s");
    }
    if way.idle.len() > MOST_SPANS {
        let more = way.idle.len() - MOST_SPANS;
        let _ = writeln!(text, "# and {more} more");
    }
    text.into_bytes()
}

/// Origin of a recording: who recorded, when, and with what.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The server, as the user named it.
    pub server: String,
    /// Seconds since 1970 when it began.
    pub unix_time_s: u64,
    /// Whether arrivals are the kernel's times at this end.
    pub kernel_times: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    version: &'static str,
    server: &'a str,
    unix_time_s: u64,
    kernel_times: bool,
    asked: JsonPlan,
    base_rtt_ms: f64,
    clock_offset_ms: f64,
    clock_drift_ppm: f64,
    clock_drift_uncertainty_ppm: f64,
    clock_drift_corrected: bool,
    began_s: f64,
    down: Option<JsonWay>,
    up: Option<JsonWay>,
    problem: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonPlan {
    duration_s: f64,
    max_rate_mbps: f64,
    max_volume_bytes: u64,
    queue_low_ms: f64,
    queue_high_ms: f64,
    packet_bytes: u16,
}

#[derive(Serialize)]
struct JsonWay {
    length_s: f64,
    mean_mbps: f64,
    received_packets: u64,
    received_bytes: u64,
    sent_packets: u32,
    left_out_packets: u32,
    lost_packets: u32,
    reordered_packets: u32,
    base_delay_ms: f64,
    jitter_ms: f64,
    queue_p5_ms: f64,
    queue_p50_ms: f64,
    queue_p95_ms: f64,
    longest_gap_ms: f64,
    not_backlogged_share: f64,
    not_backlogged_s: Vec<[f64; 2]>,
    outages_s: Vec<[f64; 2]>,
}

fn spans(spans: &[Span]) -> Vec<[f64; 2]> {
    let spans = spans.iter();
    spans
        .map(|s| [s.from.as_secs_f64(), s.to.as_secs_f64()])
        .collect()
}

impl JsonWay {
    fn of(way: &Way) -> Self {
        let [p5, p50, p95] = way.queue_percentiles().map(Duration::as_millis_f64);
        Self {
            length_s: way.length.as_secs_f64(),
            mean_mbps: way.mean().as_mbps(),
            received_packets: way.came.iter().filter(|c| c.queue.is_some()).count() as u64,
            received_bytes: way.volume().get(),
            sent_packets: way.sent,
            left_out_packets: way.left_out,
            lost_packets: way.lost,
            reordered_packets: way.reordered,
            base_delay_ms: way.base_delay.as_millis_f64(),
            jitter_ms: way.jitter.as_millis_f64(),
            queue_p5_ms: p5,
            queue_p50_ms: p50,
            queue_p95_ms: p95,
            longest_gap_ms: way.longest_gap().as_millis_f64(),
            not_backlogged_share: way.idle_share(),
            not_backlogged_s: spans(&way.idle),
            outages_s: spans(&way.outages),
        }
    }
}

/// How it was recorded.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn json(recording: &Recording, origin: &Origin) -> serde_json::Result<Vec<u8>> {
    let (plan, clocks) = (&recording.plan, &recording.clocks);
    let mut text = serde_json::to_vec_pretty(&Json {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        server: &origin.server,
        unix_time_s: origin.unix_time_s,
        kernel_times: origin.kernel_times,
        asked: JsonPlan {
            duration_s: plan.duration.as_secs_f64(),
            max_rate_mbps: plan.max_rate.as_mbps(),
            max_volume_bytes: plan.max_volume.get(),
            queue_low_ms: plan.queue.low.as_millis_f64(),
            queue_high_ms: plan.queue.high.as_millis_f64(),
            packet_bytes: plan.packet,
        },
        base_rtt_ms: clocks.base_rtt_us / 1e3,
        clock_offset_ms: clocks.offset_us / 1e3,
        clock_drift_ppm: clocks.drift_ppm,
        clock_drift_uncertainty_ppm: clocks.uncertainty_ppm,
        clock_drift_corrected: clocks.is_corrected,
        began_s: recording.began.as_secs_f64(),
        down: recording.down.as_ref().map(JsonWay::of),
        up: recording.up.as_ref().map(JsonWay::of),
        problem: recording.problem.as_deref(),
    })?;
    text.push(b'\n');
    Ok(text)
}
