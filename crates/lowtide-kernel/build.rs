//! Compiles the programs with clang, where the feature `bpf` asks for them.
//!
//! Without a clang that can, the crate is built all the same; it then says at run time what was missing.

use std::env;
use std::path::Path;
use std::process::Command;

/// Names of clang, the one that people mean first.
const CLANGS: &[&str] = &[
    "clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16",
    "clang-15", "clang-14",
];
const PROGRAMS: &[&str] = &["bbr_acd", "cgroup", "ebb", "ebcc", "rtt_gain", "status"];

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    println!("cargo:rustc-check-cfg=cfg(has_programs)");
    let missing = if env::var_os("CARGO_FEATURE_BPF").is_none() {
        "lowtide was built without the feature 'kernel'; build it with '--features kernel', which needs \
         clang, libelf and zlib (Debian: clang libelf-dev zlib1g-dev)"
            .to_owned()
    } else if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os != "linux") {
        "only Linux has them".to_owned()
    } else {
        match compile_all() {
            Ok(()) => {
                println!("cargo:rustc-cfg=has_programs");
                return;
            }
            Err(problem) => problem,
        }
    };
    println!("cargo:rustc-env=LOWTIDE_MISSING={missing}");
}

fn compile_all() -> Result<(), String> {
    let clang = clang()?;
    let out = env::var("OUT_DIR").map_err(|error| error.to_string())?;
    for program in PROGRAMS {
        compile(&clang, program, Path::new(&out))?;
    }
    Ok(())
}

fn clang() -> Result<String, String> {
    let chosen = env::var("CLANG").ok();
    let works = |name: &&str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    match &chosen {
        Some(name) if works(&name.as_str()) => Ok(name.clone()),
        Some(name) => Err(format!(
            "the compiler that CLANG names, '{name}', does not run"
        )),
        None => CLANGS
            .iter()
            .copied()
            .find(works)
            .map(str::to_owned)
            .ok_or_else(|| {
                "clang was not found; install it (Debian: clang), or name it in CLANG, and build \
                 again"
                    .to_owned()
            }),
    }
}

fn compile(clang: &str, program: &str, out: &Path) -> Result<(), String> {
    let output = Command::new(clang)
        .args(["-g", "-O2", "-mcpu=v3", "--target=bpf", "-c"])
        .arg(format!("bpf/{program}.bpf.c"))
        .arg("-o")
        .arg(out.join(format!("{program}.bpf.o")))
        .output()
        .map_err(|error| format!("{clang} does not run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| line.contains("error"));
    Err(format!(
        "{clang} cannot compile {program}.bpf.c: {}",
        first.unwrap_or("no reason given")
    ))
}
