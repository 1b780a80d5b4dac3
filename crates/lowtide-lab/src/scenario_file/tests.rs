use std::path::Path;

use lowtide_cc::registry::{self, Entry};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::queue::QueueLimit;

use super::*;
use crate::contender::Contenders;

fn parse(text: &str) -> Result<ScenarioFile, FileError> {
    ScenarioFile::parse(Path::new("folder/test.toml"), text.to_string())
}

fn cells(text: &str) -> Vec<Cell> {
    parse(text).unwrap().cells(&Contenders::default()).unwrap()
}

/// Expects an error of each row, `TOML => LINE KEY: PART OF WHAT IS SAID`. The TOML stands behind
/// `before`, and ` / ` between its lines.
fn refused(before: &str, rows: &str) {
    for row in rows.lines().filter(|row| !row.trim().is_empty()) {
        let (text, expected) = row.split_once(" => ").unwrap();
        let text = format!("{before}{}\n", text.trim().replace(" / ", "\n"));
        let cells = parse(&text).and_then(|file| file.cells(&Contenders::default()));
        let error = cells.map(drop).unwrap_err();
        let Position::At(file, line, _) = &error.position else {
            panic!("{row}: {error}");
        };
        let (place, part) = expected.split_once(':').unwrap();
        assert_eq!(file, Path::new("folder/test.toml"), "{row}: {error}");
        assert_eq!(place, format!("{line} {}", error.key), "{row}: {error}");
        assert!(error.problem.contains(part.trim()), "{row}: {error}");
    }
}

const TWO_GROUPS: &str = r#"
[link]
rate = "20mbit"
buffer = "1bdp"
[path]
rtt = "20ms"
[run]
duration = "10s"
seeds = 3
[[flows]]
controller = "bbr"
count = 2
every = "3s"
[[flows]]
controller = "cubic"
parameters = { hystart = true }
start = "5s"
transport = "tcp"
source = "1MB"
"#;

#[test]
fn flows_of_different_kinds_share_a_link() {
    let cells = cells(TWO_GROUPS);
    assert_eq!(cells.len(), 1);
    let setting = &cells[0].setting;
    assert_eq!(setting.controllers(), ["bbr", "cubic:hystart=true"]);
    assert_eq!(setting.group_of_flows(), [0, 0, 1]);
    assert_eq!(setting.seeds.iter().collect::<Vec<_>>(), [1, 2, 3]);
    let config = setting.config(2).unwrap();
    let starts: Vec<Time> = config.flows.iter().map(|f| f.start).collect();
    let at = |s| Time::ZERO + Duration::from_secs(s);
    assert_eq!(starts, [at(0), at(3), at(5)]);
    assert_eq!(config.forward.link.mean_rate(), Rate::from_mbps(20));
    assert_eq!(config.duration, Duration::from_secs(10));
}

