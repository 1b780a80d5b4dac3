//! From keyword arguments to settings, as the command line makes them of flags.

use std::path::Path;

use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::setting::{Brief, Host, Resolver, Setting};
use pyo3::exceptions::PyUserWarning;
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error;
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
        contenders: &Contenders,
    ) -> PyResult<Self> {
        let mut said = Said::default();
        let table = match options {
            Some(options) => said.table(options)?,
            None => toml::Table::new(),
        };
        let brief = Brief::new(table).map_err(|p| error::problem(py, &p, None))?;
        let resolver = Resolver::new(contenders, Path::new("")).with_links(&said.links);
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

/// The specs that an argument names: a text as on the command line, or a list of such.
pub(crate) fn specs(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let wrong = || {
        let problem = "controllers: must be a name such as \"ebb\", or a list of names";
        error::input(value.py(), problem)
    };
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(vec![text.to_str().map_err(|_| wrong())?.to_string()]);
    }
    let items = value.try_iter().map_err(|_| wrong())?;
    items
        .map(|item| item?.extract::<String>().map_err(|_| wrong()))
        .collect()
}

/// Who is asked for; where nobody is, the usual ones of the host.
pub(crate) fn contenders(
    value: Option<&Bound<'_, PyAny>>,
    known: &Contenders,
    host: Host,
) -> PyResult<Vec<Contender>> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(host.usual(known));
    };
    let mut all = Vec::new();
    for spec in specs(value)? {
        let parsed = known.parse_all(&spec);
        all.extend(parsed.map_err(|e| error::input(value.py(), format!("controllers: {e}")))?);
    }
    Ok(all)
}
