//! `lowtide frontier` as a user meets it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::lowtide;

/// A folder of two traces: 6 Mbit/s steady, and 12 Mbit/s that pauses for 50 of 100 ms.
fn traces() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, times: Vec<u32>| {
        let lines: String = times.iter().map(|ms| format!("{ms}\n")).collect();
        fs::write(dir.path().join(name), lines).unwrap();
    };
    write("a.steady", (1..=1000).map(|n| 2 * n).collect());
    write(
        "b.bursty",
        (1..=2000)
            .filter(|ms| ms % 100 < 50 || *ms == 2000)
            .collect(),
    );
    fs::write(dir.path().join("README.md"), "about them").unwrap();
    dir
}

fn frontier(dir: &Path, more: &[&str]) -> Vec<u8> {
    let folder = dir.to_str().unwrap();
    let mut args = vec![
        "frontier",
        "--traces",
        folder,
        "--duration",
        "4s",
        "--no-timing",
    ];
    args.extend(more);
    lowtide(&args)
        .assert()
        .success()
        .get_output()
        .stdout
        .clone()
}

#[test]
fn json_has_each_controller_on_each_path_and_does_not_depend_on_threads() {
    let dir = traces();
    let args = |jobs: &'static str| {
        let cc = "bbr,window:packets=4/20/100,oracle";
        let places = ["--rtt", "20ms,40ms", "--buffer", "inf,2bdp"];
        let mut args = vec!["--cc", cc, "--seeds", "2", "--json", "--jobs", jobs];
        args.extend(places);
        args
    };
    let one = frontier(dir.path(), &args("1"));
    assert!(
        one == frontier(dir.path(), &args("2")),
        "threads change nothing"
    );
    let json: Value = serde_json::from_slice(&one).unwrap();
    let head = (&json["schema"], &json["command"], &json["base"]);
    assert_eq!(head, (&1.into(), &"frontier".into(), &"bbr".into()));
    assert_eq!(json["traces"], serde_json::json!(["a.steady", "b.bursty"]));
    assert!(json["wall_s"].is_null());
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * 5, "places and controllers");
    for row in rows {
        for key in [
            "throughput_ratio",
            "throughput_ratio_min",
            "queue_p95_ratio",
            "queue_p95_ratio_max",
        ] {
            assert!(row[key].is_number(), "{key} in {row}");
        }
        assert!(row["ci95"]["throughput_ratio"].is_number(), "{row}");
        let each = row["on_traces"].as_array().unwrap();
        let product: f64 = each
            .iter()
            .map(|t| t["throughput_ratio"].as_f64().unwrap())
            .product();
        let mean = row["throughput_ratio"].as_f64().unwrap();
        assert!((mean - product.sqrt()).abs() < 1e-9, "{row}");
        for trace in each {
            assert!(
                trace["throughput_mbps"].is_number() && trace["queue_delay_ms"]["p95"].is_number()
            );
        }
        let names = each.iter().filter(|t| !t["dominated_by"].is_null());
        let names: Vec<&Value> = names.map(|t| &t["trace"]).collect();
        assert_eq!(
            row["dominated_on"]
                .as_array()
                .unwrap()
                .iter()
                .collect::<Vec<_>>(),
            names
        );
    }
    let base = rows.iter().filter(|row| row["controller"] == "bbr");
    for row in base {
        assert_eq!(
            (&row["throughput_ratio"], &row["queue_p95_ratio"]),
            (&1.0.into(), &1.0.into())
        );
    }
    let places: Vec<(f64, &str)> = rows
        .iter()
        .step_by(5)
        .map(|r| (r["rtt_ms"].as_f64().unwrap(), r["buffer"].as_str().unwrap()))
        .collect();
    let asked = [(20.0, "inf"), (20.0, "2bdp"), (40.0, "inf"), (40.0, "2bdp")];
    assert_eq!(places, asked);
    let curve = &json["curves"][1];
    assert_eq!(curve["controller"], "window:packets=4/20/100");
    let points = [
        "window:packets=4",
        "window:packets=20",
        "window:packets=100",
    ];
    assert_eq!(curve["points"], serde_json::json!(points));
    assert_eq!(curve["at"][1]["throughput_ratio"], 0.97);
}

