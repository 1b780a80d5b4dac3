//! The scripts of `action.yml`, run as GitHub runs them, with the program that is built here.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::root;

const CASE: &str = r#"
about = "A link."
case = { id = "A", title = "Uses the link", source = "us" }
link = { rate = "5mbit" }
run = { duration = "2s" }
flows = [{ controller = "candidate" }]
limits = [{ metric = "utilisation", value = "utilisation", at_least = 0.1, reason = "so" }]
"#;

/// The script of the step with this id: the lines below its `run: |`, as far as they are indented.
fn script(id: &str) -> String {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let (_, step) = text.split_once(&format!("- id: {id}\n")).unwrap();
    let (_, script) = step.split_once("      run: |\n").unwrap();
    let lines = script
        .lines()
        .map_while(|line| line.strip_prefix("        "));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

/// Runs a step's script in a folder, with these inputs.
fn step(id: &str, folder: &Path, inputs: &[(&str, &str)]) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", &script(id)]).current_dir(folder);
    for name in ["BINARY", "COMMAND", "BASELINE", "ARGUMENTS"] {
        command.env(name, "");
    }
    command.env("LOWTIDE_SOURCE", root());
    command.env("RUNNER_TEMP", folder);
    command.env("GITHUB_OUTPUT", folder.join("output"));
    command.env("GITHUB_STEP_SUMMARY", folder.join("summary.md"));
    command.envs(inputs.iter().copied());
    command.output().unwrap()
}

#[test]
fn the_actions_script_writes_a_summary_without_dead_links_and_what_is_uploaded() {
    let folder = tempfile::tempdir().unwrap();
    // Names with blanks and what a shell would run.
    let suite = folder.path().join("my $(touch ran) suite");
    fs::create_dir(&suite).unwrap();
    fs::write(suite.join("a.toml"), CASE).unwrap();
    let binary = env!("CARGO_BIN_EXE_lowtide");
    let inputs = [
        ("SUITE", suite.to_str().unwrap()),
        ("CC", "ebb,cubic"),
        ("BINARY", binary),
        ("ARGUMENTS", "--seeds 2 --jobs 1"),
    ];
    let done = step("score", folder.path(), &inputs);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    let out = folder.path().join("lowtide-score");
    let told = fs::read_to_string(folder.path().join("output")).unwrap();
    assert_eq!(told, format!("folder={}\n", out.display()));
    for name in ["score.json", "score.xml", "score.md", "report/index.html"] {
        assert!(out.join(name).is_file(), "{name}: {said}");
    }
    assert!(!folder.path().join("ran").exists());
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.contains("| A Uses the link | ✓ | ✓ |"), "{summary}");
    assert!(!summary.contains(".md)"), "{summary}");

    // What fails is the job's exit code, after all has been written; a baseline is one more flag.
    fs::write(suite.join("a.toml"), CASE.replace("at_least", "at_most")).unwrap();
    let baseline = out.join("score.json");
    let before = folder.path().join("before.json");
    fs::copy(baseline, &before).unwrap();
    let inputs = [inputs.as_slice(), &[("BASELINE", before.to_str().unwrap())]].concat();
    let done = step("score", folder.path(), &inputs);
    assert_eq!(done.status.code(), Some(1));
    let summary = fs::read_to_string(folder.path().join("summary.md")).unwrap();
    assert!(summary.contains("| A Uses the link | ✗ | ✗ |"), "{summary}");
}

#[test]
fn the_actions_cache_is_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    let key = |source: &Path| {
        let told = folder.path().join("output");
        let _ = fs::remove_file(&told);
        let source = [("LOWTIDE_SOURCE", source.to_str().unwrap())];
        let done = step("source", folder.path(), &source);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        fs::read_to_string(told).unwrap()
    };
    let source = folder.path().join("source");
    fs::create_dir_all(source.join("crates/a b")).unwrap();
    for file in ["Cargo.toml", "Cargo.lock", "crates/a b/lib.rs"] {
        fs::write(source.join(file), "1").unwrap();
    }
    let first = key(&source);
    assert_eq!(first.trim_end().len(), "key=".len() + 64, "{first}");
    assert_eq!(key(&source), first);
    fs::write(source.join("crates/a b/lib.rs"), "2").unwrap();
    assert_ne!(key(&source), first);
}
