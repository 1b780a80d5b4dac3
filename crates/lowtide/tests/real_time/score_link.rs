//! `lowtide score --link` as a user meets it. What needs a network namespace says so and is skipped where
//! the machine does not allow one.

use std::fs;

use serde_json::Value;

use crate::namespaces_work;
use crate::program::{Folder, has, number};

/// Three seconds before a buffer of ten round trips; one that some may miss, one that the link makes true, and one that
/// only the sender knows.
const CASE: &str = r#"
about = "One flow before a long buffer."
case = { id = "B", title = "Bufferbloat", source = "test" }
link = { rate = "8mbit", buffer = "10bdp" }
path = { rtt = "20ms" }
run = { duration = "3s", measure_from = "1s" }
flows = [{ controller = "candidate" }]
limits = [
    { metric = "queueing delay, p95, ms", value = "queue_delay_ms.p95", at_most = 20, reason = "so" },
    { metric = "throughput, Mbit/s", value = "throughput_mbps", at_least = 6, reason = "so" },
    { metric = "sent again", value = "retransmitted_share", at_most = 0, reason = "so" },
]
"#;

const NOT_HERE: &str = r#"
about = "A call."
case = { id = "V", title = "Video", source = "test" }
link = { rate = "8mbit" }
run = { duration = "3s" }
flows = [{ controller = "candidate", source = "video:1mbit" }]
limits = [{ metric = "throughput, Mbit/s", value = "throughput_mbps", at_least = 1, reason = "so" }]
"#;

/// A folder with a suite of one case; `None` where there are no namespaces.
fn suite(case: &str) -> Option<Folder> {
    let folder = Folder::new();
    fs::create_dir(folder.at("suite")).unwrap();
    folder.write("suite/b.toml", case);
    namespaces_work().then_some(folder)
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
    let Some(folder) = suite(CASE) else { return };
    folder.write("suite/v.toml", NOT_HERE);
    let score = "score --link --recipe kernel/cubic --suite suite --json --output kept";
    let ran = folder.run(score);
    let card = ran.json();
    let cases = &card["results"][0]["cases"];
    let (bloat, video) = (&cases[0], &cases[1]);
    let reason = |of: &Value| of["reason"].as_str().unwrap().to_string();
    assert_eq!(video["verdict"], "n/a");
    has(&reason(video), &["sources"]);
    let limits = bloat["limits"].as_array().unwrap();
    assert_eq!(limits[2]["verdict"], "n/a", "{bloat}");
    has(&reason(&limits[2]), &["known to its sender only"]);
    if bloat["verdict"] == "not_run" {
        assert!(reason(bloat).starts_with("not faithful"), "{bloat}");
        eprintln!("skipped: the machine was too busy: {}", bloat["reason"]);
        return;
    }
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(limits[0]["verdict"], "fail", "{bloat}");
    let queue = number(&limits[0], "value");
    assert!((20.0..=220.0).contains(&queue), "{queue}");
    let rate = number(&limits[1], "value");
    assert!((6.0..=8.01).contains(&rate), "{rate}");
    has(&bloat["explanation"].to_string(), &["longest wait"]);
    // What is kept is not run again.
    let again = folder.run(score);
    has(&again.err, &["0 runs in"]);
    let again = &again.json()["results"][0]["cases"][0];
    assert_eq!(again["value"], bloat["value"]);
}

#[test]
fn the_folder_of_a_run_is_one_word_for_the_shell() {
    let Some(folder) = suite(CASE) else { return };
    let temporary = folder.at("a $(touch ran) 'b'");
    fs::create_dir(&temporary).unwrap();
    let score = "score --link --json --seeds 1 --suite suite \
        --server 'cd {dir} && exec \"$LOWTIDE\" serve --listen 0.0.0.0:{port}' \
        --client 'cd \"{dir}\" && exec \"$LOWTIDE\" fetch {host}:{port} --bytes {bytes}B'";
    let output = folder.command(score).env("TMPDIR", &temporary).output();
    let card: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let case = &card["results"][0]["cases"][0];
    assert_eq!(case["failed_runs"], Value::Null, "{case}");
    assert!(!folder.at("ran").exists());
}

