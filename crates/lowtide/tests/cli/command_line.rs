//! The program as a user meets it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::program::{Folder, entry, has, lowtide, number};
use crate::{each, root, value};

fn stdout(line: &str) -> String {
    lowtide(line).ok().out
}

fn json(line: &str) -> Value {
    lowtide(line).ok().json()
}

#[test]
fn compare_without_arguments_shows_all_controllers_between_limit_and_floor() {
    let table = stdout("compare");
    let listed = json("list --json");
    // Of constant windows the best is shown; bounds must be asked for.
    let unasked = ["window", "causal", "abc", "oracle"];
    let controllers = each(&listed, "name").into_iter();
    let controllers = controllers.filter(|name| !unasked.contains(name) && !name.contains('/'));
    for name in controllers.chain(["oracle (limit)"]) {
        let mut lines = table.lines();
        let row = |line: &str| line.trim().starts_with(&format!("{name} "));
        assert!(lines.any(row), "{name}: {table}");
    }
    has(&table, &["(best window)"]);
    let width = table.lines().map(|line| line.chars().count()).max();
    assert!(width <= Some(110), "{table}");
    assert!(!table.contains('\u{1b}'), "no colours when piped");
}

#[test]
fn json_has_the_documented_shape_and_does_not_depend_on_threads() {
    let args = "compare --cc bbr --cc cubic:hystart=true --duration 5s --seeds 3 --flows 2 \
                --loss 0.5% --json --no-timing --jobs";
    let one = stdout(&format!("{args} 1"));
    for jobs in [1, 2] {
        assert_eq!(one, stdout(&format!("{args} {jobs}")));
    }
    let json: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(
        (&json["schema"], &json["command"]),
        (&1.into(), &"compare".into())
    );
    assert_eq!(json["duration_s"], 5.0);
    assert!(json["simulated_packets"].as_u64().unwrap() > 1000);
    let names = each(&json["results"], "controller");
    assert_eq!(names[0], "oracle");
    assert!(names.contains(&"bbr") && names.contains(&"cubic:hystart=true"));
    let keys = "throughput_mbps goodput_mbps utilisation loss_share retransmitted_share jain";
    for result in json["results"].as_array().unwrap() {
        for part in [result, &result["ci95"], &result["flows"][1]] {
            for key in keys.split(' ') {
                number(part, key);
            }
            for key in ["rtt_ms", "queue_delay_ms"] {
                for summary in ["mean", "p50", "p95", "p99", "max"] {
                    number(&part[key], summary);
                }
            }
            number(part, "self_inflicted_ms.p95");
        }
    }
}

#[test]
fn list_names_every_controller_with_its_parameters() {
    let listed = json("list --json");
    let names = each(&listed, "name").into_iter();
    let (of_stacks, names): (Vec<&str>, Vec<&str>) = names.partition(|name| name.contains('/'));
    let expected = "ebb bbr bbr-noagg rbbr rtt-gain bbr-acd bbr-s ebcc bbrx bbr3 leocc sprout c4 \
                    copa cubic newreno prague vegas compound window oracle causal abc";
    assert_eq!(names.join(" "), expected);
    let expected =
        "noq/bbr3 noq/cubic noq/newreno quinn/bbr quinn/cubic quinn/newreno s2n/bbr s2n/cubic";
    for name in expected.split(' ') {
        assert!(of_stacks.contains(&name), "no {name} in {of_stacks:?}");
    }
    assert_eq!(listed[0]["parameters"][0]["name"], "idle");
    has(&stdout("list"), &["hystart=true"]);
}

#[test]
fn a_queue_that_marks_shows_how_much_and_one_that_does_not_has_no_such_column() {
    let args = "compare --rate 10mbit --duration 5s --cc cubic:hystart=false --queue";
    has(
        &stdout(&format!("{args} codel:target=5ms,interval=50ms")),
        &["marked %"],
    );
    assert!(!stdout(&format!("{args} codel:ecn=false")).contains("marked %"));
    let marked = json(&format!("{args} pie:target=5ms --json"));
    let share = value(&marked, "cubic:hystart=false", "marked_share");
    assert!(share > 0.0 && share < 0.1, "{share}");

    let listed = stdout("list queues");
    for name in "codel fq_codel pie red drr headdrop dualpi2 l4s".split(' ') {
        has(&listed, &[name]);
        has(&stdout(&format!("{args} {name} --seeds 1")), &["cubic"]);
    }
}

