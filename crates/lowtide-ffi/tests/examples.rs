//! The C and C++ examples, compiled and run with the system's compiler.
//!
//! `LOWTIDE_CFLAGS` adds flags (as `-fsanitize=address,undefined`), `LOWTIDE_RUNNER` a program to
//! run them under (as `valgrind --error-exitcode=9`); `.ci/memory-checks` uses both.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where cargo leaves the static library: beside this test.
fn library() -> PathBuf {
    let exe = std::env::current_exe().expect("this test has a path");
    let dir = exe.ancestors().nth(1).expect("target/PROFILE/deps");
    dir.join("liblowtide_ffi.a")
}

fn words(variable: &str) -> Vec<String> {
    let text = std::env::var(variable).unwrap_or_default();
    text.split_whitespace().map(String::from).collect()
}

/// What the static library needs besides itself, as the pkg-config file says.
fn private_libraries() -> Vec<&'static str> {
    let listed = include_str!("../lowtide.pc.in")
        .lines()
        .find_map(|line| line.strip_prefix("Libs.private: "));
    listed.expect("the file names them").split(' ').collect()
}

/// The compiler at work on a source, with these flags, the library's headers and what the library needs.
fn compile(compiler: &str, flags: &[&str], source: &Path, to: &Path) -> Command {
    let mut command = Command::new(compiler);
    command
        .args(flags)
        .arg("-I")
        .arg(root().join("include"))
        .arg(source)
        .arg("-o")
        .arg(to)
        .arg(library())
        .args(private_libraries());
    command
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compiles an example; `None` without a compiler.
fn example(compiler: &str, standard: &str, source: &str, dir: &Path) -> Option<PathBuf> {
    if Command::new(compiler).arg("--version").output().is_err() {
        eprintln!("skipped: there is no '{compiler}' here");
        return None;
    }
    let program = dir.join("example");
    let flags = [standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-g"];
    let source = root().join("examples").join(source);
    let out = compile(compiler, &flags, &source, &program)
        .args(words("LOWTIDE_CFLAGS"))
        .output()
        .expect("the compiler starts");
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{errors}");
    Some(program)
}

fn run(program: &Path, args: &[&str]) -> Output {
    let runner = words("LOWTIDE_RUNNER");
    let mut command = match runner.split_first() {
        None => Command::new(program),
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command.args(args).output().expect("the example starts")
}

fn stdout(out: &Output) -> String {
    assert!(
        out.status.success(),
        "{:?}\n{}",
        out.status,
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn the_c_example_fills_its_link_with_every_controller() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let Some(program) = example("cc", "-std=c99", "transfer.c", dir.path()) else {
        return;
    };
    for entry in lowtide_cc::registry::all() {
        let text = stdout(&run(&program, &[entry.name]));
        let mbps: f64 = text
            .strip_prefix(&format!("{}: ", entry.name))
            .and_then(|rest| rest.split(' ').next())
            .and_then(|number| number.parse().ok())
            .unwrap_or_else(|| panic!("no rate in: {text}"));
        // A constant window of 20 packets is below the path's 34.
        let least = if entry.name == "window" { 5.0 } else { 8.0 };
        assert!((least..=10.0).contains(&mbps), "{text}");
    }
    let wrong = run(&program, &["bbrr"]);
    assert_eq!(wrong.status.code(), Some(2));
    let message = String::from_utf8_lossy(&wrong.stderr);
    assert!(message.contains("did you mean 'bbr'?"), "{message}");
}

#[test]
fn the_libraries_of_the_pkg_config_file_make_a_program_without_shared_libraries() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let program = dir.path().join("static");
    let nothing = dir.path().join("nothing.c");
    std::fs::write(&nothing, "int main(void) { return 0; }").expect("writable");
    let has_static = Command::new("cc")
        .arg("-static")
        .arg(&nothing)
        .arg("-o")
        .arg(&program)
        .args(private_libraries())
        .output();
    if !has_static.is_ok_and(|out| out.status.success()) {
        eprintln!("skipped: no compiler or no static C library here");
        return;
    }
    let source = root().join("examples/transfer.c");
    let out = compile("cc", &["-static"], &source, &program)
        .output()
        .expect("the compiler starts");
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{errors}");
    let out = Command::new(&program).output();
    assert!(
        stdout(&out.expect("it starts")).starts_with("ebb: "),
        "the default"
    );
}

#[test]
fn the_cpp_example_owns_its_handles_and_throws_what_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let Some(program) = example("c++", "-std=c++11", "window.cpp", dir.path()) else {
        return;
    };
    let text = stdout(&run(&program, &[]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "SlowStart: 12000 -> 24000 bytes");
    assert_eq!(lines[1], "the event is earlier than the one before it");
    assert!(lines[2].contains("did you mean 'newreno'?"), "{text}");
    assert!(lines[3].starts_with("the RTT sample is 90ms"), "{text}");
}
