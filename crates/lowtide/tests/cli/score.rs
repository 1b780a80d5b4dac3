//! `lowtide score` as a user meets it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::lowtide;

/// A user's own suite: a long queue, one that only some controllers can be asked about, and one with
/// chance in it.
fn suite() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write(
        "delay.toml",
        r#"
        about = "One flow, a queue of 8 BDP."
        [case]
        id = "Q1"
        title = "Keeps the queue short"
        source = "our calls"
        [link]
        rate = "10mbit"
        buffer = "8bdp"
        [path]
        rtt = "40ms"
        [run]
        duration = "8s"
        [[flows]]
        controller = "candidate"
        [[limits]]
        metric = "queueing delay, p95, ms"
        value = "queue_delay_ms.p95"
        at_most = 80
        reason = "people talk over each other beyond it"
        "#,
    );
    write(
        "phases.toml",
        r#"
        [case]
        id = "Q2"
        title = "Is BBR"
        source = "us"
        needs = ["bbr"]
        [link]
        rate = "10mbit"
        [run]
        duration = "2s"
        [[flows]]
        controller = "candidate"
        [[limits]]
        metric = "utilisation"
        value = "utilisation"
        at_least = 0.5
        reason = "so"
        "#,
    );
    write(
        "loss.toml",
        r#"
        [case]
        id = "Q3"
        title = "Bears some loss"
        source = "us"
        [link]
        rate = "10mbit"
        [path]
        loss = "0.5%"
        [run]
        duration = "4s"
        seeds = 3
        [[flows]]
        controller = "candidate"
        [measures]
        late_mbps = { span = { metric = "goodput_mbps", from = "2s" } }
        [[limits]]
        metric = "goodput after 2 s, Mbit/s"
        value = "late_mbps"
        at_least = 1
        reason = "it is no congestion"
        "#,
    );
    dir
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_string()
}

fn json(output: &[u8]) -> Value {
    serde_json::from_slice(output).unwrap()
}

