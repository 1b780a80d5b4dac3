//! The lab for JavaScript. Settings come in, and results go out, as JSON in the grammar of scenario files;
//! what is wrong is thrown as the JSON of a [`Wrong`].
//!
//! There are no threads in WebAssembly without shared memory, which a static page cannot have. Runs are
//! therefore made by workers, each with an instance of its own that is given the same [`Comparison`]: one
//! says which runs are due, the others make them, and the first takes what came of them.
//! `web/lowtide` has the JavaScript that does so.

mod comparison;

use std::cell::RefCell;
use std::panic;

use lowtide_lab::catalogue;
use lowtide_lab::contender::Contenders;
use lowtide_lab::setting::{SHORT, Takes, knobs as knobs_of_settings};
use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

pub use self::comparison::{Comparison, Files, Wrong};

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes what a panic says: what JavaScript sees of one is a trap without words.
#[wasm_bindgen(start)]
pub fn start() {
    panic::set_hook(Box::new(|panic| {
        PANIC.with(|said| *said.borrow_mut() = Some(panic.to_string()));
    }));
}

/// What the panic said that has stopped this instance; nothing else may be asked of it.
#[wasm_bindgen(js_name = lastPanic)]
#[must_use]
pub fn last_panic() -> Option<String> {
    PANIC.with(|said| said.borrow().clone())
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The controllers, with parameters, as `lowtide list --json` prints it.
#[wasm_bindgen]
#[must_use]
pub fn controllers() -> String {
    json(&catalogue::controllers(&Contenders::default()))
}

/// The queue disciplines, as `lowtide list queues --json` prints them.
#[wasm_bindgen]
#[must_use]
pub fn queues() -> String {
    json(&catalogue::queues())
}

/// The models of generated links.
#[wasm_bindgen]
#[must_use]
pub fn models() -> String {
    json(&catalogue::models())
}

/// The built-in scenarios with their sections.
#[wasm_bindgen]
#[must_use]
pub fn scenarios() -> String {
    json(&catalogue::scenarios())
}

/// A value of a setting that has a short name.
#[derive(Serialize)]
struct ListedKnob {
    /// Its short name.
    name: &'static str,
    /// The key that it fills; empty where it stands for more than one.
    key: &'static str,
    /// What it takes: `nothing`, `whole`, `name`, or the kind of its text, as in `rate`.
    takes: String,
    /// The names that it takes.
    words: Vec<String>,
    /// What it is, in sentences.
    about: String,
}

/// The values of a setting that have short names, as flags have them.
#[wasm_bindgen]
#[must_use]
pub fn knobs() -> String {
    let listed = knobs_of_settings().into_iter().map(|knob| {
        let key = SHORT.iter().find(|(name, _)| *name == knob.name);
        let (takes, words) = match knob.takes {
            Takes::Nothing => ("nothing".to_string(), Vec::new()),
            Takes::Whole => ("whole".to_string(), Vec::new()),
            Takes::Name(names) => {
                let words = names.into_iter().map(|(name, _)| name);
                ("name".to_string(), words.collect())
            }
            Takes::Text(kind) | Takes::Texts(kind) => (kind, Vec::new()),
        };
        ListedKnob {
            name: knob.name,
            key: key.map_or("", |(_, key)| key),
            takes,
            words,
            about: knob.about,
        }
    });
    json(&listed.collect::<Vec<_>>())
}