#[test]
fn flows_are_told_apart_and_our_own_server_is_a_program_like_others() {
    let (head, _) = CASE.split_once("flows = ").unwrap();
    let rest = r#"
flows = [{ controller = "candidate" }, { controller = "newreno", start = "500ms" }]
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
    let Some(folder) = suite(&(head.to_string() + rest)) else {
        return;
    };
    let score = "score --link --cc lowtide/bbr3 --suite suite --json";
    let case = folder.run(score).json()["results"][0]["cases"][0].take();
    if case["verdict"] == "not_run" {
        eprintln!("skipped: the machine was too busy: {}", case["reason"]);
        return;
    }
    assert_eq!(case["verdict"], "pass", "{case}");
    let both = number(&case["limits"][0], "value");
    assert!((4.0..=8.6).contains(&both), "{both}");
}

#[test]
fn a_program_that_does_not_run_is_said_with_its_own_words() {
    let Some(folder) = suite(CASE) else { return };
    let programs = "--server 'echo no such luck; exit 3' --client 'sleep 1 {port}'";
    let ran = folder.run(&format!("score --link --suite suite {programs}"));
    let ran = ran.code(1);
    // It is no failure of what was to be judged.
    let parts = [
        "the server of program ended too soon (exit status: 3): no such luck",
        "0 passed, 0 failed, 1 not run",
    ];
    has(&ran.out, &parts);
    assert!(!ran.out.contains("FAIL"), "{}", ran.out);
    has(&ran.err, &["1 case was not run"]);
}

#[test]
fn a_program_that_breaks_off_fails() {
    let Some(folder) = suite(CASE) else { return };
    let score = "score --link --suite suite \
        --server 'exec $LOWTIDE bulk-tcp send {port} cubic {bytes}' \
        --client 'timeout 1 $LOWTIDE bulk-tcp fetch {host} {port}'";
    let parts = ["0 passed, 1 failed", "the client of program ended after"];
    has(&folder.run(score).code(1).out, &parts);
}

#[test]
fn what_is_interrupted_leaves_no_program_behind() {
    let Some(folder) = suite(CASE) else { return };
    // A number that no other process has in its command line.
    let mark = format!("86400.{}", std::process::id());
    let seen = folder.at("seen");
    let server = format!("sleep {mark} & exec $LOWTIDE bulk-tcp send {{port}} cubic {{bytes}}");
    let client = format!("touch {}; setsid sleep {mark}; : {{port}}", seen.display());
    let score = format!("score --link --suite suite --server '{server}' --client '{client}'");
    let mut running = folder.begin(&score);
    running.until(|| seen.exists() && processes_with(&mark) >= 2);
    running.signal("INT");
    running.ran().code(130);
    assert_eq!(processes_with(&mark), 0);
}

#[test]
fn what_is_wrong_with_a_program_is_said_before_anything_runs() {
    let folder = Folder::new();
    let rows = "
        --recipe quick-go                       => known are kernel
        --recipe kernel                         => kernel/cubic
                                                => --recipe NAME
        --server 'a {prot}' --client 'b {port}' => {prot}: known are {host}
        --server a --client b                   => has no {port}
        --cc kernel/cubic --host model          => --host
        --cc aioquic/reno                       => recipe 'aioquic' cannot run here:
        ";
    folder.refuses("score --link", rows);
    if namespaces_work() {
        // Whether the kernel has a controller is found out behind a link.
        let recipe = "name = 'cubic'\nabout = ''\nserver = ''\nclient = '{port}'";
        folder.write("own.toml", recipe);
        let rows = "--recipe kernel/ebb => this kernel has no controller 'ebb'
                    --cc own.toml       => cannot be called 'cubic'";
        folder.refuses("score --link", rows);
    }
    let listed = folder.ok("score --link --list").out;
    let names = "kernel/CC iperf3/CC curl quic-go aioquic/CC lowtide/CC";
    has(&listed, &names.split(' ').collect::<Vec<_>>());
    let aioquic = listed.lines().find(|line| line.starts_with("aioquic"));
    has(aioquic.unwrap(), &["(cannot run here: "]);
}
