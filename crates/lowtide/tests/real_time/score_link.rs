//! `lowtide score --link` as a user meets it. What needs a network namespace says so and is skipped where
//! the machine does not allow one.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::{lowtide, namespaces_work};

/// Three seconds before a buffer of ten round trips.
const CASE: &str = r#"
about = "One flow before a long buffer."
[case]
id = "B"
title = "Bufferbloat"
source = "test"
[link]
rate = "8mbit"
buffer = "10bdp"
[path]
rtt = "20ms"
[run]
duration = "3s"
measure_from = "1s"
[[flows]]
controller = "candidate"
[[limits]]
metric = "queueing delay, p95, ms"
value = "queue_delay_ms.p95"
at_most = 20
reason = "so"
[[limits]]
metric = "throughput, Mbit/s"
value = "throughput_mbps"
at_least = 6
reason = "so"
[[limits]]
metric = "sent again"
value = "retransmitted_share"
at_most = 0
reason = "so"
"#;

const NOT_HERE: &str = r#"
about = "A call."
[case]
id = "V"
title = "Video"
source = "test"
[link]
rate = "8mbit"
[run]
duration = "3s"
[[flows]]
controller = "candidate"
source = "video:1mbit"
[[limits]]
metric = "throughput, Mbit/s"
value = "throughput_mbps"
at_least = 1
reason = "so"
"#;

