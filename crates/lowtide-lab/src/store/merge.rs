//! Many stores as one: results that processes on several machines have kept, landed in Parquet.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folder::{self, LeftOut, PARTITION};
use super::parquet::{Columns, ENDING};
use super::table::{Table, TableRow};
use crate::files::Draft;

/// Rows of one file: some hundred megabytes.
const PART: usize = 1 << 20;

/// What came of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Files that were read.
    pub files: usize,
    /// Rows that were written.
    pub rows: usize,
    /// Scenarios of which they are.
    pub scenarios: usize,
    /// Results that were there more than once.
    pub duplicates: u64,
    /// Lines that are not taken for results.
    pub left_out: LeftOut,
    /// Simulators that made the results.
    pub simulators: usize,
}

/// Why stores cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// What was named is no store.
    #[error("{0}")]
    NoStore(String),
    /// Two results of the same run differ.
    #[error("{0}")]
    Contradiction(String),
    /// Something cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Lands the results of `stores`, and those that are in `out` already, in `out`: Parquet, a folder for each
/// scenario (`scenario=NAME`). The same results give the same bytes, whatever files they came in.
///
/// Until a file is whole the old one stays. Where the merge ends early `out` has all that it had, and
/// maybe more.
///
/// # Errors
/// When a store has no results, two results contradict each other, or something cannot be read or
/// written.
pub fn merge(stores: &[PathBuf], out: &Path) -> Result<Merged, MergeError> {
    let mut table = Table::default();
    let mut merged = Merged::default();
    let mut sources = BTreeSet::new();
    for store in stores {
        let named = |e: io::Error| MergeError::NoStore(format!("{}: {e}", store.display()));
        let files = folder::files(store).map_err(named)?;
        if files.is_empty() {
            let problem = format!("{}: no results are in it", store.display());
            return Err(MergeError::NoStore(problem));
        }
        sources.extend(files);
    }
    if out.is_dir() {
        sources.extend(folder::files(out)?);
    }
    merged.files = sources.len();
    for file in &sources {
        merged.left_out += folder::read(file, &mut |found, row| {
            table.add(found, row).map_err(MergeError::Contradiction)
        })?;
    }
    table.sort();
    let simulators: BTreeSet<_> = table.rows.iter().map(|row| row.simulator).collect();
    merged.simulators = simulators.len();
    merged.rows = table.rows.len();
    merged.duplicates = table.duplicates;
    let columns = Columns::of(&table)?;
    let scenario = |row: &TableRow| table.name(row).scenario.as_str();
    for rows in table.rows.chunk_by(|a, b| scenario(a) == scenario(b)) {
        write(out, scenario(&rows[0]), &columns, &table, rows)?;
        merged.scenarios += 1;
    }
    Ok(merged)
}

/// Writes the files of a scenario.
fn write(
    out: &Path,
    scenario: &str,
    columns: &Columns,
    table: &Table,
    rows: &[TableRow],
) -> io::Result<()> {
    let folder = out.join(format!("{PARTITION}{}", escaped(scenario)));
    let path = |n: usize| folder.join(format!("part-{n}.{ENDING}"));
    let unwritable = |n: usize, e: io::Error| {
        io::Error::new(e.kind(), format!("cannot write {}: {e}", path(n).display()))
    };
    let mut drafts = Vec::new();
    for (n, rows) in rows.chunks(PART).enumerate() {
        let draft = Draft::of(&path(n)).and_then(|mut draft| {
            columns.write(&mut draft, table, rows)?;
            Ok(draft)
        });
        drafts.push((n, draft.map_err(|e| unwritable(n, e))?));
    }
    // From the last on: rows only move to later files, so that none is missing meanwhile.
    for (n, draft) in drafts.into_iter().rev() {
        draft.keep().map_err(|e| unwritable(n, e))?;
    }
    // What another version may have written; all of it has been read.
    for file in fs::read_dir(&folder)? {
        let file = file?.path();
        let parts = rows.len().div_ceil(PART);
        if file.extension().is_some_and(|e| e == ENDING) && !(0..parts).any(|n| path(n) == file) {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

/// A name as a part of a path, as Hive has it: what could mean something else is `%` and two digits.
fn escaped(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let escape = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}
