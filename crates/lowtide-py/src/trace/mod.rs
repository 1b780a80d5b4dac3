//! Traces as Python holds them.

mod methods;

use std::sync::Arc;

use lowtide_cc::units::Duration;
use lowtide_lab::key::Key;
use lowtide_sim::link::Link;
use lowtide_sim::trace::info;
use pyo3::prelude::*;

pub(crate) use self::methods::restored_trace;

/// A link over time.
#[pyclass(frozen, module = "lowtide")]
pub(crate) struct Trace {
    link: Arc<Link>,
    name: String,
    key: Key,
}

impl Trace {
    /// What sections call it: no file has such a name.
    pub(crate) fn name_of_link(&self) -> String {
        format!("{} <{}>", self.name, self.key)
    }

    /// What results call it.
    pub(crate) fn label(&self) -> &str {
        &self.name
    }

    pub(crate) fn link(&self) -> Arc<Link> {
        self.link.clone()
    }

    pub(crate) fn key(&self) -> Key {
        self.key
    }

    /// `made_of`: all that it was made of, so that equal links have equal keys.
    fn new(link: Link, name: String, made_of: &[&[u8]]) -> Self {
        Self {
            link: Arc::new(link),
            name,
            key: Key::of(made_of),
        }
    }

    fn length(&self) -> Duration {
        info::natural_length(&self.link).unwrap_or(Duration::ZERO)
    }
}