fn suite(cases: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in cases {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// How many processes have this in their command line.
fn processes_with(mark: &str) -> usize {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let has = |entry: &fs::DirEntry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    all.filter(has).count()
}

#[test]
fn the_kernels_cubic_fills_a_long_buffer_and_what_a_link_cannot_see_is_not_judged() {
    if !namespaces_work() {
        return;
    }
    let suite = suite(&[("b.toml", CASE), ("v.toml", NOT_HERE)]);
    let path = suite.path().to_str().unwrap();
    let kept = suite.path().join("kept");
    let args = [
        "score",
        "--link",
        "--recipe",
        "kernel/cubic",
        "--suite",
        path,
        "--json",
        "--output",
        kept.to_str().unwrap(),
    ];
    let output = lowtide(&args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let card: Value = serde_json::from_slice(&output.stdout).expect(&said);
    let cases = &card["results"][0]["cases"];
    let (bloat, video) = (&cases[0], &cases[1]);
    assert_eq!(video["verdict"], "n/a");
    assert!(
        video["reason"].as_str().unwrap().contains("sources"),
        "{video}"
    );
    let limits = bloat["limits"].as_array().unwrap();
    assert_eq!(limits[2]["verdict"], "n/a", "{bloat}");
    assert!(
        limits[2]["reason"]
            .as_str()
            .unwrap()
            .contains("known to its sender only")
    );
    if bloat["verdict"] == "not_run" {
        assert!(
            bloat["reason"]
                .as_str()
                .unwrap()
                .starts_with("not faithful")
        );
        eprintln!("skipped: the machine was too busy: {}", bloat["reason"]);
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_eq!(limits[0]["verdict"], "fail", "{bloat}");
    let queue = limits[0]["value"].as_f64().unwrap();
    assert!((20.0..=220.0).contains(&queue), "{queue}");
    let rate = limits[1]["value"].as_f64().unwrap();
    assert!((6.0..=8.01).contains(&rate), "{rate}");
    let explained = bloat["explanation"].to_string();
    assert!(explained.contains("longest wait"), "{explained}");
    // What is kept is not run again.
    let again = lowtide(&args).output().unwrap();
    assert!(String::from_utf8_lossy(&again.stderr).contains("0 runs in"));
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["results"][0]["cases"][0]["value"], bloat["value"]);
}

#[test]
fn the_folder_of_a_run_is_one_word_for_the_shell() {
    if !namespaces_work() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("a $(touch ran) 'b'");
    fs::create_dir(&temporary).unwrap();
    let suite = suite(&[("b.toml", CASE)]);
    let output = lowtide(&["score", "--link", "--json", "--seeds", "1", "--suite"])
        .arg(suite.path())
        .args([
            "--server",
            "cd {dir} && exec \"$LOWTIDE\" serve --listen 0.0.0.0:{port}",
        ])
        .args([
            "--client",
            "cd \"{dir}\" && exec \"$LOWTIDE\" fetch {host}:{port} --bytes {bytes}B",
        ])
        .current_dir(folder.path())
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let card: Value = serde_json::from_slice(&output.stdout).expect(&said);
    let case = &card["results"][0]["cases"][0];
    assert_eq!(case["failed_runs"], Value::Null, "{case}");
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn flows_are_told_apart_and_our_own_server_is_a_program_like_others() {
    if !namespaces_work() {
        return;
    }
    let (head, _) = CASE.split_once("[[limits]]").unwrap();
    let head = format!("{head}[[flows]]\ncontroller = \"newreno\"\nstart = \"500ms\"\n");
    let limits = r#"
        [[limits]]
        metric = "of both"
        value = "flows.0.throughput_mbps + flows.1.throughput_mbps"
        at_least = 4
        reason = "so"
        [[limits]]
        metric = "of one"
        value = "flows.1.throughput_mbps"
        at_least = 0.01
        reason = "so"
    "#;
    let suite = suite(&[("b.toml", &format!("{head}{limits}"))]);
    let path = suite.path().to_str().unwrap();
    let args = [
        "score",
        "--link",
        "--cc",
        "lowtide/bbr3",
        "--suite",
        path,
        "--json",
    ];
    let output = lowtide(&args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let card: Value = serde_json::from_slice(&output.stdout).expect(&said);
    let case = &card["results"][0]["cases"][0];
    if case["verdict"] == "not_run" {
        eprintln!("skipped: the machine was too busy: {}", case["reason"]);
        return;
    }
    assert_eq!(case["verdict"], "pass", "{card}");
    let both = case["limits"][0]["value"].as_f64().unwrap();
    assert!((4.0..=8.6).contains(&both), "{both}");
}

#[test]
fn a_program_that_does_not_run_is_said_with_its_own_words() {
    if !namespaces_work() {
        return;
    }
    let suite = suite(&[("b.toml", CASE)]);
    let path = suite.path().to_str().unwrap();
    let args = [
        "score",
        "--link",
        "--suite",
        path,
        "--server",
        "echo no such luck; exit 3",
        "--client",
        "sleep 1 {port}",
    ];
    let output = lowtide(&args).assert().code(1).get_output().clone();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("the server of program ended too soon (exit status: 3): no such luck"),
        "{said}"
    );
    // It is no failure of what was to be judged.
    assert!(said.contains("0 passed, 0 failed, 1 not run"), "{said}");
    assert!(!said.contains("FAIL"), "{said}");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(complaint.contains("1 case was not run"), "{complaint}");
}

#[test]
fn a_program_that_breaks_off_fails() {
    if !namespaces_work() {
        return;
    }
    let suite = suite(&[("b.toml", CASE)]);
    let path = suite.path().to_str().unwrap();
    let client = "timeout 1 $LOWTIDE bulk-tcp fetch {host} {port}";
    let args = [
        "score",
        "--link",
        "--suite",
        path,
        "--server",
        "exec $LOWTIDE bulk-tcp send {port} cubic {bytes}",
        "--client",
        client,
    ];
    let output = lowtide(&args).assert().code(1).get_output().clone();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("0 passed, 1 failed"), "{said}");
    assert!(said.contains("the client of program ended after"), "{said}");
}

#[test]
fn what_is_interrupted_leaves_no_program_behind() {
    if !namespaces_work() {
        return;
    }
    let suite = suite(&[("b.toml", CASE)]);
    // A number that no other process has in its command line.
    let mark = format!("86400.{}", std::process::id());
    let seen = suite.path().join("seen");
    let server = format!("sleep {mark} & exec $LOWTIDE bulk-tcp send {{port}} cubic {{bytes}}");
    let client = format!("touch {}; setsid sleep {mark}; : {{port}}", seen.display());
    let mut child = Process::cargo_bin("lowtide")
        .unwrap()
        .args(["score", "--link", "--suite", suite.path().to_str().unwrap()])
        .args(["--server", &server, "--client", &client])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !Path::new(&seen).exists() || processes_with(&mark) < 2 {
        assert_eq!(child.try_wait().unwrap(), None);
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(processes_with(&mark), 0);
}

#[test]
fn what_is_wrong_with_a_program_is_said_before_anything_runs() {
    let unprivileged = !namespaces_work();
    for (args, problem) in [
        (&["--recipe", "quick-go"][..], "known are kernel"),
        (&["--recipe", "kernel"], "kernel/cubic"),
        (
            &["--recipe", "kernel/ebb"],
            "this kernel has no controller 'ebb'",
        ),
        (&[], "--recipe NAME"),
        (
            &["--server", "a {prot}", "--client", "b {port}"],
            "{prot}: known are {host}",
        ),
        (&["--server", "a", "--client", "b"], "has no {port}"),
        (&["--cc", "kernel/cubic", "--host", "model"], "--host"),
    ] {
        // Whether the kernel has a controller is found out behind a link.
        if unprivileged && problem.contains("kernel has no") {
            continue;
        }
        let output = lowtide(&[&["score", "--link"], args].concat())
            .assert()
            .code(2)
            .get_output()
            .clone();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(problem), "{args:?}: {said}");
    }
    if !unprivileged {
        let folder = suite(&[(
            "own.toml",
            "name = 'cubic'\nabout = ''\nserver = ''\nclient = '{port}'",
        )]);
        let own = folder.path().join("own.toml").display().to_string();
        let named = lowtide(&["score", "--link", "--cc", &own])
            .assert()
            .code(2)
            .get_output()
            .clone();
        let said = String::from_utf8_lossy(&named.stderr).into_owned();
        assert!(said.contains("cannot be called 'cubic'"), "{said}");
    }
    let without = |args: &[&str]| {
        let mut command = lowtide(args);
        command.env_remove("AIOQUIC");
        command
    };
    let refused = without(&["score", "--link", "--cc", "aioquic/reno"]);
    let refused = { refused }.assert().code(2).get_output().clone();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("recipe 'aioquic' cannot run here: "),
        "{said}"
    );
    let listed = without(&["score", "--link", "--list"]).assert().success();
    let listed = String::from_utf8_lossy(&listed.get_output().stdout).into_owned();
    for name in [
        "kernel/CC",
        "iperf3/CC",
        "curl",
        "quic-go",
        "aioquic/CC",
        "lowtide/CC",
    ] {
        assert!(listed.contains(name), "{listed}");
    }
    let aioquic = listed.lines().find(|line| line.starts_with("aioquic"));
    assert!(aioquic.unwrap().contains("(cannot run here: "), "{listed}");
}