#[test]
fn who_is_worse_in_both_is_dominated_but_not_by_a_bound() {
    let dir = traces();
    let cc = "oracle,causal:margin=0/1,newreno,bbr,cubic,vegas,window:packets=5/20/60";
    let output = frontier(dir.path(), &["--cc", cc, "--loss", "1%", "--json"]);
    let json: Value = serde_json::from_slice(&output).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let at = |row: &Value, trace: usize| {
        let on = &row["on_traces"][trace];
        let number = |value: &Value| value.as_f64().unwrap();
        (
            number(&on["throughput_mbps"]),
            number(&on["queue_delay_ms"]["p95"]),
        )
    };
    let mut dominated = 0;
    for row in rows {
        for trace in 0..2 {
            let own = at(row, trace);
            let is_bound = |row: &Value| {
                let name = row["controller"].as_str().unwrap();
                name == "oracle" || name.starts_with("causal")
            };
            let others = rows.iter().filter(|other| !is_bound(other));
            let mut better = others.map(|other| at(other, trace));
            let is = better.any(|other| other.0 > 1.01 * own.0 && other.1 < 0.99 * own.1);
            let said = !row["on_traces"][trace]["dominated_by"].is_null();
            assert_eq!(said, is, "{row}");
            dominated += usize::from(is);
        }
    }
    assert!(dominated > 0, "{json}");
    let of = |name: &str| at(rows.iter().find(|r| r["controller"] == name).unwrap(), 1);
    let (bold, shy) = (of("causal:margin=1"), of("causal:margin=0"));
    assert!(bold.0 > shy.0 && bold.1 > shy.1, "{bold:?} {shy:?}");
    // 40 ms of 6 Mbit/s are 20 packets: five use a quarter at most, and none of them waits.
    let idle = rows
        .iter()
        .find(|row| row["controller"] == "window:packets=5")
        .unwrap();
    let (throughput, delay) = at(idle, 0);
    assert!(throughput < 1.6 && delay < 5.0, "{idle}");
}

#[test]
fn tables_name_the_base_and_where_a_line_reaches_the_throughput() {
    let dir = traces();
    let cc = ["--cc", "rbbr:alpha=0.5/0.9", "--at", "0.5,1"];
    let text = String::from_utf8(frontier(dir.path(), &cc)).unwrap();
    for part in [
        "RTT 40 ms, buffer 1200kB, 2 traces, against bbr",
        "rbbr:alpha=0.5 ",
        "rbbr:alpha=0.9 ",
        "rbbr:alpha=0.5/0.9",
        "at 0.5",
        "dominated",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let markdown = frontier(dir.path(), &["--cc", "cubic", "--markdown"]);
    let markdown = String::from_utf8(markdown).unwrap();
    assert!(markdown.starts_with("### RTT 40 ms"), "{markdown}");
    assert!(markdown.contains("| cubic "), "{markdown}");
}

#[test]
fn figures_show_all_traces_together_and_each() {
    let dir = traces();
    let figures = tempfile::tempdir().unwrap();
    let folder = figures.path().display().to_string();
    let args = [
        "--cc",
        "window:packets=4/20",
        "--buffer",
        "2bdp",
        "--figures",
        &folder,
    ];
    frontier(dir.path(), &args);
    for name in [
        "frontier-40ms-2bdp",
        "frontier-40ms-2bdp-a.steady",
        "frontier-40ms-2bdp-b.bursty",
    ] {
        for ending in ["svg", "png"] {
            let path = figures.path().join(format!("{name}.{ending}"));
            assert!(path.exists(), "{}", path.display());
        }
    }
    let svg = fs::read_to_string(figures.path().join("frontier-40ms-2bdp-b.bursty.svg")).unwrap();
    assert!(
        svg.contains("b.bursty") && svg.contains("bbr (base)"),
        "{svg}"
    );
}

#[test]
fn what_cannot_be_swept_is_refused_with_the_flag_and_the_remedy() {
    let dir = traces();
    let folder = dir.path().to_str().unwrap();
    let refused = |args: &[&str], parts: &[&str]| {
        let mut all = vec!["frontier"];
        all.extend(args);
        let assert = lowtide(&all).assert().code(2);
        let stderr = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        for part in parts {
            assert!(stderr.contains(part), "{args:?}: no {part:?} in {stderr:?}");
        }
        assert!(!stderr.contains("panicked"), "{stderr}");
    };
    refused(&[], &["--traces", "--trace"]);
    let with = |flag: &str, value: &str, parts: &[&str]| {
        refused(&["--traces", folder, flag, value], parts);
    };
    with("--cc", "rbbr:alpha=0.5/x", &["--cc", "'x'"]);
    with("--cc", "rbrr:alpha=0.5", &["--cc", "did you mean 'rbbr'"]);
    with("--base", "bbr,cubic", &["--base"]);
    with("--rtt", "20ms,40", &["--rtt", "unit"]);
    with("--buffer", "inf,2", &["--buffer"]);
    with("--at", "0.97,-1", &["--at", "0.97"]);
    with("--at", "NaN", &["--at"]);
    with("--seeds", "0", &["--seeds"]);
    with("--trace", "a", &["--traces", "--trace"]);
    refused(&["--traces", "absent"], &["absent"]);
}

#[test]
fn a_few_controllers_have_an_overview_with_large_names() {
    let dir = traces();
    let figures = tempfile::tempdir().unwrap();
    let folder = figures.path().display().to_string();
    frontier(dir.path(), &["--cc", "copa,ebb", "--figures", &folder]);
    // Without --buffer these slow links have that of a base station.
    let svg = figures.path().join("overview-40ms-1200kB.svg");
    let svg = fs::read_to_string(svg).unwrap();
    for name in ["bbr", "copa", "ebb"] {
        assert_eq!(svg.matches(&format!("\n{name}\n")).count(), 1, "{name}");
    }
    let sizes = svg.split("font-size=\"").skip(1);
    let sizes = sizes.filter_map(|text| text.split('"').next()?.parse::<f64>().ok());
    let least = sizes.fold(f64::MAX, f64::min);
    assert!((16.0..100.0).contains(&least), "{least}");
}
