//! Results that can be drawn: what comparisons, the cells of scenarios and frontiers have in common.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_lab::files;
use lowtide_report::figures::Style;
use pyo3::prelude::*;

use crate::error::{self, unwritten};
use crate::table::{Table, Tabled, tabled};

/// What a result is as JSON, as a page and as figures.
pub(crate) trait Draw: Send + Sync {
    /// What the command line prints with `--json --no-timing`.
    fn json(&self) -> serde_json::Result<String>;

    /// Why nothing of it can be drawn.
    fn obstacle(&self) -> Option<&'static str> {
        None
    }

    /// The report.
    fn page(&self) -> io::Result<String>;

    /// Writes the report's plots into a folder.
    fn figures(&self, folder: &Path, style: &Style) -> io::Result<()>;

    /// What a notebook shows above the report; else that is the result's table.
    fn tables(&self) -> Option<String> {
        None
    }
}

/// A result that can be drawn.
#[pyclass(frozen, extends = Tabled, subclass, module = "lowtide._lowtide")]
pub(crate) struct Drawn(Arc<dyn Draw>);

/// The base of a result that has this table.
pub(crate) fn drawn(table: Table, result: Arc<dyn Draw>) -> PyClassInitializer<Drawn> {
    tabled(table).add_subclass(Drawn(result))
}

impl Drawn {
    fn check(&self) -> PyResult<()> {
        self.0
            .obstacle()
            .map_or(Ok(()), |why| Err(error::input(why)))
    }
}

#[pymethods]
impl Drawn {
    /// What the command line prints with `--json --no-timing`.
    fn json(&self) -> PyResult<String> {
        self.0.json().map_err(error::run)
    }

    /// Writes the report, `index.html`, into a folder; its path.
    fn report(&self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        self.check()?;
        let path = folder.join("index.html");
        let written = py.detach(|| files::write(&path, self.0.page()?.as_bytes()));
        written.map_err(|e| unwritten(&path, e))?;
        Ok(path)
    }

    /// Writes the report's plots into a folder, as SVG and PNG unless `formats` says otherwise.
    #[pyo3(signature = (folder, *, size=None, formats=None, font=None))]
    fn figures(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        size: Option<&str>,
        formats: Option<Vec<String>>,
        font: Option<u32>,
    ) -> PyResult<()> {
        let style = style(size, formats, font)?;
        self.check()?;
        let written = py.detach(|| self.0.figures(&folder, &style));
        written.map_err(|e| unwritten(&folder, e))
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<String> {
        let result = &slf.get().0;
        let tables = result.tables();
        let tables = tables.unwrap_or_else(|| slf.as_super().as_super().get().html());
        if result.obstacle().is_some() {
            return Ok(tables);
        }
        let page = slf.py().detach(|| result.page()).map_err(error::run)?;
        Ok(tables + &framed(&page))
    }
}

/// How figures look.
fn style(size: Option<&str>, formats: Option<Vec<String>>, font: Option<u32>) -> PyResult<Style> {
    let wrong = |name: &'static str| move |e: String| error::argument(name, e);
    let mut style = Style::default();
    if let Some(size) = size {
        style = style.with_size(size).map_err(wrong("size"))?;
    }
    if let Some(font) = font {
        style = style.with_font(font).map_err(wrong("font"))?;
    }
    if let Some(formats) = formats {
        let formats = formats.iter().map(|format| format.parse());
        let formats = formats.collect::<Result<_, _>>();
        style = style.with_formats(formats.map_err(wrong("formats"))?);
    }
    Ok(style)
}

/// A page within a page; the notebook's own styles and scripts do not meet its.
fn framed(page: &str) -> String {
    let page = page.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<details><summary>Report</summary><iframe srcdoc=\"{page}\" style=\"width:100%;\
         height:720px;border:1px solid #ccc\" loading=\"lazy\"></iframe></details>"
    )
}
