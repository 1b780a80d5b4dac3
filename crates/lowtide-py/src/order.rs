//! A scenario as a call names it: a file or values, and what takes the place of theirs.

use std::path::{Path, PathBuf};

use lowtide_lab::files;
use lowtide_lab::scenario_file::{FileError, ScenarioFile};
use lowtide_lab::setting::{Host, Links};
use lowtide_lab::simulator;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::error;
use crate::known::Known;

/// A scenario and what was said on top of it, as it travels to workers.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    /// The key of the simulator that knows what it means.
    pub(crate) simulator: String,
    /// The file, or where files that values name are looked for.
    path: PathBuf,
    /// The file's text; none where values are given.
    text: Option<String>,
    seeds: Option<u64>,
    host: Option<Host>,
    values: Table,
    vary: Table,
}

impl Order {
    /// `what`: the argument that it is, a path or a dict; `folder`: where files are that a dict names.
    pub(crate) fn new(
        what: &str,
        scenario: &Bound<'_, PyAny>,
        folder: PathBuf,
        vary: Option<&Bound<'_, PyDict>>,
        (seeds, host): (Option<u64>, Option<&str>),
        known: &mut Known,
    ) -> PyResult<Self> {
        let (path, text, values) = match scenario.cast::<PyDict>() {
            Ok(dict) => (folder, None, known.table(dict)?),
            Err(_) => {
                let path: PathBuf = scenario.extract().map_err(|_| {
                    let problem =
                        "must be the path of a scenario file, or a dict of what one holds";
                    error::argument(what, problem)
                })?;
                let text = files::read_or_stdin(&path, files::SCENARIO)
                    .and_then(|bytes| files::text(&path, bytes));
                let name = files::name(&path).unwrap_or(Path::new("standard input"));
                let text = text.map_err(error::input)?;
                (name.to_path_buf(), Some(text), Table::new())
            }
        };
        let host = host.map(str::parse).transpose();
        let vary = vary.map(|vary| known.table(vary)).transpose()?;
        Ok(Self {
            simulator: simulator::key().to_string(),
            path,
            text,
            seeds,
            host: host.map_err(|e| error::argument("host", e))?,
            values,
            vary: vary.unwrap_or_default(),
        })
    }

    /// The scenario; `links`: those that values name.
    pub(crate) fn file(&self, links: &Links) -> Result<ScenarioFile, FileError> {
        let mut file = match &self.text {
            Some(text) => ScenarioFile::parse(&self.path, text.clone())?,
            None => ScenarioFile::of_values(&self.values, &self.path, links)?,
        };
        for (key, values) in self.vary.clone() {
            let values = match values {
                Value::Array(values) => values,
                one => vec![one],
            };
            file.vary(&key, values);
        }
        if let Some(seeds) = self.seeds {
            file.set_seeds(seeds);
        }
        if let Some(host) = self.host {
            file.set_host(host);
        }
        Ok(file)
    }
}