#[test]
fn absurd_flags_are_refused_by_their_name_and_with_the_remedy() {
    let folder = Folder::new();
    let rows = "
        --queue fq-codel                => --queue | did you mean 'fq_codel'?
        --queue dualpi2:tupdate=1us     => '1us' is no value for dualpi2:tupdate | 1ms to 10s
        --schedule 0s:1mbit --burst 10kB => --burst | goes with a constant 'rate' only
        --rate 100                      => --rate | has no unit | mbit
        --rate 0mbit                    => too small
        --rate nan                      => is no rate
        --rate 1000000000000000000mbit  => too large
        --rtt 1e18s                     => --rtt
        --duration 1000000000000000000s => too large
        --buffer 5                      => has no unit | 2bdp
        --loss 150%                     => above 100 %
        --loss 0.1                      => --loss | '0.1' has no unit | 10% or 0.1%
        --cc cubic,bbbr                 => did you mean 'bbr'
        --cc bbbr                       => 'bbbr' | did you mean 'bbr'
        --cc bbr:agregation=false       => did you mean 'aggregation'
        --flows 0                       => --flows
        --schedule 0s:10mbit,5s         => '5s' is no step
        --schedule 0s:0mbit             => never above zero
        --scenario 5g                   => no '5g' | media
        --source video                  => --source | video:2mbit
        --burst-loss 100%:3             => --burst-loss
        --burst-loss 0.1:3              => --burst-loss | 10% or 0.1% | 1%:10
        --flows 2 --stagger 30s         => --stagger | --duration
        --ack-every 0                   => --ack-every: must lie between 1 and 1000
        --ack-every 4 --transport tcp   => --ack-every: is for quic only (see --transport)
        --timestamps --transport tcp    => --timestamps: is for quic only (see --transport)
        --rtt-steps 15s                 => --rtt-steps: | '15s'
        --packet-size 70kB              => --packet-size: the most is
        --seeds 0                       => --seeds: must lie between
        --json --csv                    => --json | --csv
        --qlog none --flows 2           => --qlog | one flow, not 2
        ";
    folder.refuses("compare", rows);
    assert!(!folder.at("none").exists());
    folder.refuses(
        "trace generate",
        "--duration 1ms => --duration\n--model 5g => --model | 4g-static",
    );
    let row = "--host quic --transport tcp => --transport: the QUIC host has no TCP (see --host)";
    folder.refuses("compare", row);
}

#[test]
fn bad_traces_are_refused_with_file_line_and_remedy() {
    let folder = Folder::new();
    for (content, parts) in [
        ("", "no entries"),
        ("5\n7\n6\n", "line 3 | 6 is lower than 7"),
        ("5\n-7\n", "line 2 | '-7'"),
        ("5\n99999999999999999999\n", "line 2"),
        ("5\n4000000000\n", "line 2 | from 0 to"),
        ("5\nsix\n", "line 2 | 'six'"),
        ("0\n0\n", "last timestamp is 0"),
        ("time_ms,rate\n0,5\n", "line 1 | rate_mbps"),
        ("time_ms,rate_mbps\n0,5\n10,NaN\n", "line 3 | 'NaN'"),
        ("time_ms,rate_mbps\n0,5\n0,6\n", "line 3 | not later"),
        ("time_ms,rate_mbps\n0,0\n10,0\n", "never above zero"),
        ("time_ms,rate_mbps\n0,5\n10\n", "line 3"),
    ] {
        let is_csv = content.starts_with("time_ms");
        let name = if is_csv { "a.csv" } else { "a" };
        folder.write(name, content);
        folder.refuses("compare --trace", &format!("{name} => {name} | {parts}"));
    }
    folder.write("binary", [0, 159, 146, 150, 10, 255]);
    let rows = "binary => binary | line 1\nabsent => absent | cannot read it";
    folder.refuses("compare --trace", rows);
}

