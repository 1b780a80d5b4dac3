//! Names of phases. The lab keeps them as long as the program runs, so that they are few: each is kept once.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use lowtide_cc::state::{State, StateKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The most names of a program.
const MOST: usize = 1_000;
const LONGEST: usize = 64;

static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
static LISTS: Mutex<Vec<&'static [State]>> = Mutex::new(Vec::new());

/// The kept copy of a name.
pub(super) fn name(text: &str) -> PyResult<&'static str> {
    if text.len() > LONGEST {
        let problem = format!("the name of a phase has at most {LONGEST} bytes");
        return Err(PyValueError::new_err(problem));
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(text) {
        return Ok(known);
    }
    if names.len() == MOST {
        let problem = "a phase is one of a few names: values belong elsewhere";
        return Err(PyValueError::new_err(problem));
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    names.insert(kept);
    Ok(kept)
}

/// The kinds by which plots colour a phase.
const KINDS: &[(&str, StateKind)] = &[
    ("steady", StateKind::Steady),
    ("start", StateKind::Start),
    ("drain", StateKind::Drain),
    ("gain-cycle", StateKind::GainCycle),
    ("up", StateKind::Up),
    ("down", StateKind::Down),
    ("probe-rtt", StateKind::ProbeRtt),
    ("recovery", StateKind::Recovery),
    ("outage", StateKind::Outage),
];

/// A class's phases with the kind of each.
pub(super) fn list(phases: &Bound<'_, PyDict>) -> PyResult<&'static [State]> {
    let mut states = Vec::with_capacity(phases.len());
    for (phase, kind) in phases.iter() {
        let (phase, kind): (String, String) = (phase.extract()?, kind.extract()?);
        let known = KINDS.iter().find(|(name, _)| *name == kind);
        let Some((_, kind)) = known else {
            let kinds: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            let problem = format!(
                "phase '{phase}' is of one of the kinds {}, not '{kind}'",
                kinds.join(", ")
            );
            return Err(PyValueError::new_err(problem));
        };
        states.push(State::new(name(&phase)?, *kind));
    }
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lists.iter().find(|known| **known == states) {
        return Ok(known);
    }
    if lists.len() == MOST {
        return Err(PyValueError::new_err("too many lists of phases"));
    }
    let kept: &'static [State] = Box::leak(states.into_boxed_slice());
    lists.push(kept);
    Ok(kept)
}
