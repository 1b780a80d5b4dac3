//! Results that outlive a run.
//!
//! A store is a folder. Each process that makes runs appends them to a file of its own, a line of JSON
//! each as soon as it is known: a sweep that is stopped, however abruptly, loses no more than the runs that were
//! under way, and no two processes write to one file, which shared file systems do not bear. `merge`
//! lands what many processes have kept in Parquet, which is small, and read by all that read tables; it
//! cannot be appended to and is whole or nothing. Both are read where a sweep goes on.

mod folder;
mod merge;
mod parquet;
mod row;
mod table;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use self::folder::LeftOut;
pub use self::merge::{MergeError, Merged, merge};
use self::row::{Kept, Name, Row};
pub use self::table::in_order;
use crate::key::Key;
use crate::metrics::Named;
use crate::scenario_file::Cell;

/// Results in a folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// What made the results: another simulator's are not taken for its own.
    simulator: Key,
    known: HashMap<(Key, u64), Known>,
    left_out: LeftOut,
    out: Mutex<Out>,
}

/// What an earlier run gave.
#[derive(Debug)]
struct Known {
    values: Named,
    /// Under which names.
    names: HashSet<Name>,
}

/// Where new results go.
#[derive(Debug)]
struct Out {
    folder: PathBuf,
    /// This process's own file, from its first result on.
    own: Option<(PathBuf, File)>,
    kept: u64,
    lost: u64,
    /// Why the first of the lost ones was.
    problem: Option<String>,
}

