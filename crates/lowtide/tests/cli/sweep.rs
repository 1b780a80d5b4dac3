//! Sweeps of many processes: shards, kills, and stores that are merged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use lowtide_lab::key::Key;
use tempfile::{TempDir, tempdir};

/// 60 runs that take at least a second on one core.
const GRID: &str = r#"
name = "a grid"
link = { rate = "20mbit" }
run = { duration = "40s", seeds = 10 }
flows = [{ controller = "bbr" }]
[sweep]
"flows.controller" = ["bbr", "cubic", "newreno"]
"link.buffer" = ["1bdp", "2bdp"]
"#;

fn grid() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), GRID).unwrap();
    folder
}

fn lowtide(folder: &Path, args: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("lowtide"));
    command.args(args.split(' ')).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs to the end with this exit code; what it said on standard error.
fn said(folder: &Path, args: &str, code: i32) -> String {
    let output = lowtide(folder, args).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).to_string()
}

/// All files below a folder, their names from there, and what they hold.
fn bytes(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = PathBuf::from(path.file_name().unwrap());
        match path.is_dir() {
            true => found.extend(bytes(&path).into_iter().map(|(n, b)| (name.join(n), b))),
            false => found.push((name, fs::read(path).unwrap())),
        }
    }
    found.sort();
    found
}

/// Waits until there are so many results, and kills: as the kernel does where memory runs out.
fn kill_at(folder: &Path, lines: usize, mut sweeps: Vec<Child>) {
    let kept = || match fs::read_dir(folder) {
        Ok(files) => files
            .flatten()
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .map(|text| text.lines().count())
            .sum(),
        Err(_) => 0,
    };
    while kept() < lines {
        sleep(Duration::from_millis(5));
    }
    for sweep in &mut sweeps {
        sweep.kill().unwrap();
        sweep.wait().unwrap();
    }
    assert!(kept() < 55, "the grid is too small to be killed");
}

#[test]
fn shards_that_were_killed_go_on_and_leave_the_store_of_an_undisturbed_sweep() {
    let dir = grid();
    let folder = dir.path();
    let whole = lowtide(folder, "sweep s.toml --csv --output whole").output();
    let table = whole.unwrap().stdout;
    said(folder, "merge whole --output one", 0);
    let one = bytes(&folder.join("one"));
    assert_eq!(one[0].0.to_str(), Some("scenario=a%20grid/part-0.parquet"));

    let shard = |k: u32| {
        let args = format!("sweep s.toml --jobs 1 --shard {k}/3 --output out");
        lowtide(folder, &args)
    };
    let sweeps = (1..=3).map(|k| shard(k).spawn().unwrap()).collect();
    kill_at(&folder.join("out"), 6, sweeps);
    for k in 1..=3 {
        let output = shard(k).output().unwrap();
        let said = stderr(&output);
        assert!(
            output.status.success() && output.stdout.is_empty(),
            "{said}"
        );
        assert!(
            said.contains(&format!("6 cells, shard {k}/3, 20 runs; ")),
            "{said}"
        );
    }
    // A shard that is made twice costs nothing.
    assert!(said(folder, "sweep s.toml --shard 2/3 --output out", 0).contains("\n0 runs in"));
    said(folder, "sweep s.toml --shard 2/3 --output twice", 0);
    let told = said(folder, "merge out twice --output two", 0);
    assert!(
        told.contains("merged 60 results of 1 scenario from"),
        "{told}"
    );
    assert!(
        told.contains("20 results were there more than once"),
        "{told}"
    );
    assert_eq!(bytes(&folder.join("two")), one);

    // What is merged is not made again, and what is missing is added.
    let again = lowtide(folder, "sweep s.toml --csv --output two")
        .output()
        .unwrap();
    assert!(stderr(&again).contains("60 runs; 60 of them are in two"));
    assert_eq!(again.stdout, table);
    said(folder, "merge twice --output part", 0);
    let told = said(folder, "sweep s.toml --no-timing --output part", 0);
    assert!(told.contains("60 runs; 20 of them are in part"), "{told}");
    said(folder, "merge part --output part", 0);
    assert_eq!(bytes(&folder.join("part/scenario=a%20grid"))[0].1, one[0].1);
}

