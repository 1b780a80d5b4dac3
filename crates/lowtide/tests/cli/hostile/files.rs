//! Files that are too large, never end or mean too much; full disks, deleted folders, forged results.

use std::fs;
use std::path::{Path, PathBuf};

use super::{refused, within_bounds};
use crate::program::{Begun, Folder, has};
use crate::sweep::GRID;

const ONE_FLOW: &str = "link = { rate = \"5mbit\" }\nflows = [{ controller = \"bbr\" }]\n";

#[track_caller]
fn refused_scenario(text: &str, parts: &[&str]) {
    let folder = Folder::with("s.toml", text);
    for command in ["lowtide run s.toml", "lowtide sweep s.toml"] {
        refused(&folder, command, parts);
    }
    assert!(!folder.at("lowtide-results").exists());
}

#[test]
fn keys_of_many_parts_are_refused() {
    let key = format!("link{}", ".a".repeat(200_000));
    let parts = [
        "s.toml:4:",
        "sweep.link.a.a",
        "no key has more than 8 parts",
    ];
    refused_scenario(&format!("{ONE_FLOW}[sweep]\n\"{key}\" = [1]\n"), &parts);
    let case = format!("{ONE_FLOW}[[cases]]\nname = \"a\"\nset = {{ \"{key}\" = 1 }}\n");
    refused_scenario(&case, &["s.toml:5:", "cases.0.set.link.a.a", "8 parts"]);
    refused_scenario(&format!("{ONE_FLOW}[{key}]\n"), &["s.toml:"]);
    let nested = format!("a = {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
    refused_scenario(&nested, &["s.toml:1"]);
    let folder = Folder::with("s.toml", ONE_FLOW);
    // As long as an argument may be.
    let command = format!("lowtide run s.toml --vary 'link{}=1'", ".a".repeat(60_000));
    refused(&folder, &command, &["--vary link.a.a", "8 parts"]);
}

#[test]
fn what_a_scenario_expands_to_is_bounded() {
    let cases: String = (0..130_000)
        .map(|n| format!("[[cases]]\nname=\"{n}\"\nset={{}}\n"))
        .collect();
    let many = ["cases.100000", "130000 cells; the most is 100000"];
    refused_scenario(&format!("{ONE_FLOW}{cases}"), &many);

    let numbers = |n: usize| format!("{:?}", (0..n).map(|n| n + 1).collect::<Vec<_>>());
    let (a, b) = (numbers(400), numbers(300));
    let grid = format!("{ONE_FLOW}[sweep]\n\"run.first_seed\" = {a}\n\"flows.count\" = {b}\n");
    refused_scenario(&grid, &["sweep.flows.count", "120000 cells"]);

    // A long text in each of many cells.
    let long = "long ".repeat(400_000);
    let text = format!("link = {{ rate = \"5mbit\", name = \"{long}\" }}\nflows = [{{}}]\n");
    let parts = ["s.toml: ", "say more than 512 MiB"];
    refused_scenario(
        &format!("{text}[sweep]\n\"run.first_seed\" = {a}\n"),
        &parts,
    );

    let seeds = format!("{ONE_FLOW}[run]\nseeds = 10000\n[sweep]\n\"flows.count\" = {a}\n");
    refused_scenario(&seeds, &["s.toml: ", "more than 5000000 results"]);

    let keys: String = (0..101)
        .map(|n| format!("\"flows.parameters.p{n}\" = [1]\n"))
        .collect();
    let sweep = format!("{ONE_FLOW}[sweep]\n{keys}");
    refused_scenario(&sweep, &["s.toml: ", "more than 100 keys"]);

    let too_long = format!("# {}\n{ONE_FLOW}", "x".repeat(4 << 20));
    let parts = ["s.toml: it is larger than 4 MiB, the most for a scenario file"];
    refused_scenario(&too_long, &parts);
}

#[test]
fn claims_of_many_terms_are_refused() {
    let long = format!("0 < 1{}", " + 1".repeat(500_000));
    let claim = "[[claims]]\nclaim = \"a\"\nsetting = \"a\"\nmetric = \"a\"\nvalue = \"1\"\n";
    let claim = format!("{claim}holds = \"{long}\"\n");
    let text = format!("{ONE_FLOW}run = {{ duration = \"1s\" }}\n{claim}");
    let folder = Folder::with("s.toml", &text);
    let parts = ["claims.0.holds", "more than 2000 words and signs"];
    refused(&folder, "lowtide reproduce --experiments . all", &parts);
}

#[test]
fn devices_pipes_and_folders_are_no_files() {
    let folder = Folder::with("s.toml", ONE_FLOW);
    folder.script("mkfifo pipe").ok();
    let commands = [
        "lowtide run FILE",
        "lowtide sweep FILE",
        "lowtide compare --trace FILE",
        "lowtide run s.toml --vary link.rate=5mbit --vary link.trace=FILE",
        "lowtide trace info FILE",
        "lowtide trace convert --to csv FILE",
        "lowtide serve --listen 127.0.0.1:0 --cert FILE --key FILE",
        "lowtide fetch 127.0.0.1:9 --ca FILE",
    ];
    for command in &commands {
        for (file, what) in [
            ("/dev/zero", "/dev/zero: it is a device, not a file"),
            ("pipe", "pipe: it is a pipe, not a file"),
            (".", ": it is a folder"),
            ("absent", "absent: cannot read it"),
        ] {
            let command = command.replace("FILE", file);
            // Only one way to say what the link is.
            let command = command.replace("--vary link.rate=5mbit ", "");
            if command.contains("--vary") {
                folder.write("s.toml", "flows = [{}]\n");
            }
            refused(&folder, &command, &[what]);
        }
    }
    // Standard input is read, and no further than a file would be.
    for (command, most) in [("run", "4 MiB"), ("trace info", "64 MiB")] {
        let said = format!("standard input: it is larger than {most}");
        let command = format!("lowtide {command} - < /dev/zero");
        refused(&folder, &command, &[&said]);
    }
    let piped = "lowtide trace generate --duration 1s | lowtide trace info -";
    folder.script(piped).ok();
}

#[test]
fn long_and_fast_traces_take_bounded_memory() {
    let folder = Folder::with("long.csv", "time_s,rate_mbps\n0,5\n1000000,5\n");
    folder.write("fast.csv", "time_s,rate_gbps\n0,1000\n5000,1000\n");
    let refused = |command: &str, parts: &[&str]| refused(&folder, command, parts);
    let info = ["long.csv: it is 2000000 s long", "100000 s"];
    refused("lowtide trace info long.csv", &info);
    let large = ["it would be larger than 64 MiB", "lower rate"];
    refused("lowtide trace convert --to csv long.csv", &large);
    refused("lowtide trace convert --to mahimahi long.csv", &["4 hours"]);
    refused("lowtide trace convert --to mahimahi fast.csv", &large);
    let generate = "lowtide trace generate --to mahimahi --mean 100gbit --duration 1000s";
    refused(generate, &large);
    // What cannot be had leaves no file either.
    refused(&format!("{generate} -o out"), &large);
    assert!(!folder.at("out").exists());
}

#[test]
fn many_quic_flows_fit_into_memory_or_are_refused() {
    let folder = Folder::new();
    let quic = "lowtide compare --host quic --cc bbr --rate 50mbit --jobs 1 --duration 50ms";
    let parts = ["--flows: ", "at most 256 flows"];
    refused(&folder, &format!("{quic} --flows 257"), &parts);
    within_bounds(&folder, &format!("{quic} --flows 60")).ok();
}

/// Names of the files below a folder that the program writes beside others.
fn drafts(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|e| e.unwrap().file_name());
    names
        .filter(|n| n.to_string_lossy().starts_with(".lowtide-"))
        .count()
}

