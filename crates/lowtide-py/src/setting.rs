//! From keyword arguments to settings, as the command line makes them of flags.

use std::path::Path;

use lowtide_lab::setting::{Brief, Host, Resolver, Setting};
use pyo3::exceptions::PyUserWarning;
use pyo3::ffi::c_str;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::error;
use crate::known::Known;

/// The settings that keyword arguments describe: one, or one for each trace.
pub(crate) fn settings(
    py: Python<'_>,
    options: Option<&Bound<'_, PyDict>>,
    known: &mut Known,
) -> PyResult<Vec<Setting>> {
    settings_by(&mut None, py, options, known)
}

/// The settings by a resolver that has read files already; the first call makes it.
pub(crate) fn settings_by(
    resolver: &mut Option<Resolver>,
    py: Python<'_>,
    options: Option<&Bound<'_, PyDict>>,
    known: &mut Known,
) -> PyResult<Vec<Setting>> {
    let table = options.map(|options| known.table(options)).transpose()?;
    let brief = Brief::new(table.unwrap_or_default()).map_err(|p| error::problem(&p, None))?;
    let new = || Resolver::new(&known.contenders, Path::new("")).with_links(&known.links);
    let resolver = resolver.get_or_insert_with(new);
    let mut left_out = Vec::new();
    let made = py.detach(|| {
        let all = brief.sections(resolver, |problem| left_out.push(problem.problem.clone()))?;
        let settings = all.iter().map(|sections| resolver.setting(sections));
        settings.collect::<Result<Vec<_>, _>>()
    });
    for problem in left_out {
        warn(py, &format!("left out: {problem}"))?;
    }
    made.map_err(|p| error::problem(&p, Some(&brief)))
}

/// The setting of one run: on one link, and by one controller where that is named.
pub(crate) fn setting_of_one(
    py: Python<'_>,
    controller: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
    known: &mut Known,
) -> PyResult<Setting> {
    let specs = specs_if_any(controller, known)?;
    let mut settings = settings(py, options, known)?;
    let (Some(mut setting), true) = (settings.pop(), settings.is_empty()) else {
        return Err(error::input("trace: one run has one link; name one trace"));
    };
    if let Some(specs) = specs {
        let asked = known.parse(&specs)?;
        let [contender] = asked.as_slice() else {
            let problem = "one run has one of them here; say others with flows=[Flow(…)]";
            return Err(error::argument("controllers", problem));
        };
        setting = setting.run_by(contender);
    }
    Host::check_senders(&setting).map_err(error::input)?;
    Ok(setting)
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
        error::input(problem)
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

/// The specs that an optional argument names.
pub(crate) fn specs_if_any(
    value: Option<&Bound<'_, PyAny>>,
    known: &mut Known,
) -> PyResult<Option<Vec<String>>> {
    let value = value.filter(|value| !value.is_none());
    value.map(|value| specs(value, known)).transpose()
}
