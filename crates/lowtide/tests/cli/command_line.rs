//! The program as a user meets it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::{lowtide, root};

fn stdout(args: &[&str]) -> String {
    let output = lowtide(args).assert().success().get_output().stdout.clone();
    String::from_utf8(output).unwrap()
}

/// Runs and expects bad input: exit code 2 and one line that has these parts.
fn refused(args: &[&str], parts: &[&str]) {
    let assert = lowtide(args).assert().code(2);
    let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    for part in parts {
        assert!(stderr.contains(part), "{args:?}: no {part:?} in {stderr:?}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn compare_without_arguments_shows_all_controllers_between_limit_and_floor() {
    let table = stdout(&["compare"]);
    let json: Value = serde_json::from_str(&stdout(&["list", "--json"])).unwrap();
    let listed = json.as_array().unwrap().iter();
    let listed = listed.filter_map(|entry| entry["name"].as_str());
    // Of constant windows the best is shown; bounds must be asked for.
    let controllers = listed.filter(|name| {
        !["window", "causal", "abc", "oracle"].contains(name) && !name.contains('/')
    });
    for name in controllers.chain(["oracle (limit)", "(best window)"]) {
        let mut lines = table.lines();
        let row = |line: &str| line.trim().starts_with(&format!("{name} "));
        assert!(
            lines.any(|l| row(l) || l.contains("(best window)") && name == "(best window)"),
            "{name}: {table}"
        );
    }
    assert!(
        table.lines().all(|line| line.chars().count() <= 110),
        "{table}"
    );
    assert!(!table.contains('\u{1b}'), "no colours when piped");
}

#[test]
fn json_has_the_documented_shape_and_does_not_depend_on_threads() {
    let args = |jobs: &'static str| {
        [
            "compare",
            "--cc",
            "bbr",
            "--cc",
            "cubic:hystart=true",
            "--duration",
            "5s",
            "--seeds",
            "3",
            "--flows",
            "2",
            "--loss",
            "0.5%",
            "--json",
            "--no-timing",
            "--jobs",
            jobs,
        ]
    };
    let one = stdout(&args("1"));
    assert_eq!(one, stdout(&args("1")));
    assert_eq!(one, stdout(&args("2")));
    let json: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(
        (&json["schema"], &json["command"]),
        (&1.into(), &"compare".into())
    );
    assert_eq!(json["duration_s"], 5.0);
    assert!(json["simulated_packets"].as_u64().unwrap() > 1000);
    let results = json["results"].as_array().unwrap();
    let names: Vec<&str> = results
        .iter()
        .map(|r| r["controller"].as_str().unwrap())
        .collect();
    assert_eq!(names[0], "oracle");
    assert!(names.contains(&"bbr") && names.contains(&"cubic:hystart=true"));
    for result in results {
        for part in [result, &result["ci95"], &result["flows"][1]] {
            for key in [
                "throughput_mbps",
                "goodput_mbps",
                "utilisation",
                "loss_share",
                "retransmitted_share",
                "jain",
            ] {
                assert!(part[key].is_number(), "{key} in {part}");
            }
            for key in ["rtt_ms", "queue_delay_ms"] {
                for number in ["mean", "p50", "p95", "p99", "max"] {
                    assert!(part[key][number].is_number(), "{key} {number} in {part}");
                }
            }
            assert!(part["self_inflicted_ms"]["p95"].is_number());
        }
    }
    let timed: Value =
        serde_json::from_str(&stdout(&["compare", "--duration", "1s", "--json"])).unwrap();
    assert!(timed["wall_s"].as_f64().unwrap() > 0.0);
}

#[test]
fn list_names_every_controller_with_its_parameters() {
    let json: Value = serde_json::from_str(&stdout(&["list", "--json"])).unwrap();
    let entries = json.as_array().unwrap();
    let names: Vec<&str> = entries
        .iter()
        .map(|e| e["name"].as_str().unwrap())
        .collect();
    let (of_stacks, names): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| name.contains('/'));
    assert_eq!(
        names,
        [
            "ebb",
            "bbr",
            "bbr-noagg",
            "rbbr",
            "rtt-gain",
            "bbr-acd",
            "bbr-s",
            "ebcc",
            "bbrx",
            "bbr3",
            "leocc",
            "sprout",
            "c4",
            "copa",
            "cubic",
            "newreno",
            "prague",
            "vegas",
            "compound",
            "window",
            "oracle",
            "causal",
            "abc",
        ]
    );
    if cfg!(feature = "stacks") && cfg!(feature = "quic") {
        for name in [
            "noq/bbr3",
            "noq/cubic",
            "noq/newreno",
            "quinn/bbr",
            "quinn/cubic",
            "quinn/newreno",
            "s2n/bbr",
            "s2n/cubic",
        ] {
            assert!(of_stacks.contains(&name), "no {name} in {of_stacks:?}");
        }
    }
    assert_eq!(entries[0]["parameters"][0]["name"], "idle");
    assert!(stdout(&["list"]).contains("hystart=true"));
}

