//! What a search has tried, in a file, so that it goes on where it was ended.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::network::Network;
use crate::trial::Badness;

/// The first line: whose trials these are.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    form: u32,
    about: String,
}

/// Each other line.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    badness: Badness,
    network: Network,
}

/// Changes with what lines mean.
const FORM: u32 = 3;

/// A file of networks that were tried, and how bad the controller was on them.
#[derive(Debug)]
pub struct Journal {
    file: File,
    known: HashMap<Network, Badness>,
}

/// A file that is not this search's journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal cannot be read or written.
    #[error("{path}: {problem}")]
    Io {
        /// The file.
        path: String,
        /// What is wrong.
        problem: io::Error,
    },
    /// The journal is another search's.
    #[error("{path} has the trials of another search ({about}): name another folder, or delete it")]
    Other {
        /// The file.
        path: String,
        /// Whose trials it has.
        about: String,
    },
    /// A line is none of ours.
    #[error("{path}:{line}: {problem}; delete the line")]
    Line {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

impl Journal {
    /// Opens a file, which need not be there; `about` says whose trials are in it: simulator, controller, goal, reference.
    ///
    /// # Errors
    /// When it cannot be opened, or is another search's.
    pub fn open(path: &Path, about: &str) -> Result<Self, JournalError> {
        let shown = || path.display().to_string();
        let io = |problem| JournalError::Io {
            path: shown(),
            problem,
        };
        let mut open = OpenOptions::new();
        let open = open.read(true).append(true).create(true);
        let mut file = open.open(path).map_err(io)?;
        let head = Head {
            form: FORM,
            about: about.to_string(),
        };
        let mut known = HashMap::new();
        let mut lines = BufReader::new(&file).lines();
        match lines.next().transpose().map_err(io)? {
            None => {
                let line = serde_json::to_string(&head).map_err(|e| io(e.into()))?;
                writeln!(file, "{line}").map_err(io)?;
            }
            Some(first) => {
                let other = |about| JournalError::Other {
                    path: shown(),
                    about,
                };
                let found: Head = serde_json::from_str(&first).map_err(|e| other(e.to_string()))?;
                if found != head {
                    return Err(other(found.about));
                }
                let lines: Vec<String> = lines.collect::<Result<_, _>>().map_err(io)?;
                let count = lines.len();
                for (n, line) in lines.into_iter().enumerate() {
                    match serde_json::from_str::<Line>(&line) {
                        Ok(line) => {
                            known.insert(line.network, line.badness);
                        }
                        // The last one was cut off when the search was killed.
                        Err(_) if n + 1 == count => {}
                        Err(e) => {
                            return Err(JournalError::Line {
                                path: shown(),
                                line: n + 2,
                                problem: e.to_string(),
                            });
                        }
                    }
                }
            }
        }
        Ok(Self { file, known })
    }

    pub(super) fn take_known(&mut self) -> HashMap<Network, Badness> {
        std::mem::take(&mut self.known)
    }

    pub(super) fn note(&mut self, network: &Network, badness: Badness) -> io::Result<()> {
        let line = Line {
            badness,
            network: network.clone(),
        };
        writeln!(self.file, "{}", serde_json::to_string(&line)?)
    }
}
