//! Reading TOML: the text of a file, or values that another language says; what is wrong in it, and at which key.

use std::ops::Range;

use lowtide_cc::registry::nearest;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::problem::Problem;
use super::sections::Sections;

impl Sections {
    /// The sections of a table.
    ///
    /// # Errors
    /// Names the key whose value is wrong.
    pub fn of_values(table: &toml::Table) -> Result<Self, Problem> {
        read(&table.to_string()).map_err(|r| Problem::new(r.key.clone(), r.problem()))
    }
}

/// A text that cannot be read.
pub(crate) struct Refused {
    /// Where in the text, bytes.
    pub(crate) at: usize,
    /// The key there, items of lists by number; empty in what is no TOML.
    pub(crate) key: String,
    /// The reader's message, in one line.
    pub(crate) message: String,
}

impl Refused {
    /// The message, with the name that was meant where another is unknown.
    pub(crate) fn problem(&self) -> String {
        match suggestion(&self.message) {
            Some(meant) => format!("{}; did you mean `{meant}`?", self.message),
            None => self.message.clone(),
        }
    }
}

/// What a text says. Values, too, are read as their text: a second deserializer for all sections made a third
/// of the crate's machine code.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Refused> {
    toml::from_str(text).map_err(|e| {
        let key = e.span().and_then(|span| {
            let table = DeTable::parse(text).ok()?;
            path_to(table.get_ref(), &span)
        });
        Refused {
            at: e.span().map_or(0, |span| span.start),
            key: key.unwrap_or_default().join("."),
            message: e.message().trim().replace('\n', " "),
        }
    })
}

/// The keys that lead to the innermost entry around a span.
fn path_to(table: &DeTable<'_>, span: &Range<usize>) -> Option<Vec<String>> {
    table.iter().find_map(|(key, value)| {
        let inner = match key.span().contains(&span.start) {
            true => Vec::new(),
            false => inside(value.get_ref(), value.span(), span)?,
        };
        Some([vec![key.get_ref().to_string()], inner].concat())
    })
}

fn inside(value: &DeValue<'_>, at: Range<usize>, span: &Range<usize>) -> Option<Vec<String>> {
    let inner = match value {
        // A table's own span is only that of its header.
        DeValue::Table(table) => path_to(table, span),
        DeValue::Array(items) => items.iter().enumerate().find_map(|(n, item)| {
            let inner = inside(item.get_ref(), item.span(), span)?;
            Some([vec![n.to_string()], inner].concat())
        }),
        _ => None,
    };
    let is_itself = at.start <= span.start && span.start < at.end.max(at.start + 1);
    inner.or_else(|| is_itself.then(Vec::new))
}

/// The nearest of the known names in a message about an unknown one.
fn suggestion(message: &str) -> Option<String> {
    let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (wanted, known) = names.split_first()?;
    if !message.starts_with("unknown ") {
        return None;
    }
    nearest(wanted, known.iter().copied()).map(str::to_string)
}

/// Puts a value at a path; a name where there is a list goes into each of its items.
pub(crate) fn put(
    table: &mut toml::Table,
    path: &[&str],
    value: &toml::Value,
) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        return Err("a key is missing".to_string());
    };
    if rest.is_empty() {
        table.insert((*first).to_string(), value.clone());
        return Ok(());
    }
    let inner = table
        .entry((*first).to_string())
        .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    match inner {
        toml::Value::Table(inner) => put(inner, rest, value),
        toml::Value::Array(items) => {
            let (which, rest) = match rest[0].parse::<usize>() {
                Ok(n) => (Some(n), &rest[1..]),
                Err(_) => (None, rest),
            };
            let count = items.len();
            let mut done = false;
            for (n, item) in items.iter_mut().enumerate() {
                if which.is_none_or(|which| which == n) {
                    let toml::Value::Table(item) = item else {
                        return Err(format!("'{first}' is no list of tables"));
                    };
                    put(item, rest, value)?;
                    done = true;
                }
            }
            match (done, which) {
                (true, _) => Ok(()),
                (false, Some(n)) => Err(format!(
                    "there is no '{first}.{n}': they are {count}, counted from 0"
                )),
                (false, None) => Err(format!("there is no '[[{first}]]'")),
            }
        }
        _ => Err(format!("'{first}' has no keys")),
    }
}
