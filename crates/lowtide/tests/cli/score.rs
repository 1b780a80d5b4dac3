//! `lowtide score` as a user meets it.

use std::fs;

use serde_json::Value;

use crate::each;
use crate::program::{Folder, has, lowtide, number};

/// A long queue.
const DELAY: &str = r#"
about = "One flow, a queue of 8 BDP."
case = { id = "Q1", title = "Keeps the queue short", source = "our calls" }
link = { rate = "10mbit", buffer = "8bdp" }
path = { rtt = "40ms" }
run = { duration = "8s" }
flows = [{ controller = "candidate" }]
[[limits]]
metric = "queueing delay, p95, ms"
value = "queue_delay_ms.p95"
at_most = 80
reason = "people talk over each other beyond it"
"#;

/// What only some controllers can be asked.
const PHASES: &str = r#"
case = { id = "Q2", title = "Is BBR", source = "us", needs = ["bbr"] }
link = { rate = "10mbit" }
run = { duration = "2s" }
flows = [{ controller = "candidate" }]
limits = [{ metric = "utilisation", value = "utilisation", at_least = 0.5, reason = "so" }]
"#;

/// One with chance in it.
const LOSS: &str = r#"
case = { id = "Q3", title = "Bears some loss", source = "us" }
link = { rate = "10mbit" }
path = { loss = "0.5%" }
run = { duration = "4s", seeds = 3 }
flows = [{ controller = "candidate" }]
measures = { late_mbps = { span = { metric = "goodput_mbps", from = "2s" } } }
[[limits]]
metric = "goodput after 2 s, Mbit/s"
value = "late_mbps"
at_least = 1
reason = "it is no congestion"
"#;

/// A user's own suite.
fn suite() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.at("suite")).unwrap();
    for (name, text) in [("delay", DELAY), ("phases", PHASES), ("loss", LOSS)] {
        folder.write(&format!("suite/{name}.toml"), text);
    }
    folder
}

/// A scorecard's verdicts on its first controller, in the order of the cases.
fn verdicts(card: &Value) -> Vec<&str> {
    each(&card["results"][0]["cases"], "verdict")
}

#[test]
fn a_suite_of_ones_own_passes_fails_and_says_why() {
    let folder = suite();
    let score = "score --suite suite --cc cubic:hystart=false,bbr3";
    let card = folder.run(&format!("{score} --json")).code(1).json();
    assert_eq!(
        (&card["schema"], &card["command"]),
        (&1.into(), &"score".into())
    );
    let cubic = &card["results"][0];
    assert_eq!(cubic["controller"], "cubic:hystart=false");
    let counts = ["passed", "failed", "not_applicable"].map(|key| cubic[key].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1]);
    assert_eq!(each(&cubic["cases"], "id"), ["Q1", "Q2", "Q3"]);
    assert_eq!(verdicts(&card), ["fail", "n/a", "pass"]);
    let queue = &cubic["cases"][0];
    assert!(number(queue, "value") > 80.0, "{queue}");
    assert_eq!(
        (&queue["limit"], &queue["interval"]),
        (&80.0.into(), &Value::Null)
    );
    assert!(number(&cubic["cases"][2], "interval") > 0.0);
    has(
        &queue["explanation"].to_string(),
        &["longest wait", "kB in the queue"],
    );
    assert_eq!(card["results"][1]["failed"], 0, "bbr3: {card}");

    // The table says the same to people, and the same runs give the same bytes.
    let parts = [
        "FAIL  Q1 Keeps the queue short (our calls)",
        "people talk over each other",
        "n/a   Q2",
    ];
    has(&folder.run(score).code(1).out, &parts);
    let again = folder
        .run(&format!("{score} --json --jobs 1"))
        .code(1)
        .json();
    assert_eq!(again, card);
}

