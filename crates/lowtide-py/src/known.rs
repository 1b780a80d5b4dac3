//! Whom a call may name: the lab's contenders, and the controllers that Python gave.

use lowtide_lab::contender::Contenders;
use pyo3::prelude::*;

use crate::controller::{Failures, with};

/// The contenders of a call.
#[derive(Default)]
pub(crate) struct Known {
    contenders: Contenders,
    given: Vec<(String, Py<PyAny>)>,
    failures: Failures,
}

impl Known {
    pub(crate) fn contenders(&self) -> &Contenders {
        &self.contenders
    }

    /// The spec by which a controller goes: a text is one; a class of Python's or a `Bbr` is known by its name
    /// from now on.
    pub(crate) fn spec(&mut self, controller: &Bound<'_, PyAny>) -> PyResult<String> {
        let contenders = std::mem::take(&mut self.contenders);
        let (contenders, spec) = with(contenders, &self.failures, controller, &mut self.given)?;
        self.contenders = contenders;
        Ok(spec)
    }

    /// The exceptions in controllers that ended runs.
    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }
}
