use std::ops::Range;
use std::path::Path;

use crate::contender::Contenders;
use crate::experiment::{self, CellResult, Options};
use crate::scenario_file::ScenarioFile;

fn results(text: &str) -> Result<Vec<CellResult>, String> {
    let file = ScenarioFile::parse(Path::new("test.toml"), text.to_string());
    let file = file.map_err(|e| e.to_string())?;
    let cells = file.cells(&Contenders::default());
    let cells = cells.map_err(|e| e.to_string())?;
    experiment::run(&cells, Options::default(), &|| {}).map_err(|e| e.to_string())
}

fn value(results: &[CellResult], name: &str) -> Option<f64> {
    results[0].value(name).map(|(mean, _)| mean)
}

#[track_caller]
fn has_within(results: &[CellResult], ranges: &[(&str, Range<f64>)]) {
    for (name, range) in ranges {
        let value = value(results, name).unwrap();
        assert!(range.contains(&value), "{name}: {value}");
    }
}

#[test]
fn a_link_that_stops_for_a_second_is_seen_in_every_kind() {
    // 8 Mbit/s are 1 MB/s: the source of 4 Mbit/s has half of the link; from 2 s to 3 s it has nothing.
    let text = r#"
        [link]
        schedule = "0s:8mbit,2s:0mbit,3s:8mbit"
        buffer = "inf"
        [path]
        rtt = "20ms"
        [run]
        duration = "6s"
        [[flows]]
        controller = "window:packets=1000"
        source = "4mbit"
        [measures]
        before = { span = { metric = "flows.0.goodput_mbps", from = "1s", to = "2s" } }
        outage = { span = { metric = "throughput_mbps", from = "2100ms", to = "2900ms" } }
        half = { reached = { share = 0.49, window = "500ms", from = "1s" } }
        all = { reached = { share = 0.95, window = "200ms", from = "2s" } }
        quiet = { reached = { share = 0.52, below = true, window = "500ms", hold = "1s", from = "3s" } }
        never = { reached = { share = 1.5 } }
        least = { least = { window = "500ms", from = "500ms", to = "2s" } }
        sent = { worst = { metric = "sent_mbps", window = "500ms", consecutive = 2, from = "1s" } }
        lost = { worst = { metric = "loss_share", window = "1s" } }
    "#;
    let found = results(text).unwrap();
    let within = [
        ("before", 3.9..4.1),
        ("outage", 0.0..0.01),
        // The first window that ends after 1 s begins there.
        ("half", 0.39..0.61),
        // What the source wrote in the outage goes out at the link's rate from 3 s on; the window counts what
        // the link offers in it, which is nothing before.
        ("all", 1.01..1.1),
        // The backlog of half a megabyte goes at half a megabyte a second: until 4 s.
        ("quiet", 1.4..1.6),
        ("least", 0.47..0.53),
        ("sent", 3.9..4.1),
    ];
    has_within(&found, &within);
    assert_eq!(value(&found, "lost"), Some(0.0));
    assert_eq!(value(&found, "never"), None);
}

#[test]
fn transfers_take_their_time() {
    // 125 kB of 1 MB/s after a round trip or two, and one that cannot be done.
    let text = r#"
        [link]
        rate = "8mbit"
        [path]
        rtt = "20ms"
        [run]
        duration = "5s"
        [[flows]]
        controller = "window:packets=100"
        source = "125kB"
        [[flows]]
        controller = "window:packets=100"
        source = "100MB"
        start = "2s"
        [measures]
        short = { completion = { group = 0, quantile = 1.0 } }
        long = { completion = { group = 1 } }
    "#;
    let found = results(text).unwrap();
    // 125 ms on the link, the round trip, and the last acknowledgment's delay of up to 25 ms.
    has_within(&found, &[("short", 0.14..0.19)]);
    assert_eq!(value(&found, "long"), Some(3.0));
}

#[test]
fn what_cannot_be_measured_is_named_with_its_line() {
    let with = |measure: &str| {
        let text = format!(
            "[link]\nrate = '8mbit'\n[run]\nduration = '5s'\n[[flows]]\n[measures]\n{measure}\n"
        );
        results(&text).map(|_| ()).unwrap_err()
    };
    let rows = "
        x = { span = { metric = 'nonsense' } } => nothing is called 'nonsense'
        x = { span = { metric = 'jain', from = '7s' } } => begins when the run is over
        x = { least = { group = 3, window = '1s' } } => there are 1 groups
        x = { most = {} } => unknown variant `most`
        jain = { span = { metric = 'jain' } } => there is a metric of this name
        'X y' = { span = { metric = 'jain' } } => a name has letters";
    for row in rows.trim().lines() {
        let (measure, problem) = row.trim().split_once(" => ").unwrap();
        let error = with(measure);
        assert!(error.contains(problem), "{measure}: {error}");
        assert!(error.contains("test.toml:7"), "{measure}: {error}");
    }
}

