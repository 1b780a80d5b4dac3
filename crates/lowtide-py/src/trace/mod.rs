//! Traces as Python holds them.

mod methods;

use std::sync::Arc;

use lowtide_cc::units::Duration;
use lowtide_lab::key::Key;
use lowtide_lab::setting::Links;
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
    /// Puts it among links by a name that no file has; the name.
    pub(crate) fn put(&self, links: &mut Links) -> String {
        let name = format!("{} <{}>", self.name, self.key);
        links.insert(&name, &self.name, self.link.clone(), self.key);
        name
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
