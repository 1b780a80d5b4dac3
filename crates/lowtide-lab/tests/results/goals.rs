//! The goals of `experiments/ebb`: whether each can be worked out. `lowtide reproduce --experiments` does.

use std::fs;
use std::path::{Path, PathBuf};

use lowtide_lab::contender::Contenders;
use lowtide_lab::experiment::CellResult;
use lowtide_lab::reproduce::{Experiment, rows};
use lowtide_lab::scenario_file::ScenarioFile;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/ebb");
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn every_goal_names_cells_and_values_that_there_are() {
    let contenders = Contenders::default();
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    fs::write(&trace, "1\n2\n").unwrap();
    let traces = [("a".to_string(), trace.clone()), ("b".to_string(), trace)];
    let not_run = |file: &ScenarioFile| -> Vec<CellResult> {
        let cells = file.cells(&contenders).unwrap().into_iter();
        cells.map(CellResult::new).collect()
    };
    let mut goals = 0;
    for path in files() {
        let file = ScenarioFile::load(&path).unwrap_or_else(|e| panic!("{e}"));
        let claims = &file.content.claims;
        let recorded = claims.iter().filter(|claim| claim.on_traces).count();
        assert_eq!(recorded > 0, !file.content.traces.is_empty(), "{path:?}");
        let expected = claims.len() + recorded;
        let experiment = Experiment {
            results: not_run(&file),
            on_traces: if recorded > 0 {
                not_run(&file.on_traces(&traces))
            } else {
                Vec::new()
            },
            file,
        };
        let rows = rows(&experiment).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(rows.len(), expected, "{path:?}");
        goals += rows.len();
    }
    assert!(goals > 0);
}
