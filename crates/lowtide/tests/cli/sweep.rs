//! Sweeps of many processes: shards, kills, and stores that are merged.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Begun, Folder, has};
#[cfg(unix)]
use crate::root;

/// 60 runs that take at least a second on one core.
pub(crate) const GRID: &str = r#"
name = "a grid"
link = { rate = "20mbit" }
run = { duration = "40s", seeds = 10 }
flows = [{ controller = "bbr" }]
[sweep]
"flows.controller" = ["bbr", "cubic", "newreno"]
"link.buffer" = ["1bdp", "2bdp"]
"#;

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
fn kill_at(folder: &Path, lines: usize, mut sweeps: Vec<Begun>) {
    let kept = || match fs::read_dir(folder) {
        Ok(files) => files
            .flatten()
            .filter_map(|file| fs::read_to_string(file.path()).ok())
            .map(|text| text.lines().count())
            .sum(),
        Err(_) => 0,
    };
    sweeps[0].until(|| kept() >= lines);
    drop(sweeps);
    assert!(kept() < 55, "the grid is too small to be killed");
}

#[test]
fn shards_that_were_killed_go_on_and_leave_the_store_of_an_undisturbed_sweep() {
    let folder = Folder::with("s.toml", GRID);
    let table = folder.ok("sweep s.toml --csv --output whole").out;
    folder.ok("merge whole --output one");
    let one = bytes(&folder.at("one"));
    assert_eq!(one[0].0.to_str(), Some("scenario=a%20grid/part-0.parquet"));

    let shard = |k| format!("sweep s.toml --jobs 1 --shard {k}/3 --output out");
    let begun = (1..=3).map(|k| folder.begin(&shard(k)));
    kill_at(&folder.at("out"), 6, begun.collect());
    for k in 1..=3 {
        let ran = folder.ok(&shard(k));
        assert_eq!(ran.out, "");
        has(&ran.err, &[&format!("6 cells, shard {k}/3, 20 runs; ")]);
    }
    // A shard that is made twice costs nothing.
    let told = |line: &str, parts: &[&str]| has(&folder.ok(line).err, parts);
    told("sweep s.toml --shard 2/3 --output out", &["\n0 runs in"]);
    folder.ok("sweep s.toml --shard 2/3 --output twice");
    let parts = [
        "merged 60 results of 1 scenario from",
        "20 results were there more than once",
    ];
    told("merge out twice --output two", &parts);
    assert_eq!(bytes(&folder.at("two")), one);

    // What is merged is not made again, and what is missing is added.
    let again = folder.ok("sweep s.toml --csv --output two");
    has(&again.err, &["60 runs; 60 of them are in two"]);
    assert_eq!(again.out, table);
    folder.ok("merge twice --output part");
    let parts = ["60 runs; 20 of them are in part"];
    told("sweep s.toml --no-timing --output part", &parts);
    folder.ok("merge part --output part");
    assert_eq!(bytes(&folder.at("part/scenario=a%20grid"))[0].1, one[0].1);
}

#[test]
fn what_cannot_be_merged_or_dealt_is_told() {
    let folder = Folder::with("s.toml", &GRID.replace("40s", "1s"));
    let rows = "
        sweep s.toml --shard 0/3       => K from 1 to N
        sweep s.toml --shard 4/3       => as in 3/64
        sweep s.toml --shard 1/3 --csv => cannot be used with
        merge nothing --output out     => nothing:
        merge . --output out           => .: no results are in it
        merge s.toml --output out      => s.toml:
        ";
    folder.refuses("", rows);
    assert!(!folder.at("out").exists());

    folder.ok("sweep s.toml --shard 1/30 --output a");
    let (name, text) = bytes(&folder.at("a")).remove(0);
    fs::write(folder.at("a").join(name), &text[..text.len() - 9]).unwrap();
    let told = folder.ok("merge a --output out").err;
    has(&told, &["not believed: 1"]);
    // A merged file that is broken is named, and nothing is lost of the others.
    folder.write("out/scenario=a%20grid/part-1.parquet", "PAR1");
    let told = folder.run("merge a --output out").code(1).err;
    has(&told, &["part-1.parquet: no file of results"]);
}

#[cfg(unix)]
#[test]
fn the_scripts_for_batch_systems_make_their_shard() {
    let folder = Folder::with("grid.toml", &GRID.replace("40s", "1s"));
    let examples = root().join("examples/cluster");
    let job = fs::read_to_string(examples.join("kubernetes-job.yaml")).unwrap();
    let job = job
        .lines()
        .find_map(|line| line.trim().strip_prefix("- exec "));
    let slurm = format!("bash {}/sweep.sbatch grid.toml results", examples.display());
    let slurm_task = ("SLURM_ARRAY_TASK_ID", "64");
    let job_index = ("JOB_COMPLETION_INDEX", "0");
    for (script, index, shard) in [
        (slurm.as_str(), slurm_task, "shard 64/64, 0 runs"),
        (job.unwrap(), job_index, "shard 1/64, 1 runs"),
    ] {
        let mut shell = folder.shell(script);
        let output = shell.env(index.0, index.1).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {told}");
        has(&told, &[shard]);
    }
    assert_eq!(bytes(&folder.at("results")).len(), 1);
}
