//! Links that move, are limited both ways and are shared with traffic that does not answer, as a user
//! meets them.

use serde_json::Value;

use crate::program::{Folder, number};
use crate::{root, value};

fn json(folder: &Folder, line: &str) -> Value {
    folder.ok(line).json()
}

/// 20 ms, from 5 to 10 s 40 ms, and so on.
const RISES: &str = "time_ms,delay_ms\n0,20\n5000,40\n10000,20\n15000,20\n";

#[test]
fn a_moving_base_delay_is_in_the_rtt_and_not_in_the_queueing_delay() {
    let folder = Folder::with("rises.csv", RISES);
    let common = "compare --cc bbr --rate 20mbit --rtt 40ms --duration 15s --json";
    let steady = json(&folder, common);
    let moving = json(&folder, &format!("{common} --delay-trace rises.csv"));
    let of = |compared: &Value, metric: &str| value(compared, "oracle", metric);
    // The limit queues nothing: what moves is its RTT alone.
    let higher = of(&moving, "rtt_ms.p95") - of(&steady, "rtt_ms.p95");
    assert!((19.0..21.0).contains(&higher), "{higher}");
    for metric in ["queue_delay_ms.p99", "self_inflicted_ms.p95"] {
        let (moving, steady) = (of(&moving, metric), of(&steady, metric));
        assert!(moving - steady < 0.1, "{metric}: {moving} {steady}");
    }
    // The same in a scenario file.
    let scenario = "link = { rate = \"20mbit\" }\nrun = { duration = \"15s\" }\n\
                    path = { rtt = \"40ms\", delay_trace = \"rises.csv\" }\n\
                    flows = [{ controller = \"bbr\" }]\n";
    folder.write("s.toml", scenario);
    let run = json(&folder, "run s.toml --json");
    let by_file = number(&run["results"][0], "rtt_ms.p95");
    assert_eq!(by_file, value(&moving, "bbr", "rtt_ms.p95"));
}

#[test]
fn packets_keep_their_order_over_a_shorter_delay_unless_asked() {
    let folder = Folder::with("falls.csv", "time_ms,delay_ms\n0,60\n1000,10\n2000,60\n");
    let common = "compare --cc bbr --rate 20mbit --duration 9s --json --delay-trace falls.csv";
    let resent = |more: &str| {
        let compared = json(&folder, &format!("{common} {more}"));
        value(&compared, "bbr", "retransmitted_share")
    };
    let (kept, free) = (resent(" --buffer inf"), resent("--buffer inf --reorder"));
    assert!(kept == 0.0 && free > 0.0, "{kept} {free}");
}

#[test]
fn a_delay_file_that_is_none_is_refused_with_place_and_remedy() {
    let folder = Folder::with("d.csv", "time_ms,delay_ms\n0,20\n5,x\n");
    let scenario = "link = { rate = \"5mbit\" }\nflows = [{}]\n[path]\ndelay_trace = \"d.csv\"\n";
    folder.write("s.toml", scenario);
    folder.write("r.csv", "time_ms,rate_mbps\n0,20\n");
    let rows = "
        compare --rate 20mbit --delay-trace d.csv => --delay-trace: d.csv: line 3: 'x' is no delay_ms from 0 to 100000
        run s.toml                                => s.toml:4:1: path.delay_trace | line 3
        link --rate 20mbit --delay-trace r.csv    => names no unit: write one of delay_s | is a link's trace
        ";
    folder.refuses("", rows);
}

#[test]
fn the_handover_experiment_runs() {
    let file = root().join("experiments/handover.toml");
    let run = format!(
        "run --json --vary flows.controller=ebb '{}'",
        file.display()
    );
    let run = json(&Folder::new(), &run);
    assert_eq!(run["results"].as_array().unwrap().len(), 3);
}

#[test]
fn an_upload_shares_both_ways_with_a_download_and_is_measured_apart() {
    let folder = Folder::new();
    let common = "compare --cc bbr --rate 20mbit --reverse-rate 4mbit --duration 20s --json";
    let alone = json(&folder, common);
    let with = |upload: &str| {
        let command = format!("{common} --reverse-buffer 100p --reverse-cc {upload}");
        json(&folder, &command)
    };
    let of = |compared: &Value, metric: &str| value(compared, "bbr", metric);
    // 100 packets take 300 ms on the way back, where acknowledgments wait behind them.
    let (mild, full) = (with("ebb"), with("cubic:hystart=false"));
    let rtts = [&alone, &mild, &full].map(|run| of(run, "rtt_ms.p50"));
    assert!(
        rtts[0] < rtts[1] && rtts[1] < rtts[2] && rtts[2] > 200.0,
        "{rtts:?}"
    );
    // The upload's own throughput is not the download's.
    assert!(of(&full, "throughput_mbps") <= 20.0);
    let upload = value(&full, "bbr", "flows.1.throughput_mbps");
    assert!((3.0..4.0).contains(&upload), "{upload}");
    // The limit makes room for the upload's acknowledgments.
    let waits = value(&full, "oracle", "queue_delay_ms.p95");
    assert!(waits < 20.0, "{waits}");
}

