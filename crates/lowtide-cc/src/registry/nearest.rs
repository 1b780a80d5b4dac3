//! Suggestions for misspelt names.

use alloc::borrow::Borrow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Message that there is nothing called `name`; `known` are the names that there are. `kind` stands
/// before the name with a blank behind it, as in `recipe `, or is empty.
#[must_use]
pub fn unknown<S: Borrow<str>>(kind: &str, name: &str, known: &[S]) -> String {
    let (name, known) = (name.escape_debug(), known.join(", "));
    format!("there is no {kind}'{name}'; known are {known}")
}

/// The name with the smallest edit distance to `wanted`, if it is near enough to be meant.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Long input is not a typing error, and the distance costs the product of the lengths.
    if wanted.len() > 40 {
        return None;
    }
    names
        .map(|name| (edit_distance(wanted, name), name))
        .filter(|(distance, name)| *distance <= name.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein's distance in bytes.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
