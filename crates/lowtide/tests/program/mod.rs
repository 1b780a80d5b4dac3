//! The program under test: what it is told, and what it leaves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

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
    fn of(output: Output, line: &str) -> Self {
        Self {
            line: line.to_string(),
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

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
    Ran::of(command.timeout(PATIENCE).output().unwrap(), line)
}

/// Runs the program to its end.
pub(crate) fn lowtide(line: &str) -> Ran {
    ran(command(line), line)
}

/// A run that goes on beside the test, and is killed with it.
pub(crate) struct Begun(Option<Child>);

impl Begun {
    /// Starts it; what it writes is kept.
    pub(crate) fn of(mut command: Command) -> Self {
        let command = command.stdin(Stdio::null());
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().unwrap()))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    /// Waits until something is so, while it runs.
    #[track_caller]
    pub(crate) fn until(&mut self, mut is_so: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert_eq!(self.child().try_wait().unwrap(), None, "it has ended");
            assert!(Instant::now() < end, "nothing happens");
            sleep(Duration::from_millis(5));
        }
    }

    /// Sends it a signal, by its name.
    pub(crate) fn signal(&mut self, name: &str) {
        let id = self.child().id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// What it has left in the end.
    pub(crate) fn ran(mut self) -> Ran {
        let child = self.0.take().unwrap();
        Ran::of(child.wait_with_output().unwrap(), "what was begun")
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The entry of a controller in the results of a comparison.
#[track_caller]
pub(crate) fn entry<'a>(comparison: &'a Value, controller: &str) -> &'a Value {
    let mut results = comparison["results"].as_array().unwrap().iter();
    let found = results.find(|entry| entry["controller"] == controller);
    found.unwrap_or_else(|| panic!("no {controller} in {comparison}"))
}

/// A number: its key, or keys with dots between.
#[track_caller]
pub(crate) fn number(of: &Value, metric: &str) -> f64 {
    let found = of.pointer(&format!("/{}", metric.replace('.', "/")));
    let found = found.and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no {metric} in {of}"))
}

/// A folder of a test's own, in which the program runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With one file in it.
    pub(crate) fn with(name: &str, text: &str) -> Self {
        let folder = Self::new();
        folder.write(name, text);
        folder
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

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// A shell that finds the program as `lowtide`.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let program = assert_cmd::cargo::cargo_bin("lowtide");
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let mut command = Command::new("/bin/sh");
        command.args(["-e", "-c", script]).current_dir(self.path());
        command.env("PATH", path).env_remove("NO_COLOR");
        command
    }

    /// Runs a script in such a shell.
    pub(crate) fn script(&self, script: &str) -> Ran {
        ran(self.shell(script), script)
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = command(line);
        command.current_dir(self.path());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Ran {
        ran(self.command(line), line)
    }

    /// Runs the program, which does what it is told.
    #[track_caller]
    pub(crate) fn ok(&self, line: &str) -> Ran {
        self.run(line).ok()
    }

    /// Starts the program.
    pub(crate) fn begin(&self, line: &str) -> Begun {
        Begun::of(self.command(line))
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
