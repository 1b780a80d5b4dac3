//! Sections that are values already, and no text: what another language says.

use lowtide_cc::registry::nearest;
use serde::Deserialize;

use super::problem::Problem;
use super::sections::Sections;

impl Sections {
    /// The sections of a table.
    ///
    /// # Errors
    /// Names the key whose value is wrong.
    pub fn of_values(table: toml::Table) -> Result<Self, Problem> {
        of_values(table)
    }
}

/// What a table says.
pub(crate) fn of_values<T: for<'de> Deserialize<'de>>(table: toml::Table) -> Result<T, Problem> {
    serde_path_to_error::deserialize(toml::Value::Table(table)).map_err(|e| {
        let mut problem = e.inner().message().trim().replace('\n', " ");
        if let Some(meant) = suggestion(&problem) {
            problem.push_str(&format!("; did you mean `{meant}`?"));
        }
        // Groups have their number as a part of the key: `flows.0.every`.
        let path = e.path().to_string().replace('[', ".").replace(']', "");
        Problem::new(path.trim_start_matches('.'), problem)
    })
}

/// The nearest of the known names in a message about an unknown one.
pub(crate) fn suggestion(message: &str) -> Option<String> {
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
