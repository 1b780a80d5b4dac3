//! The files of a store: lines of JSON that runs append to, and Parquet that these are landed in.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use super::parquet;
use super::row::{Found, Kept, Row};

/// The longest line that is read: 10,000 groups of flows take less.
const MAX_LINE: u64 = 32 << 20;

/// What the names of files with lines end in.
pub(super) const LINES: &str = "jsonl";

/// What the folder of a scenario's Parquet files begins with.
pub(super) const PARTITION: &str = "scenario=";

/// Lines that are not taken for results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Lines that were cut off or changed.
    pub damaged: usize,
    /// Lines of a version whose keys were of what was written, and not of what was simulated.
    pub old: usize,
}

impl AddAssign for LeftOut {
    fn add_assign(&mut self, more: Self) {
        self.damaged += more.damaged;
        self.old += more.old;
    }
}

impl LeftOut {
    /// Warning about these lines; empty where there are none.
    #[must_use]
    pub fn warning(self) -> String {
        let kinds = [
            ("cut off or changed", self.damaged),
            ("of an older version, with other keys", self.old),
        ];
        let kinds = kinds.into_iter().filter(|(_, count)| *count > 0);
        let said = kinds.map(|(what, n)| format!("lines that are {what}, and not believed: {n}"));
        said.collect::<Vec<_>>().join("; ")
    }
}

/// The files with results in a folder, in the order of their names.
///
/// # Errors
/// When the folder cannot be read, or what has the name of a file of results is none.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if ends_in(&path, LINES) {
            found.push(path);
        } else if name.starts_with(PARTITION) && path.is_dir() {
            let parts = fs::read_dir(&path)?.map(|entry| entry.map(|e| e.path()));
            let parts = parts.collect::<io::Result<Vec<_>>>()?;
            found.extend(parts.into_iter().filter(|p| ends_in(p, parquet::ENDING)));
        }
    }
    found.sort();
    for path in &found {
        if !fs::metadata(path)?.is_file() {
            let name = path.strip_prefix(folder).unwrap_or(path).display();
            let problem = format!("{name} in it is no file: take another folder");
            return Err(io::Error::other(problem));
        }
    }
    Ok(found)
}

/// Whether it is a visible file with such an ending; drafts begin with a dot.
fn ends_in(path: &Path, ending: &str) -> bool {
    let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    path.extension().is_some_and(|e| e == ending) && !path.file_name().is_some_and(hidden)
}

/// Gives each row of a file to `take`; how many lines are left out because they were cut off or
/// changed. Lines of another version are passed over.
///
/// # Errors
/// When the file cannot be read; those of `take`.
pub(super) fn read<E: From<io::Error>>(
    file: &Path,
    take: &mut dyn FnMut(Found<'_>, Row) -> Result<(), E>,
) -> Result<LeftOut, E> {
    let mut left_out = LeftOut::default();
    if ends_in(file, parquet::ENDING) {
        parquet::read(file, take)?;
        return Ok(left_out);
    }
    let mut reader = BufReader::new(File::open(file)?);
    let (mut line, mut at) = (Vec::new(), 0);
    while reader
        .by_ref()
        .take(MAX_LINE)
        .read_until(b'\n', &mut line)?
        > 0
    {
        line.pop_if(|last| *last == b'\n');
        at += 1;
        match Row::of(&line) {
            Some(Kept::Row(row)) => take(Found { file, at }, row)?,
            // What a failed write left, or a newer version.
            Some(Kept::Foreign) => {}
            None if line.is_empty() => {}
            Some(Kept::Old) => left_out.old += 1,
            None => left_out.damaged += 1,
        }
        line.clear();
    }
    Ok(left_out)
}