#[test]
fn a_queue_that_marks_shows_how_much_and_one_that_does_not_has_no_such_column() {
    let with = |queue: &str, more: &[&str]| {
        let mut args = vec![
            "compare",
            "--rate",
            "10mbit",
            "--duration",
            "5s",
            "--cc",
            "cubic:hystart=false",
        ];
        args.extend(["--queue", queue]);
        args.extend(more);
        stdout(&args)
    };
    let marked = with("codel:target=5ms,interval=50ms", &[]);
    assert!(marked.contains("marked %"), "{marked}");
    assert!(!with("codel:ecn=false", &[]).contains("marked %"));
    let json: Value = serde_json::from_str(&with("pie:target=5ms", &["--json"])).unwrap();
    let share = contender(&json, "cubic:hystart=false")["marked_share"]
        .as_f64()
        .unwrap();
    assert!(share > 0.0 && share < 0.1, "{share}");

    let listed = stdout(&["list", "queues"]);
    for name in [
        "codel", "fq_codel", "pie", "red", "drr", "headdrop", "dualpi2", "l4s",
    ] {
        assert!(listed.contains(name), "{name} in {listed}");
        assert!(with(name, &["--seeds", "1"]).contains("cubic"), "{name}");
    }
}

#[test]
fn absurd_flags_are_refused_with_the_remedy() {
    refused(
        &["compare", "--queue", "fq-codel"],
        &["--queue", "did you mean 'fq_codel'?"],
    );
    refused(
        &["compare", "--queue", "dualpi2:tupdate=1us"],
        &["'1us' is no value for dualpi2:tupdate", "1ms to 10s"],
    );
    refused(
        &["compare", "--schedule", "0s:1mbit", "--burst", "10kB"],
        &["--burst", "goes with a constant 'rate' only"],
    );
    refused(
        &["compare", "--rate", "100"],
        &["--rate", "has no unit", "mbit"],
    );
    refused(&["compare", "--rate", "0mbit"], &["too small"]);
    refused(&["compare", "--rate", "nan"], &["is no rate"]);
    refused(
        &["compare", "--rate", "1000000000000000000mbit"],
        &["too large"],
    );
    refused(&["compare", "--rtt", "1e18s"], &["--rtt"]);
    refused(
        &["compare", "--duration", "1000000000000000000s"],
        &["too large"],
    );
    refused(&["compare", "--buffer", "5"], &["has no unit", "2bdp"]);
    refused(&["compare", "--loss", "150%"], &["above 100 %"]);
    refused(
        &["compare", "--loss", "0.1"],
        &["--loss", "'0.1' has no unit", "10% or 0.1%"],
    );
    refused(&["compare", "--cc", "cubic,bbbr"], &["did you mean 'bbr'"]);
    refused(&["compare", "--flows", "0"], &["--flows"]);
    refused(
        &["compare", "--cc", "bbbr"],
        &["'bbbr'", "did you mean 'bbr'"],
    );
    refused(
        &["compare", "--cc", "bbr:agregation=false"],
        &["did you mean 'aggregation'"],
    );
    refused(
        &["compare", "--schedule", "0s:10mbit,5s"],
        &["'5s' is no step"],
    );
    refused(
        &["compare", "--schedule", "0s:0mbit"],
        &["never above zero"],
    );
    refused(&["compare", "--scenario", "5g"], &["no '5g'", "media"]);
    refused(
        &["compare", "--source", "video"],
        &["--source", "video:2mbit"],
    );
    refused(&["compare", "--burst-loss", "100%:3"], &["--burst-loss"]);
    refused(
        &["compare", "--burst-loss", "0.1:3"],
        &["--burst-loss", "10% or 0.1%", "1%:10"],
    );
    refused(
        &["compare", "--flows", "2", "--stagger", "30s"],
        &["--stagger", "--duration"],
    );
    refused(&["trace", "generate", "--duration", "1ms"], &["--duration"]);
}

#[test]
fn bad_traces_are_refused_with_file_line_and_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, content).unwrap();
        path.display().to_string()
    };
    let compare = |path: &str, parts: &[&str]| {
        let mut all = vec![path];
        all.extend(parts);
        refused(&["compare", "--trace", path], &all);
    };
    compare(&file("empty", b""), &["no entries"]);
    compare(
        &file("decreasing", b"5\n7\n6\n"),
        &["line 3", "6 is lower than 7"],
    );
    compare(&file("negative", b"5\n-7\n"), &["line 2", "'-7'"]);
    compare(&file("huge", b"5\n99999999999999999999\n"), &["line 2"]);
    compare(&file("long", b"5\n4000000000\n"), &["line 2", "from 0 to"]);
    compare(&file("text", b"5\nsix\n"), &["line 2", "'six'"]);
    compare(&file("binary", &[0, 159, 146, 150, 10, 255]), &["line 1"]);
    compare(&file("zero", b"0\n0\n"), &["last timestamp is 0"]);
    compare(
        &file("a.csv", b"time_ms,rate\n0,5\n"),
        &["line 1", "rate_mbps"],
    );
    compare(
        &file("b.csv", b"time_ms,rate_mbps\n0,5\n10,NaN\n"),
        &["line 3", "'NaN'"],
    );
    compare(
        &file("c.csv", b"time_ms,rate_mbps\n0,5\n0,6\n"),
        &["line 3", "not later"],
    );
    compare(
        &file("d.csv", b"time_ms,rate_mbps\n0,0\n10,0\n"),
        &["never above zero"],
    );
    compare(&file("e.csv", b"time_ms,rate_mbps\n0,5\n10\n"), &["line 3"]);
    compare(
        &dir.path().join("absent").display().to_string(),
        &["cannot read it"],
    );
}