#[test]
fn a_scenario_file_and_flags_mean_the_same_upload() {
    let scenario = "link = { rate = \"20mbit\" }\nreverse = { rate = \"4mbit\" }\n\
                    run = { duration = \"5s\" }\n[[flows]]\ncontroller = \"bbr\"\n\
                    [[flows]]\ncontroller = \"cubic\"\ndirection = \"reverse\"\n";
    let folder = Folder::with("s.toml", scenario);
    let run = json(&folder, "run s.toml --json");
    let command = "compare --cc bbr --rate 20mbit --reverse-rate 4mbit --reverse-cc cubic --duration 5s --json";
    let compared = json(&folder, command);
    for metric in ["throughput_mbps", "rtt_ms.p95"] {
        let by_file = number(&run["results"][0], metric);
        assert_eq!(by_file, value(&compared, "bbr", metric), "{metric}");
    }
    let lonely = scenario.replace("reverse = { rate = \"4mbit\" }\n", "");
    folder.write("s.toml", lonely);
    let rows = "
        run s.toml => s.toml: | flows.1.direction | no limit on the way back | (see reverse)
        compare --rate 5mbit --reverse-rate 1mbit --reverse-cc nobody => --reverse-cc: there is no controller 'nobody'
        ";
    folder.refuses("", rows);
}

#[test]
fn cross_traffic_takes_its_part_of_the_link_and_the_same_seed_brings_the_same() {
    let arrivals: String = (0..5_000).map(|n| format!("{},1500\n", n * 2)).collect();
    let folder = Folder::with("others.csv", &format!("time_ms,bytes\n{arrivals}"));
    let common = "compare --cc cubic:hystart=false --rate 20mbit --duration 10s --json --no-timing";
    let rate = |cross: &str| {
        let compared = json(&folder, &format!("{common} {cross}"));
        value(&compared, "cubic:hystart=false", "throughput_mbps")
    };
    let alone = rate("");
    // 1500 bytes each 2 ms are 6 Mbit/s, half of the time at 12 Mbit/s as well.
    for cross in ["cbr:6mbit", "onoff:12mbit:1s:1s", "file:others.csv"] {
        let left = rate(&format!("--cross {cross}"));
        assert!(
            (12.0..14.2).contains(&left) && alone > 19.0,
            "{cross}: {left} {alone}"
        );
    }
    let both = rate("--cross cbr:6mbit --cross file:others.csv");
    assert!((6.0..8.2).contains(&both), "{both}");
    let web = |seed: u64| json(&folder, &format!("{common} --cross web:30% --seed {seed}"));
    let (first, again, other) = (web(1), web(1), web(2));
    assert!(first == again && first != other);
    let left = value(&first, "cubic:hystart=false", "throughput_mbps");
    assert!((8.0..18.0).contains(&left), "{left}");
}

#[test]
fn cross_traffic_that_is_none_is_refused_with_place_and_remedy() {
    let folder = Folder::with("others.csv", "time_ms,bytes\n5,1500\n4,1500\n");
    let rows = "
        compare --rate 5mbit --cross cbr             => --cross: | 'cbr' is no cross traffic; write cbr:5mbit
        compare --rate 5mbit --cross onoff:1mbit:0s:1s => --cross: '0s' is too small for a time; write cbr:5mbit
        compare --rate 5mbit --cross file:others.csv => --cross: others.csv: line 3: time '4' is earlier than
        compare --rate 9gbit --cross web:90%         => --cross: | short flows; a run has at most 10000 flows | lower load
        link --rate 5mbit --cross web:5% -- true     => --cross: web traffic has hosts of its own
        compare --rate 5mbit --reverse-cross cbr:1mbit => --reverse-trace or --reverse-rate | needs exactly one of
        ";
    folder.refuses("", rows);
}

#[test]
fn what_others_recorded_becomes_a_link_or_its_delay() {
    let folder = Folder::with("delay_1.txt", "20\n20\n60\n20\n");
    let pairs: String = (0..10)
        .map(|n| format!("{n}\t{}\n", 4 + n % 2 * 4))
        .collect();
    folder.write("pairs.txt", pairs);
    let convert = "trace convert delay_1.txt --from leoreplayer-delay --to csv -o d.csv";
    assert_eq!(folder.ok(convert).out, "");
    let converted = folder.read("d.csv");
    assert_eq!(converted, "time_ms,delay_ms\n0,20\n10,20\n20,60\n30,20\n");
    let convert = "trace convert pairs.txt --from pairs --to csv --interval 1s -o link.csv";
    folder.ok(convert);
    let compare = "compare --trace link.csv --delay-trace d.csv --cc bbr --json";
    let used = value(&json(&folder, compare), "oracle", "throughput_mbps");
    assert!((5.9..6.1).contains(&used), "{used}");
    let rows = "
        pairs.txt --from iperf3 --to csv          => pairs.txt: line 1: | is no JSON
        delay_1.txt --from leoreplayer-delay --to mahimahi => delays are no opportunities: write --to csv
        pairs.txt --from pairs --to csv --uplink  => --uplink goes with --from gnettrack only
        ";
    folder.refuses("trace convert", rows);
}