#[test]
fn a_suite_of_ones_own_passes_fails_and_says_why() {
    let dir = suite();
    let folder = path(dir.path());
    let args = [
        "score",
        "--suite",
        &folder,
        "--cc",
        "cubic:hystart=false,bbr3",
    ];
    let done = lowtide(&args).arg("--json").assert().code(1);
    let card = json(&done.get_output().stdout);
    assert_eq!(
        (card["schema"].clone(), card["command"].clone()),
        (1.into(), "score".into())
    );
    let cubic = &card["results"][0];
    assert_eq!(cubic["controller"], "cubic:hystart=false");
    let counts = ["passed", "failed", "not_applicable"].map(|key| cubic[key].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1]);
    let verdicts: Vec<(&str, &str)> = cubic["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            (
                case["id"].as_str().unwrap(),
                case["verdict"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(verdicts, [("Q1", "fail"), ("Q2", "n/a"), ("Q3", "pass")]);
    let queue = &cubic["cases"][0];
    assert!(queue["value"].as_f64().unwrap() > 80.0, "{queue}");
    assert_eq!(
        (&queue["limit"], &queue["interval"]),
        (&80.0.into(), &Value::Null)
    );
    assert!(cubic["cases"][2]["interval"].as_f64().unwrap() > 0.0);
    let said = queue["explanation"].to_string();
    assert!(
        said.contains("longest wait") && said.contains("kB in the queue"),
        "{said}"
    );
    assert_eq!(card["results"][1]["failed"], 0, "bbr3: {card}");

    // The table says the same to people, and the same runs give the same bytes.
    let text = lowtide(&args).assert().code(1).get_output().stdout.clone();
    let text = String::from_utf8(text).unwrap();
    for part in [
        "FAIL  Q1 Keeps the queue short (our calls)",
        "people talk over each other",
        "n/a   Q2",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let again = lowtide(&args)
        .args(["--json", "--jobs", "1"])
        .assert()
        .code(1);
    assert_eq!(json(&again.get_output().stdout), card);
}

#[test]
fn the_report_and_its_qlog_are_of_the_seed_that_is_worst() {
    let dir = tempfile::tempdir().unwrap();
    let (case, report) = (dir.path().join("lossy.toml"), dir.path().join("report"));
    let text = r#"
        [case]
        id = "L"
        title = "Loses nothing"
        source = "us"
        [link]
        rate = "10mbit"
        [path]
        loss = "1%"
        [run]
        duration = "4s"
        seeds = 5
        [[flows]]
        controller = "candidate"
        [[limits]]
        metric = "loss"
        value = "loss_share"
        at_most = 0
        seeds = "each"
        reason = "so"
    "#;
    fs::write(&case, text).unwrap();
    let done = lowtide(&["score", "--cc", "window:packets=30", "--json", "--suite"])
        .arg(&case)
        .args(["--report", &path(&report)])
        .assert()
        .code(1);
    let card = json(&done.get_output().stdout);
    let said = &card["results"][0]["cases"][0]["explanation"];
    let said: Vec<&str> = said
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l.as_str().unwrap())
        .collect();
    let seed = said[0]
        .rsplit_once("seed ")
        .unwrap()
        .1
        .trim_end_matches(':');
    assert_ne!(
        seed, "1",
        "the case tells nothing where the first seed is the worst: {said:?}"
    );
    let lost = said
        .iter()
        .find_map(|line| line.split_once(" packets lost"));
    let lost: usize = lost.unwrap().0.parse().unwrap();

    let page = fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.contains(&format!("window:packets=30, seed {seed}: ")));
    let logs: Vec<_> = fs::read_dir(report.join("qlog")).unwrap().collect();
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
    let dir = suite();
    let (folder, out) = (path(dir.path()), tempfile::tempdir().unwrap());
    let file = |name: &str| path(&out.path().join(name));
    let args = ["score", "--suite", &folder, "--case", "Q3,Q1"];
    let (xml, before) = (file("junit.xml"), file("before.json"));
    let to = format!("--json={before}");
    lowtide(&args)
        .args(["--cc", "bbr3", "--junit", &xml, &to])
        .assert()
        .success();
    let xml = fs::read_to_string(&xml).unwrap();
    assert!(
        xml.contains(r#"tests="2" failures="0" errors="0" skipped="0""#),
        "{xml}"
    );
    lowtide(&args)
        .args(["--cc", "bbr3", "--baseline", &before])
        .assert()
        .success();

    // What was better once is a regression, even where every limit holds.
    let mut old = json(&fs::read(&before).unwrap());
    let value = old
        .pointer_mut("/results/0/cases/0/limits/0/value")
        .unwrap();
    *value = (value.as_f64().unwrap() / 2.0).into();
    fs::write(&before, old.to_string()).unwrap();
    let done = lowtide(&args)
        .args(["--cc", "bbr3", "--baseline", &before])
        .assert()
        .code(1);
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(
        text.contains("bbr3 Q1: queueing delay, p95, ms was"),
        "{text}"
    );
}

#[test]
fn what_was_interrupted_goes_on() {
    let dir = suite();
    let (folder, out) = (path(dir.path()), tempfile::tempdir().unwrap());
    let kept = path(out.path());
    let args = [
        "score", "--suite", &folder, "--cc", "bbr3", "--output", &kept, "--json",
    ];
    let first = lowtide(&args).assert().success().get_output().clone();
    // As if it had been killed in the middle of the last line.
    let results = fs::read_dir(out.path()).unwrap().next().unwrap();
    let results = results.unwrap().path();
    let text = fs::read(&results).unwrap();
    fs::write(&results, &text[..text.len() - 9]).unwrap();
    let second = lowtide(&args).assert().success().get_output().clone();
    assert!(String::from_utf8_lossy(&first.stderr).contains("5 runs in"));
    assert!(String::from_utf8_lossy(&second.stderr).contains("1 runs in"));
    assert_eq!(json(&first.stdout), json(&second.stdout));
}

#[test]
fn bad_input_is_named_and_nothing_is_run() {
    let dir = suite();
    let folder = path(dir.path());
    let bad = dir.path().join("bad");
    fs::create_dir(&bad).unwrap();
    fs::write(bad.join("x.toml"), "[link]\nrate = '1mbit'\n[[flows]]\n").unwrap();
    let bad = path(&bad);
    let torn = path(&dir.path().join("delay.toml"));
    let run = lowtide(&["run", &torn]).assert().code(2);
    let said = String::from_utf8_lossy(&run.get_output().stderr).to_string();
    assert!(
        said.contains("delay.toml:") && said.contains("lowtide score --suite FILE"),
        "{said}"
    );
    for (args, problem) in [
        (
            vec!["--suite", "nonsense"],
            "there is no suite, file or folder 'nonsense'; known suites are",
        ),
        (
            vec!["--suite", &folder, "--case", "Q9"],
            "has no case 'Q9'; its cases are Q1, Q2, Q3",
        ),
        (vec!["--suite", &folder, "--cc", "bbr9"], "did you mean"),
        (
            vec!["--suite", &bad],
            "x.toml:1:1: case: a case of a suite says what it is",
        ),
        (
            vec!["--suite", &folder, "--baseline", &torn],
            "no scorecards that",
        ),
    ] {
        let done = lowtide(&["score"]).args(&args).assert().code(2);
        let said = String::from_utf8_lossy(&done.get_output().stderr).to_string();
        assert!(said.contains(problem), "{args:?}: {said}");
    }
}

#[test]
fn built_in_suites_are_listed_with_who_asks() {
    let done = lowtide(&["score", "--list"]).assert().success();
    let text = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(
        text.contains("cellular: ") && text.contains("  throughput "),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn what_is_done_is_kept_and_shown_when_a_signal_comes() {
    use std::process::{Command as Process, Stdio};
    use std::time::{Duration, Instant};

    use assert_cmd::cargo::CommandCargoExt as _;

    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let dir = suite();
        let quick = fs::read_to_string(dir.path().join("delay.toml")).unwrap();
        let endless = quick.replace("\"Q1\"", "\"Q9\"").replace("8s", "86400s");
        fs::write(dir.path().join("endless.toml"), endless).unwrap();
        let out = tempfile::tempdir().unwrap();
        let junit = out.path().join("junit.xml");
        let kept = out.path().join("kept");
        let child = Process::cargo_bin("lowtide")
            .unwrap()
            .args(["score", "--suite", &path(dir.path()), "--case", "Q1,Q9"])
            .args(["--cc", "ebb", "--jobs", "2", "--json"])
            .args(["--junit", &path(&junit), "--output", &path(&kept)])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = || {
            let files = fs::read_dir(&kept).into_iter().flatten().flatten();
            let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
            texts
                .map(|text| text.matches("queue_delay_ms").count())
                .sum::<usize>()
        };
        let until = Instant::now() + Duration::from_secs(60);
        while lines() == 0 {
            assert!(Instant::now() < until, "nothing is kept");
            std::thread::sleep(Duration::from_millis(20));
        }
        let kill = format!("-{signal}");
        let killed = Process::new("kill")
            .args([&kill, &child.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{said}");
        assert!(said.contains("interrupted: 1 of 2 runs are in"), "{said}");
        let card = json(&ended.stdout);
        let cases = card["results"][0]["cases"].as_array().unwrap();
        let verdicts: Vec<_> = cases
            .iter()
            .map(|c| c["verdict"].as_str().unwrap())
            .collect();
        assert_eq!(verdicts, ["pass", "not_run"], "{card}");
        let xml = fs::read_to_string(&junit).unwrap();
        assert!(xml.contains(r#"failures="0" errors="1""#), "{xml}");
    }
}

#[cfg(feature = "stacks")]
#[test]
fn a_stacks_own_controller_needs_no_host_named() {
    let dir = suite();
    let folder = path(dir.path());
    let args = [
        "score",
        "--suite",
        &folder,
        "--case",
        "Q1",
        "--cc",
        "noq/cubic",
    ];
    let by_itself = lowtide(&args).arg("--json").assert().code(1);
    let named = lowtide(&args)
        .args(["--host", "noq", "--json"])
        .assert()
        .code(1);
    let card = json(&by_itself.get_output().stdout);
    assert_eq!(card, json(&named.get_output().stdout));
    for (more, problem) in [
        (
            ["--host", "quinn"],
            "noq/cubic runs over noq only, not over quinn: use --host noq",
        ),
        (
            ["--cc", "quinn/cubic"],
            "noq/cubic runs over noq only and quinn/cubic over quinn",
        ),
    ] {
        let done = lowtide(&args).args(more).assert().code(2);
        let said = String::from_utf8_lossy(&done.get_output().stderr).to_string();
        assert!(said.contains(problem), "{said}");
    }
}

#[cfg(feature = "stacks")]
#[test]
fn stacks_own_controllers_are_held_against_a_suite_over_their_stack() {
    let dir = suite();
    let more = dir.path().join("tcp.toml");
    let text = fs::read_to_string(dir.path().join("delay.toml")).unwrap();
    let text = text.replace("\"Q1\"", "\"Q4\"").replace(
        "controller = \"candidate\"",
        "controller = \"candidate\"\ntransport = \"tcp\"",
    );
    fs::write(more, text).unwrap();
    let folder = path(dir.path());
    for (host, cc) in [("noq", "noq/cubic"), ("quinn", "quinn/cubic")] {
        let args = [
            "score", "--suite", &folder, "--host", host, "--cc", cc, "--json",
        ];
        let done = lowtide(&args).assert().code(1);
        let card = json(&done.get_output().stdout);
        let cases = card["results"][0]["cases"].as_array().unwrap();
        let verdicts: Vec<_> = cases
            .iter()
            .map(|c| c["verdict"].as_str().unwrap())
            .collect();
        // It fills the queue, is no BBR, bears some loss, and has no TCP.
        assert_eq!(verdicts, ["fail", "n/a", "pass", "n/a"], "{card}");
        assert!(
            cases[3]["reason"].as_str().unwrap().contains("TCP"),
            "{card}"
        );
    }
}

#[cfg(all(feature = "quic", feature = "stacks"))]
#[test]
fn what_is_not_seen_over_a_stack_is_not_applicable_and_frames_are_seen_over_all() {
    let dir = tempfile::tempdir().unwrap();
    let case = |id: &str, value: &str, limit: &str| {
        let text = format!(
            r#"
            [case]
            id = "{id}"
            title = "A call"
            source = "us"
            [link]
            rate = "10mbit"
            [path]
            rtt = "40ms"
            [run]
            duration = "5s"
            [[flows]]
            controller = "candidate"
            source = "video:1mbit"
            [[limits]]
            metric = "what it is"
            value = "{value}"
            {limit}
            reason = "so"
            "#
        );
        fs::write(dir.path().join(format!("{id}.toml")), text).unwrap();
    };
    // A frame of some 4 kB takes 4 ms on the link, at 20 ms from end to end, and up to a round trip more where it
    // is lost or held back.
    case("F1", "frame_delay_ms.p50", "at_least = 20\nat_most = 60");
    case("T1", "timeouts", "at_most = 0");
    for host in ["model", "quic", "noq"] {
        let done = lowtide(&[
            "score", "--cc", "cubic", "--host", host, "--json", "--suite",
        ])
        .arg(dir.path())
        .assert()
        .success();
        let card = json(&done.get_output().stdout);
        let cases = card["results"][0]["cases"].as_array().unwrap();
        let verdict = |n: usize| cases[n]["verdict"].as_str().unwrap();
        let timeouts = if host == "model" { "pass" } else { "n/a" };
        assert_eq!(
            [verdict(0), verdict(1)],
            ["pass", timeouts],
            "{host}: {card}"
        );
        let reason = cases[1]["reason"].as_str().unwrap();
        assert!(
            host == "model" || reason.contains("timeouts is not seen over"),
            "{reason}"
        );
    }
}