#[test]
fn files_beside_traces_are_left_out_and_named_and_one_must_be_a_trace() {
    let folder = Folder::with("a.delay.csv", "time_ms,delay_ms\n0,12\n10,12\n");
    let compare = "compare --traces . --cc bbr --json";
    folder.refuses(compare, "=> no file in it is a trace | a.delay.csv");
    folder.write("a.down", "1\n2\n3\n");
    let ran = folder.ok(compare);
    has(&ran.err, &["left out", "a.delay.csv"]);
    assert_eq!(ran.json()["link"], "a.down");
}

#[test]
fn traces_are_generated_described_converted_and_used() {
    let folder = Folder::new();
    for file in ["link.csv", "again.csv"] {
        folder.ok(&format!("trace generate --duration 10s --seed 7 -o {file}"));
    }
    assert_eq!(
        folder.read("link.csv"),
        folder.read("again.csv"),
        "same seed"
    );
    folder.ok("trace convert link.csv --to mahimahi -o link.trace");
    let info = folder.ok("trace info --json link.csv link.trace").json();
    let mean = |n: usize| number(&info[n], "mean_mbps");
    assert!((mean(0) - mean(1)).abs() < 0.01 * mean(0), "{info}");
    assert_eq!(info[0]["length_s"], 10.0);
    let both = "compare --cc bbr --trace link.csv --trace link.trace --json --no-timing";
    let both = folder.ok(both).json();
    let used = |n: usize| value(&both[n], "bbr", "throughput_mbps");
    assert!(
        (used(0) - used(1)).abs() < 0.05 * used(0),
        "{} {}",
        used(0),
        used(1)
    );
}

#[test]
fn the_report_is_one_file_that_needs_no_other_and_escapes_names() {
    let name = "<script>alert(1)<script>.csv";
    let folder = Folder::with(name, "time_ms,rate_mbps\n0,5\n500,9\n1000,2\n");
    let compare = "compare --cc bbr --duration 5s --report reports --trace";
    folder.ok(&format!("{compare} {name}"));
    let html = folder.read("reports/index.html");
    assert!(html.len() < 5_000_000);
    has(&html, &["id=\"panels\"", "id=\"plane\"", "id=\"rtt-cdf\""]);
    assert!(!html.contains("<script>alert"));
    // The plotting library's own text, which names addresses it does not fetch, is in the head.
    let (head, body) = html.split_once("</head>").unwrap();
    assert!(!body.contains("http"), "nothing from afar");
    assert!(!head.contains("<script src"), "nothing from afar");
}

#[test]
fn a_report_that_cannot_be_written_loses_no_result() {
    // A device that is always full: no check of its path finds that out.
    let folder = Folder::new();
    fs::create_dir(folder.at("full")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.at("full/index.html")).unwrap();
    let ran = folder
        .run("compare --cc bbr --duration 1s --json --report full")
        .code(1);
    entry(&ran.json(), "bbr");
    has(&ran.err, &["cannot write full/index.html"]);
}

#[test]
fn figures_and_qlogs_are_written_for_each_link() {
    let folder = Folder::with("link.csv", "time_ms,rate_mbps\n0,5\n500,9\n");
    let compare = "compare --cc bbr:aggregation=false --duration 2s --trace link.csv";
    folder.ok(&format!("{compare} --figures figures --qlog qlog"));
    assert!(folder.at("figures/plane.svg").exists());
    let log = folder.read("qlog/bbr_aggregation=false.sqlog");
    assert!(log.starts_with("\u{1e}{\"file_schema\":"));
    folder.ok(&format!("{compare} --trace link.csv --figures both"));
    assert!(folder.at("both/2/plane.png").exists());
}

