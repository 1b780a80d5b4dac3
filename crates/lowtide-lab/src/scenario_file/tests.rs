use std::path::Path;

use lowtide_cc::units::{Duration, Rate, Time};

use super::*;

fn parse(text: &str) -> Result<ScenarioFile, FileError> {
    ScenarioFile::parse(Path::new("folder/test.toml"), text.to_string())
}

fn refused(text: &str, line: usize, key: &str, part: &str) {
    let error = parse(text).and_then(|f| f.cells().map(drop)).unwrap_err();
    assert_eq!((error.line, error.key.as_str()), (line, key), "{error}");
    assert!(error.problem.contains(part), "{error}");
    assert!(
        error.to_string().starts_with("folder/test.toml:"),
        "{error}"
    );
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
pacing = false
source = "1MB"
"#;

#[test]
fn flows_of_different_kinds_share_a_link() {
    let cells = parse(TWO_GROUPS).unwrap().cells().unwrap();
    assert_eq!(cells.len(), 1);
    let prepared = &cells[0].prepared;
    assert_eq!(prepared.controllers, ["bbr", "cubic:hystart=true"]);
    assert_eq!(prepared.groups(), [0, 0, 1]);
    assert_eq!(prepared.seeds().collect::<Vec<_>>(), [1, 2, 3]);
    let config = prepared.config(2).unwrap();
    let starts: Vec<Time> = config.flows.iter().map(|f| f.start).collect();
    let at = |s| Time::ZERO + Duration::from_secs(s);
    assert_eq!(starts, [at(0), at(3), at(5)]);
    let pacing: Vec<bool> = config.flows.iter().map(|f| f.pacing).collect();
    assert_eq!(pacing, [true, true, false]);
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
    let cells = parse(&text).unwrap().cells().unwrap();
    let names: Vec<String> = cells.iter().map(Cell::name).collect();
    assert_eq!(names.len(), 12);
    assert_eq!(names[0], "slow, 10ms, bbr, 1");
    assert_eq!(names[1], "slow, 10ms, newreno, 1");
    assert_eq!(names[11], "fast, 80ms, vegas, 1");
    let last = &cells[11];
    assert_eq!(last.prepared.controllers, ["vegas", "vegas"]);
    assert_eq!(last.prepared.scenario.rtt, Duration::from_millis(80));
    assert!(last.has("80ms") && last.has("rtt=80ms") && last.has("fast") && !last.has("slow"));
    let mut keys: Vec<_> = cells.iter().map(|c| c.key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 12, "different cells have different keys");
    // The number of seeds is no part of the key, so that more can be added.
    let more = parse(&text.replace("seeds = 3", "seeds = 30")).unwrap();
    assert_eq!(more.cells().unwrap()[0].key, cells[0].key);
}

#[test]
fn errors_name_file_line_and_key() {
    refused(
        "[link]\nrat = \"5mbit\"\n",
        2,
        "link.rat",
        "did you mean `rate`?",
    );
    refused(
        "[lnk]\nrate = \"5mbit\"\n",
        1,
        "lnk",
        "did you mean `link`?",
    );
    refused("[link]\nrate = 5\n", 2, "link.rate", "has no unit");
    refused("[link]\nrate = \"fast\"\n", 2, "link.rate", "is no rate");
    refused("[link]\nrate = \n", 2, "", "");
    let flows = "[[flows]]\ncontroller = \"bbr\"\n[[flows]]\n";
    let link = "[link]\nrate = \"5mbit\"\n";
    refused(
        &format!("{link}{flows}controler = \"x\""),
        6,
        "flows.1.controler",
        "controller",
    );
    refused(
        &format!("{link}{flows}controller = \"brb\""),
        6,
        "flows.1.controller",
        "did you mean",
    );
    refused(flows, 1, "link", "exactly one of");
    refused(
        &format!("{link}model = \"4g\"\n{flows}"),
        1,
        "link",
        "exactly one of",
    );
    refused(link, 1, "flows", "nobody to send");
    refused(
        &format!("{link}{flows}[sweep]\n\"path.rtt\" = [\"5ms\", \"soon\"]\n"),
        7,
        "sweep.path.rtt.1",
        "is no time",
    );
    refused(
        &format!("{link}{flows}[sweep]\n\"path.rt\" = [\"5ms\"]\n"),
        7,
        "sweep.path.rt.0",
        "unknown field",
    );
    refused(
        &format!("{link}{flows}[sweep]\n\"flows.7.count\" = [1]\n"),
        7,
        "sweep.flows.7.count.0",
        "there is no 'flows.7'",
    );
    refused(
        &format!("{link}{flows}[sweep]\n\"flows.controller\" = [\"bbr\", \"bbr:x=1\"]\n"),
        7,
        "sweep.flows.controller.1",
        "no parameter",
    );
    refused(
        &format!("{link}{flows}[[cases]]\nname = \"a\"\nset = {{ \"link.trace\" = \"none\" }}\n"),
        8,
        "cases.0.set.link.trace",
        "exactly one of",
    );
}

#[test]
fn the_schema_is_made_from_the_types() {
    let schema = ScenarioFile::schema();
    for key in [
        "link", "path", "run", "flows", "cases", "sweep", "paper", "claims",
    ] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
    assert_eq!(schema["additionalProperties"], false);
}
