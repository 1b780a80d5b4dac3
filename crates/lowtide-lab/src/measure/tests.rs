use std::path::Path;

use crate::contender::Contenders;
use crate::experiment::{self, CellResult, Options};
use crate::scenario_file::ScenarioFile;

fn results(text: &str) -> Result<Vec<CellResult>, String> {
    let file = ScenarioFile::parse(Path::new("test.toml"), text.to_string());
    let file = file.map_err(|e| e.to_string())?;
    let cells = file.cells(&Contenders::default());
    let cells = cells.map_err(|e| e.to_string())?;
    experiment::run(&cells, Options::default(), &|| {}).map_err(|e| e.to_string())
}

fn value(results: &[CellResult], name: &str) -> Option<f64> {
    results[0].value(name).map(|(mean, _)| mean)
}

#[test]
fn a_link_that_stops_for_a_second_is_seen_in_every_kind() {
    // 8 Mbit/s are 1 MB/s: the source of 4 Mbit/s has half of the link; from 2 s to 3 s it has nothing.
    let text = r#"
        [link]
        schedule = "0s:8mbit,2s:0mbit,3s:8mbit"
        buffer = "inf"
        [path]
        rtt = "20ms"
        [run]
        duration = "6s"
        [[flows]]
        controller = "window:packets=1000"
        source = "4mbit"
        [measures]
        before = { span = { metric = "flows.0.goodput_mbps", from = "1s", to = "2s" } }
        outage = { span = { metric = "throughput_mbps", from = "2100ms", to = "2900ms" } }
        half = { reached = { share = 0.49, window = "500ms", from = "1s" } }
        all = { reached = { share = 0.95, window = "200ms", from = "2s" } }
        quiet = { reached = { share = 0.52, below = true, window = "500ms", hold = "1s", from = "3s" } }
        never = { reached = { share = 1.5 } }
        least = { least = { window = "500ms", from = "500ms", to = "2s" } }
        sent = { worst = { metric = "sent_mbps", window = "500ms", consecutive = 2, from = "1s" } }
        lost = { worst = { metric = "loss_share", window = "1s" } }
    "#;
    let found = results(text).unwrap();
    let value = |name: &str| value(&found, name).unwrap();
    assert!((value("before") - 4.0).abs() < 0.1, "{}", value("before"));
    assert!(value("outage") < 0.01, "{}", value("outage"));
    // The first window that ends after 1 s begins there.
    assert!((value("half") - 0.5).abs() < 0.11, "{}", value("half"));
    // What the source wrote in the outage goes out at the link's rate from 3 s on; the window counts what
    // the link offers in it, which is nothing before.
    let all = value("all");
    assert!((1.01..1.1).contains(&all), "{all}");
    // The backlog of half a megabyte goes at half a megabyte a second: until 4 s.
    let quiet = value("quiet");
    assert!((1.4..1.6).contains(&quiet), "{quiet}");
    assert!((value("least") - 0.5).abs() < 0.03, "{}", value("least"));
    assert!((value("sent") - 4.0).abs() < 0.1, "{}", value("sent"));
    assert_eq!(value("lost"), 0.0);
    assert_eq!(super::tests::value(&found, "never"), None);
}

#[test]
fn transfers_take_their_time() {
    // 125 kB of 1 MB/s after a round trip or two, and one that cannot be done.
    let text = r#"
        [link]
        rate = "8mbit"
        [path]
        rtt = "20ms"
        [run]
        duration = "5s"
        [[flows]]
        controller = "window:packets=100"
        source = "125kB"
        [[flows]]
        controller = "window:packets=100"
        source = "100MB"
        start = "2s"
        [measures]
        short = { completion = { group = 0, quantile = 1.0 } }
        long = { completion = { group = 1 } }
    "#;
    let found = results(text).unwrap();
    let short = value(&found, "short").unwrap();
    // 125 ms on the link, the round trip, and the last acknowledgment's delay of up to 25 ms.
    assert!((0.14..0.19).contains(&short), "{short}");
    assert_eq!(value(&found, "long"), Some(3.0));
}

#[test]
fn what_cannot_be_measured_is_named_with_its_line() {
    let with = |measure: &str| {
        let text = format!(
            "[link]\nrate = '8mbit'\n[run]\nduration = '5s'\n[[flows]]\n[measures]\n{measure}\n"
        );
        results(&text).map(|_| ()).unwrap_err()
    };
    for (measure, problem) in [
        (
            "x = { span = { metric = 'nonsense' } }",
            "nothing is called 'nonsense'",
        ),
        (
            "x = { span = { metric = 'jain', from = '7s' } }",
            "begins when the run is over",
        ),
        (
            "x = { least = { group = 3, window = '1s' } }",
            "there are 1 groups",
        ),
        ("x = { most = {} }", "unknown variant `most`"),
        (
            "jain = { span = { metric = 'jain' } }",
            "there is a metric of this name",
        ),
        (
            "'X y' = { span = { metric = 'jain' } }",
            "a name has letters",
        ),
    ] {
        let error = with(measure);
        assert!(error.contains(problem), "{measure}: {error}");
        assert!(error.contains("test.toml:7"), "{measure}: {error}");
    }
}