/// What a command prints on a terminal of so many columns, with these variables; `None` where none
/// can be made.
fn on_terminal(columns: u16, args: &str, variables: &[(&str, &str)]) -> Option<String> {
    let binary = assert_cmd::cargo::cargo_bin("lowtide");
    let stty = format!("stty rows 24 cols {columns}");
    let command = format!("{stty}; '{}' {args} 2>/dev/null", binary.display());
    let mut script = Command::new("script");
    script
        .args(["-qec", &command, "/dev/null"])
        .env_remove("NO_COLOR")
        .envs([("LC_ALL", "C.UTF-8"), ("TERM", "xterm")])
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    let Ok(output) = script.output() else {
        eprintln!("skipped: no 'script' to make a terminal with");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn sparklines_are_drawn_on_terminals_only_and_honour_no_color() {
    let compare = "compare --cc bbr --duration 2s";
    assert!(!stdout(compare).contains('▁'), "plain when piped");
    let forced = stdout(&format!("{compare} --sparklines always"));
    let colour = "\u{1b}[36m";
    let drawn = |text: &str| (text.contains('▁'), text.contains(colour));
    assert_eq!(drawn(&forced), (true, false), "{forced}");
    let terminal = |variables: &[(&str, &str)]| on_terminal(120, compare, variables);
    let Some(coloured) = terminal(&[]) else {
        return;
    };
    assert_eq!(drawn(&coloured), (true, true), "{coloured}");
    let plain = terminal(&[("NO_COLOR", "1")]).unwrap();
    assert_eq!(drawn(&plain), (true, false), "{plain}");
    for poor in [("TERM", "dumb"), ("LC_ALL", "C")] {
        assert!(!terminal(&[poor]).unwrap().contains('▁'), "{poor:?}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let binary = assert_cmd::cargo::cargo_bin("lowtide");
    let script = format!(
        "'{}' list | head -n 1; exit ${{PIPESTATUS[0]}}",
        binary.display()
    );
    if Path::new("/bin/bash").exists() {
        let status = Command::new("/bin/bash").args(["-c", &script]).status();
        assert!(status.unwrap().success());
    }
}

fn example() -> String {
    let file = root().join("experiments/example.toml");
    format!("'{}'", file.display())
}

#[test]
fn a_scenario_file_runs_flows_of_different_kinds_in_every_cell() {
    let example = example();
    let run = format!("run {example} --vary run.duration=8s --seeds 2");
    let parts = [
        "alone together, 8bdp, bbr3",
        "on a lossy link, 0.5bdp, bbr",
        "  cubic",
        "±",
    ];
    has(&stdout(&run), &parts);
    let results = json(&format!("{run} --json"))["results"].take();
    assert_eq!(results.as_array().unwrap().len(), 12);
    assert_eq!(results[0]["labels"]["case"], "alone together");
    assert_eq!(results[0]["flows"][1]["controller"], "cubic");
    number(&results[0]["flows"][1], "rtt_ms.p95");
    number(&results[0]["ci95"], "throughput_mbps");
    let csv = stdout(&format!("{run} --csv"));
    assert_eq!(csv.lines().count(), 13);
    assert!(csv.starts_with("case,"), "{csv:.100}");

    let folder = Folder::new();
    let one = "--vary run.duration=2s --vary flows.1.start=1s --vary link.buffer=2bdp --seeds 1";
    folder.ok(&format!("run {example} {one} --report ."));
    let page = folder.read("index.html");
    for name in ["alone together, 2bdp", "on a lossy link, 2bdp"] {
        has(&page, &[&format!("\"{name}: constant 20 Mbit/s\"")]);
    }
}

#[test]
fn scenario_files_are_refused_with_file_line_and_key_before_anything_runs() {
    let text = "[link]\nrate = \"5mbit\"\nbufer = \"2bdp\"\n";
    let folder = Folder::with("wrong.toml", text);
    let rows = "
        run wrong.toml          => wrong.toml:3:1: link.bufer | did you mean `buffer`?
        run no-such.toml        => error: no-such.toml: cannot read it
        reproduce no-such       => there is no experiment | rbbr-fig3
        ";
    folder.refuses("", rows);
    let rows = "
        link.buffer                 => --vary | KEY=VALUE
        lnk.buffer=2bdp             => did you mean 'link.buffer'?
        buffer=2bdp                 => did you mean 'link.buffer'?
        link.bufer=2bdp             => did you mean 'link.buffer'?
        flows.0.contoller=2bdp      => did you mean 'flows.controller'?
        flows.1.controller=bbr,cubic => 'bbr,cubic' is no controller | repeat --vary
        nonsense=1                  => keys begin with one of
        flows.0.ack_every=2 --vary flows.0.ack_every=0 => --vary flows.0.ack_every: must lie between 1 and 1000
        ";
    folder.refuses(&format!("run {} --vary", example()), rows);
    assert!(json("schema")["properties"]["flows"].is_object());
}

#[test]
fn reproduce_prints_rows_with_the_papers_value_ours_and_whether_the_claim_holds() {
    has(&stdout("reproduce --list"), &["ebcc-multi"]);
    let json = json("reproduce rbbr-fig3 --seeds 2 --json");
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        for key in ["experiment", "setting", "metric", "claim", "holds"] {
            assert!(row[key].is_string(), "{key} in {row}");
        }
        assert!(row["ours"].is_number() && row["ci95"].is_number() && row["paper"].is_null());
    }
    assert_eq!(rows[0]["holds"], "yes");
    let folder = Folder::new();
    folder.ok("reproduce acd-rtt --seeds 1 --document page.md");
    has(
        &folder.read("page.md"),
        &["](page/acd-rtt.svg)", "| setting |"],
    );
    assert!(folder.read("page/acd-rtt.svg").starts_with("<svg"));
}

#[test]
fn a_page_of_ones_own_experiments_says_which_and_speaks_of_no_paper() {
    let text = r#"
link = { rate = "20mbit" }
run = { duration = "1s" }
[[flows]]
[sweep]
"flows.controller" = ["bbr"]
[[claims]]
claim = "something arrives"
setting = "20 Mbit/s"
metric = "throughput, Mbit/s"
value = "throughput_mbps('bbr')"
holds = "throughput_mbps('bbr') > 0"
"#;
    let folder = Folder::with("arrives.toml", text);
    let page = folder.ok("reproduce --experiments . --markdown").out;
    let made_by = "`lowtide reproduce all --experiments .`";
    has(&page, &[made_by, "| something arrives | yes |"]);
    assert!(!page.contains("paper"), "{page}");
    let table = folder.ok("reproduce --experiments .").out;
    let head = table
        .lines()
        .find(|line| line.trim_start().starts_with("setting"))
        .unwrap();
    let head: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(head, ["setting", "metric", "ours", "holds", "claim"]);
}

#[test]
fn flags_and_a_file_that_say_the_same_measure_the_same() {
    let text = r#"
link = { rate = "10mbit", buffer = "1bdp", policer = "9mbit:60kB" }
path = { rtt = "30ms", rtt_steps = "2s:50ms", loss = "0.5%", jitter = "2ms" }
run = { duration = "4s", seeds = 2, first_seed = 7 }
[[flows]]
controller = "cubic"
count = 2
every = "1s"
ack_every = 4
access = { sender_rate = "20mbit" }
"#;
    let folder = Folder::with("same.toml", text);
    let flags = "--cc cubic --rate 10mbit --buffer 1bdp --policer 9mbit:60kB --rtt 30ms --rtt-steps 2s:50ms --loss 0.5% --jitter 2ms \
                 --duration 4s --seeds 2 --seed 7 --flows 2 --stagger 1s --ack-every 4 \
                 --access-rate 20mbit";
    let mut throughputs = Vec::new();
    for host in ["model", "quic", "noq"] {
        let compared = json(&format!("compare --json --host {host} {flags}"));
        let compared = entry(&compared, "cubic");
        let run = folder.run(&format!("run same.toml --json --host {host}"));
        let run = &run.ok().json()["results"][0];
        for key in "throughput_mbps rtt_ms queue_delay_ms loss_share jain".split(' ') {
            assert_eq!(compared[key], run[key], "{host}: {key}");
            assert_eq!(compared["ci95"][key], run["ci95"][key], "{host}: {key}");
        }
        throughputs.push(number(run, "throughput_mbps"));
    }
    assert!(
        throughputs.iter().all(|mbps| *mbps > 1.0),
        "{throughputs:?}"
    );
    for (n, one) in throughputs.iter().enumerate() {
        for other in &throughputs[..n] {
            assert!((one - other).abs() > 1e-9, "another stack, another result");
        }
    }
}

#[test]
fn receivers_report_timestamps_where_a_flag_or_a_file_says_so() {
    const SCHEDULE: &str = "0s:10mbit,4s:3mbit,5s:9mbit,6s:2mbit,7s:8mbit";
    let folder = Folder::new();
    let by_file = |timestamps: bool| {
        let text = format!(
            "link = {{ schedule = \"{SCHEDULE}\" }}\nrun = {{ duration = \"10s\" }}\n\
             flows = [{{ controller = \"rbbr:from=timestamps\", timestamps = {timestamps} }}]\n"
        );
        folder.write("timestamps.toml", text);
        let run = folder.ok("run timestamps.toml --json").json();
        number(&run["results"][0], "throughput_mbps")
    };
    let (with, without) = (by_file(true), by_file(false));
    assert_ne!(with, without);
    let compare = "compare --json --duration 10s --cc rbbr:from=timestamps --schedule";
    for (flag, expected) in [("--timestamps", with), ("", without)] {
        let ran = folder.ok(&format!("{compare} {SCHEDULE} {flag}"));
        let measured = value(&ran.json(), "rbbr:from=timestamps", "throughput_mbps");
        assert_eq!(measured, expected, "{flag:?}");
        let warning = "rbbr:from=timestamps runs without its estimate";
        let is_warned = ran.err.contains(warning) && ran.err.contains("--timestamps");
        assert_eq!(is_warned, flag.is_empty(), "{}", ran.err);
    }
}

#[test]
fn a_bound_is_named_as_one_and_never_the_best_of_the_controllers() {
    let text = stdout("compare --duration 5s --cc causal,bbr,cubic");
    for (name, is_best) in [("causal (bound)", false), ("bbr", true), ("cubic", true)] {
        let row = text.lines().find(|line| line.trim().starts_with(name));
        assert_eq!(row.unwrap().contains('*'), is_best, "{name}: {text}");
    }
}

#[test]
fn stacks_run_their_own_controllers_beside_those_that_they_obey() {
    let compare = "compare --rate 10mbit --duration 2s --json --no-timing --host";
    for (host, controllers) in [
        ("noq", "noq/bbr3,noq/cubic,bbr3"),
        ("quinn", "quinn/cubic,quinn/bbr,bbr3"),
        ("quic", "s2n/cubic,s2n/bbr,bbr3"),
    ] {
        let ran = || json(&format!("{compare} {host} --cc {controllers}"));
        let compared = ran();
        for name in controllers.split(',') {
            let mbps = value(&compared, name, "throughput_mbps");
            assert!((4.0..10.0).contains(&mbps), "{name}: {mbps}");
        }
        if host == "quinn" {
            assert_eq!(compared, ran());
        }
    }
    let text = "link = { rate = \"10mbit\" }\nrun = { duration = \"1s\" }\n\
                [[flows]]\ncontroller = \"quinn/cubic\"\n";
    let folder = Folder::with("stock.toml", text);
    let rows = "
        compare --cc noq/bbr3,bbr3                => noq/bbr3 | use --host noq
        compare --cc noq/bbr4 --host noq          => --cc: | did you mean 'noq/bbr3'
        compare --cc noq/cubic:beta=1 --host noq  => 'noq/cubic' has no parameter 'beta'
        run stock.toml                            => stock.toml | :4: | --host quinn
        ";
    folder.refuses("", rows);
    has(
        &folder.ok("run stock.toml --host quinn").out,
        &["quinn/cubic"],
    );
}

#[test]
fn several_controllers_and_a_rate_as_printed_need_no_other_form() {
    let compare = "compare --duration 2s --json --no-timing --cc bbr:policer=false,burst=4";
    let comma = stdout(&format!("{compare},cubic --rate '20 Mbit/s'"));
    assert_eq!(
        comma,
        stdout(&format!("{compare} --cc cubic --rate 20mbit"))
    );
    has(&comma, &["constant 20 Mbit/s"]);
}

#[test]
fn the_built_in_link_is_called_by_the_mean_it_has() {
    let json = json("compare --cc bbr --json");
    let link = json["link"].as_str().unwrap();
    let mbps = value(&json, "oracle", "throughput_mbps");
    let mean = format!("{mbps:.1} Mbit/s on average");
    assert!(link.ends_with(&mean), "{link}: {mbps}");
}

#[test]
fn every_command_uses_one_vocabulary_and_json_goes_to_a_file_besides() {
    let folder = Folder::new();
    let example = example();
    let common = format!("{example} --vary run.duration=6s --seeds 1 --no-timing");
    let table = folder.ok(&format!("run --json=run.json {common}")).out;
    has(&table, &["Mbit/s"]);
    folder.ok(&format!("sweep --json=sweep.json --output store {common}"));
    let (run, sweep) = (folder.json("run.json"), folder.json("sweep.json"));
    assert_eq!(run["results"], sweep["results"]);
    assert_eq!(run["command"], "run");
    assert_eq!(sweep["command"], "sweep");
    let compared = json("compare --cc bbr --duration 2s --json");
    for json in [&run, &sweep, &compared] {
        assert_eq!(json["schema"], 1);
        assert!(json.as_object().unwrap().contains_key("wall_s"));
        let result = &json["results"][0];
        for part in [result, &result["flows"][0]] {
            for metric in ["throughput_mbps", "rtt_ms.mean", "queue_delay_ms.p95"] {
                number(part, metric);
            }
        }
        assert!(result["flows"][0]["controller"].is_string(), "{result}");
        assert_eq!(result["seeds"], 1);
    }
    assert!(run["wall_s"].is_null() && number(&compared, "wall_s") > 0.0);
    assert_eq!(run["results"][0]["flows"][1]["count"], 1);
}

#[test]
fn tables_fit_narrow_terminals_and_say_what_they_leave_out() {
    let compare = "compare --cc bbr,cubic --duration 2s";
    let run = format!("run {} --vary run.duration=6s --seeds 1", example());
    for columns in [60, 80] {
        for args in [compare, &run] {
            let Some(text) = on_terminal(columns, args, &[("NO_COLOR", "1")]) else {
                return;
            };
            // Only words are left to the terminal to break.
            let about = text.lines().position(|line| line.contains("Mbit/s  "));
            for line in text.lines().skip(about.unwrap_or(0)) {
                let width = line.trim_end().chars().count();
                assert!(width <= usize::from(columns), "{width}: {line}");
            }
            has(&text, &["Mbit/s", "RTT ms", "p95", "cubic", "no room for"]);
        }
    }
    let wide = on_terminal(140, compare, &[("NO_COLOR", "1")]).unwrap();
    has(&wide, &["resent %"]);
    assert!(!wide.contains("no room"), "{wide}");
}

#[test]
fn completions_know_the_controllers_and_scenarios() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&format!("completions {shell}"));
        has(&script, &["rtt-gain", "noq/bbr3"]);
    }
    if !Path::new("/bin/bash").exists() {
        return;
    }
    let folder = Folder::with("lowtide.bash", &stdout("completions bash"));
    let complete = |words: &str| {
        let script = format!(
            "source lowtide.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _lowtide lowtide \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD - 1]}}\"; \
             echo \"${{COMPREPLY[@]}}\""
        );
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", &script]).current_dir(folder.path());
        String::from_utf8(bash.output().unwrap().stdout).unwrap()
    };
    let controllers = complete("lowtide compare --cc c");
    assert_eq!(controllers.trim(), "c4 copa cubic compound");
    assert_eq!(complete("lowtide compare --scenario m").trim(), "media");
}

