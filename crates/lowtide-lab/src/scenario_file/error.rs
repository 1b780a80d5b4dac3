//! What is wrong in a file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::files::ReadError;
use crate::setting::Refused;

/// Why a scenario file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}{key}{}{problem}", if key.is_empty() { "" } else { ": " })]
pub struct FileError {
    /// Where it is wrong.
    pub position: Position,
    /// The key, as in `link.rate`; empty where there is none.
    pub key: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// The file as a whole.
    File(PathBuf),
    /// A line of it and a column, both counted from 1.
    At(PathBuf, usize, usize),
    /// What was varied on top of the file.
    Varied,
    /// The scenario is no file but values.
    Values,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(file) => write!(f, "{}: ", file.display()),
            Self::At(file, line, column) => write!(f, "{}:{line}:{column}: ", file.display()),
            Self::Varied => f.write_str("--vary "),
            Self::Values => Ok(()),
        }
    }
}

impl FileError {
    pub(super) fn unreadable(error: ReadError) -> Self {
        Self {
            position: Position::File(error.file),
            key: String::new(),
            problem: error.problem,
        }
    }
}

/// The most characters of a key that an error shows.
const SHOWN_KEY: usize = 80;

/// A key as an error may show it.
pub(super) fn short(key: &str) -> String {
    match key.char_indices().nth(SHOWN_KEY) {
        None => key.to_string(),
        Some((end, _)) => format!("{}…", &key[..end]),
    }
}

/// A file's text, to find places in it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) file: PathBuf,
    pub(super) text: String,
    /// The scenario is no file but values, whose text nobody wrote.
    pub(super) is_values: bool,
}

impl Source {
    pub(super) fn refused(&self, refused: &Refused) -> FileError {
        self.error(refused.at, refused.key.clone(), refused.problem())
    }

    /// An error of the value at `path`; of what is above it where there is no such value.
    pub(super) fn value_error(&self, path: &[&str], problem: String) -> FileError {
        let at = DeTable::parse(&self.text)
            .map(|table| deepest(table.get_ref(), path))
            .unwrap_or_default();
        self.error(at, path.join("."), problem)
    }

    fn error(&self, at: usize, key: String, problem: String) -> FileError {
        let key = short(&key);
        if self.is_values {
            let position = Position::Values;
            return FileError {
                position,
                key,
                problem,
            };
        }
        let at = at.min(self.text.len());
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
        FileError {
            position: Position::At(self.file.clone(), line, column),
            key,
            problem,
        }
    }

    /// The folder from which the file means its paths: its own.
    pub(super) fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

/// Where the value at `path` begins, or as much of the path as there is.
fn deepest(table: &DeTable<'_>, path: &[&str]) -> usize {
    let Some((first, rest)) = path.split_first() else {
        return 0;
    };
    let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == first) else {
        return 0;
    };
    let mut at = key.span().start;
    let (mut value, mut rest) = (value, rest);
    while let Some((next, further)) = rest.split_first() {
        let found = match value.get_ref() {
            DeValue::Table(table) => table
                .iter()
                .find(|(key, _)| key.get_ref() == next)
                .map(|(key, value)| (key.span().start, value)),
            DeValue::Array(items) => next
                .parse::<usize>()
                .ok()
                .and_then(|n| items.get(n))
                .map(|item| (item.span().start, item)),
            _ => None,
        };
        let Some((start, found)) = found else {
            break;
        };
        (at, value, rest) = (start, found, further);
    }
    at
}
