//! What happened on the link.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use lowtide_lab::setting::Setting;
use lowtide_link::{DirectionSummary, Percentiles, Summary};
use lowtide_sim::queue::QueueLimit;
use serde::Serialize;

use super::Args;
use crate::failure::Failure;
use crate::output;

/// In JSON; other tools rely on the names.
#[derive(Serialize)]
struct Json<'a> {
    link: &'a str,
    rtt_ms: f64,
    #[serde(flatten)]
    summary: &'a Summary,
}

/// The link in one line.
pub(super) fn link(setting: &Setting) -> String {
    let buffer = match setting.buffer {
        QueueLimit::Unlimited => "unlimited buffer".to_string(),
        QueueLimit::Packets(n) => format!("buffer {n} packets"),
        QueueLimit::Bytes(bytes) => format!("buffer {bytes}"),
        QueueLimit::Time(time) => format!("buffer {} ms", time.as_millis_f64()),
        QueueLimit::Bdp(n) => format!("buffer {n} BDP"),
    };
    format!(
        "{}, RTT {} ms, {buffer}",
        setting.link_name,
        setting.rtt.as_millis_f64()
    )
}

/// Prints the summary as the flags say.
pub(super) fn print(args: &Args, setting: &Setting, summary: &Summary) -> Result<(), Failure> {
    if let Some(file) = &args.json {
        let json = Json {
            link: &setting.link_name,
            rtt_ms: setting.rtt.as_millis_f64(),
            summary,
        };
        if file.as_os_str() == "-" {
            return output::print_json(&json);
        }
        let mut text = serde_json::to_vec_pretty(&json).map_err(Failure::run)?;
        text.push(b'\n');
        output::write(file, &text)?;
    }
    if !args.quiet {
        // Nobody is left to tell when even this fails.
        let _ = io::stderr().write_all(text(summary).as_bytes());
    }
    Ok(())
}

fn text(summary: &Summary) -> String {
    let mut text = format!("\n{:.1} s\n", summary.duration_s);
    for (way, s) in [("down", &summary.down), ("up", &summary.up)] {
        direction(&mut text, way, s);
    }
    for complaint in &summary.complaints {
        let _ = writeln!(text, "NOT FAITHFUL: {complaint}");
    }
    if !summary.down.real_time_priority && !summary.faithful {
        let _ = writeln!(
            text,
            "the threads had ordinary priority; as root they have real-time priority"
        );
    }
    text
}

fn direction(text: &mut String, way: &str, s: &DirectionSummary) {
    let _ = writeln!(
        text,
        "{way:>5}  {:.2} Mbit/s; {} packets came, {} passed ({} bytes), {} found the queue full, \
         {} were lost",
        s.throughput_mbps,
        s.offered_packets,
        s.delivered_packets,
        s.delivered_bytes,
        s.dropped_queue_packets,
        s.lost_packets,
    );
    let mut row = |what: &str, p: Option<Percentiles>, digits: usize| {
        if let Some(p) = p {
            let _ = writeln!(
                text,
                "       {what}, ms: mean {:.digits$}, p50 {:.digits$}, p95 {:.digits$}, \
                 p99 {:.digits$}, max {:.digits$}",
                p.mean, p.p50, p.p95, p.p99, p.max
            );
        }
    };
    row("queue and link", s.queue_delay_ms, 1);
    row("late", s.release_error_ms, 3);
}