#[test]
fn runs_and_sweeps_draw_figures_of_flows_and_grids() {
    let text = r#"
link = { rate = "10mbit" }
run = { duration = "3s" }
metrics = ["share"]
flows = [{ controller = "rbbr" }, { controller = "cubic", start = "1s" }]
"#;
    let folder = Folder::with("mixed.toml", text);
    folder.ok("run mixed.toml --figures one");
    for figure in ["rate", "rtt", "shares", "phases", "plane"] {
        let svg = folder.read(&format!("one/{figure}.svg"));
        has(&svg, &["\nrbbr\n", "\ncubic\n"]);
    }
    has(
        &folder.read("one/shares.svg"),
        &["the flows of rbbr + cubic"],
    );
    has(&folder.read("one/rtt.svg"), &["RTT, ms (logarithmic)"]);
    assert!(!folder.at("one/grid-share.svg").exists(), "no grid");
    let sweep = "sweep mixed.toml --vary link.buffer=1bdp --output";
    folder.ok(&format!(
        "{sweep} store --vary link.buffer=4bdp --figures grid"
    ));
    // The question's value first, each group a line.
    let lines = [
        "\ngroup 1: rbbr\n",
        "\ngroup 2: cubic\n",
        "\nlink.buffer, BDP\n",
    ];
    has(&folder.read("grid/grid-share.svg"), &lines);
    assert!(folder.at("grid/grid-throughput_mbps.png").exists());

    // With more fields than a figure shows its name says where it is, and its legend whose the groups are.
    let more = "more --vary path.rtt=20ms --vary path.rtt=40ms \
                --vary flows.0.controller=rbbr --vary flows.0.controller=bbr";
    let look = "--figures panels --figure-format svg,pdf --figure-size 600x300";
    folder.ok(&format!("{sweep} {more} {look}"));
    for (controller, other) in [("rbbr", "bbr"), ("bbr", "rbbr")] {
        let share = folder.read(&format!("panels/grid-share_controller-{controller}.svg"));
        let group = |name: &str| format!("\ngroup 1: {name}\n");
        has(
            &share,
            &[&group(controller), "width=\"600\" height=\"300\""],
        );
        assert!(!share.contains(&group(other)), "{share}");
    }
    let figure = fs::read(folder.at("panels/grid-share_controller-bbr.pdf")).unwrap();
    assert!(figure.starts_with(b"%PDF-1.4"));
    let written = fs::read_dir(folder.at("panels")).unwrap();
    let mut names = written.map(|file| file.unwrap().path());
    assert!(names.all(|name| name.extension().is_some_and(|e| e != "png")));
    let rows = "--figure-size big => --figure-size | 800x500
                --figure-format gif => --figure-format | svg, png, pdf";
    folder.refuses("sweep mixed.toml --figures x", rows);
}

#[test]
fn what_groups_have_used_adds_up_to_what_all_have() {
    let text = r#"
link = { rate = "10mbit" }
run = { duration = "6s" }
flows = [{ controller = "bbr" }, { controller = "cubic", start = "3s" }]
"#;
    let folder = Folder::with("mixed.toml", text);
    has(&folder.ok("run mixed.toml --csv").out, &["flows.0.share"]);
    let table = folder.ok("run mixed.toml --markdown").out;
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let column = lines[0].iter().position(|head| *head == "used %").unwrap();
    let used: Vec<f64> = lines[2..5]
        .iter()
        .map(|line| line[column].parse().unwrap())
        .collect();
    assert!((used[0] - used[1] - used[2]).abs() < 0.15, "{table}");
    assert!(used[1] > 0.0 && used[2] > 0.0 && used[0] > 50.0, "{table}");
}