#[test]
fn bbr3_may_use_its_window_again_when_it_sends_after_idleness_in_probe_rtt() {
    // Lost acknowledgments leave the window of ProbeRTT as the last one that an acknowledgment told of.
    let text = r#"
        [link]
        rate = "66mbit"
        buffer = "2bdp"
        [path]
        rtt = "10ms"
        ack_loss = "10%"
        [run]
        duration = "60s"
        seeds = 5
        [[flows]]
        controller = "bbr3"
        source = "onoff:9900kbit:69ms:740ms"
        transport = "tcp"
        [measures]
        inflight = { invariant = { rules = ["inflight"] } }
    "#;
    has_within(&results(text).unwrap(), &[("inflight", 0.0..1e-9)]);
}

#[test]
fn phases_of_bbr3_are_what_its_file_says_and_break_no_rule() {
    let text = r#"
        [link]
        rate = "10mbit"
        buffer = "150kB"
        [path]
        rtt = "40ms"
        packet_size = "1200B"
        [run]
        duration = "12s"
        [[flows]]
        controller = "bbr3"
        [trigger]
        phase = "ProbeBW_UP"
        visit = 2
        schedule = "0s:10mbit,1s:5mbit"
        [measures]
        startup = { phase = { name = "Startup", next = "Drain", value = "rounds", at = "after" } }
        not_next = { phase = { name = "Startup", next = "ProbeRTT", value = "1", of = "count" } }
        full = { phase = { name = "Startup", visit = 1, value = "full_bw_count", at = "after" } }
        ups = { phase = { name = "ProbeBW_UP", value = "1", of = "count", to = "+1ms" } }
        up_least = { phase = { name = "ProbeBW_UP", value = "rounds", at = "after", of = "least", to = "+1ms" } }
        up_gain = { phase = { name = "ProbeBW_UP", value = "pacing_rate / bw", at = "most" } }
        visits = { phase = { name = "any", value = "1", of = "count", to = "+1ms" } }
        age = { phase = { name = "any", next = "ProbeRTT", value = "now - probe_rtt_min_stamp", at = "exit", of = "least" } }
        stay = { phase = { name = "ProbeRTT", value = "now - entry.now", at = "after", of = "least" } }
        window = { phase = { name = "ProbeRTT", value = "cwnd / max(0.5 * bw * min_rtt, 4 * smss)" } }
        before = { phase = { value = "cap * 8 / 1000000", at = "least", to = "+1s" } }
        late = { phase = { value = "cap * 8 / 1000000", at = "least" } }
        dips = { stretch = { value = "inflight / (cap * base_rtt)", at_most = 0.6, what = "longest", from = "1s" } }
        dip_count = { stretch = { value = "inflight / (cap * base_rtt)", at_most = 0.6, what = "count", from = "1s" } }
        transitions = { invariant = { rules = ["transitions"] } }
        pacing = { invariant = { rules = ["pacing"] } }
        smallest = { invariant = { rules = ["window"] } }
        inflight = { invariant = { rules = ["inflight"] } }
        max_bw = { invariant = { rules = ["max_bw"] } }
        broken = { invariant = {} }
    "#;
    let found = results(text).unwrap();
    let gain = 1.25 * 0.99;
    let within = [
        ("startup", 6.0..8.01),
        ("age", 4.95..5.0),
        ("up_gain", gain - 1e-3..gain + 1e-3),
        ("stay", 0.2..0.3),
        ("window", 0.999..1.001),
        ("dips", 0.2..0.35),
        ("dip_count", 1.0..f64::INFINITY),
    ];
    has_within(&found, &within);
    // Startup, Drain, and twice CRUISE, REFILL and UP with a DOWN in between.
    let names = "not_next full ups visits up_least before late";
    let values = names.split(' ').map(|name| value(&found, name).unwrap());
    assert_eq!(
        values.collect::<Vec<f64>>(),
        [0.0, 3.0, 2.0, 9.0, 3.0, 10.0, 5.0]
    );
    for rule in "transitions pacing smallest inflight max_bw broken".split(' ') {
        assert_eq!(value(&found, rule), Some(0.0), "{rule}");
    }

    // Another controller breaks none of its own.
    let other = text.replace("bbr3", "cubic").replace(
        "phase = \"ProbeBW_UP\"",
        "phase = \"ProbeBW_UP\"\nby = \"2s\"",
    );
    let found = results(&other).unwrap();
    assert_eq!(value(&found, "transitions"), None);
    assert_eq!(value(&found, "ups"), Some(0.0));

    let without = text.replace("[trigger]\n        phase = \"ProbeBW_UP\"\n        visit = 2\n        schedule = \"0s:10mbit,1s:5mbit\"", "");
    let refused = results(&without).unwrap_err();
    for part in ["measures.before.phase", "[trigger]"] {
        assert!(refused.contains(part), "{refused}");
    }
}
