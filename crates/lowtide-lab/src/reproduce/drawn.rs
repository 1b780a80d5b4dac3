//! What the figures of a file show: the cells of those over time, and whether the values of the others can be worked
//! out.

use super::{Experiment, measured};
use crate::scenario_file::{Cell, FileError, OverTime, ScenarioFile};

/// The cells of the file's figures over time, by their place, in the order of the figures.
///
/// # Errors
/// When a figure's labels fit no cell.
pub fn cells_over_time(file: &ScenarioFile, cells: &[Cell]) -> Result<Vec<usize>, FileError> {
    let mut found = Vec::new();
    for (n, figure) in file.content.over_time.iter().enumerate() {
        for (line, (label, place)) in lines(figure, cells.iter()).into_iter().enumerate() {
            let Some(place) = place else {
                let (n, line) = (n.to_string(), line.to_string());
                let path: &[&str] = match label {
                    None => &["over_time", &n],
                    Some(_) => &["over_time", &n, "lines", &line],
                };
                return Err(file.error_at(path, "no cell is labelled so".to_string()));
            };
            found.push(place);
        }
    }
    Ok(found)
}

/// The lines of a figure over time: the label of each, which a single one has not, and the place of its cell among
/// `cells`, where there is one.
pub fn lines<'f, 'c>(
    figure: &'f OverTime,
    cells: impl Iterator<Item = &'c Cell> + Clone,
) -> Vec<(Option<&'f str>, Option<usize>)> {
    let labels = match figure.lines.as_slice() {
        [] => vec![None],
        some => some.iter().map(|label| Some(label.as_str())).collect(),
    };
    let fits = |cell: &Cell, label: Option<&str>| {
        figure.cells.iter().all(|l| cell.has(l)) && label.is_none_or(|l| cell.has(l))
    };
    let line = |label| (label, cells.clone().position(|cell| fits(cell, label)));
    labels.into_iter().map(line).collect()
}

/// Checks that the values of curves and planes can be worked out.
///
/// # Errors
/// Names the expression and its place in the file.
pub(super) fn check(experiment: &Experiment) -> Result<(), FileError> {
    let file = &experiment.file;
    let check = |path: &[&str], expression: &str, within: &[&str]| {
        let value = measured(expression, &experiment.results, within);
        value
            .map(drop)
            .map_err(|e| file.error_at(path, e.to_string()))
    };
    for (n, figure) in file.content.figures.iter().enumerate() {
        let n = n.to_string();
        for (series, x) in figure
            .series
            .iter()
            .flat_map(|s| figure.x.iter().map(move |x| (s, x)))
        {
            check(&["figures", &n, "y"], &figure.y, &[series, &x.label])?;
        }
    }
    for (n, plane) in file.content.planes.iter().enumerate() {
        let n = n.to_string();
        for mark in &plane.marks {
            let within: Vec<&str> = plane
                .cells
                .iter()
                .chain([mark])
                .map(String::as_str)
                .collect();
            check(&["planes", &n, "x"], &plane.x, &within)?;
            check(&["planes", &n, "y"], &plane.y, &within)?;
        }
    }
    Ok(())
}
