//! Results that outlive a run: one line of JSON each, appended as soon as it is known.
//!
//! A sweep that is stopped, however abruptly, loses no more than the runs that were under way.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::metrics::Named;

/// Name of the file in its folder.
pub const FILE: &str = "results.jsonl";

#[derive(Serialize, Deserialize)]
struct Line {
    /// Key of program and cell.
    key: String,
    seed: u64,
    /// For people.
    cell: String,
    values: Named,
}

/// Results in a folder.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    /// What made the results: another program's are not taken for its own.
    program: Key,
    known: HashMap<(String, u64), Named>,
    file: Mutex<File>,
}

impl Store {
    /// Opens the results in `folder`, or begins them. A last line that was cut off is left out.
    ///
    /// # Errors
    /// When the folder or the file cannot be made, read or written.
    pub fn open(folder: &Path, program: Key) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(FILE);
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        let mut known = HashMap::new();
        for line in bytes.split(|b| *b == b'\n') {
            if let Ok(line) = serde_json::from_slice::<Line>(line) {
                known.insert((line.key, line.seed), line.values);
            }
        }
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }
        Ok(Self {
            path,
            program,
            known,
            file: Mutex::new(file),
        })
    }

    fn key(&self, cell: Key) -> String {
        Key::of(&[
            self.program.to_string().as_bytes(),
            cell.to_string().as_bytes(),
        ])
        .to_string()
    }

    /// Where the results are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What an earlier run gave.
    #[must_use]
    pub fn get(&self, cell: Key, seed: u64) -> Option<&Named> {
        self.known.get(&(self.key(cell), seed))
    }

    /// Appends a result.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, cell: Key, name: &str, seed: u64, values: &Named) -> io::Result<()> {
        let line = Line {
            key: self.key(cell),
            seed,
            cell: name.to_string(),
            values: values.clone(),
        };
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (program, cell) = (Key::of(&[b"program"]), Key::of(&[b"cell"]));
        let values = |v: f64| Named::from([("throughput_mbps".to_string(), v)]);
        let store = Store::open(folder.path(), program).unwrap();
        store.put(cell, "a", 1, &values(1.5)).unwrap();
        store.put(cell, "a", 2, &values(2.5)).unwrap();
        let path = store.path().to_path_buf();
        drop(store);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 7]).unwrap();

        let store = Store::open(folder.path(), program).unwrap();
        assert_eq!(store.get(cell, 1), Some(&values(1.5)));
        assert_eq!(store.get(cell, 2), None);
        store.put(cell, "a", 2, &values(2.5)).unwrap();
        drop(store);
        let store = Store::open(folder.path(), program).unwrap();
        assert_eq!(store.get(cell, 2), Some(&values(2.5)));
        // Another cell, and the results of another program, are not known.
        assert_eq!(store.get(Key::of(&[b"other"]), 1), None);
        let other = Store::open(folder.path(), Key::of(&[b"newer"])).unwrap();
        assert_eq!(other.get(cell, 1), None);
    }
}
