//! What is kept of a run, as a line of JSON that ends in a checksum, so that one that was damaged or edited is not believed.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::metrics::Named;
use crate::scenario_file::Cell;

/// The labels of a cell by their keys: its case and its values of the sweep.
pub(super) type Labels = BTreeMap<String, String>;

/// Under which names a run's values are kept. A simulation that two scenarios ask for is a row of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Name {
    /// The scenario file.
    pub(super) scenario: String,
    /// Controller that sends.
    pub(super) controller: String,
    /// The cell.
    pub(super) labels: Labels,
}

impl Name {
    /// The names of a cell.
    #[must_use]
    pub(super) fn of(cell: &Cell) -> Self {
        Self {
            scenario: cell.scenario.to_string(),
            controller: cell.controllers(),
            labels: cell.labels.iter().cloned().collect(),
        }
    }
}

/// Where a row was found, for people.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) file: &'a Path,
    /// The line, or row, of the file, from 1.
    pub(super) at: u64,
}

/// What is kept of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    /// What keys and checksums are made of.
    pub(super) form: u32,
    /// The [simulator](crate::simulator) that made it.
    #[serde(with = "as_text")]
    pub(super) simulator: Key,
    /// The cell, by content.
    #[serde(with = "as_text")]
    pub(super) key: Key,
    /// The run's seed.
    pub(super) seed: u64,
    /// Names of the cell and its labels.
    pub(super) name: Name,
    /// What was measured.
    pub(super) values: Named,
}

impl Row {
    /// The form of lines, which is the first thing that they say.
    pub(super) const FORM: u32 = 2;
    /// What stands between the values and the checksum.
    const CHECK: &str = ",\"check\":\"";
    /// What stands behind the checksum.
    const END: &str = "\"}";
    /// What lines began with before they said their form.
    const OLD: &[u8] = b"{\"simulator\":";
    /// Hexadecimal digits of a checksum.
    const DIGITS: usize = 32;

    /// What is kept of a cell's run.
    pub(super) fn new(simulator: Key, cell: &Cell, seed: u64, values: Named) -> Self {
        Self {
            form: Self::FORM,
            simulator,
            key: cell.key,
            seed,
            name: Name::of(cell),
            values,
        }
    }

    /// The line, without its end; its last key is the checksum of the object without it.
    ///
    /// # Errors
    /// When a value is not finite.
    pub(super) fn text(&self) -> io::Result<String> {
        let mut text = serde_json::to_string(self)?;
        let check = Key::of(&[text.as_bytes()]);
        text.pop();
        Ok(format!("{text}{}{check}{}", Self::CHECK, Self::END))
    }

    /// `None` where the checksum is not the line's.
    pub(super) fn of(text: &[u8]) -> Option<Kept> {
        if text.starts_with(Self::OLD) {
            return Some(Kept::Old);
        }
        let body = text.strip_suffix(Self::END.as_bytes())?;
        let (body, check) = body.split_at_checked(body.len().checked_sub(Self::DIGITS)?)?;
        let body = [body.strip_suffix(Self::CHECK.as_bytes())?, b"}"].concat();
        if Key::of(&[&body]).to_string().as_bytes() != check {
            return None;
        }
        Some(match serde_json::from_slice(&body) {
            Ok(row) => Kept::Row(row),
            Err(_) => Kept::Foreign,
        })
    }
}

/// What a whole line holds.
#[derive(Debug)]
pub(super) enum Kept {
    Row(Row),
    /// A line of another version.
    Foreign,
    /// A line of a version whose keys were of what was written, and not of what was simulated.
    Old,
}

mod as_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::key::Key;

    pub(super) fn serialize<S: Serializer>(key: &Key, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(key)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Key, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(|_| D::Error::custom("no key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_single_byte_of_a_line_can_change_unseen() {
        let row = Row {
            form: Row::FORM,
            simulator: Key::of(&[b"simulator"]),
            key: Key::of(&[b"cell"]),
            seed: 1,
            name: Name {
                scenario: "s".to_string(),
                controller: "bbr".to_string(),
                labels: Labels::from([("link.buffer".to_string(), "1bdp".to_string())]),
            },
            values: Named::from([("throughput_mbps".to_string(), 1.5)]),
        };
        let text = row.text().unwrap();
        let Some(Kept::Row(read)) = Row::of(text.as_bytes()) else {
            panic!("not read: {text}");
        };
        assert_eq!(read, row);
        for n in 0..text.len() {
            let mut changed = text.as_bytes().to_vec();
            changed[n] ^= 1;
            assert!(Row::of(&changed).is_none(), "byte {n}");
        }
    }
}