#[test]
fn files_beside_traces_are_left_out_and_named_and_one_must_be_a_trace() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let file = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    file("a.delay.csv", "time_ms,delay_ms\n0,12\n10,12\n");
    let args = ["compare", "--traces", folder, "--cc", "bbr", "--json"];
    refused(&args, &["no file in it is a trace", "a.delay.csv"]);
    file("a.down", "1\n2\n3\n");
    let output = lowtide(&args).assert().success().get_output().clone();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("left out") && said.contains("a.delay.csv"),
        "{said}"
    );
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["link"], "a.down");
}

#[test]
fn traces_are_generated_described_converted_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let (csv, mahimahi) = (path("link.csv"), path("link.trace"));
    for output in [&csv, &path("again.csv")] {
        lowtide(&[
            "trace",
            "generate",
            "--duration",
            "10s",
            "--seed",
            "7",
            "-o",
            output,
        ])
        .assert()
        .success();
    }
    assert_eq!(
        fs::read(&csv).unwrap(),
        fs::read(path("again.csv")).unwrap(),
        "same seed"
    );
    lowtide(&[
        "trace", "convert", &csv, "--to", "mahimahi", "-o", &mahimahi,
    ])
    .assert()
    .success();
    let info: Value =
        serde_json::from_str(&stdout(&["trace", "info", "--json", &csv, &mahimahi])).unwrap();
    let mean = |n: usize| info[n]["mean_mbps"].as_f64().unwrap();
    assert!((mean(0) - mean(1)).abs() < 0.01 * mean(0), "{info}");
    assert_eq!(info[0]["length_s"], 10.0);
    let both = stdout(&[
        "compare",
        "--cc",
        "bbr",
        "--trace",
        &csv,
        "--trace",
        &mahimahi,
        "--json",
        "--no-timing",
    ]);
    let json: Value = serde_json::from_str(&both).unwrap();
    let used = |n: usize| json[n]["results"][1]["throughput_mbps"].as_f64().unwrap();
    assert!(
        (used(0) - used(1)).abs() < 0.05 * used(0),
        "{} {}",
        used(0),
        used(1)
    );
}

#[test]
fn the_report_is_one_file_that_needs_no_other_and_escapes_names() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("<script>alert(1)<script>.csv");
    fs::write(&trace, "time_ms,rate_mbps\n0,5\n500,9\n1000,2\n").unwrap();
    let reports = dir.path().join("reports");
    stdout(&[
        "compare",
        "--cc",
        "bbr",
        "--duration",
        "5s",
        "--trace",
        &trace.display().to_string(),
        "--report",
        &reports.display().to_string(),
    ]);
    let html = fs::read_to_string(reports.join("index.html")).unwrap();
    assert!(html.len() < 5_000_000);
    for panel in ["id=\"panels\"", "id=\"plane\"", "id=\"rtt-cdf\""] {
        assert!(html.contains(panel), "{panel}");
    }
    assert!(!html.contains("<script>alert"));
    // The plotting library's own text, which names addresses it does not fetch, is in the head.
    let (head, body) = html.split_once("</head>").unwrap();
    assert!(!body.contains("http"), "nothing from afar");
    assert!(!head.contains("<script src"), "nothing from afar");
}

#[test]
fn a_report_that_cannot_be_written_loses_no_result() {
    let dir = tempfile::tempdir().unwrap();
    let in_the_way = dir.path().join("file");
    fs::write(&in_the_way, "").unwrap();
    let path = in_the_way.display().to_string();
    let args = [
        "compare",
        "--cc",
        "bbr",
        "--duration",
        "1s",
        "--json",
        "--report",
        &path,
    ];
    let assert = lowtide(&args).assert().code(1);
    let output = assert.get_output();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["results"][1]["controller"], "bbr");
    assert!(String::from_utf8_lossy(&output.stderr).contains(&path));
}

#[test]
fn figures_and_qlogs_are_written_for_each_link() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("link.csv");
    fs::write(&trace, "time_ms,rate_mbps\n0,5\n500,9\n").unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let args = [
        "compare",
        "--cc",
        "bbr:aggregation=false",
        "--duration",
        "2s",
    ];
    let trace = ["--trace", &trace.display().to_string()].map(str::to_string);
    let one = [
        "--figures",
        &path("figures"),
        "--qlog",
        &path("qlog"),
        &trace[0],
        &trace[1],
    ];
    stdout(&[&args[..], &one[..]].concat());
    assert!(dir.path().join("figures/plane.svg").exists());
    let log = fs::read(dir.path().join("qlog/bbr_aggregation=false.sqlog")).unwrap();
    assert!(log.starts_with(b"\x1e{\"file_schema\":"));
    let two = [
        "--figures",
        &path("both"),
        &trace[0],
        &trace[1],
        &trace[0],
        &trace[1],
    ];
    stdout(&[&args[..], &two[..]].concat());
    assert!(dir.path().join("both/2/plane.png").exists());
    refused(
        &["compare", "--qlog", &path("none"), "--flows", "2"],
        &["--qlog", "one flow, not 2"],
    );
    assert!(!dir.path().join("none").exists());
}