impl Store {
    /// Opens the results in `folder`, or begins them, and reads those of these cells. Lines that were
    /// cut off or changed are left out.
    ///
    /// # Errors
    /// When the folder or its files cannot be made or read.
    pub fn open<'a>(
        folder: &Path,
        simulator: Key,
        cells: impl IntoIterator<Item = &'a Cell>,
    ) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let wanted: HashSet<Key> = cells.into_iter().map(|cell| cell.key).collect();
        let mut known: HashMap<(Key, u64), Known> = HashMap::new();
        let mut left_out = LeftOut::default();
        for file in folder::files(folder)? {
            left_out += folder::read(&file, &mut |_, row| {
                if row.simulator == simulator && wanted.contains(&row.key) {
                    let known = known.entry((row.key, row.seed)).or_insert_with(|| Known {
                        values: row.values,
                        names: HashSet::new(),
                    });
                    known.names.insert(row.name);
                }
                Ok::<(), io::Error>(())
            })?;
        }
        Ok(Self {
            folder: folder.to_path_buf(),
            simulator,
            known,
            left_out,
            out: Mutex::new(Out {
                folder: folder.to_path_buf(),
                own: None,
                kept: 0,
                lost: 0,
                problem: None,
            }),
        })
    }

    /// Where the results are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lines that are not taken for results.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// What an earlier run gave.
    #[must_use]
    pub fn get(&self, cell: Key, seed: u64) -> Option<&Named> {
        self.known.get(&(cell, seed)).map(|known| &known.values)
    }

    /// What an earlier run gave, which is kept under the names of this cell, too, where it was another that
    /// it was made for.
    #[must_use]
    pub fn take(&self, cell: &Cell, seed: u64) -> Option<&Named> {
        let known = self.known.get(&(cell.key, seed))?;
        let name = Name::of(cell);
        if !known.names.contains(&name) {
            let row = self.row(cell, seed, known.values.clone());
            let mut out = self.lock();
            if let Err(problem) = row.text().and_then(|text| out.append(&text)) {
                out.problem.get_or_insert_with(|| problem.to_string());
            }
        }
        Some(&known.values)
    }

    /// Appends a result. One that cannot be kept is counted, and costs no other.
    pub fn put(&self, cell: &Cell, seed: u64, values: &Named) {
        self.append(self.row(cell, seed, values.clone()).text());
    }

    /// Appends the [`line`](fn@line) of a run that another process has made; whether it is kept. One of another run
    /// or simulator, or a damaged one, is not.
    pub fn put_line(&self, cell: &Cell, seed: u64, text: &str) -> bool {
        let is_right =
            |row: &Row| (row.simulator, row.key, row.seed) == (self.simulator, cell.key, seed);
        let text = match Row::of(text.as_bytes()) {
            Some(Kept::Row(row)) if is_right(&row) => Ok(text.to_string()),
            _ => Err(io::Error::other(format!(
                "what came back of {} with seed {seed} is not its result",
                cell.name()
            ))),
        };
        self.append(text)
    }

    fn row(&self, cell: &Cell, seed: u64, values: Named) -> Row {
        Row::new(self.simulator, cell, seed, values)
    }

    /// Appends a line; whether it is kept.
    fn append(&self, text: io::Result<String>) -> bool {
        let mut out = self.lock();
        match text.and_then(|text| out.append(&text)) {
            Ok(()) => out.kept += 1,
            Err(problem) => {
                out.lost += 1;
                out.problem.get_or_insert_with(|| problem.to_string());
                return false;
            }
        }
        true
    }

    /// Why results are not kept, in a sentence; `None` while all of them are.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let mut out = self.lock();
        if out.problem.is_none() {
            out.problem = out.is_there().err().map(|e| e.to_string());
        }
        let problem = out.problem.as_ref()?;
        let lost = match out.lost {
            0 => String::new(),
            lost => format!("; {lost} new results are not kept"),
        };
        Some(format!("{}: {problem}{lost}", out.place().display()))
    }

    /// How many new results are kept.
    pub fn kept(&self) -> u64 {
        self.lock().kept
    }

    /// How many new results are kept. Waits until no line is under way and lets none begin, nor any
    /// other call end: for a process that is about to end itself.
    pub fn stop(&self) -> u64 {
        let out = self.lock();
        let kept = out.kept;
        std::mem::forget(out);
        kept
    }

    fn lock(&self) -> MutexGuard<'_, Out> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Out {
    /// The file, or the folder where there is none yet.
    fn place(&self) -> &Path {
        self.own.as_ref().map_or(&self.folder, |(path, _)| path)
    }

    /// Fails where the file is not, or no longer, the one at its path: what is written into one that
    /// was deleted nobody finds again.
    fn is_there(&self) -> io::Result<()> {
        let gone = || {
            let problem = "it was deleted or replaced while results were kept in it";
            Err(io::Error::new(ErrorKind::NotFound, problem))
        };
        let own = self.own.as_ref().map(|(_, file)| file.metadata());
        match (fs::metadata(self.place()), own.transpose()?) {
            (Ok(there), Some(own)) if are_same(&there, &own) => Ok(()),
            (Ok(_), None) => Ok(()),
            (Err(e), _) if e.kind() != ErrorKind::NotFound => Err(e),
            _ => gone(),
        }
    }

    fn append(&mut self, text: &str) -> io::Result<()> {
        self.is_there()?;
        let file = match &mut self.own {
            Some((_, file)) => file,
            none => &mut none.insert(begin(&self.folder)?).1,
        };
        file.write_all(format!("{text}\n").as_bytes())
            .inspect_err(|_| {
                // The next line must not continue what was written of this one.
                let _ = file.write_all(b"\n");
            })
    }
}

/// What is kept of a run, for [`Store::put_line`] in another process.
///
/// # Errors
/// When a value is not finite.
pub fn line(simulator: Key, cell: &Cell, seed: u64, values: &Named) -> io::Result<String> {
    Row::new(simulator, cell, seed, values.clone()).text()
}

/// A new file whose name no other process has, whichever machine it runs on.
fn begin(folder: &Path) -> io::Result<(PathBuf, File)> {
    let mut own = tempfile::Builder::new();
    own.prefix("results-").rand_bytes(10);
    let ending = format!(".{}", folder::LINES);
    own.suffix(&ending);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Of this the user's mask leaves what any new file has.
        own.permissions(fs::Permissions::from_mode(0o666));
    }
    let (file, path) = own.tempfile_in(folder)?.keep()?;
    // As its user calls the folder.
    Ok((folder.join(path.file_name().unwrap_or_default()), file))
}

#[cfg(unix)]
fn are_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a file that is open cannot be deleted.
#[cfg(not(unix))]
fn are_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests;
