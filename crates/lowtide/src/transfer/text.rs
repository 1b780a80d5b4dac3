//! What is told of transfers, for people.

use std::fmt::Write as _;

use lowtide_transfer::{Event, Interval, Report, RttMs, Summary};

/// The heading of [`second`]s.
pub(super) const HEADING: &str =
    "    time        rate      RTT ms    min   cwnd kB  in flight kB   lost";

/// A second of a transfer.
pub(super) fn second(interval: &Interval) -> String {
    let mut line = format!(
        "{:7.1} s {:8.2} Mbit/s",
        interval.end_s, interval.throughput_mbps
    );
    if let Some(sender) = &interval.sender {
        let ms = |ms: Option<f64>| ms.map_or_else(|| "-".to_string(), |ms| format!("{ms:.2}"));
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            " {:>8} {:>6} {:>9.1} {:>13.1} {:>6}",
            ms(sender.rtt_ms.map(|rtt| rtt.last)),
            ms(sender.rtt_ms.map(|rtt| rtt.min)),
            sender.cwnd_bytes as f64 / 1e3,
            sender.inflight_bytes as f64 / 1e3,
            sender.lost_packets
        );
    }
    line
}

/// A whole transfer.
pub(super) fn summary(of: &Summary) -> String {
    let mark = match (of.outcome, &of.problem) {
        ("interrupted", _) => "INTERRUPTED: ".to_string(),
        (_, Some(problem)) => format!("CUT SHORT ({problem}): "),
        _ => String::new(),
    };
    let mut text = format!(
        "{mark}{} of {:.1} MB in {:.2} s: {:.2} Mbit/s",
        of.direction,
        of.received_bytes as f64 / 1e6,
        of.duration_s,
        of.throughput_mbps
    );
    // Writing to a string cannot fail.
    if let Some(name) = &of.controller {
        let _ = write!(text, ", sent by {name}");
    }
    if let Some(sender) = of.sender
        && let Some(RttMs { mean, min, .. }) = sender.rtt_ms
    {
        let (lost, sent) = (sender.lost_packets, sender.sent_packets);
        let share = 100.0 * lost as f64 / sent.max(1) as f64;
        let _ = write!(
            text,
            "\nRTT mean {mean:.2} ms, min {min:.2} ms; {lost} of {sent} packets lost ({share:.2} %)"
        );
        if sender.marked_packets > 0 {
            let _ = write!(text, ", {} marked ECN-CE", sender.marked_packets);
        }
        if !of.is_final {
            text.push_str(", as the sender last said before the end");
        }
    }
    text
}

/// What happens at a server.
pub(super) fn event(event: &Event<'_>) -> String {
    let state = |report: &Report| {
        let Report { sender, .. } = report;
        let rtt = sender.rtt_ms.map_or(f64::NAN, |rtt| rtt.last);
        format!(
            "{:.1} MB sent by {}, RTT {rtt:.2} ms, cwnd {:.1} kB, {} of {} packets lost, {} marked; \
             {:.1} MB received",
            sender.sent_bytes as f64 / 1e6,
            report.controller,
            sender.cwnd_bytes as f64 / 1e3,
            sender.lost_packets,
            sender.sent_packets,
            sender.marked_packets,
            report.received_bytes as f64 / 1e6
        )
    };
    match event {
        Event::Listening {
            address,
            controller,
            ..
        } => format!("listening on {address}, sending by {controller}"),
        Event::Second { peer, report } => format!("{peer}: {}", state(report)),
        Event::Closed { peer, report } => format!("{peer}: closed; {}", state(report)),
    }
}