#[test]
fn sparklines_are_drawn_on_terminals_only_and_honour_no_color() {
    let args = ["compare", "--cc", "bbr", "--duration", "2s"];
    assert!(!stdout(&args).contains('▁'), "plain when piped");
    let forced = stdout(&[&args[..], &["--sparklines", "always"]].concat());
    assert!(
        forced.contains('▁') && !forced.contains('\u{1b}'),
        "{forced}"
    );

    let binary = assert_cmd::cargo::cargo_bin("lowtide");
    let command = format!("'{}' {}", binary.display(), args.join(" "));
    let terminal = |variables: &[(&str, &str)]| {
        let mut script = std::process::Command::new("script");
        script
            .args(["-qec", &command, "/dev/null"])
            .env_remove("NO_COLOR")
            .envs([("LC_ALL", "C.UTF-8"), ("TERM", "xterm")])
            .envs(variables.iter().copied())
            .stdin(std::process::Stdio::null());
        let output = script.output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(coloured) = terminal(&[]) else {
        eprintln!("skipped: no 'script' to make a terminal with");
        return;
    };
    // The progress bar has escapes of its own, so look for the colour.
    let cyan = "\u{1b}[36m";
    assert!(
        coloured.contains('▁') && coloured.contains(cyan),
        "{coloured}"
    );
    let plain = terminal(&[("NO_COLOR", "1")]).unwrap();
    assert!(plain.contains('▁') && !plain.contains(cyan), "{plain}");
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
        Command::new("/bin/bash")
            .args(["-c", &script])
            .assert()
            .success();
    }
}

fn example() -> String {
    let file = root().join("experiments/example.toml");
    file.display().to_string()
}

#[test]
fn a_scenario_file_runs_flows_of_different_kinds_in_every_cell() {
    let file = example();
    let args = ["run", &file, "--vary", "run.duration=8s", "--seeds", "2"];
    let table = stdout(&args);
    for part in [
        "alone together, 8bdp, bbr3",
        "on a lossy link, 0.5bdp, bbr",
        "  cubic",
        "±",
    ] {
        assert!(table.contains(part), "no {part:?} in {table}");
    }
    let json: Value = serde_json::from_str(&stdout(&[&args[..], &["--json"]].concat())).unwrap();
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 12);
    assert_eq!(results[0]["labels"]["case"], "alone together");
    assert_eq!(results[0]["flows"][1]["controller"], "cubic");
    assert!(results[0]["flows"][1]["rtt_ms"]["p95"].is_number());
    assert!(results[0]["ci95"]["throughput_mbps"].is_number());
    let csv = stdout(&[&args[..], &["--csv"]].concat());
    assert_eq!(csv.lines().count(), 13);
    assert!(csv.starts_with("case,"), "{csv:.100}");

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let one = [
        "run",
        &file,
        "--vary",
        "run.duration=2s",
        "--vary",
        "flows.1.start=1s",
    ];
    let report = [
        "--vary",
        "link.buffer=2bdp",
        "--seeds",
        "1",
        "--report",
        &out,
    ];
    stdout(&[&one[..], &report].concat());
    let page = fs::read_to_string(folder.path().join("index.html")).unwrap();
    for place in ["alone together, 2bdp", "on a lossy link, 2bdp"] {
        let name = format!("\"{place}: constant 20 Mbit/s\"");
        assert!(page.contains(&name), "no {name}");
    }
}

#[test]
fn an_interrupted_sweep_goes_on_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().display().to_string();
    let file = example();
    let args = [
        "sweep",
        &file,
        "--vary",
        "run.duration=6s",
        "--seeds",
        "2",
        "--csv",
        "--output",
        &out,
    ];
    let whole = stdout(&args);
    let results = fs::read_dir(folder.path()).unwrap().next().unwrap();
    let results = results.unwrap().path();
    let text = fs::read_to_string(&results).unwrap();
    assert_eq!(text.lines().count(), 24);
    // As if the machine had failed in the middle of a line.
    let half = &text[..text.len() / 2];
    let kept = half.matches('\n').count();
    assert!((5..20).contains(&kept), "{kept}");
    fs::write(&results, half).unwrap();
    let again = lowtide(&args).assert().success();
    let output = again.get_output();
    assert_eq!(String::from_utf8_lossy(&output.stdout), whole);
    let told = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(
        told.contains(&format!("24 runs; {kept} of them are in")),
        "{told}"
    );
    assert!(told.contains(&format!("{} runs in", 24 - kept)), "{told}");
}