#[test]
fn a_full_disk_leaves_the_old_files() {
    let folder = Folder::new();
    let compare = "lowtide compare --cc bbr --rate 5mbit --duration 2s --json";
    let writes = [
        (format!("{compare} --report out"), "out/index.html"),
        (format!("{compare} --figures out"), "out/rate.svg"),
        (format!("{compare} --qlog out"), "out/bbr.sqlog"),
        (
            "lowtide trace generate -o out/link.csv".to_string(),
            "out/link.csv",
        ),
    ];
    let out = folder.at("out");
    fs::create_dir(&out).unwrap();
    for (command, file) in &writes {
        folder.write(file, "old");
        let before = drafts(&out);
        // Files of at most 4 kB, as if the disk were full then.
        let script = format!("trap '' XFSZ; ulimit -f 8; exec {command}");
        let ran = folder.script(&script).code(1);
        has(&ran.err, &["cannot write"]);
        assert_eq!(folder.read(file), "old", "{command}");
        assert_eq!(drafts(&out), before, "{command}");
        // What was computed is shown all the same.
        assert_eq!(command.contains("--json"), ran.out.starts_with('{'));
        // Without the trap the signal kills the program in the middle of writing.
        let script = format!("ulimit -f 8; exec {command}");
        assert_eq!(folder.script(&script).code, None, "{command}");
        assert_eq!(folder.read(file), "old", "{command}");
        folder.script(command).ok();
        assert!(folder.read(file).len() > 4096, "{command}");
    }
}

