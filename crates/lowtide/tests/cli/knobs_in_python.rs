//! Python's options and sections are those of the lab: its classes are made of the same list as the flags.
//! `LOWTIDE_WRITE_KNOBS=1 cargo test -p lowtide --test cli knobs_in_python` writes them after a change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use lowtide_lab::setting::{Takes, keys_of, knobs, options};

use crate::root;

const HEAD: &str = r#""""Options and sections as classes; made of the lab's own list, see `crates/lowtide/tests/cli/knobs_in_python.rs`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, Mapping, Sequence, TypedDict

from ._lowtide import Trace
from ._sections import File, Section, Time
"#;

const OPTIONS: &str = r#"

class Options(TypedDict, total=False):
    """What is simulated: short names as on the command line, whole sections, or both."""

"#;

/// The sections that have a class, and what it says of itself.
const SECTIONS: [(&str, &str, &str); 3] = [
    (
        "link",
        "Link",
        "The bottleneck: exactly one of ``rate``, ``schedule``, ``trace`` and ``model``, and its queue.",
    ),
    (
        "path",
        "Path",
        "The path around the bottleneck: its delay, and what it does to packets.",
    ),
    (
        "flows",
        "Flow",
        "Flows that are alike. In ``compare`` the controllers that are compared take the place of ``controller``.",
    ),
];

/// The type of what a key takes.
fn kind(name: &str, takes: &Takes) -> String {
    match (name, takes) {
        ("trace" | "reverse_trace", _) => "File | Trace".to_string(),
        ("traces" | "delay_trace", _) => "File".to_string(),
        ("parameters", _) => "Mapping[str, bool | int | float | str]".to_string(),
        ("access", _) => "Mapping[str, str | timedelta]".to_string(),
        (_, Takes::Nothing) => "bool".to_string(),
        (_, Takes::Whole) => "int".to_string(),
        (_, Takes::Name(names)) => {
            let names: Vec<String> = names.iter().map(|(name, _)| format!("{name:?}")).collect();
            format!("Literal[{}]", names.join(", "))
        }
        (_, Takes::Texts(_)) => "str | Sequence[str]".to_string(),
        (_, Takes::Text(kind)) => match kind.as_str() {
            "time" | "span" => "Time".to_string(),
            "share" => "str | float".to_string(),
            _ => "str".to_string(),
        },
    }
}

/// The type of an option: of a short name, of a section, or of both.
fn kind_of_option(name: &str, known: &BTreeMap<&str, Takes>) -> String {
    match name {
        "link" | "reverse" => "Link | Mapping[str, Any]".to_string(),
        "path" => "Path | Mapping[str, Any]".to_string(),
        "flows" => "int | Sequence[Flow | Mapping[str, Any]]".to_string(),
        "trace" => "File | Trace | Sequence[File | Trace]".to_string(),
        name => match known.get(name) {
            Some(takes) => kind(name, takes),
            None => "Mapping[str, Any]".to_string(),
        },
    }
}

fn module() -> String {
    let mut text = HEAD.to_string();
    // Writing to a string cannot fail.
    for (section, class, about) in SECTIONS {
        let _ = write!(
            text,
            "\n\n@dataclass(frozen=True, kw_only=True, repr=False)\nclass {class}(Section):\n    \
             \"\"\"{about}\"\"\"\n\n    _name = \"{section}\"\n\n"
        );
        for key in keys_of(section) {
            let kind = kind(&key.name, &key.takes);
            let _ = writeln!(text, "    {}: {kind} | None = None", key.name);
        }
    }
    text += OPTIONS;
    let known = knobs().into_iter().map(|knob| (knob.name, knob.takes));
    let known: BTreeMap<&str, Takes> = known.collect();
    for (name, _) in options() {
        let _ = writeln!(text, "    {name}: {}", kind_of_option(name, &known));
    }
    text
}

#[test]
fn python_has_every_knob_with_its_type() {
    let path = root().join("crates/lowtide-py/python/lowtide/_knobs.py");
    let made = module();
    if std::env::var_os("LOWTIDE_WRITE_KNOBS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    assert!(known == made, "not made of the list; it says:\n{made}");
}