#[test]
fn the_report_and_its_qlog_are_of_the_seed_that_is_worst() {
    let text = r#"
case = { id = "L", title = "Loses nothing", source = "us" }
link = { rate = "10mbit" }
path = { loss = "1%" }
run = { duration = "4s", seeds = 5 }
flows = [{ controller = "candidate" }]
limits = [{ metric = "loss", value = "loss_share", at_most = 0, seeds = "each", reason = "so" }]
"#;
    let folder = Folder::with("lossy.toml", text);
    let score = "score --cc window:packets=30 --json --suite lossy.toml --report report";
    let card = folder.run(score).code(1).json();
    let said = &card["results"][0]["cases"][0]["explanation"];
    let said = said.as_array().unwrap().iter();
    let said: Vec<&str> = said.map(|line| line.as_str().unwrap()).collect();
    let (_, seed) = said[0].rsplit_once("seed ").unwrap();
    let seed = seed.trim_end_matches(':');
    assert_ne!(
        seed, "1",
        "a first seed that is the worst shows nothing: {said:?}"
    );
    let mut lost = said
        .iter()
        .filter_map(|line| line.split_once(" packets lost"));
    let lost: usize = lost.next().unwrap().0.parse().unwrap();

    let title = format!("window:packets=30, seed {seed}: ");
    has(&folder.read("report/index.html"), &[&title]);
    let logs: Vec<_> = fs::read_dir(folder.at("report/qlog")).unwrap().collect();
    let [Ok(log)] = logs.as_slice() else {
        panic!("{logs:?}");
    };
    let text = fs::read_to_string(log.path()).unwrap();
    let found = text.matches("quic:packet_lost").count();
    assert!(
        found.abs_diff(lost) <= 1,
        "{found} in the log and {lost} explained: one may be lost at the end"
    );
}

#[test]
fn ci_gets_junit_a_baseline_and_an_exit_code() {
    let folder = suite();
    let score = "score --suite suite --case Q3,Q1 --cc bbr3";
    folder.ok(&format!("{score} --junit junit.xml --json=before.json"));
    let counts = r#"tests="2" failures="0" errors="0" skipped="0""#;
    has(&folder.read("junit.xml"), &[counts]);
    let compare = format!("{score} --baseline before.json");
    folder.ok(&compare);

    // What was better once is a regression, even where every limit holds.
    let mut old = folder.json("before.json");
    let value = old
        .pointer_mut("/results/0/cases/0/limits/0/value")
        .unwrap();
    *value = (value.as_f64().unwrap() / 2.0).into();
    folder.write("before.json", old.to_string());
    has(
        &folder.run(&compare).code(1).out,
        &["bbr3 Q1: queueing delay, p95, ms was"],
    );

    // What failed before may fail; a baseline of something else, and no case at all, are no success.
    let fails = "score --suite suite --case Q1 --cc cubic";
    folder.run(&format!("{fails} --json=fails.json")).code(1);
    let known = folder.ok(&format!("{fails} --baseline fails.json"));
    has(&known.err, &["1 cases compared with fails.json"]);
    let other = folder
        .run(&format!("{fails} --baseline before.json"))
        .code(1);
    let none = "before.json has none of these cases and controllers";
    has(&other.err, &["1 new case fails", none]);
    let inapplicable = folder.run("score --suite suite --case Q2 --cc cubic");
    has(&inapplicable.code(1).err, &["no case applies to cubic"]);
}

#[test]
fn what_was_interrupted_goes_on() {
    let folder = suite();
    let score = "score --suite suite --cc bbr3 --output kept --json";
    let first = folder.ok(score);
    // As if it had been killed in the middle of the last line.
    let results = fs::read_dir(folder.at("kept")).unwrap().next().unwrap();
    let results = results.unwrap().path();
    let text = fs::read(&results).unwrap();
    fs::write(&results, &text[..text.len() - 9]).unwrap();
    let second = folder.ok(score);
    has(&first.err, &["5 runs in"]);
    has(&second.err, &["1 runs in"]);
    assert_eq!(first.json(), second.json());
}

#[test]
fn bad_input_is_named_and_nothing_is_run() {
    let folder = suite();
    fs::create_dir(folder.at("bad")).unwrap();
    folder.write("bad/x.toml", "[link]\nrate = '1mbit'\n[[flows]]\n");
    let rows = "
        run suite/delay.toml               => delay.toml: | lowtide score --suite FILE
        score --suite nonsense             => there is no suite, file or folder 'nonsense'; known suites are
        score --suite suite --case Q9      => has no case 'Q9'; its cases are Q1, Q2, Q3
        score --suite suite --cc bbr9      => did you mean
        score --suite bad                  => x.toml:1:1: case: a case of a suite says what it is
        score --suite suite --baseline suite/delay.toml => no scorecards that
        ";
    folder.refuses("", rows);
}

