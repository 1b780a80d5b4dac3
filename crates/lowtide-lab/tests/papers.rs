//! A small part of the papers' experiments with few seeds: claims that hold must go on holding.
//! `lowtide reproduce all` runs all of it.

use lowtide_lab::claim::Holds;
use lowtide_lab::experiment::{Options, run};
use lowtide_lab::reproduce::{Experiment, Row, built_in, rows, select, svg};

fn reproduce(name: &str) -> (Experiment, Vec<Row>) {
    let mut files = select(name, built_in().unwrap());
    assert_eq!(files.len(), 1, "{name}");
    let mut file = files.remove(0);
    file.set_seeds(2);
    let results = run(&file.cells().unwrap(), Options::default(), &|| ()).unwrap();
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
    let (_, rows) = reproduce("rbbr-fig3");
    for row in &rows {
        assert_eq!(row.holds, Holds::Yes, "{row:?}");
    }
    let ratio = row(&rows, "the RTT on the variable link").ours.unwrap();
    assert!((3.0..4.5).contains(&ratio), "{ratio}");
}

#[test]
fn the_kalman_filter_does_not_depend_on_alpha_and_an_average_does() {
    let (experiment, rows) = reproduce("rbbr-fig11");
    for claim in [
        "the Kalman filter's throughput",
        "EWMA's falls",
        "at low alpha EWMA",
        "the unfiltered estimate has less",
    ] {
        assert_eq!(
            row(&rows, claim).holds,
            Holds::Yes,
            "{:?}",
            row(&rows, claim)
        );
    }
    let figure = &experiment.file.content.figures[0];
    let drawn = svg(figure, &experiment.results).unwrap();
    assert!(
        drawn.starts_with("<svg") && drawn.contains("kalman"),
        "{drawn:.200}"
    );
}

#[test]
fn retransmissions_depend_on_how_losses_are_found() {
    let (_, rows) = reproduce("xiong-retx");
    assert_eq!(row(&rows, "RTT-gain resends far less").holds, Holds::Yes);
    let with_sack = row(&rows, "BBR resends massively").ours.unwrap();
    assert!((3.0..6.5).contains(&with_sack), "{with_sack}");
    let without = row(&rows, "without selective acknowledgments")
        .ours
        .unwrap();
    assert!((20.0..35.0).contains(&without), "{without}");
    assert_eq!(row(&rows, "most of that is needless").holds, Holds::Yes);
}
