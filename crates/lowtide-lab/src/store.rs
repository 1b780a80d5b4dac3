//! Results that outlive a run: one line of JSON each, appended as soon as it is known.
//!
//! A sweep that is stopped, however abruptly, loses no more than the runs that were under way. Each
//! line ends in a checksum, so that one that was damaged or edited is not believed.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::metrics::Named;

/// Name of the file in its folder.
pub const FILE: &str = "results.jsonl";

/// The longest line that is read: 10,000 groups of flows take less.
const MAX_LINE: u64 = 32 << 20;

#[derive(Serialize, Deserialize)]
struct Line {
    /// Key of program and cell.
    key: String,
    seed: u64,
    /// For people.
    cell: String,
    values: Named,
}

impl Line {
    /// What stands between the values and the checksum.
    const CHECK: &str = ",\"check\":\"";
    /// What stands behind the checksum.
    const END: &str = "\"}";
    /// Hexadecimal digits of a checksum.
    const DIGITS: usize = 32;

    /// The line as it is kept; its last key is the checksum of the object without it.
    fn text(&self) -> io::Result<String> {
        let mut text = serde_json::to_string(self)?;
        let check = Key::of(&[text.as_bytes()]);
        text.pop();
        Ok(format!("{text}{}{check}{}\n", Self::CHECK, Self::END))
    }

    /// `None` where the checksum is not the line's.
    fn of(text: &[u8]) -> Option<Self> {
        let body = text.strip_suffix(Self::END.as_bytes())?;
        let (body, check) = body.split_at_checked(body.len().checked_sub(Self::DIGITS)?)?;
        let body = [body.strip_suffix(Self::CHECK.as_bytes())?, b"}"].concat();
        if Key::of(&[&body]).to_string().as_bytes() != check {
            return None;
        }
        serde_json::from_slice(&body).ok()
    }
}

/// Results in a folder.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    /// What made the results: another program's are not taken for its own.
    program: Key,
    known: HashMap<(String, u64), Named>,
    damaged: usize,
    out: Mutex<Out>,
}

/// Where new results go.
#[derive(Debug)]
struct Out {
    file: File,
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
    /// When the folder or the file cannot be made, read or written.
    pub fn open(folder: &Path, program: Key, cells: &[Key]) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(FILE);
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            let problem = format!("{FILE} in it is no file: take another folder");
            return Err(io::Error::other(problem));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)?;
        let wanted: HashSet<String> = cells.iter().map(|cell| key(program, *cell)).collect();
        let (mut known, mut damaged) = (HashMap::new(), 0);
        let mut reader = BufReader::new(&file);
        let mut line = Vec::new();
        let mut is_whole = true;
        while reader
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)?
            > 0
        {
            is_whole = line.pop_if(|last| *last == b'\n').is_some();
            match Line::of(&line) {
                Some(line) if wanted.contains(&line.key) => {
                    known.insert((line.key, line.seed), line.values);
                }
                // A cell that is not wanted, or what a failed write left.
                Some(_) => {}
                None if line.is_empty() => {}
                None => damaged += 1,
            }
            line.clear();
        }
        if !is_whole {
            file.write_all(b"\n")?;
        }
        Ok(Self {
            path,
            program,
            known,
            damaged,
            out: Mutex::new(Out {
                file,
                kept: 0,
                lost: 0,
                problem: None,
            }),
        })
    }

    /// Where the results are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many lines were left out because they were cut off or changed.
    #[must_use]
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// What an earlier run gave.
    #[must_use]
    pub fn get(&self, cell: Key, seed: u64) -> Option<&Named> {
        self.known.get(&(key(self.program, cell), seed))
    }

    /// Appends a result. One that cannot be kept is counted, and costs no other.
    pub fn put(&self, cell: Key, name: &str, seed: u64, values: &Named) {
        let line = Line {
            key: key(self.program, cell),
            seed,
            cell: name.to_string(),
            values: values.clone(),
        };
        let text = line.text();
        let mut out = self.lock();
        match text.and_then(|text| out.append(&self.path, &text)) {
            Ok(()) => out.kept += 1,
            Err(problem) => {
                out.lost += 1;
                out.problem.get_or_insert_with(|| problem.to_string());
            }
        }
    }

    /// Why results are not kept, in a sentence; `None` while all of them are.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let mut out = self.lock();
        if out.problem.is_none() {
            out.problem = out.is_at(&self.path).err().map(|e| e.to_string());
        }
        let problem = out.problem.as_ref()?;
        let lost = match out.lost {
            0 => String::new(),
            lost => format!("; {lost} new results are not kept"),
        };
        Some(format!("{}: {problem}{lost}", self.path.display()))
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
    /// Fails where the file is not, or no longer, the one at its path: what is written into one that
    /// was deleted nobody finds again.
    fn is_at(&self, path: &Path) -> io::Result<()> {
        let gone = || {
            let problem = "it was deleted or replaced while results were kept in it";
            Err(io::Error::new(ErrorKind::NotFound, problem))
        };
        match fs::metadata(path) {
            Ok(there) if are_same(&there, &self.file.metadata()?) => Ok(()),
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
            _ => gone(),
        }
    }

    fn append(&mut self, path: &Path, text: &str) -> io::Result<()> {
        self.is_at(path)?;
        self.file.write_all(text.as_bytes()).inspect_err(|_| {
            // The next line must not continue what was written of this one.
            let _ = self.file.write_all(b"\n");
        })
    }
}

fn key(program: Key, cell: Key) -> String {
    Key::of(&[program.to_string().as_bytes(), cell.to_string().as_bytes()]).to_string()
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
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (program, cell) = (Key::of(&[b"program"]), Key::of(&[b"cell"]));
        let values = |v: f64| Named::from([("throughput_mbps".to_string(), v)]);
        let store = Store::open(folder.path(), program, &[cell]).unwrap();
        store.put(cell, "a", 1, &values(1.5));
        store.put(cell, "a", 2, &values(2.5));
        let path = store.path().to_path_buf();
        drop(store);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();

        let store = Store::open(folder.path(), program, &[cell]).unwrap();
        assert_eq!(store.damaged(), 1);
        assert_eq!(store.get(cell, 1), Some(&values(1.5)));
        assert_eq!(store.get(cell, 2), None);
        store.put(cell, "a", 2, &values(2.5));
        assert_eq!(store.problem(), None);
        drop(store);
        let store = Store::open(folder.path(), program, &[cell]).unwrap();
        assert_eq!(store.get(cell, 2), Some(&values(2.5)));
        // Another cell, and the results of another program, are not known.
        assert_eq!(store.get(Key::of(&[b"other"]), 1), None);
        let other = Store::open(folder.path(), Key::of(&[b"newer"]), &[cell]).unwrap();
        assert_eq!(other.get(cell, 1), None);
    }

    #[test]
    fn no_single_byte_of_a_line_can_change_unseen() {
        let line = Line {
            key: "k".to_string(),
            seed: 1,
            cell: "a".to_string(),
            values: Named::from([("throughput_mbps".to_string(), 1.5)]),
        };
        let text = line.text().unwrap();
        let text = text.trim_end().as_bytes();
        assert_eq!(Line::of(text).unwrap().values, line.values);
        for n in 0..text.len() {
            let mut changed = text.to_vec();
            changed[n] ^= 1;
            assert!(Line::of(&changed).is_none(), "byte {n}");
        }
    }
}
