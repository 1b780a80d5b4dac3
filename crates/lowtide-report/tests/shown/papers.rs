//! A small part of the papers' experiments with few seeds: claims that hold must go on holding.
//! `lowtide reproduce all` runs all of it.

use std::path::Path;

use lowtide_lab::claim::Holds;
use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{Options, run};
use lowtide_lab::reproduce::{Experiment, Row, built_in, cells_over_time, rows, select};
use lowtide_lab::scenario_file::{OverTime, ScenarioFile};
use lowtide_report::reproduce::figures;

fn reproduce(name: &str) -> (Experiment, Vec<Row>) {
    let mut files = select(name, built_in().unwrap());
    assert_eq!(files.len(), 1, "{name}");
    let mut file = files.remove(0);
    file.set_seeds(2);
    let cells = file.cells(&Contenders::default()).unwrap();
    let options = Options {
        over_time: &cells_over_time(&file, &cells).unwrap(),
        ..Options::default()
    };
    let results = run(&cells, options, &|| ()).unwrap();
    assert!(results.iter().all(|r| r.failed.is_empty()), "{name}");
    let experiment = Experiment {
        file,
        results,
        on_traces: Vec::new(),
    };
    let rows = rows(&experiment).unwrap();
    (experiment, rows)
}

fn row<'a>(rows: &'a [Row], claim: &str) -> &'a Row {
    rows.iter()
        .find(|r| r.claim.starts_with(claim))
        .unwrap_or_else(|| panic!("no claim begins with {claim}"))
}

#[test]
fn a_variable_link_costs_bbr_delay_because_it_overestimates() {
    let (experiment, rows) = reproduce("rbbr-fig3");
    for row in &rows {
        assert_eq!(row.holds, Holds::Yes, "{row:?}");
    }
    let ratio = row(&rows, "the RTT on the variable link").ours.unwrap();
    assert!((1.5..2.2).contains(&ratio), "{ratio}");
    let drawn = figures(&experiment).unwrap();
    let names: Vec<&str> = drawn.iter().map(|d| d.file.as_str()).collect();
    assert_eq!(names, ["rbbr-fig3a", "rbbr-fig3b"]);
    for figure in &drawn {
        // Title, both runs, and lines of more than a hundred points each.
        assert!(figure.svg.contains(&figure.title[..12]), "{}", figure.file);
        assert!(figure.svg.contains("variable") && figure.svg.contains("constant"));
        let longest = figure.svg.lines().map(str::len).max().unwrap();
        assert!(longest > 1_000, "{} is empty", figure.file);
    }
    assert!(drawn[1].svg.contains("least RTT, 30 ms"));
}

#[test]
fn every_figure_over_time_finds_its_cells() {
    for file in built_in().unwrap() {
        let cells = file.cells(&Contenders::default()).unwrap();
        let places = cells_over_time(&file, &cells).unwrap();
        let lines = |f: &OverTime| f.lines.len().max(1);
        let wanted: usize = file.content.over_time.iter().map(lines).sum();
        assert_eq!(places.len(), wanted, "{}", file.name());
    }
    let text = r#"
link = { rate = "1mbit" }
flows = [{ controller = "bbr" }]
[[over_time]]
file = "a"
title = "a"
quantity = "rtt"
lines = ["nobody"]
"#;
    let file = ScenarioFile::parse(Path::new("a.toml"), text.to_string()).unwrap();
    let error = cells_over_time(&file, &file.cells(&Contenders::default()).unwrap()).unwrap_err();
    let shown = error.to_string();
    let place = "a.toml:8:10: over_time.0.lines.0";
    assert!(shown.starts_with(place), "{shown}");
}

#[test]
fn the_kalman_filter_does_not_depend_on_alpha_and_an_average_does() {
    let (experiment, rows) = reproduce("rbbr-fig11");
    for claim in [
        "the Kalman filter's throughput",
        "towards the unfiltered result",
        "at low alpha EWMA",
        "the unfiltered estimate has less",
    ] {
        let row = row(&rows, claim);
        assert_eq!(row.holds, Holds::Yes, "{row:?}");
    }
    let drawn = &figures(&experiment).unwrap()[0].svg;
    let is_drawn = drawn.starts_with("<svg") && drawn.contains("kalman");
    assert!(is_drawn, "{drawn:.200}");
}

#[test]
fn retransmissions_depend_on_how_losses_are_found() {
    let (_, rows) = reproduce("xiong-retx");
    assert_eq!(row(&rows, "RTT-gain resends far less").holds, Holds::Yes);
    let with_sack = row(&rows, "BBR resends massively").ours.unwrap();
    assert!((1.0..4.0).contains(&with_sack), "{with_sack}");
    let without = row(&rows, "without selective acknowledgments").ours;
    let without = without.unwrap();
    assert!((8.0..20.0).contains(&without), "{without}");
    assert_eq!(row(&rows, "most of that is needless").holds, Holds::Yes);
}