#[test]
fn a_grid_with_a_cell_that_cannot_be_is_refused_before_anything_runs() {
    let vary = [
        "--vary",
        "flows.0.ack_every=2",
        "--vary",
        "flows.0.ack_every=0",
    ];
    let refusal = ["--vary flows.0.ack_every: must lie between 1 and 1000"];
    refused(&[&["run", &example()], &vary[..]].concat(), &refusal);
}

#[test]
fn scenario_files_are_refused_with_file_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.toml");
    let path = file.display().to_string();
    fs::write(&file, "[link]\nrate = \"5mbit\"\nbufer = \"2bdp\"\n").unwrap();
    refused(
        &["run", &path],
        &["wrong.toml:3:1: link.bufer", "did you mean `buffer`?"],
    );
    refused(
        &["run", "no-such.toml"],
        &["error: no-such.toml: cannot read it"],
    );
    refused(
        &["run", &example(), "--vary", "link.buffer"],
        &["--vary", "KEY=VALUE"],
    );
    for (key, meant) in [
        ("lnk.buffer", "'link.buffer'"),
        ("buffer", "'link.buffer'"),
        ("link.bufer", "'link.buffer'"),
        ("flows.0.contoller", "'flows.controller'"),
    ] {
        let vary = format!("{key}=2bdp");
        let hint = format!("did you mean {meant}?");
        refused(&["run", &example(), "--vary", &vary], &[&hint]);
    }
    refused(
        &["run", &example(), "--vary", "flows.1.controller=bbr,cubic"],
        &["'bbr,cubic' is no controller", "repeat --vary"],
    );
    refused(
        &["run", &example(), "--vary", "nonsense=1"],
        &["keys begin with one of"],
    );
    refused(
        &["reproduce", "no-such"],
        &["there is no experiment", "rbbr-fig3"],
    );
    refused(
        &["trace", "generate", "--model", "5g"],
        &["--model", "4g-static"],
    );
    let schema: Value = serde_json::from_str(&stdout(&["schema"])).unwrap();
    assert!(schema["properties"]["flows"].is_object());
}

#[test]
fn reproduce_prints_rows_with_the_papers_value_ours_and_whether_the_claim_holds() {
    assert!(stdout(&["reproduce", "--list"]).contains("ebcc-multi"));
    let args = ["reproduce", "rbbr-fig3", "--seeds", "2"];
    let json: Value = serde_json::from_str(&stdout(&[&args[..], &["--json"]].concat())).unwrap();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        for key in ["experiment", "setting", "metric", "claim", "holds"] {
            assert!(row[key].is_string(), "{key} in {row}");
        }
        assert!(row["ours"].is_number() && row["ci95"].is_number() && row["paper"].is_null());
    }
    assert_eq!(rows[0]["holds"], "yes");
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.md");
    let document = ["reproduce", "acd-rtt", "--seeds", "1", "--document"];
    let path = page.display().to_string();
    stdout(&[&document[..], &[&path]].concat());
    let text = fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("](page/acd-rtt.svg)") && text.contains("| setting |"),
        "{text}"
    );
    let figure = fs::read_to_string(folder.path().join("page/acd-rtt.svg")).unwrap();
    assert!(figure.starts_with("<svg"));
}

#[test]
fn a_page_of_ones_own_experiments_says_which_and_speaks_of_no_paper() {
    let folder = tempfile::tempdir().unwrap();
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
    fs::write(folder.path().join("arrives.toml"), text).unwrap();
    let path = folder.path().display().to_string();
    let page = stdout(&["reproduce", "--experiments", &path, "--markdown"]);
    let made_by = format!("`lowtide reproduce all --experiments {path}`");
    assert!(page.contains(&made_by), "{page}");
    assert!(page.contains("| something arrives | yes |"), "{page}");
    assert!(!page.contains("paper"), "{page}");
    let table = stdout(&["reproduce", "--experiments", &path]);
    let head = table
        .lines()
        .find(|line| line.trim_start().starts_with("setting"))
        .unwrap();
    let head: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(head, ["setting", "metric", "ours", "holds", "claim"]);
}

/// The results of one contender of a comparison.
fn contender<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let results = comparison["results"].as_array().unwrap();
    let entry = results.iter().find(|r| r["controller"] == name);
    entry.unwrap()
}