#[test]
fn what_cannot_be_merged_or_dealt_is_told() {
    let dir = grid();
    let folder = dir.path();
    fs::write(folder.join("s.toml"), GRID.replace("40s", "1s")).unwrap();
    for (args, part) in [
        ("sweep s.toml --shard 0/3", "K from 1 to N"),
        ("sweep s.toml --shard 4/3", "as in 3/64"),
        ("sweep s.toml --shard 1/3 --csv", "cannot be used with"),
        ("merge nothing --output out", "nothing: "),
        ("merge . --output out", ".: no results are in it"),
        ("merge s.toml --output out", "s.toml: "),
    ] {
        let told = said(folder, args, 2);
        assert!(told.contains(part), "{args}: no {part:?} in {told}");
    }
    assert!(!folder.join("out").exists());

    // Two machines that do not agree.
    said(folder, "sweep s.toml --shard 1/30 --output a", 0);
    said(folder, "sweep s.toml --shard 1/30 --output b", 0);
    let file = |store: &str| bytes(&folder.join(store)).remove(0);
    let (name, text) = file("b");
    let text = String::from_utf8(text).unwrap();
    let wrong = text.replacen("\"utilisation\":0", "\"utilisation\":1", 1);
    assert_ne!(wrong, text);
    // Without its checksum a line is not believed; with the right one it is a result.
    fs::write(folder.join("b").join(&name), &wrong).unwrap();
    let told = said(folder, "merge a b --output out", 0);
    assert!(told.contains("not believed: 1"), "{told}");
    fs::write(folder.join("b").join(&name), checked(&wrong)).unwrap();
    let told = said(folder, "merge a b --output other", 1);
    let (a, b) = (file("a").0, name);
    for part in [
        format!("a/{}:", a.display()),
        format!("b/{}:", b.display()),
        "utilisation is 0".to_string(),
    ] {
        assert!(told.contains(&part), "no {part:?} in {told}");
    }
    assert!(!folder.join("other").exists());
    // A merged file that is broken is named, and nothing is lost of the others.
    fs::write(folder.join("out/scenario=a%20grid/part-1.parquet"), "PAR1").unwrap();
    let told = said(folder, "merge a --output out", 1);
    assert!(
        told.contains("part-1.parquet: no file of results"),
        "{told}"
    );
}

#[test]
fn the_scripts_for_batch_systems_make_their_shard() {
    let dir = grid();
    let folder = dir.path();
    fs::write(folder.join("grid.toml"), GRID.replace("40s", "1s")).unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster");
    let examples = examples.canonicalize().unwrap();
    let job = fs::read_to_string(examples.join("kubernetes-job.yaml")).unwrap();
    let job = job
        .lines()
        .find_map(|line| line.trim().strip_prefix("- exec "));
    let slurm = format!("bash {}/sweep.sbatch grid.toml results", examples.display());
    let program = assert_cmd::cargo::cargo_bin("lowtide");
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    for (script, index, shard) in [
        (
            slurm.as_str(),
            ("SLURM_ARRAY_TASK_ID", "64"),
            "shard 64/64, 0 runs",
        ),
        (
            job.unwrap(),
            ("JOB_COMPLETION_INDEX", "0"),
            "shard 1/64, 1 runs",
        ),
    ] {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", script]).current_dir(folder);
        let output = shell
            .env("PATH", &path)
            .env(index.0, index.1)
            .output()
            .unwrap();
        let told = stderr(&output);
        assert!(output.status.success(), "{script}: {told}");
        assert!(told.contains(shard), "{script}: no {shard:?} in {told}");
    }
    assert_eq!(bytes(&folder.join("results")).len(), 1);
}

/// The lines with checksums that are theirs: the 128-bit FNV-1a hash of length and text.
fn checked(lines: &str) -> String {
    let line = |line: &str| {
        let (body, _) = line.split_once(",\"check\":").unwrap();
        let check = Key::of(&[format!("{body}}}").as_bytes()]);
        format!("{body},\"check\":\"{check}\"}}\n")
    };
    lines.lines().map(line).collect()
}
