//! Cells of a scenario file that fail.

use std::path::Path;

use lowtide_cc::units::Bytes;
use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::{Options, run};
use lowtide_lab::key::Key;
use lowtide_lab::scenario_file::{Cell, ScenarioFile};
use lowtide_lab::store::Store;

const FILE: &str = r#"
link = { rate = "5mbit" }
run = { duration = "1s", seeds = 2 }
flows = [{ controller = "bbr" }]
[sweep]
"link.buffer" = ["1bdp", "2bdp", "4bdp"]
"#;

#[test]
fn a_cell_that_fails_is_reported_and_not_kept_and_the_others_go_on() {
    let file = ScenarioFile::parse(Path::new("a.toml"), FILE.to_string()).unwrap();
    let sound = file.cells(&Contenders::default()).unwrap();
    let mut cells = sound.clone();
    // A packet without bytes cannot be sent.
    cells[1].setting.packet_size = Bytes::ZERO;
    let folder = tempfile::tempdir().unwrap();
    let kept = |cells: &[Cell]| {
        let store = Store::open(folder.path(), Key::of(&[b"test"]), cells).unwrap();
        let options = Options {
            store: Some(&store),
            ..Options::default()
        };
        run(cells, options, &|| ()).unwrap()
    };
    let results = kept(&cells);
    let counts: Vec<(usize, usize)> = results
        .iter()
        .map(|r| (r.runs.len(), r.failed.len()))
        .collect();
    assert_eq!(counts, [(2, 0), (0, 2), (2, 0)]);
    let failed = &results[1].failed[0];
    assert_eq!((failed.name.as_str(), failed.seed), ("2bdp", 1));
    assert!(!failed.reason.is_empty());
    // Mended, it is run; what was there is not run again.
    let again = kept(&sound);
    assert!(again.iter().all(|r| r.runs.len() == 2));
    let run_now = |n: usize| again[n].runs.iter().all(|r| r.details.is_some());
    assert_eq!([run_now(0), run_now(1), run_now(2)], [false, true, false]);
}