#[test]
fn flags_and_a_file_that_say_the_same_measure_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("same.toml");
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
    fs::write(&path, text).unwrap();
    let flags = "--cc cubic --rate 10mbit --buffer 1bdp --policer 9mbit:60kB --rtt 30ms --rtt-steps 2s:50ms --loss 0.5% --jitter 2ms \
                 --duration 4s --seeds 2 --seed 7 --flows 2 --stagger 1s --ack-every 4 \
                 --access-rate 20mbit";
    let mut hosts = vec!["model"];
    if cfg!(feature = "quic") {
        hosts.push("quic");
    }
    if cfg!(feature = "stacks") {
        hosts.push("noq");
    }
    let mut throughputs = Vec::new();
    for host in hosts {
        let mut args = vec!["compare", "--json", "--host", host];
        args.extend(flags.split_whitespace());
        let compared: Value = serde_json::from_str(&stdout(&args)).unwrap();
        let compared = contender(&compared, "cubic");
        let path = path.to_str().unwrap();
        let run = stdout(&["run", path, "--json", "--host", host]);
        let run: Value = serde_json::from_str(&run).unwrap();
        let run = &run["results"][0];
        for key in [
            "throughput_mbps",
            "rtt_ms",
            "queue_delay_ms",
            "loss_share",
            "jain",
        ] {
            assert_eq!(compared[key], run[key], "{host}: {key}");
            assert_eq!(compared["ci95"][key], run["ci95"][key], "{host}: {key}");
        }
        throughputs.push(run["throughput_mbps"].as_f64().unwrap());
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
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("timestamps.toml");
    let by_file = |timestamps: bool| {
        let text = format!(
            "link = {{ schedule = \"{SCHEDULE}\" }}\nrun = {{ duration = \"10s\" }}\n\
             flows = [{{ controller = \"rbbr:from=timestamps\", timestamps = {timestamps} }}]\n"
        );
        fs::write(&path, text).unwrap();
        let run: Value =
            serde_json::from_str(&stdout(&["run", path.to_str().unwrap(), "--json"])).unwrap();
        run["results"][0]["throughput_mbps"].clone()
    };
    let (with, without) = (by_file(true), by_file(false));
    assert_ne!(with, without);
    let flags = "compare --json --duration 10s --cc rbbr:from=timestamps --schedule";
    for (flag, expected) in [(Some("--timestamps"), with), (None, without)] {
        let mut args: Vec<&str> = flags.split_whitespace().collect();
        args.push(SCHEDULE);
        args.extend(flag);
        let output = lowtide(&args).assert().success().get_output().clone();
        let compared: Value = serde_json::from_slice(&output.stdout).unwrap();
        let compared = contender(&compared, "rbbr:from=timestamps");
        assert_eq!(compared["throughput_mbps"], expected, "{flag:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        let is_warned = stderr.contains("rbbr:from=timestamps runs without its estimate")
            && stderr.contains("--timestamps");
        assert_eq!(is_warned, flag.is_none(), "{stderr}");
    }
}

#[test]
fn a_bound_is_named_as_one_and_never_the_best_of_the_controllers() {
    let text = stdout(&["compare", "--duration", "5s", "--cc", "causal,bbr,cubic"]);
    let row = |name: &str| {
        text.lines()
            .find(|line| line.trim().starts_with(name))
            .unwrap()
    };
    assert!(!row("causal (bound)").contains('*'), "{text}");
    assert!(
        row("bbr").contains('*') && row("cubic").contains('*'),
        "{text}"
    );
}

#[test]
fn what_is_wrong_is_named_by_its_flag() {
    refused(
        &["compare", "--ack-every", "0"],
        &["--ack-every: must lie between 1 and 1000"],
    );
    refused(
        &["compare", "--ack-every", "4", "--transport", "tcp"],
        &["--ack-every: is for quic only (see --transport)"],
    );
    refused(
        &["compare", "--timestamps", "--transport", "tcp"],
        &["--timestamps: is for quic only (see --transport)"],
    );
    refused(
        &["compare", "--rtt-steps", "15s"],
        &["--rtt-steps: ", "'15s'"],
    );
    refused(
        &["compare", "--packet-size", "70kB"],
        &["--packet-size: the most is"],
    );
    refused(&["compare", "--seeds", "0"], &["--seeds: must lie between"]);
    if cfg!(feature = "quic") {
        refused(
            &["compare", "--host", "quic", "--transport", "tcp"],
            &["--transport: the QUIC host has no TCP (see --host)"],
        );
    }
}

#[cfg(all(feature = "quic", feature = "stacks"))]
#[test]
fn stacks_run_their_own_controllers_beside_those_that_they_obey() {
    let compared = |host: &str, controllers: &str| {
        let args = "compare --rate 10mbit --duration 2s --json --no-timing --host";
        let mut args: Vec<&str> = args.split(' ').collect();
        args.extend([host, "--cc", controllers]);
        stdout(&args)
    };
    for (host, controllers) in [
        ("noq", "noq/bbr3,noq/cubic,bbr3"),
        ("quinn", "quinn/cubic,quinn/bbr"),
        ("quic", "s2n/cubic,s2n/bbr,bbr3"),
    ] {
        let json: Value = serde_json::from_str(&compared(host, controllers)).unwrap();
        for name in controllers.split(',') {
            let mbps = contender(&json, name)["throughput_mbps"].as_f64().unwrap();
            assert!((4.0..10.0).contains(&mbps), "{name}: {mbps}");
        }
    }
    let own = "quinn/cubic,quinn/bbr";
    assert_eq!(compared("quinn", own), compared("quinn", own));
    refused(
        &["compare", "--cc", "noq/bbr3,bbr3"],
        &["noq/bbr3", "use --host noq"],
    );
    refused(
        &["compare", "--cc", "noq/bbr4", "--host", "noq"],
        &["--cc: ", "did you mean 'noq/bbr3'"],
    );
    refused(
        &["compare", "--cc", "noq/cubic:beta=1", "--host", "noq"],
        &["'noq/cubic' has no parameter 'beta'"],
    );
    refused(
        &["compare", "--cc", "bbr3", "--host", "quinn"],
        &["quinn/cubic", "--host noq"],
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("stock.toml");
    let text = "link = { rate = \"10mbit\" }\nrun = { duration = \"1s\" }\n\
                [[flows]]\ncontroller = \"quinn/cubic\"\n";
    fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();
    refused(&["run", path], &["stock.toml", ":4:", "--host quinn"]);
    assert!(stdout(&["run", path, "--host", "quinn"]).contains("quinn/cubic"));
}

#[test]
fn several_controllers_and_a_rate_as_printed_need_no_other_form() {
    let args = "compare --duration 2s --json --no-timing";
    let with = |more: &[&str]| {
        let mut all: Vec<&str> = args.split(' ').collect();
        all.extend(more);
        stdout(&all)
    };
    let comma = with(&[
        "--cc",
        "bbr:policer=false,burst=4,cubic",
        "--rate",
        "20 Mbit/s",
    ]);
    let single = ["--cc", "bbr:policer=false,burst=4", "--cc", "cubic"];
    let twice = with(&[&single[..], &["--rate", "20mbit"]].concat());
    assert_eq!(comma, twice);
    assert!(comma.contains("constant 20 Mbit/s"), "{comma:.200}");
}

#[test]
fn the_built_in_link_is_called_by_the_mean_it_has() {
    let args = ["compare", "--cc", "bbr", "--json"];
    let json: Value = serde_json::from_str(&stdout(&args)).unwrap();
    let link = json["link"].as_str().unwrap();
    let mbps = contender(&json, "oracle")["throughput_mbps"]
        .as_f64()
        .unwrap();
    let mean = format!("{mbps:.1} Mbit/s on average");
    assert!(link.ends_with(&mean), "{link}: {mbps}");
}

#[test]
fn every_command_uses_one_vocabulary_and_json_goes_to_a_file_besides() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let example = example();
    let common = ["--vary", "run.duration=6s", "--seeds", "1", "--no-timing"];
    let (run, sweep) = (path("run.json"), path("sweep.json"));
    let (to_run, to_sweep) = (format!("--json={run}"), format!("--json={sweep}"));
    let table = stdout(&[&["run", &example, &to_run][..], &common].concat());
    assert!(table.contains("Mbit/s"), "the table as well: {table}");
    let store = path("store");
    let stored = ["sweep", &example, &to_sweep, "--output", &store];
    stdout(&[&stored[..], &common].concat());
    let read =
        |path: &str| -> Value { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let (run, sweep) = (read(&run), read(&sweep));
    assert_eq!(run["results"], sweep["results"]);
    assert_eq!(run["command"], "run");
    assert_eq!(sweep["command"], "sweep");
    let compared = stdout(&["compare", "--cc", "bbr", "--duration", "2s", "--json"]);
    let compared: Value = serde_json::from_str(&compared).unwrap();
    for json in [&run, &sweep, &compared] {
        assert_eq!(json["schema"], 1);
        assert!(json.as_object().unwrap().contains_key("wall_s"));
        let result = &json["results"][0];
        for part in [result, &result["flows"][0]] {
            assert!(part["throughput_mbps"].is_number(), "{part}");
            assert!(part["rtt_ms"]["mean"].is_number(), "{part}");
            assert!(part["queue_delay_ms"]["p95"].is_number(), "{part}");
        }
        assert!(result["flows"][0]["controller"].is_string(), "{result}");
        assert_eq!(result["seeds"], 1);
    }
    assert!(run["wall_s"].is_null() && compared["wall_s"].is_number());
    assert_eq!(run["results"][0]["flows"][1]["count"], 1);
    // Whoever has read only one of two forms is told of the other.
    refused(&["compare", "--json", "--csv"], &["--json", "--csv"]);
}

/// What a command prints on a terminal of so many columns; `None` where none can be made.
fn on_terminal(columns: u16, args: &str) -> Option<String> {
    let binary = assert_cmd::cargo::cargo_bin("lowtide");
    let command = format!(
        "stty rows 24 cols {columns}; '{}' {args} 2>/dev/null",
        binary.display()
    );
    let mut script = std::process::Command::new("script");
    script
        .args(["-qec", &command, "/dev/null"])
        .envs([("LC_ALL", "C.UTF-8"), ("TERM", "xterm"), ("NO_COLOR", "1")])
        .stdin(std::process::Stdio::null());
    let output = script.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn tables_fit_narrow_terminals_and_say_what_they_leave_out() {
    let compare = "compare --cc bbr,cubic --duration 2s";
    let run = format!("run '{}' --vary run.duration=6s --seeds 1", example());
    for columns in [60, 80] {
        for args in [compare, &run] {
            let Some(text) = on_terminal(columns, args) else {
                eprintln!("skipped: no 'script' to make a terminal with");
                return;
            };
            // Only words are left to the terminal to break.
            let about = text.lines().position(|line| line.contains("Mbit/s  "));
            for line in text.lines().skip(about.unwrap_or(0)) {
                let width = line.trim_end().chars().count();
                assert!(width <= usize::from(columns), "{width}: {line}");
            }
            for shown in ["Mbit/s", "RTT ms", "p95", "cubic", "no room for"] {
                assert!(text.contains(shown), "{columns}: no {shown} in {text}");
            }
        }
    }
    let wide = on_terminal(140, compare).unwrap();
    assert!(
        !wide.contains("no room") && wide.contains("resent %"),
        "{wide}"
    );
}

#[test]
fn completions_know_the_controllers_and_scenarios() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("rtt-gain"), "{shell}");
        let knows_stacks = script.contains("noq/bbr3");
        assert_eq!(knows_stacks, cfg!(feature = "stacks"), "{shell}");
    }
    if !Path::new("/bin/bash").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lowtide.bash");
    fs::write(&file, stdout(&["completions", "bash"])).unwrap();
    let complete = |words: &str| {
        let script = format!(
            "source '{}'; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _lowtide lowtide \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD - 1]}}\"; \
             echo \"${{COMPREPLY[@]}}\"",
            file.display()
        );
        let output = std::process::Command::new("/bin/bash")
            .args(["-c", &script])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        complete("lowtide compare --cc c").trim(),
        "c4 copa cubic compound"
    );
    assert_eq!(complete("lowtide compare --scenario m").trim(), "media");
}

