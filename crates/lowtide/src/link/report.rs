//! What happened on the link.

use std::fmt::Write as _;

use lowtide_lab::compare::Comparison;
use lowtide_lab::json::{self, JsonComparison};
use lowtide_lab::program::{self, Active};
use lowtide_lab::setting::Setting;
use lowtide_link::{DirectionSummary, Percentiles, Summary};
use lowtide_report::report::Report;
use lowtide_sim::queue::QueueLimit;
use serde::Serialize;

use super::Args;
use super::comparison::Compared;
use crate::failure::Failure;
use crate::output;
use crate::table::Look;

/// In JSON; other tools rely on the names.
#[derive(Serialize)]
struct Json<'a> {
    schema: u32,
    command: &'static str,
    link: &'a str,
    rtt_ms: f64,
    #[serde(flatten)]
    summary: &'a Summary,
    /// The comparison of each way that has the link, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<Way<'a>>,
}

/// The link in one line.
pub(super) fn link(setting: &Setting) -> String {
    let buffer = match setting.forward.buffer {
        QueueLimit::Unlimited => "unlimited buffer".to_string(),
        QueueLimit::Packets(n) => format!("buffer {n} packets"),
        QueueLimit::Bytes(bytes) => format!("buffer {bytes}"),
        QueueLimit::Time(time) => format!("buffer {} ms", time.as_millis_f64()),
        QueueLimit::Bdp(n) => format!("buffer {n} BDP"),
    };
    format!(
        "{}, RTT {} ms, {buffer}",
        setting.link_name,
        setting.base_rtt().as_millis_f64()
    )
}

/// One way of the link in JSON.
#[derive(Serialize)]
struct Way<'a> {
    way: &'a str,
    active: Option<Active>,
    #[serde(flatten)]
    comparison: JsonComparison<'a>,
}

/// Says what happened on the link.
pub(super) fn say(args: &Args, summary: &Summary) {
    if !args.quiet {
        output::tell(&text(summary));
    }
}

/// Shows, prints and writes what the flags ask for.
pub(super) fn write(
    args: &Args,
    setting: &Setting,
    summary: &Summary,
    compared: Vec<Compared>,
) -> Result<(), Failure> {
    if !args.quiet {
        output::tell(&tables(&compared, Look::of_errors()));
    }
    args.json.put(&json(setting, summary, &compared))?;
    let about = about(args, summary, &compared);
    let runs: Vec<(Setting, Comparison)> = compared.into_iter().map(|c| c.run).collect();
    if let Some(folder) = &args.report {
        let report = Report::of_comparisons(&runs);
        let report = Report {
            title: format!("Your program behind a link: {}", setting.link_name),
            about,
            ..report
        };
        output::write_report(report, folder)?;
    }
    let failed = runs.iter().flat_map(|(_, comparison)| &comparison.failed);
    output::complain(failed)
}

fn json<'a>(setting: &'a Setting, summary: &'a Summary, compared: &'a [Compared]) -> Json<'a> {
    let comparisons = compared.iter().map(|c| Way {
        way: c.way,
        active: c.active,
        comparison: JsonComparison::new(&c.run.0, &c.run.1, None),
    });
    Json {
        schema: json::SCHEMA,
        command: "link",
        link: &setting.link_name,
        rtt_ms: setting.base_rtt().as_millis_f64(),
        summary,
        comparisons: comparisons.collect(),
    }
}

/// The comparisons as tables.
fn tables(compared: &[Compared], look: Look) -> String {
    let mut text = String::new();
    for Compared { way, active, run } in compared {
        let (setting, comparison) = run;
        let seconds = setting.duration.as_secs_f64();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "\n{way}: what others would have done in {seconds} s\n"
        );
        text.push_str(&output::table(setting, comparison, look));
        if let Some(active) = active {
            let _ = writeln!(text, "\n{} {}", program::NAME, sent(active));
        }
    }
    if !compared.is_empty() {
        let _ = writeln!(
            text,
            "* best of all but 'limit', which knows the link's future, and 'best window'. RTT of \
             {}:\n  the path's, and its packets' own time in the queue and on the link.",
            program::NAME
        );
    }
    text
}

/// When the program sent, and what it used then.
fn sent(active: &Active) -> String {
    format!(
        "sent from {:.2} s to {:.2} s, and used {:.1} % of what the link offered then",
        active.from_s,
        active.to_s,
        active.utilisation * 100.0
    )
}

/// What the report is about.
fn about(args: &Args, summary: &Summary, compared: &[Compared]) -> String {
    let subject = match (args.udp, args.command.as_slice()) {
        (Some((listen, target)), _) => format!("what went through {listen} to and from {target}"),
        (None, []) => "all that a shell ran".to_string(),
        (None, command) => {
            let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        }
    };
    let mut about = format!(
        "\u{201c}{}\u{201d} is {subject}, behind this link for {:.1} s of real time; the others sent as \
         much as they could over the same link in virtual time. The program's RTT is the path's and its packets' \
         own time in the queue and on the link.",
        program::NAME,
        summary.duration_s
    );
    for Compared { way, active, .. } in compared {
        if let Some(active) = active {
            let _ = write!(about, " On the way {way} it {}.", sent(active));
        }
    }
    for (way, s) in [("down", &summary.down), ("up", &summary.up)] {
        if s.marked_packets > 0 {
            let marked = s.marked_packets;
            let _ = write!(
                about,
                " On the way {way} the link marked {marked} of its packets ECN-CE."
            );
        }
    }
    for complaint in &summary.complaints {
        let _ = write!(about, " NOT FAITHFUL: {complaint}.");
    }
    about
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
    let (came, passed) = (s.offered_ecn, s.delivered_ecn);
    let capable = came.ect0 + came.ect1 + came.ce;
    if capable > 0 {
        let _ = writeln!(
            text,
            "       ECN: {capable} came ECN-capable ({} ECT(0), {} ECT(1), {} CE); {} passed with CE, {} of them \
             marked here",
            came.ect0, came.ect1, came.ce, passed.ce, s.marked_packets
        );
    }
    if s.dropped_managed_packets > 0 {
        let _ = writeln!(
            text,
            "       {} were dropped to keep the queue short",
            s.dropped_managed_packets
        );
    }
    if !s.rejected_packets.is_empty() {
        let counts = s.rejected_packets.iter();
        let counts: Vec<String> = counts.map(|(error, n)| format!("{n} {error}")).collect();
        let _ = writeln!(text, "       rejected further on: {}", counts.join(", "));
    }
}
