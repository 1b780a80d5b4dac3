//! How figures look, from keyword arguments.

use lowtide_report::figures::Style;
use pyo3::prelude::*;

use crate::error;

pub(crate) fn style(
    py: Python<'_>,
    size: Option<&str>,
    formats: Option<Vec<String>>,
    font: Option<u32>,
) -> PyResult<Style> {
    let wrong = |name: &str, problem: String| error::input(py, format!("{name}: {problem}"));
    let mut style = Style::default();
    if let Some(size) = size {
        style = style.with_size(size).map_err(|e| wrong("size", e))?;
    }
    if let Some(font) = font {
        style = style.with_font(font).map_err(|e| wrong("font", e))?;
    }
    if let Some(formats) = formats {
        let formats = formats.iter().map(|format| format.parse());
        let formats = formats.collect::<Result<_, _>>();
        style = style.with_formats(formats.map_err(|e| wrong("formats", e))?);
    }
    Ok(style)
}