#[test]
fn runs_and_sweeps_draw_figures_of_flows_and_grids() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = r#"
link = { rate = "10mbit" }
run = { duration = "3s" }
metrics = ["share"]
flows = [{ controller = "rbbr" }, { controller = "cubic", start = "1s" }]
"#;
    let file = path("mixed.toml");
    fs::write(&file, text).unwrap();
    let one = path("one");
    stdout(&["run", &file, "--figures", &one]);
    let svg = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for figure in ["rate", "rtt", "shares", "phases", "plane"] {
        let svg = svg(&format!("one/{figure}.svg"));
        assert!(
            svg.contains("\nrbbr\n") && svg.contains("\ncubic\n"),
            "{figure}"
        );
    }
    assert!(svg("one/shares.svg").contains("the flows of rbbr + cubic"));
    assert!(svg("one/rtt.svg").contains("RTT, ms (logarithmic)"));
    assert!(
        !folder.path().join("one/grid-share.svg").exists(),
        "no grid"
    );
    let vary = ["--vary", "link.buffer=1bdp", "--vary", "link.buffer=4bdp"];
    let (grid, store) = (path("grid"), path("store"));
    let sweep = ["sweep", &file, "--output", &store, "--figures", &grid];
    stdout(&[&sweep[..], &vary].concat());
    // The question's value first, each group a line.
    let share = svg("grid/grid-share.svg");
    for name in ["group 1: rbbr", "group 2: cubic", "link.buffer, BDP"] {
        assert!(share.contains(&format!("\n{name}\n")), "no {name}: {share}");
    }
    assert!(folder.path().join("grid/grid-throughput_mbps.png").exists());

    // With more fields than a figure shows its name says where it is, and its legend whose the groups are.
    let vary = [
        "path.rtt=20ms",
        "path.rtt=40ms",
        "flows.0.controller=rbbr",
        "flows.0.controller=bbr",
    ];
    let vary = vary.iter().flat_map(|value| ["--vary", value]);
    let vary: Vec<&str> = vary.chain(["--vary", "link.buffer=1bdp"]).collect();
    let (panels, store) = (path("panels"), path("more"));
    let look = ["--figure-format", "svg,pdf", "--figure-size", "600x300"];
    let sweep = ["sweep", &file, "--output", &store, "--figures", &panels];
    stdout(&[&sweep[..], &look, &vary].concat());
    for (controller, other) in [("rbbr", "bbr"), ("bbr", "rbbr")] {
        let share = svg(&format!("panels/grid-share_controller-{controller}.svg"));
        let group = |name: &str| share.contains(&format!("\ngroup 1: {name}\n"));
        assert!(group(controller) && !group(other), "{share}");
        assert!(share.contains("width=\"600\" height=\"300\""), "{share}");
    }
    let figure = folder.path().join("panels/grid-share_controller-bbr.pdf");
    assert!(fs::read(figure).unwrap().starts_with(b"%PDF-1.4"));
    let written = fs::read_dir(folder.path().join("panels")).unwrap();
    let mut names = written.map(|file| file.unwrap().path());
    assert!(names.all(|name| name.extension().is_some_and(|e| e != "png")));
    refused(
        &["sweep", &file, "--figures", "x", "--figure-size", "big"],
        &["--figure-size", "800x500"],
    );
    refused(
        &["sweep", &file, "--figures", "x", "--figure-format", "gif"],
        &["--figure-format", "svg, png, pdf"],
    );
}

#[test]
fn what_groups_have_used_adds_up_to_what_all_have() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mixed.toml").display().to_string();
    let text = r#"
link = { rate = "10mbit" }
run = { duration = "6s" }
flows = [{ controller = "bbr" }, { controller = "cubic", start = "3s" }]
"#;
    fs::write(&file, text).unwrap();
    let table = stdout(&["run", &file, "--csv"]);
    assert!(table.contains("flows.0.share"), "{table}");
    let table = stdout(&["run", &file, "--markdown"]);
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
