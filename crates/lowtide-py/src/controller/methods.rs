//! Methods of an object that its class has in the place of a base's: only they are called.

use lowtide_cc::units::Time;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::failure::Blamed;

/// The overridden methods by name. They are few: looking one up costs nothing beside calling it.
pub(super) struct Methods(Vec<(String, Py<PyAny>)>);

impl Methods {
    /// The methods of `object` that differ from those of `base`.
    pub(super) fn overridden(
        object: &Bound<'_, PyAny>,
        base: &Bound<'_, PyType>,
    ) -> PyResult<Self> {
        let class = object.get_type();
        let mut methods = Vec::new();
        for name in base.getattr("__dict__")?.try_iter()? {
            let name: String = name?.extract()?;
            let of_base = base.getattr(&name)?;
            let is_method = !name.starts_with('_') && of_base.is_callable();
            if is_method && !class.getattr(&name)?.is(&of_base) {
                let method = object.getattr(&name)?.unbind();
                methods.push((name, method));
            }
        }
        Ok(Self(methods))
    }

    /// The one method of this name, overridden or not.
    pub(super) fn only(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let method = object.getattr(name)?.unbind();
        Ok(Self(vec![(name.to_string(), method)]))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The name of the first.
    pub(super) fn first(&self) -> Option<&str> {
        self.0.first().map(|(name, _)| name.as_str())
    }

    fn get(&self, name: &str) -> Option<&Py<PyAny>> {
        let mut methods = self.0.iter();
        methods
            .find(|(known, _)| known == name)
            .map(|(_, method)| method)
    }

    /// What a method answers; `None` where the class does not override it. An exception ends the run.
    pub(super) fn ask<A, R>(
        &self,
        blamed: &Blamed,
        (name, now): (&str, Time),
        arguments: impl FnOnce(Python<'_>) -> PyResult<A>,
        answer: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>,
    ) -> Option<R>
    where
        A: for<'py> PyCallArgs<'py>,
    {
        let method = self.get(name)?;
        Some(blamed.guarded(name, now, |py| {
            answer(&method.bind(py).call1(arguments(py)?)?)
        }))
    }
}
