//! What options are, in the words that the schema of scenario files has for their keys.

use std::sync::LazyLock;

use serde_json::Value;

use super::sections::Sections;
use super::short::{SECTIONS, SHORT, SHORT_FOR_MORE};

/// What an option takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is said or not.
    Nothing,
    /// A whole number.
    Whole,
    /// One of these names, each with what it is.
    Name(Vec<(String, String)>),
    /// A text of this kind, as in `rate`.
    Text(String),
    /// One or several texts of this kind.
    Texts(String),
}

/// An option that stands for one value of a setting, or for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Its short name.
    pub name: &'static str,
    /// The section whose value it is: that of its heading in a list of options.
    pub section: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it is, in sentences.
    pub about: String,
}

/// All options with a short name, in the order in which they should be shown.
#[must_use]
pub fn knobs() -> Vec<Knob> {
    let schema = schema();
    let more = SHORT_FOR_MORE.iter().map(|(name, about)| Knob {
        name,
        section: match *name {
            "reverse_cc" | "reverse_flows" => "flows",
            _ => "link",
        },
        takes: match *name {
            "reverse_flows" => Takes::Whole,
            "trace" => Takes::Texts("file".to_string()),
            "traces" => Takes::Text("dir".to_string()),
            _ => Takes::Text("name".to_string()),
        },
        about: (*about).to_string(),
    });
    let short = SHORT.iter().map(|(name, key)| {
        let section = SECTIONS.iter().find(|s| key.split('.').next() == Some(s));
        Knob {
            name,
            section: section.copied().unwrap_or_default(),
            takes: takes(schema, property(schema, key)),
            about: about(schema, key),
        }
    });
    more.chain(short).collect()
}

/// What a value's schema lets it be.
fn takes(schema: &Value, of: &Value) -> Takes {
    let is = |kind: &str| match of.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|k| k == kind),
        other => other.is_some_and(|k| k == kind),
    };
    if is("boolean") {
        return Takes::Nothing;
    }
    if is("integer") {
        return Takes::Whole;
    }
    if is("array") {
        return Takes::Texts("what".to_string());
    }
    let either = of.get("anyOf").and_then(Value::as_array);
    let named = either.into_iter().flatten().chain([of]);
    let Some(path) = named.filter_map(|one| one.get("$ref")?.as_str()).next() else {
        return Takes::Text("text".to_string());
    };
    let definition = schema.pointer(path.trim_start_matches('#'));
    let names = definition.and_then(|d| d.get("oneOf")?.as_array());
    match names {
        Some(names) => {
            let name = |one: &Value| {
                let name = one.get("const")?.as_str()?;
                Some((name.to_string(), said(one).unwrap_or_default()))
            };
            Takes::Name(names.iter().filter_map(name).collect())
        }
        None => {
            let kind = path.rsplit('/').next().unwrap_or_default();
            Takes::Text(kind.trim_end_matches("Text").to_lowercase())
        }
    }
}

/// What the value of a key is; of the way back it says so.
fn about(schema: &Value, key: &str) -> String {
    let text = description(schema, key).unwrap_or_default();
    match key.strip_prefix("reverse.").and(text.chars().next()) {
        None => text,
        Some(first) => format!(
            "Of the way back: {}{}",
            first.to_lowercase(),
            &text[first.len_utf8()..]
        ),
    }
}

/// All options of [`Brief`](super::Brief) with what they are: sections, short names, and those for more than one key.
#[must_use]
pub fn options() -> Vec<(&'static str, String)> {
    let schema = schema();
    let text = |key: &str| description(schema, key).unwrap_or_default();
    let sections = SECTIONS.iter().filter(|name| **name != "flows");
    let sections = sections.map(|name| (*name, text(name)));
    let more = SHORT_FOR_MORE
        .iter()
        .map(|(name, about)| (*name, (*about).to_string()));
    let short = SHORT.iter().map(|(short, key)| match *short {
        // The one name that is both.
        "flows" => ("flows", format!("{} Or: {}", text(key), text("flows"))),
        short => (short, about(schema, key)),
    });
    sections.chain(more).chain(short).collect()
}

/// A key of a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What it is called in files.
    pub name: String,
    /// What it takes.
    pub takes: Takes,
    /// What it is, in sentences.
    pub about: String,
}

/// The keys of a section.
#[must_use]
pub fn keys_of(section: &str) -> Vec<Key> {
    let schema = schema();
    let Some(Value::Object(keys)) = object(schema, property(schema, section))
        .get("properties")
        .cloned()
    else {
        return Vec::new();
    };
    let key = |(name, of): (String, Value)| Key {
        name,
        takes: takes(schema, &of),
        about: said(&of).unwrap_or_default(),
    };
    keys.into_iter().map(key).collect()
}

/// The schema of all sections, made when somebody first asks: each command's flags do.
fn schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| schemars::schema_for!(Sections).to_value());
    &SCHEMA
}

/// What a value itself says of what it is, in one paragraph.
fn said(of: &Value) -> Option<String> {
    let text = of.get("description")?.as_str()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn description(schema: &Value, key: &str) -> Option<String> {
    said(property(schema, key))
}

/// What the schema says of a key such as `link.rate`; null where there is none.
fn property<'a>(schema: &'a Value, key: &str) -> &'a Value {
    key.split('.').fold(schema, |of, part| {
        let known = object(schema, of).get("properties");
        known
            .and_then(|known| known.get(part))
            .unwrap_or(&Value::Null)
    })
}

/// The definition that has a value's keys: its own, that of the items of a list, or of what may be left out.
fn object<'a>(schema: &'a Value, of: &'a Value) -> &'a Value {
    if let Some(path) = of.get("$ref").and_then(Value::as_str) {
        let path = path.trim_start_matches('#');
        return schema.pointer(path).unwrap_or(&Value::Null);
    }
    if let Some(items) = of.get("items") {
        return object(schema, items);
    }
    let any = of.get("anyOf").and_then(Value::as_array);
    let mut any = any.into_iter().flatten().map(|one| object(schema, one));
    any.find(|one| one.get("properties").is_some())
        .unwrap_or(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_and_every_key_says_what_it_is() {
        let all = options();
        assert!(all.iter().all(|(_, text)| text.ends_with('.')), "{all:#?}");
        let of = |name| &all.iter().find(|(n, _)| *n == name).unwrap().1;
        assert_eq!(of("rate"), "A constant rate, as in `100mbit`.");
        let access = of("access_rate");
        assert!(access.contains("sender"), "{access}");
        for section in ["link", "path", "run", "flows"] {
            let keys = keys_of(section);
            assert!(keys.iter().all(|key| !key.about.is_empty()), "{keys:#?}");
            assert!(keys.len() > 4, "{keys:#?}");
        }
    }
}
