use std::path::Path;

use super::papers::PAPERS;
use super::*;
use crate::claim::Holds;
use crate::contender::Contenders;
use crate::experiment::{Options, run};
use crate::scenario_file::Position;

const SMALL: &str = r#"
name = "small"
[link]
rate = "10mbit"
buffer = "4bdp"
[path]
rtt = "20ms"
[run]
duration = "4s"
seeds = 2
[[flows]]
[sweep]
"flows.controller" = ["window:packets=16", "window:packets=40"]
[[printed]]
metric = "throughput, Mbit/s"
value = "throughput_mbps"
columns = ["window:packets=16", "window:packets=40"]
claim = "abs(ours - paper) <= 0.05 * paper"
[printed.values]
10mbit = [9.6, 20.0]
[[claims]]
claim = "the larger window waits longer"
setting = "both"
metric = "RTT ratio"
value = "rtt_ms.mean('window:packets=40') / rtt_ms.mean('window:packets=16')"
holds = "rtt_ms.mean('window:packets=40') > 1.5 * rtt_ms.mean('window:packets=16')"
"#;

fn experiment(text: &str) -> Experiment {
    let file = ScenarioFile::parse(Path::new("small.toml"), text.to_string()).unwrap();
    let results = run(
        &file.cells(&Contenders::default()).unwrap(),
        Options::default(),
        &|| (),
    )
    .unwrap();
    Experiment {
        file,
        results,
        on_traces: Vec::new(),
    }
}

#[test]
fn rows_say_what_was_printed_what_was_measured_and_whether_the_claim_holds() {
    let text = SMALL.replace(
        "[sweep]\n",
        "[[cases]]\nname = \"10mbit\"\nset = { \"link.rate\" = \"10mbit\" }\n[sweep]\n",
    );
    let rows = rows(&experiment(&text)).unwrap();
    let outcome: Vec<(&str, Holds)> = rows.iter().map(|r| (r.setting.as_str(), r.holds)).collect();
    // 16 packets of 1500 B in 21.2 ms are 9.06 Mbit/s … of a link that carries 10.
    let expected = [
        ("10mbit, window:packets=16", rows[0].holds),
        ("10mbit, window:packets=40", Holds::No),
        ("both", Holds::Yes),
    ];
    assert_eq!(outcome, expected);
    assert_eq!(rows[0].paper, Some(9.6));
    let ours = rows[2].ours.unwrap();
    // 40 packets take 48 ms to drain, 16 at least the path's 20 ms and their own transmission.
    assert!((1.5..=2.4).contains(&ours), "{ours}");
    assert!(rows[2].ci95.is_some());
}

#[test]
fn claims_about_what_is_not_there_are_errors_at_their_place() {
    let refused = |from: &str, to: &str, key: &str, part: &str| {
        let error = rows(&experiment(&SMALL.replace(from, to))).unwrap_err();
        let at_a_line = matches!(error.position, Position::At(_, line, _) if line > 1);
        assert!(error.key.starts_with(key) && at_a_line, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    let values = "10mbit = [9.6, 20.0]";
    refused(values, "10mbit = [9.6]", "printed.0.values", "1 values");
    let elsewhere = "20mbit = [9.6, 20.0]";
    refused(values, elsewhere, "printed.0.value", "no cell");
    let plain = SMALL.split("[[printed]]").next().unwrap();
    let claims = SMALL.split("[[claims]]").nth(1).unwrap();
    let text = format!("{plain}[[claims]]{claims}").replace("rtt_ms.mean", "rtt.mean");
    let error = rows(&experiment(&text)).unwrap_err();
    assert!(error.to_string().contains("called 'rtt.mean'"), "{error}");
}

#[test]
fn every_paper_file_is_read_and_has_cells_and_claims() {
    let files = built_in().unwrap();
    for file in &files {
        let cells = file.cells(&Contenders::default()).unwrap();
        check(file, &cells).unwrap_or_else(|e| panic!("{e}"));
        let content = &file.content;
        let paper = content.paper.as_ref().map(|paper| &paper.reference);
        assert!(paper.is_some_and(|reference| !reference.is_empty()));
        let has_claims = !content.claims.is_empty() || !content.printed.is_empty();
        assert!(!cells.is_empty() && has_claims, "{}", file.name());
    }
    assert_eq!(select("rbbr", files.clone()).len(), 8);
    assert_eq!(select("ebcc-bw", files.clone()).len(), 1);
    assert!(select("none", files).is_empty());
}

/// When a printed value of this kind is met; what the page says at its beginning. `stand_in`: a
/// model is in the place of the paper's link.
fn tolerance(metric: &str, stand_in: bool) -> &'static str {
    let is = |kinds: &[&str]| kinds.iter().any(|kind| metric.starts_with(kind));
    match () {
        () if is(&["equilibrium"]) || metric.ends_with("(one digit)") => {
            "paper / 2 <= ours <= 2 * paper"
        }
        () if is(&["lost", "retransmitted"]) => "abs(ours - paper) <= paper / 3",
        () if is(&["Jain's index"]) => "abs(ours - paper) <= 0.02",
        () if is(&["throughput", "goodput", "sent"]) && stand_in => {
            "0.9 * paper <= ours <= 1.1 * paper"
        }
        () if is(&["throughput", "goodput", "sent"]) => "0.95 * paper <= ours <= 1.05 * paper",
        () if is(&["mean RTT"]) && stand_in => "paper / 1.5 <= ours <= 1.5 * paper",
        () if is(&["mean RTT"]) => "paper / 1.25 <= ours <= 1.25 * paper",
        () => panic!("no tolerance for '{metric}'"),
    }
}

#[test]
fn a_figure_has_the_same_tolerance_wherever_it_is_held_against_the_paper() {
    for (file, (_, text)) in built_in().unwrap().iter().zip(PAPERS) {
        let content = &file.content;
        let stand_in = text.contains("\nmodel = ");
        let printed = content.printed.iter().map(|p| (&p.metric, &p.claim));
        let compared = content.claims.iter().filter(|c| c.holds.contains("paper"));
        for (metric, expression) in printed.chain(compared.map(|c| (&c.metric, &c.holds))) {
            let (name, expected) = (file.name(), tolerance(metric, stand_in));
            assert_eq!(expression, expected, "{name}: {metric}");
        }
    }
}

/// Numbers of a text, as they are written.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit() && c != '.')
        .map(|number| number.trim_matches('.'))
        .filter(|number| !number.is_empty())
}

/// Settings and printed values may stand in a text; what was measured would be wrong after the next
/// run, and the table beside it has it.
#[test]
fn texts_have_no_figures_but_those_of_their_file() {
    for (file, (_, text)) in built_in().unwrap().iter().zip(PAPERS) {
        let name = file.name();
        let content = &file.content;
        let notes = content.claims.iter().map(|c| c.note.as_str());
        let notes = notes.chain(content.printed.iter().map(|p| p.note.as_str()));
        let finding = content.paper.as_ref().map(|p| p.finding.as_str());
        let texts: Vec<&str> = notes.chain(finding).filter(|t| !t.is_empty()).collect();
        let rest = texts.iter().fold((*text).to_string(), |rest, text| {
            rest.replace(text.trim(), "")
        });
        let known: Vec<&str> = numbers(&rest).collect();
        for text in texts {
            for number in numbers(text) {
                assert!(known.contains(&number), "{name}: {number} in: {text}");
            }
        }
    }
}