#[test]
fn built_in_suites_are_listed_with_who_asks() {
    has(
        &lowtide("score --list").ok().out,
        &["cellular: ", "  throughput "],
    );
}

#[cfg(unix)]
#[test]
fn what_is_done_is_kept_and_shown_when_a_signal_comes() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = suite();
        let endless = DELAY.replace("\"Q1\"", "\"Q9\"").replace("8s", "86400s");
        folder.write("suite/endless.toml", endless);
        let score = "score --suite suite --case Q1,Q9 --cc ebb --jobs 2 --json \
                     --junit junit.xml --output kept";
        let mut running = folder.begin(score);
        let has_kept = || {
            let files = fs::read_dir(folder.at("kept")).into_iter().flatten();
            let mut texts = files.filter_map(|file| fs::read_to_string(file.ok()?.path()).ok());
            texts.any(|text| text.contains("queue_delay_ms"))
        };
        running.until(has_kept);
        running.signal(signal);
        let ran = running.ran().code(code);
        has(&ran.err, &["interrupted: 1 of 2 runs are in"]);
        let card = ran.json();
        assert_eq!(verdicts(&card), ["pass", "not_run"], "{card}");
        has(&folder.read("junit.xml"), &[r#"failures="0" errors="1""#]);
    }
}

#[test]
fn a_stacks_own_controller_needs_no_host_named() {
    let folder = suite();
    let score = "score --suite suite --case Q1 --cc noq/cubic";
    let by_itself = folder.run(&format!("{score} --json")).code(1);
    let named = folder.run(&format!("{score} --host noq --json")).code(1);
    assert_eq!(by_itself.json(), named.json());
    let rows = "--host quinn => noq/cubic runs over noq only, not over quinn: use --host noq
                --cc quinn/cubic => noq/cubic runs over noq only and quinn/cubic over quinn";
    folder.refuses(score, rows);
}

#[test]
fn stacks_own_controllers_are_held_against_a_suite_over_their_stack() {
    let folder = suite();
    let candidate = "\"candidate\"";
    let text = DELAY.replace(candidate, &format!("{candidate}, transport = \"tcp\""));
    folder.write("suite/tcp.toml", text.replace("Q1", "Q4"));
    for host in ["noq", "quinn"] {
        let score = format!("score --suite suite --host {host} --cc {host}/cubic --json");
        let card = folder.run(&score).code(1).json();
        // It fills the queue, is no BBR, bears some loss, and has no TCP.
        assert_eq!(verdicts(&card), ["fail", "n/a", "pass", "n/a"], "{card}");
        let reason = card["results"][0]["cases"][3]["reason"].as_str();
        has(reason.unwrap(), &["TCP"]);
    }
}

#[test]
fn what_is_not_seen_over_a_stack_is_not_applicable_and_frames_are_seen_over_all() {
    let folder = Folder::new();
    let case = |id: &str, value: &str, limit: &str| {
        let text = format!(
            r#"
            case = {{ id = "{id}", title = "A call", source = "us" }}
            link = {{ rate = "10mbit" }}
            path = {{ rtt = "40ms" }}
            run = {{ duration = "5s" }}
            flows = [{{ controller = "candidate", source = "video:1mbit" }}]
            limits = [{{ metric = "what it is", value = "{value}", {limit}, reason = "so" }}]
            "#
        );
        folder.write(&format!("{id}.toml"), text);
    };
    // A frame of some 4 kB takes 4 ms on the link, at 20 ms from end to end, and up to a round trip more where it
    // is lost or held back.
    case("F1", "frame_delay_ms.p50", "at_least = 20, at_most = 60");
    case("T1", "timeouts", "at_most = 0");
    for host in ["model", "quic", "noq"] {
        let score = format!("score --cc cubic --host {host} --json --suite .");
        let card = folder.ok(&score).json();
        let timeouts = if host == "model" { "pass" } else { "n/a" };
        assert_eq!(verdicts(&card), ["pass", timeouts], "{host}: {card}");
        if host != "model" {
            let reason = card["results"][0]["cases"][1]["reason"].as_str();
            has(reason.unwrap(), &["timeouts is not seen over"]);
        }
    }
}