#[test]
fn every_case_meets_every_value_of_the_sweep() {
    let text = format!(
        "{TWO_GROUPS}
[[cases]]
name = \"slow\"
set = {{ \"link.rate\" = \"5mbit\" }}
[[cases]]
name = \"fast\"
set = {{ \"link.rate\" = \"50mbit\" }}
[sweep]
\"path.rtt\" = [\"10ms\", \"80ms\"]
\"flows.controller\" = [\"bbr\", \"newreno\", \"vegas\"]
\"flows.1.count\" = [1]
"
    );
    // The parameters of the second group fit only cubic.
    let text = text.replace("parameters = { hystart = true }\n", "");
    let cells = cells(&text);
    let names: Vec<String> = cells.iter().map(Cell::name).collect();
    assert_eq!(names.len(), 12);
    assert_eq!(names[0], "slow, 10ms, bbr, 1");
    assert_eq!(names[1], "slow, 10ms, newreno, 1");
    assert_eq!(names[11], "fast, 80ms, vegas, 1");
    let last = &cells[11];
    assert_eq!(last.setting.controllers(), ["vegas", "vegas"]);
    assert_eq!(last.setting.base_rtt(), Duration::from_millis(80));
    assert!(last.has("80ms") && last.has("rtt=80ms") && last.has("fast") && !last.has("slow"));
    let mut keys: Vec<_> = cells.iter().map(|c| c.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 12, "different cells have different keys");
    // The number of seeds is no part of the key, so that more can be added.
    let more = self::cells(&text.replace("seeds = 3", "seeds = 30"));
    assert_eq!(more[0].key, cells[0].key);
}

#[test]
fn errors_name_file_line_and_key() {
    let rows = r#"
        [link] / rat = "5mbit"  => 2 link.rat: did you mean `rate`?
        [lnk] / rate = "5mbit"  => 1 lnk: did you mean `link`?
        [link] / rate = 5       => 2 link.rate: has no unit
        [link] / rate = "fast"  => 2 link.rate: is no rate
        [link] / rate =         => 2 :
        [[flows]]               => 1 link: exactly one of
        [link] / rate = "5mbit" / model = "4g" / [[flows]] => 1 link: exactly one of
        [link] / rate = "5mbit" => 1 flows: nobody to send
        "#;
    refused("", rows);
    let flows = "[link]\nrate = \"5mbit\"\n[[flows]]\ncontroller = \"bbr\"\n[[flows]]\n";
    let rows = r#"
        controler = "x"                             => 6 flows.1.controler: controller
        controller = "brb"                          => 6 flows.1.controller: did you mean
        [sweep] / "path.rtt" = ["5ms", "soon"]      => 7 sweep.path.rtt.1: is no time
        [sweep] / "path.rt" = ["5ms"]               => 7 sweep.path.rt.0: unknown field
        [sweep] / "flows.7.count" = [1]             => 7 sweep.flows.7.count.0: there is no 'flows.7'
        [sweep] / "flows.controller" = ["bbr", "bbr:x=1"] => 7 sweep.flows.controller.1: no parameter
        [[cases]] / name = "a" / set = { "link.trace" = "none" } => 8 cases.0.set.link.trace: exactly one of
        "#;
    refused(flows, rows);
}

#[test]
fn what_cannot_be_run_or_shown_is_refused_before_anything_is_run() {
    let link = "link = { rate = \"5mbit\" }\n";
    let rows = r#"
        flows = [{ ack_every = 0 }] => 2 flows.0.ack_every: between 1 and 1000
        flows = [{ start = "20s", every = "5s", count = 3 }] => 2 flows.0.every: at 30 s, when the run of 30 s is over (see run.duration)
        flows = [{}] / metrics = ["jain", "speed"] => 3 metrics.1: nothing is called 'speed'; known are throughput_mbps,
        flows = [{}] / metrics = ["flows.1.jain"] => 3 metrics.0: 'flows.1.jain'
        "#;
    refused(link, rows);
    let shown = "flows = [{}]\nmetrics = [\"flows.0.share\", \"equilibrium_s\"]";
    assert_eq!(cells(&format!("{link}{shown}")).len(), 1);
}

#[cfg(feature = "quic")]
#[test]
fn the_quic_host_takes_no_tcp_and_no_small_packets() {
    let quic = "link = { rate = \"5mbit\" }\nrun = { host = \"quic\" }\n";
    let rows = r#"
        flows = [{}, { transport = "tcp" }]    => 3 flows.1.transport: has no TCP (see run.host)
        flows = [{}] / path = { packet_size = "600B" } => 4 path.packet_size: 1228 B to 65535 B
        flows = [{}, { controller = "oracle" }] => 3 flows.1.controller: oracle, which is no controller
        "#;
    refused(quic, rows);
}

#[test]
fn files_may_name_controllers_that_a_program_brings_along() {
    let text = "link = { rate = \"5mbit\" }\nflows = [{ controller = \"mine\" }]";
    let file = parse(text).unwrap();
    assert!(file.cells(&Contenders::default()).is_err());
    static MINE: Entry = Entry {
        name: "mine",
        summary: "BBR by another name",
        source: "this test",
        parameters: &[],
        make: |_, config| registry::build("bbr", config).unwrap(),
        receiver: None,
    };
    let own = Contenders::default().with(&MINE).unwrap();
    assert!(own.clone().with(&MINE).is_err());
    let cells = file.cells(&own).unwrap();
    assert_eq!(cells[0].setting.controllers(), ["mine"]);
}

#[test]
fn the_schema_is_made_from_the_types() {
    let schema = ScenarioFile::schema();
    for key in "link path run flows cases sweep paper claims".split(' ') {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
}

const D10: &str = r#"
[link]
rate = "10mbit"
buffer = "3bdp"
[path]
rtt = "40ms"
packet_size = "1200B"
[run]
duration = "8s"
[[flows]]
controller = "bbr3"
"#;

#[test]
fn what_a_phase_sets_off_happens_when_it_is_entered_and_nothing_differs_before() {
    let text = format!(
        "{D10}
[trigger]
phase = \"ProbeBW_UP\"
visit = 2
schedule = \"0s:4mbit\"
source = \"1s:off\""
    );
    let (head, wrong) = text.split_at(text.find("source =").unwrap());
    let wrong = wrong.replace("\"1s:off", "\"0s:off,0s:bulk");
    refused(head, &format!("{wrong} => 17 trigger.source: rising"));
    let (head, wrong) = text.split_at(text.find("phase =").unwrap());
    let wrong = wrong.replace("ProbeBW_UP", "ProbeBW_OP");
    let wrong = wrong.replace("\"1s:off", "\"0s:bulk,1s:off");
    let wrong = wrong.replace('\n', " / ");
    refused(
        head,
        &format!("{wrong} => 14 trigger.phase: there is no phase 'ProbeBW_OP'"),
    );
    let rows = "[measures] / up = { phase = { value = \"1\", after = \"ProbeBW_OP\" } } \
        => 13 measures.up.phase.after: known are";
    refused(D10, rows);
    let text = text.replace("\"1s:off", "\"0s:bulk,1s:off");
    let cells = cells(&text);
    let setting = &cells[0].setting;
    let (config, moment) = crate::run::config(setting, 1).unwrap();
    let trigger = setting.trigger.as_ref().unwrap();
    let (_, probe) = crate::run::simulate(setting, config.clone(), trigger.probe()).unwrap();
    let at = trigger.moment(&probe).unwrap();
    assert_eq!(moment, Some(at));
    assert!(at > Time::ZERO + Duration::from_secs(2), "{at}");
    let second = Duration::from_secs(1);
    let offered = |from: Time| config.forward.link.volume_between(from, from + second);
    let mbit = |n: u64| Rate::from_mbps(n).volume_in(second);
    assert_eq!((offered(at - second), offered(at)), (mbit(10), mbit(4)));
    let bytes = QueueLimit::Bytes(Bytes::new(150_000));
    assert_eq!(config.forward.buffer, bytes, "of the link as it was");

    let config = |text: &str| crate::run::config(&self::cells(text)[0].setting, 1);
    let never = text.replace("visit = 2", "visit = 2000");
    let reason = config(&never).unwrap_err();
    let part = "did not enter ProbeBW_UP 2000 times";
    assert!(reason.contains(part), "{reason}");
    let by = never.replace("[trigger]", "[trigger]\nby = \"5s\"");
    let (config, _) = config(&by).unwrap();
    let at = Time::ZERO + second * 5;
    assert_eq!(config.forward.link.volume_between(at, at + second), mbit(4));
}

#[test]
fn scripts_of_a_path_are_checked() {
    let with = |lines: &str| D10.replace("rtt = \"40ms\"", &format!("rtt = \"40ms\"\n{lines}"));
    let forward = "scripted_loss = '2s:600ms:1/20'\nheld_back = '6s:3p:25ms'";
    let back = "ack_scripted_loss = '2s:1s:1/1'\nheld_back = '2s:1s:1/20:25ms'";
    for (lines, expected) in [(forward, [(1, 1), (0, 0)]), (back, [(0, 1), (1, 0)])] {
        let config = cells(&with(lines))[0].setting.config(1).unwrap();
        let scripts = [&config.forward.script, &config.reverse.script];
        let found = scripts.map(|script| (script.losses.len(), script.held_back.len()));
        assert_eq!(found, expected, "{lines}");
    }
    let (head, rest) = D10.split_once("packet_size").unwrap();
    let rest = format!("packet_size{}", rest.trim_end()).replace('\n', " / ");
    for row in [
        "scripted_loss = '2s:1s:3/2' => 7 path.scripted_loss: LOST/OF",
        "held_back = '2s:x:1ms' => 7 path.held_back: DELAY",
        "rtt_drift = '100ms:1ms' => 7 path.rtt_drift: leaves nothing",
        "rtt_drift = '1us:1ns' => 7 path.rtt_drift: 8000000 steps",
        "ack_aggregation_from = '1s' => 7 path.ack_aggregation_from: goes with",
    ] {
        refused(head, &row.replacen(" =>", &format!(" / {rest} =>"), 1));
    }
}

#[test]
fn receivers_lie_to_senders_and_flows_start_at_random() {
    let goodput = |lines: &str, seed: u64| {
        let first = format!("[[flows]]\ncontroller = \"cubic\"\n{lines}\n[[flows]]");
        let text = D10.replace("bbr3", "cubic").replace("[[flows]]", &first);
        let setting = &cells(&text)[0].setting;
        let run = crate::run::run(setting, seed, crate::run::Keep::Metrics);
        run.unwrap().measured.get("flows.0.goodput_mbps").unwrap()
    };
    let honest = goodput("", 1);
    let lying = goodput("lie = \"losses\"\naccess = { sender_rate = \"20mbit\" }", 1);
    assert!(lying > 1.2 * honest, "{honest} and {lying} Mbit/s");
    let random = "count = 20\nevery = \"100ms\"\npoisson = true\nsource = \"10kB\"";
    assert_eq!(goodput(random, 1), goodput(random, 1));
    assert_ne!(goodput(random, 1), goodput(random, 2));
}
