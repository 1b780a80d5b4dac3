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
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use self::comparison::{About, Question, Underway, Wrong};

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

fn thrown(wrong: Wrong) -> JsValue {
    JsValue::from_str(&json(&wrong))
}

/// Who can send, with parameters, as `lowtide list --json` prints it.
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

/// Files that a question names.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Files(Vec<(String, Vec<u8>)>);

#[wasm_bindgen]
impl Files {
    /// None.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more, with what is in it.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.0.push((name, bytes));
    }
}

/// A comparison under way. Its runs have numbers, which are the same in every instance.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Comparison(Underway);

#[wasm_bindgen]
impl Comparison {
    /// `question`: the JSON of a [`Question`]; `files`: traces that it names, in the formats of the command
    /// line.
    ///
    /// # Errors
    /// Throws what is wrong with the question or a file.
    #[wasm_bindgen(constructor)]
    pub fn new(question: &str, files: &Files) -> Result<Self, JsValue> {
        Underway::new(question, &files.0).map(Self).map_err(thrown)
    }

    /// What is compared and how much work that is, as JSON.
    #[must_use]
    pub fn about(&self) -> String {
        json(&self.0.about())
    }

    /// The numbers of the runs that can be made now, each named once. When there are none although all
    /// that were due are done, the comparison is at its end.
    #[must_use]
    pub fn due(&mut self) -> Vec<u32> {
        self.0.due()
    }

    /// Makes a run: what an instance of this version takes.
    ///
    /// # Errors
    /// Throws why it did not come to its end.
    pub fn make(&self, run: u32) -> Result<Vec<u8>, JsValue> {
        self.0.make(run).map_err(thrown)
    }

    /// Takes a run that was made, in whatever instance.
    ///
    /// # Errors
    /// Throws when these bytes are none.
    pub fn take(&mut self, run: u32, bytes: &[u8]) -> Result<(), JsValue> {
        self.0.take(run, bytes).map_err(thrown)
    }

    /// A run did not come to its end.
    pub fn fail(&mut self, run: u32, reason: &str) {
        self.0.fail(run, reason);
    }

    /// What is known so far, as `lowtide compare --json --no-timing` prints it.
    #[must_use]
    pub fn json(&self) -> String {
        self.0.json()
    }

    /// What is known so far, as the report's scripts draw it.
    ///
    /// # Errors
    /// Throws when the link cannot be made again.
    pub fn data(&self) -> Result<String, JsValue> {
        self.0.data().map_err(thrown)
    }

    /// The report, a page that needs nothing else.
    ///
    /// # Errors
    /// Throws when the link cannot be made again.
    pub fn report(&self) -> Result<String, JsValue> {
        self.0.report().map_err(thrown)
    }
}
