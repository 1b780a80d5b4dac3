//! Tells the crate which simulator it is: a key of all sources that decide what a run gives.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

// The crate's own file: what is public in it is the crate's.
#[allow(unreachable_pub)]
#[path = "src/key.rs"]
mod key;

use key::Key;

/// The crates that a simulated run goes through.
const CRATES: [&str; 8] = [
    "lowtide-cc",
    "lowtide-host",
    "lowtide-lab",
    "lowtide-noq",
    "lowtide-quic",
    "lowtide-quinn",
    "lowtide-sim",
    "lowtide-stacks",
];

fn main() {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let crates = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let crates = Path::new(&crates).join("..");
    // From a registry a crate comes without its siblings, and its version says what is in it.
    let sources = sources(&crates).unwrap_or_default();
    let mut contents = vec![version.as_bytes()];
    for (name, text) in &sources {
        contents.extend([name.as_bytes(), text.as_slice()]);
    }
    println!("cargo::rustc-env=LOWTIDE_SIMULATOR={}", Key::of(&contents));
}

/// The names and contents of all sources in the order of their names, and of the lock file, which
/// has the versions of all that is not ours.
fn sources(crates: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut files = vec![crates.join("../Cargo.lock")];
    for name in CRATES {
        collect(&crates.join(name).join("src"), &mut files)?;
    }
    let mut sources = Vec::with_capacity(files.len());
    for file in files {
        let name = file.strip_prefix(crates).unwrap_or(&file);
        let parts: Vec<_> = name.iter().map(|part| part.to_string_lossy()).collect();
        let mut text = fs::read(&file)?;
        // Some systems check sources out with other ends of lines.
        text.retain(|byte| *byte != b'\r');
        println!("cargo::rerun-if-changed={}", file.display());
        sources.push((parts.join("/"), text));
    }
    sources.sort();
    Ok(sources)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
