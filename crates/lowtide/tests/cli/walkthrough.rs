//! The commands that the documents show do what they say: each is run as it is written, but shorter.

use std::fs;
use std::os::unix::fs::symlink;

use crate::program::Folder;
use crate::root;

/// Documents whose commands need neither network nor another machine.
const DOCUMENTS: [&str; 10] = [
    "README.md",
    "docs/commands.md",
    "docs/adopt/kernel-tcp.md",
    "docs/adopt/noq.md",
    "docs/adopt/s2n-quic.md",
    "docs/scenario-files.md",
    "docs/report.md",
    "docs/frontier.md",
    "docs/scoring.md",
    "docs/simulator/traces.md",
];

/// What the documents call FILE.
const SCENARIO: &str = r#"
link = { rate = "10mbit" }
run = { duration = "1s" }
flows = [{ controller = "rbbr" }, { controller = "cubic" }]
[sweep]
"path.rtt" = ["20ms", "40ms"]
"#;

/// And what they call my-cases/.
const CASE: &str = r#"
case = { title = "a case", source = "us" }
link = { rate = "10mbit" }
flows = [{ controller = "candidate" }]
limits = [{ metric = "use", value = "utilisation", at_least = 0.5, reason = "so" }]
"#;

/// Documents that begin with nothing: all that they need they have made before.
const GUIDES: [&str; 4] = [
    "docs/README.md",
    "docs/guides/app.md",
    "docs/guides/stack.md",
    "docs/guides/research.md",
];

/// A document's shell examples.
fn examples(document: &str) -> impl Iterator<Item = &str> {
    let blocks = document.split("```sh\n").skip(1);
    blocks.filter_map(|block| block.split("```").next())
}

/// The program's commands in a document's shell examples, without comments.
fn commands(document: &str) -> Vec<String> {
    let lines = examples(document).flat_map(str::lines);
    lines
        .map(|line| line.split(" #").next().unwrap_or(line).trim())
        .filter(|line| line.starts_with("lowtide "))
        .map(str::to_string)
        .collect()
}

/// A command that takes seconds at most; `None` where it has no such form.
fn short(command: &str) -> Option<String> {
    let name = command.split_whitespace().nth(1)?;
    // The reader's terminal is not the test's.
    let command = command.trim_end_matches("| less").replace("FILE", "s.toml");
    match name {
        "compare" | "frontier" if command.contains("--duration") => Some(command),
        "compare" | "frontier" => Some(command.replacen(name, &format!("{name} --duration 1s"), 1)),
        // With this it checks all else that it is told, and runs nothing.
        "reproduce" | "score" if !command.contains("--list") => Some(format!("{command} --list")),
        "reproduce" | "run" | "sweep" | "merge" | "trace" | "list" | "schema" | "score" => {
            Some(command)
        }
        _ => None,
    }
}

#[test]
fn the_commands_in_the_documents_work() {
    let folder = Folder::with("s.toml", SCENARIO);
    let trace: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
    folder.write("my.trace", &trace);
    folder.write("starlink.down", &trace);
    folder.write("starlink.delay.csv", "time_ms,delay_ms\n0,20\n500,30\n");
    fs::create_dir(folder.at("my-cases")).unwrap();
    folder.write("my-cases/a.toml", CASE);
    for name in ["experiments", "crates"] {
        symlink(root().join(name), folder.at(name)).unwrap();
    }
    let mut run = Vec::new();
    for document in DOCUMENTS {
        let text = fs::read_to_string(root().join(document)).unwrap();
        for command in commands(&text).iter().filter_map(|c| short(c)) {
            folder.script(&command).ok();
            run.push(command);
        }
    }
    assert!(run.len() >= 25, "{run:#?}");
    for written in [
        "out/index.html",
        "merged/scenario=s/part-0.parquet",
        "scenario.schema.json",
        "link.csv",
    ] {
        assert!(folder.at(written).exists(), "{written}");
    }
}

/// An example as it is written, but for commands that take minutes, which are shorter, and those that
/// cannot be run here, which become nothing.
fn script(example: &str) -> String {
    let line = |line: &str| -> String {
        let line = line.split(" #").next().unwrap_or(line);
        match line.split_whitespace().next() {
            Some("lowtide") if line.contains("--suite cases") => format!("{line} || [ $? = 1 ]"),
            Some("lowtide") if line.contains("--experiments mine") => line.to_string(),
            Some("lowtide") if line.contains("compare") && !line.contains("--host") => {
                line.to_string()
            }
            Some("lowtide") => short(line).unwrap_or_default(),
            Some("cargo") => String::new(),
            _ => line.to_string(),
        }
    };
    let lines: Vec<String> = example.lines().map(line).collect();
    lines.join("\n")
}

/// What a document says that its commands print.
fn printed(document: &str) -> impl Iterator<Item = &str> {
    let blocks = document.split("```text\n").skip(1);
    blocks
        .filter_map(|block| block.split("```").next())
        .flat_map(str::lines)
}

#[test]
fn each_guide_works_from_its_first_line_in_an_empty_folder_and_prints_what_it_says() {
    for guide in GUIDES {
        let folder = Folder::new();
        let text = fs::read_to_string(root().join(guide)).unwrap();
        let (mut run, mut output) = (0, String::new());
        for script in examples(&text).map(script) {
            output.push_str(&folder.script(&script).ok().out);
            run += script.lines().filter(|l| l.starts_with("lowtide ")).count();
        }
        assert!(run >= 5, "{guide}: {run} commands");
        for line in printed(&text) {
            assert!(
                output.lines().any(|l| l.trim_end() == line.trim_end()),
                "{guide}: {line}"
            );
        }
    }
}
