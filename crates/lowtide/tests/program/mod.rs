//! The program under test: what it is told, and what it leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// What a run of the program has left.
pub(crate) struct Ran {
    pub(crate) line: String,
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Fails where the exit code is another.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        assert_eq!(self.code, Some(expected), "{}: {}", self.line, self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.code(0)
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let read = serde_json::from_str(&self.out);
        read.unwrap_or_else(|e| panic!("{}: {e}: {}", self.line, self.err))
    }
}

/// Fails where a part is not in the text.
#[track_caller]
pub(crate) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// Words split at white space; what stands in single quotes is one word.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (n, part) in line.split('\'').enumerate() {
        match n % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}

/// The program with the arguments that a user types behind its name.
pub(crate) fn command(line: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("lowtide"));
    // A recipe's program that the machine may have.
    command.args(words(line)).env_remove("AIOQUIC");
    command
}

fn ran(command: Command, line: &str) -> Ran {
    let mut command = assert_cmd::Command::from_std(command);
    let output = command.timeout(PATIENCE).output().unwrap();
    Ran {
        line: line.to_string(),
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the program to its end.
pub(crate) fn lowtide(line: &str) -> Ran {
    ran(command(line), line)
}

/// A folder of a test's own, in which the program runs.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With one file in it.
    pub(crate) fn with(name: &str, text: &str) -> Self {
        let place = Self::new();
        place.write(name, text);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.at(name), text).unwrap();
    }

    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = command(line);
        command.current_dir(self.path());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        ran(self.command(line), line)
    }

    /// Expects bad input of every row: exit code 2 and what is said of it. A row is a command with
    /// this before it, `=>`, and the parts of what is said, between `|`.
    #[track_caller]
    pub(crate) fn refuses(&self, before: &str, rows: &str) {
        for row in rows.lines().filter(|row| !row.trim().is_empty()) {
            let (line, parts) = row.split_once("=>").unwrap();
            let ran = self.run(&format!("{before} {}", line.trim())).code(2);
            for part in parts.split(" | ").map(str::trim) {
                assert!(ran.err.contains(part), "{row}: {}", ran.err);
            }
        }
    }
}
