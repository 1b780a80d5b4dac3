//! Whether the machine allows network namespaces.

use assert_cmd::Command;

/// Where it does not, says so: what needs them is skipped.
pub(crate) fn work() -> bool {
    let mut link = Command::cargo_bin("lowtide").unwrap();
    let output = link.args(["link", "--quiet", "--", "true"]).output();
    let output = output.unwrap();
    let works = output.status.success();
    if !works {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    works
}
