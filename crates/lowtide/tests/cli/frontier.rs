//! `lowtide frontier` as a user meets it.

use serde_json::{Value, json};

use crate::program::{Folder, has, number};

const FRONTIER: &str = "frontier --traces traces --duration 4s --no-timing";

/// A folder of two traces: 6 Mbit/s steady, and 12 Mbit/s that pauses for 50 of 100 ms.
fn traces() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("traces")).unwrap();
    let write = |name: &str, times: Vec<u32>| {
        let lines: String = times.iter().map(|ms| format!("{ms}\n")).collect();
        folder.write(&format!("traces/{name}"), lines);
    };
    write("a.steady", (1..=1000).map(|n| 2 * n).collect());
    let bursts = (1..=2000).filter(|ms| ms % 100 < 50 || *ms == 2000);
    write("b.bursty", bursts.collect());
    folder.write("traces/README.md", "about them");
    folder
}

fn frontier(folder: &Folder, more: &str) -> String {
    folder.ok(&format!("{FRONTIER} {more}")).out
}

#[test]
fn json_has_each_controller_on_each_path_and_does_not_depend_on_threads() {
    let folder = traces();
    let args = "--cc bbr,window:packets=4/20/100,oracle --seeds 2 --json \
                --rtt 20ms,40ms --buffer inf,2bdp --jobs";
    let one = frontier(&folder, &format!("{args} 1"));
    let two = frontier(&folder, &format!("{args} 2"));
    assert!(one == two, "threads change nothing");
    let json: Value = serde_json::from_str(&one).unwrap();
    let head = (&json["schema"], &json["command"], &json["base"]);
    assert_eq!(head, (&1.into(), &"frontier".into(), &"bbr".into()));
    assert_eq!(json["traces"], json!(["a.steady", "b.bursty"]));
    assert!(json["wall_s"].is_null());
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * 5, "places and controllers");
    for row in rows {
        for key in [
            "throughput_ratio_min",
            "queue_p95_ratio",
            "queue_p95_ratio_max",
        ] {
            number(row, key);
        }
        number(row, "ci95.throughput_ratio");
        let each = row["on_traces"].as_array().unwrap();
        let product: f64 = each.iter().map(|t| number(t, "throughput_ratio")).product();
        let mean = number(row, "throughput_ratio");
        assert!((mean - product.sqrt()).abs() < 1e-9, "{row}");
        for trace in each {
            number(trace, "throughput_mbps");
            number(trace, "queue_delay_ms.p95");
        }
        let dominated = each.iter().filter(|t| !t["dominated_by"].is_null());
        let names: Value = dominated.map(|t| t["trace"].clone()).collect();
        assert_eq!(row["dominated_on"], names);
        if row["controller"] == "bbr" {
            let ratios = (&row["throughput_ratio"], &row["queue_p95_ratio"]);
            assert_eq!(ratios, (&1.0.into(), &1.0.into()));
        }
    }
    let places = rows.iter().step_by(5);
    let places: Vec<_> = places.map(|r| json!([r["rtt_ms"], r["buffer"]])).collect();
    let asked = json!([[20.0, "inf"], [20.0, "2bdp"], [40.0, "inf"], [40.0, "2bdp"]]);
    assert_eq!(Value::from(places), asked);
    let curve = &json["curves"][1];
    assert_eq!(curve["controller"], "window:packets=4/20/100");
    let points = ["4", "20", "100"].map(|packets| format!("window:packets={packets}"));
    assert_eq!(curve["points"], json!(points));
    assert_eq!(curve["at"][1]["throughput_ratio"], 0.97);
}

#[test]
fn who_is_worse_in_both_is_dominated_but_not_by_a_bound() {
    let folder = traces();
    let cc = "oracle,causal:margin=0/1,newreno,bbr,cubic,vegas,window:packets=5/20/60";
    let output = frontier(&folder, &format!("--cc {cc} --loss 1% --json"));
    let json: Value = serde_json::from_str(&output).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let at = |row: &Value, trace: usize| {
        let on = &row["on_traces"][trace];
        (
            number(on, "throughput_mbps"),
            number(on, "queue_delay_ms.p95"),
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
    let row = |name: &str| rows.iter().find(|row| row["controller"] == name).unwrap();
    let of = |name: &str| at(row(name), 1);
    let (bold, shy) = (of("causal:margin=1"), of("causal:margin=0"));
    assert!(bold.0 > shy.0 && bold.1 > shy.1, "{bold:?} {shy:?}");
    // 40 ms of 6 Mbit/s are 20 packets: five use a quarter at most, and none of them waits.
    let idle = row("window:packets=5");
    let (throughput, delay) = at(idle, 0);
    assert!(throughput < 1.6 && delay < 5.0, "{idle}");
}

#[test]
fn tables_name_the_base_and_where_a_line_reaches_the_throughput() {
    let folder = traces();
    let parts = [
        "RTT 40 ms, buffer 1200kB, 2 traces, against bbr",
        "rbbr:alpha=0.5 ",
        "rbbr:alpha=0.9 ",
        "rbbr:alpha=0.5/0.9",
        "at 0.5",
        "dominated",
    ];
    let table = frontier(&folder, "--cc rbbr:alpha=0.5/0.9 --at 0.5,1");
    has(&table, &parts);
    let markdown = frontier(&folder, "--cc cubic --markdown");
    assert!(markdown.starts_with("### RTT 40 ms"), "{markdown}");
    has(&markdown, &["| cubic "]);
}

#[test]
fn figures_show_all_traces_together_and_each() {
    let folder = traces();
    frontier(
        &folder,
        "--cc window:packets=4/20 --buffer 2bdp --figures out",
    );
    for trace in ["", "-a.steady", "-b.bursty"] {
        for ending in ["svg", "png"] {
            let path = folder.at(&format!("out/frontier-40ms-2bdp{trace}.{ending}"));
            assert!(path.exists(), "{}", path.display());
        }
    }
    let svg = folder.read("out/frontier-40ms-2bdp-b.bursty.svg");
    has(&svg, &["b.bursty", "bbr (base)"]);
}

#[test]
fn what_cannot_be_swept_is_refused_with_the_flag_and_the_remedy() {
    let folder = traces();
    let rows = "
        --cc rbbr:alpha=0.5/x => --cc | 'x'
        --cc rbrr:alpha=0.5   => --cc | did you mean 'rbbr'
        --base bbr,cubic      => --base
        --rtt 20ms,40         => --rtt | unit
        --buffer inf,2        => --buffer
        --at 0.97,-1          => --at | 0.97
        --at NaN              => --at
        --seeds 0             => --seeds
        --trace a             => --traces | --trace
        ";
    folder.refuses("frontier --traces traces", rows);
    folder.refuses(
        "frontier",
        "=> --traces | --trace\n--traces absent => absent",
    );
}

#[test]
fn a_few_controllers_have_an_overview_with_large_names() {
    let folder = traces();
    frontier(&folder, "--cc copa,ebb --figures out");
    // Without --buffer these slow links have that of a base station.
    let svg = folder.read("out/overview-40ms-1200kB.svg");
    for name in ["bbr", "copa", "ebb"] {
        assert_eq!(svg.matches(&format!("\n{name}\n")).count(), 1, "{name}");
    }
    let sizes = svg.split("font-size=\"").skip(1);
    let sizes = sizes.filter_map(|text| text.split('"').next()?.parse::<f64>().ok());
    let least = sizes.fold(f64::MAX, f64::min);
    assert!((16.0..100.0).contains(&least), "{least}");
}