#[test]
fn what_can_be_neither_read_nor_written_is_said_before_anything_runs() {
    let folder = Folder::with("s.toml", ONE_FLOW);
    folder.write("file", "");
    fs::create_dir(folder.at("folder")).unwrap();
    let link = "--cc bbr --rate 5mbit --duration 1s --json";
    let trace = "--trace link.down --cc bbr --json";
    let times: String = (1..=2000).map(|ms| format!("{ms}\n")).collect();
    folder.write("link.down", times);
    let score = "score --suite bbr-draft --case bbr-01 --seeds 1 --output store";
    let claims = "reproduce rbbr-fig3 --seeds 1 --json";
    for command in [
        format!("compare {link} --report file"),
        format!("compare {link} --figures file/figures"),
        format!("compare {link} --qlog file"),
        format!("frontier {trace} --figures file"),
        "run s.toml --report file".to_string(),
        "run s.toml --json=folder".to_string(),
        "sweep s.toml --output store --figures file".to_string(),
        format!("{score} --junit folder"),
        format!("{score} --document file/page.md"),
        format!("{score} --report file"),
        format!("{claims} --document folder"),
        format!("{claims} --report file"),
    ] {
        let ran = folder.run(&command).code(1);
        has(&ran.err, &["cannot write f"]);
        assert_eq!(ran.out, "", "{command}");
        // Whoever has run says how many runs there were, and keeps them.
        assert!(!ran.err.contains("runs"), "{command}: {}", ran.err);
        assert!(!folder.at("store").exists(), "{command}");
    }
    folder.refuses(score, "--baseline missing.json => missing.json");
    assert!(!folder.at("store").exists());
}

#[test]
fn streams_and_links_can_be_written_to() {
    let folder = Folder::new();
    let run = |script: &str| folder.script(script).ok().out;
    let generate = "lowtide trace generate --duration 1s";
    let text = run(generate);
    assert_eq!(run(&format!("{generate} -o /dev/stdout")), text);
    assert_eq!(run(&format!("{generate} -o /dev/stdout | cat")), text);
    let kept = format!("echo kept > f; {generate} -o /dev/stdout >> f; cat f");
    assert_eq!(run(&kept), format!("kept\n{text}"));
    let pipe = format!("mkfifo p; {generate} -o p & cat p; wait $!");
    assert_eq!(run(&pipe), text);
    run(&format!("{generate} -o /dev/null"));
    let link =
        format!("echo old > real; ln -s real link; {generate} -o link; test -L link; cat real");
    assert_eq!(run(&link), text);
}

