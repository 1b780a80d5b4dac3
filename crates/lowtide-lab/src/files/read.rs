//! Reading: regular files of bounded size, so that a device or a pipe that never ends costs nothing.

use std::fs::{self, File, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use lowtide_sim::trace;

/// A kind of file, and how large one may be.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Name of the kind of file.
    pub name: &'static str,
    /// Greatest size in bytes.
    pub most: u64,
}

/// A scenario file; the largest of the papers' has 8 kB.
pub const SCENARIO: Kind = Kind {
    name: "scenario file",
    most: 4 << 20,
};

/// A link's trace; the limit holds hours of any real link.
pub const TRACE: Kind = Kind {
    name: "trace",
    most: trace::MAX_FILE_BYTES,
};

/// Certificates or a key in PEM.
pub const CERTIFICATE: Kind = Kind {
    name: "PEM file",
    most: 1 << 20,
};

/// What a person writes for standard input.
const STDIN: &str = "-";

/// What a person reads for it.
pub(crate) const STDIN_SHOWN: &str = "standard input";

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct ReadError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// Reads a whole file.
///
/// # Errors
/// When it cannot be read, is no regular file or is larger than its kind may be.
pub fn read(path: &Path, kind: Kind) -> Result<Vec<u8>, ReadError> {
    contents(path, kind, "copy what it gives into a file")
}

/// Reads a file, or standard input where the path is `-`.
///
/// # Errors
/// As [`read`].
pub fn read_or_stdin(path: &Path, kind: Kind) -> Result<Vec<u8>, ReadError> {
    if name(path).is_some() {
        return contents(path, kind, "pass what it gives on standard input, as '-'");
    }
    bounded(io::stdin().lock(), kind).map_err(|problem| ReadError {
        file: PathBuf::from(STDIN_SHOWN),
        problem,
    })
}

/// The files of a folder whose names end in this, in their order.
///
/// # Errors
/// When the folder cannot be read.
pub fn of_folder(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> = fs::read_dir(folder)?.collect();
    let paths = entries?.into_iter().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    paths.sort();
    Ok(paths)
}

/// The name of a file; `None` for standard input.
#[must_use]
pub fn name(path: &Path) -> Option<&Path> {
    (path.as_os_str() != STDIN).then_some(path)
}

/// A file's bytes as text.
///
/// # Errors
/// When they are not UTF-8.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|e| ReadError {
        file: path.to_path_buf(),
        problem: format!(
            "byte {} is no UTF-8; is it a text?",
            e.utf8_error().valid_up_to()
        ),
    })
}

fn contents(path: &Path, kind: Kind, remedy: &str) -> Result<Vec<u8>, ReadError> {
    let unreadable = |e: io::Error| format!("cannot read it: {e}");
    let regular = |metadata: Metadata| match what(metadata.file_type()) {
        None => Ok(()),
        Some("folder") => Err("it is a folder, not a file".to_string()),
        Some(what) => Err(format!("it is a {what}, not a file: {remedy}")),
    };
    let opened = || {
        // Before it is opened, as that may block on a pipe, and again once it cannot change.
        fs::metadata(path).map_err(unreadable).and_then(regular)?;
        let file = File::open(path).map_err(unreadable)?;
        file.metadata().map_err(unreadable).and_then(regular)?;
        bounded(file, kind)
    };
    opened().map_err(|problem| ReadError {
        file: path.to_path_buf(),
        problem,
    })
}

fn bounded(from: impl Read, kind: Kind) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    from.take(kind.most + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| format!("cannot read it: {e}"))?;
    if bytes.len() as u64 > kind.most {
        return Err(format!(
            "it is larger than {} MiB, the most for a {name}; is it a {name}?",
            kind.most >> 20,
            name = kind.name
        ));
    }
    Ok(bytes)
}

/// What a path is if no regular file.
fn what(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some("folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("pipe");
        }
        if kind.is_socket() {
            return Some("socket");
        }
    }
    Some("device")
}
