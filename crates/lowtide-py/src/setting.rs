//! From keyword arguments to settings, as the command line makes them of flags.

use std::path::Path;

use lowtide_lab::contender::Contender;
use lowtide_lab::setting::{Brief, Host, Resolver, Setting};
use pyo3::exceptions::PyUserWarning;
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error;
use crate::known::Known;
use crate::values::Said;

/// What a call asks for.
pub(crate) struct Asked {
    pub(crate) brief: Brief,
    pub(crate) resolver: Resolver,
}

impl Asked {
    /// What keyword arguments say.
    pub(crate) fn new(
        py: Python<'_>,
        options: Option<&Bound<'_, PyDict>>,
        known: &mut Known,
    ) -> PyResult<Self> {
        let mut said = Said {
            known: std::mem::take(known),
            ..Said::default()
        };
        let table = match options {
            Some(options) => said.table(options)?,
            None => toml::Table::new(),
        };
        *known = std::mem::take(&mut said.known);
        let brief = Brief::new(table).map_err(|p| error::problem(py, &p, None))?;
        let resolver = Resolver::new(known.contenders(), Path::new("")).with_links(&said.links);
        Ok(Self { brief, resolver })
    }

    /// The settings that are described: one, or one for each trace.
    pub(crate) fn settings(&mut self, py: Python<'_>) -> PyResult<Vec<Setting>> {
        let Self { brief, resolver } = self;
        let mut left_out = Vec::new();
        let made = py.detach(|| {
            let all = brief.sections(resolver, |problem| left_out.push(problem.problem.clone()))?;
            let settings = all.iter().map(|sections| resolver.setting(sections));
            settings.collect::<Result<Vec<_>, _>>()
        });
        for problem in left_out {
            warn(py, &format!("left out: {problem}"))?;
        }
        made.map_err(|p| error::problem(py, &p, Some(brief)))
    }
}

/// Tells of what is no error.
pub(crate) fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = std::ffi::CString::new(text).unwrap_or_else(|_| c_str!("warning").into());
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)
}

/// Tells which controllers lack their estimate.
pub(crate) fn warn_of_missing_timestamps(py: Python<'_>, settings: &[Setting]) -> PyResult<()> {
    let lacking = settings.iter().flat_map(Setting::lacking_timestamps);
    let mut names: Vec<&str> = lacking.collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let problem = format!(
            "{name} runs without its estimate: receivers report no timestamps without timestamps=True"
        );
        warn(py, &problem)?;
    }
    Ok(())
}

/// The specs that an argument names: a text as on the command line, a class or an object of Python's, or a list
/// of such.
pub(crate) fn specs(value: &Bound<'_, PyAny>, known: &mut Known) -> PyResult<Vec<String>> {
    let wrong = || {
        let problem = "controllers: must be a name such as \"ebb\", or a list of names";
        error::input(value.py(), problem)
    };
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(vec![text.to_str().map_err(|_| wrong())?.to_string()]);
    }
    let Ok(items) = value.try_iter() else {
        return Ok(vec![known.spec(value)?]);
    };
    // Those that are no texts first: texts may name them with parameters.
    let items: Vec<Bound<'_, PyAny>> = items.collect::<PyResult<_>>()?;
    for item in items
        .iter()
        .filter(|item| !item.is_instance_of::<PyString>())
    {
        known.spec(item)?;
    }
    items.iter().map(|item| known.spec(item)).collect()
}

/// Who is asked for; where nobody is, the usual ones of the host.
pub(crate) fn contenders(
    specs: Option<&[String]>,
    known: &Known,
    host: Host,
    py: Python<'_>,
) -> PyResult<Vec<Contender>> {
    let Some(specs) = specs else {
        return Ok(host.usual(known.contenders()));
    };
    let mut all = Vec::new();
    for spec in specs {
        let parsed = known.contenders().parse_all(spec);
        all.extend(parsed.map_err(|e| error::input(py, format!("controllers: {e}")))?);
    }
    Ok(all)
}

/// The specs that an optional argument names.
pub(crate) fn specs_if_any(
    value: Option<&Bound<'_, PyAny>>,
    known: &mut Known,
) -> PyResult<Option<Vec<String>>> {
    let value = value.filter(|value| !value.is_none());
    value.map(|value| specs(value, known)).transpose()
}
