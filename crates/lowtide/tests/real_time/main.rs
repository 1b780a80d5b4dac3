//! The program as a user meets it, in real time: apart from the others, which would keep its links from being on time.
#![cfg(target_os = "linux")]

mod link;
#[path = "../program/mod.rs"]
#[allow(dead_code, reason = "no test here has a shell")]
mod program;
mod record;
mod score_link;

/// Whether the machine allows network namespaces. Where it does not, says so: what needs them is skipped.
fn namespaces_work() -> bool {
    let ran = program::lowtide("link --quiet -- true");
    let works = ran.code == Some(0);
    if !works {
        eprintln!("skipped: {}", ran.err);
    }
    works
}
