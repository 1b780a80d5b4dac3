//! The program as a user meets it, in real time: apart from the others, which would keep its links from being on time.
#![cfg(target_os = "linux")]

mod link;
mod record;
mod score_link;

fn lowtide(args: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::cargo_bin("lowtide").unwrap();
    let patience = std::time::Duration::from_secs(120);
    command.args(args).timeout(patience);
    command
}

/// Whether the machine allows network namespaces. Where it does not, says so: what needs them is skipped.
fn namespaces_work() -> bool {
    let output = lowtide(&["link", "--quiet", "--", "true"])
        .output()
        .unwrap();
    let works = output.status.success();
    if !works {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr));
    }
    works
}