/// The file of results in the folder `out`, and its text.
fn kept(folder: &Path) -> Option<(PathBuf, String)> {
    let file = fs::read_dir(folder.join("out")).ok()?.next()?.ok()?.path();
    let text = fs::read_to_string(&file).ok()?;
    Some((file, text))
}

/// Starts the grid's sweep and waits until some of it, but not all, is in the store.
fn begun(folder: &Folder) -> Begun {
    let mut sweep = folder.begin("sweep s.toml --jobs 1 --csv --output out");
    let lines = || kept(folder.path()).map_or(0, |(_, text)| text.lines().count());
    sweep.until(|| lines() >= 3);
    assert!(lines() < 50, "the grid is too small to be interrupted");
    sweep
}

const SWEEP: &str = "sweep s.toml --csv --output out";

#[test]
fn a_deleted_store_is_told_and_costs_no_result() {
    let folder = Folder::with("s.toml", GRID);
    let sweep = begun(&folder);
    fs::remove_dir_all(folder.at("out")).unwrap();
    let ran = sweep.ran().code(1);
    let parts = [
        "error: out/results-",
        ".jsonl: it was deleted",
        "new results are not kept",
        "warning: ",
    ];
    has(&ran.err, &parts);
    // The header and all six cells.
    assert_eq!(ran.out.lines().count(), 7, "{}", ran.out);
}

#[test]
fn a_store_on_a_full_disk_costs_no_result() {
    let folder = Folder::with("s.toml", &GRID.replace("40s", "1s"));
    let script = format!("trap '' XFSZ; ulimit -f 16; exec lowtide {SWEEP}");
    let full = folder.script(&script).code(1);
    has(&full.err, &["new results are not kept"]);
    // With room again what is missing is added, and what was cut off is not believed.
    let again = folder.ok(SWEEP);
    has(&again.err, &["not believed: 1;"]);
    assert_eq!(again.out, full.out);
    has(&folder.ok(SWEEP).err, &["60 of them are in"]);
}

#[test]
fn an_interrupted_sweep_says_what_it_kept_and_goes_on() {
    let folder = Folder::with("s.toml", GRID);
    let mut sweep = begun(&folder);
    sweep.signal("INT");
    let told = sweep.ran().code(130).err;
    let (_, results) = kept(folder.path()).unwrap();
    let kept = results.lines().count();
    let interrupted = format!("interrupted: {kept} of 60 runs are in out;");
    has(
        &told,
        &[&interrupted, "the same command goes on from there"],
    );
    let rest = folder.ok(SWEEP);
    has(&rest.err, &[&format!("{kept} of them are in")]);
    assert!(!rest.err.contains("warning"), "{}", rest.err);
    let other = folder.ok("sweep s.toml --csv --output other");
    assert_eq!(rest.out, other.out);
}

#[test]
fn forged_and_damaged_results_are_run_again() {
    let folder = Folder::with("s.toml", &GRID.replace("40s", "1s"));
    let whole = folder.ok(SWEEP).out;
    let (path, text) = kept(folder.path()).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    assert_eq!(lines.len(), 60);
    let mut change = |n: usize, from: &str, to: &str| {
        let changed = lines[n].replacen(from, to, 1);
        assert_ne!(changed, lines[n]);
        lines[n] = changed;
    };
    change(0, "\"throughput_mbps\":", "\"throughput_mbps\":9");
    change(1, "\"seed\":", "\"seed\":1");
    change(2, "\"scenario\":\"", "\"scenario\":\"\u{0}");
    lines[3].truncate(100);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let again = folder.ok(SWEEP);
    has(
        &again.err,
        &["60 runs; 56 of them are in", "not believed: 4"],
    );
    assert_eq!(again.out, whole);
    // A store that is no file.
    folder.script("mkfifo out/pipe.jsonl").ok();
    let ran = within_bounds(&folder, &format!("lowtide {SWEEP}")).code(1);
    has(&ran.err, &["out: pipe.jsonl in it is no file"]);
}
