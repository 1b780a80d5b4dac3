//! Standard output, as machines and people read it.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use lowtide_lab::compare::{Comparison, Entry, Role};
use lowtide_lab::files::Draft;
use lowtide_lab::metrics::{Better, Metric, Metrics, Table as MetricsOf, column_name};
use lowtide_lab::setting::Setting;
use lowtide_lab::{files, visible};
use lowtide_report::figures;
use lowtide_report::qlog::{self, Version};
use lowtide_report::report::Report;
use serde::Serialize;

use crate::command;
use crate::failure::Failure;
use crate::table::{self, Column, Look};

/// Prints text, its hidden characters by their numbers: what it names may be anybody's. A closed pipe (`| head`) is no
/// failure: the reader has what it wanted.
pub(crate) fn print(text: &[u8]) -> Result<(), Failure> {
    print_coloured(&visible::text(&String::from_utf8_lossy(text)))
}

/// Prints text with colours of our own, in which all else has gone through [`visible::text`].
pub(crate) fn print_coloured(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Failure::run(format!(
            "cannot write to standard output: {e}"
        ))),
        _ => Ok(()),
    }
}

/// Tells on standard error, likewise. Nobody is left to tell when it is closed, and that is no reason to stop.
pub(crate) fn say(text: impl fmt::Display) {
    tell(&format!("{text}\n"));
}

/// Writes lines that end by themselves to standard error.
pub(crate) fn tell(text: &str) {
    let _ = io::stderr().write_all(visible::text(text).as_bytes());
}

/// Prints a value as JSON.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

/// Writes a value as JSON.
pub(crate) fn write_json(value: &impl Serialize, path: &Path) -> Result<(), Failure> {
    write(path, &json(value)?)
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(Failure::run)?;
    text.push('\n');
    Ok(visible::json(&text).into_owned().into_bytes())
}

/// What it is that something cannot be written there.
pub(crate) fn unwritable<E: fmt::Display>(path: &Path) -> impl Fn(E) -> Failure {
    move |e| Failure::run(format!("cannot write {}: {e}", path.display()))
}

/// Writes a file, which keeps what it had where that fails.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    files::write(path, bytes).map_err(unwritable(path))
}

/// Checks that files and folders that are asked for can be written, before anything runs for them.
pub(crate) fn check<'a>(
    files: impl IntoIterator<Item = Option<&'a Path>>,
    folders: impl IntoIterator<Item = Option<&'a Path>>,
) -> Result<(), Failure> {
    let files = files.into_iter().flatten();
    let files = files.map(|file| (file, file.to_path_buf()));
    let folders = folders.into_iter().flatten();
    let folders = folders.map(|folder| (folder, folder.join("index.html")));
    for (named, path) in files.chain(folders) {
        files::check_writable(&path).map_err(unwritable(named))?;
    }
    Ok(())
}

/// Writes `index.html` and says where, on standard error, so that it does not mix with JSON.
pub(crate) fn write_report(mut report: Report<'_>, folder: &Path) -> Result<(), Failure> {
    let path = folder.join("index.html");
    report.made_by = command::noted();
    report.write(&path).map_err(unwritable(&path))?;
    say(format_args!("report: {}", path.display()));
    Ok(())
}

/// Writes the figures of each link and says where, on standard error.
pub(crate) fn write_figures(
    dir: &Path,
    links: &[(&Setting, &Comparison)],
    style: &figures::Style,
) -> Result<(), Failure> {
    for (n, (setting, comparison)) in links.iter().enumerate() {
        let folder = figures::folder_of(dir, n, links.len());
        figures::write(setting, comparison, &folder, style).map_err(unwritable(&folder))?;
        say(format_args!("figures: {}", folder.display()));
    }
    Ok(())
}

/// Writes the qlog of a setting's first seed.
pub(crate) fn write_qlog(setting: &Setting, version: Version, path: &Path) -> Result<(), Failure> {
    let draft = Draft::of(path).map_err(unwritable(path))?;
    let draft = qlog::write(setting, version, draft).map_err(unwritable(path))?;
    draft.keep().map_err(unwritable(path))
}

/// The table of a comparison.
pub(crate) fn table(setting: &Setting, comparison: &Comparison, look: Look) -> String {
    let metrics =
        MetricsOf::Comparison.columns(setting.measured_flows() > 1, |key| comparison.has(key));
    let columns: Vec<Column<'_>> = metrics.iter().map(|m| (m.head, m.rank)).collect();
    let row = |entry: &Entry| {
        let name = match entry.role {
            Role::Limit => format!("{} (limit)", entry.name),
            Role::Bound => format!("{} (bound)", entry.name),
            Role::Contender => entry.name.clone(),
            Role::Floor => format!("{} (best window)", entry.name),
        };
        let cells = metrics.iter().map(|m| cell(m, entry, &comparison.entries));
        (name, cells.collect())
    };
    table::table(
        "controller",
        &columns,
        comparison.entries.iter().map(row),
        look,
    )
}

/// A value with its interval; the best of the contenders is marked.
fn cell(metric: &Metric, entry: &Entry, all: &[Entry]) -> String {
    let of = |metrics: &Metrics| metrics[metric.key] * metric.factor;
    let value = of(&entry.mean);
    if !value.is_finite() {
        return "-".to_string();
    }
    let shown = format!("{value:.*}", metric.digits);
    let half = entry.ci95.as_ref().map(of).filter(|half| half.is_finite());
    let interval = interval(half, metric.digits);
    let contenders: Vec<f64> = all
        .iter()
        .filter(|e| e.role == Role::Contender)
        .map(|e| of(&e.mean))
        .filter(|v| v.is_finite())
        .collect();
    let best = contenders
        .iter()
        .copied()
        .reduce(|a, b| match metric.better {
            Better::More => a.max(b),
            Better::Less | Better::Neither => a.min(b),
        })
        .filter(|_| metric.better != Better::Neither);
    // Where all are alike there is no best.
    let as_shown = |v: f64| format!("{v:.*}", metric.digits);
    let differ = contenders.iter().any(|v| as_shown(*v) != shown);
    let is_best =
        entry.role == Role::Contender && differ && best.is_some_and(|best| as_shown(best) == shown);
    format!("{shown}{interval}{}", if is_best { "*" } else { " " })
}

/// Half an interval behind its value; empty where so many digits do not show it.
pub(crate) fn interval(half: Option<f64>, digits: usize) -> String {
    half.filter(|half| *half >= 0.5 * 10_f64.powi(-(digits as i32)))
        .map_or_else(String::new, |half| format!(" ±{half:.digits$}"))
}

/// The comparisons as CSV: one line a controller, its metrics by name.
pub(crate) fn csv(comparisons: &[(Setting, Comparison)]) -> Result<Vec<u8>, Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let by_name = |metrics: &Metrics| {
        let mut values: Vec<(&str, f64)> = metrics.of_flows().map(|(m, v)| (m.key, v)).collect();
        values.sort_by_key(|(key, _)| *key);
        values
    };
    let mut head = vec!["link".to_string(), "controller".to_string()];
    if let Some(entry) = comparisons.first().and_then(|(_, c)| c.entries.first()) {
        let names = by_name(&entry.mean).into_iter();
        head.extend(names.map(|(key, _)| column_name(key)));
    }
    writer.write_record(&head).map_err(Failure::run)?;
    for (setting, comparison) in comparisons {
        for entry in &comparison.entries {
            let mut row = vec![setting.link_name.clone(), entry.name.clone()];
            let values = by_name(&entry.mean).into_iter();
            row.extend(values.map(|(_, value)| match serde_json::json!(value) {
                serde_json::Value::Null => String::new(),
                number => number.to_string(),
            }));
            writer.write_record(&row).map_err(Failure::run)?;
        }
    }
    writer.into_inner().map_err(Failure::run)
}

/// Tells on standard error which controllers lack their estimate.
pub(crate) fn warn_of_missing_timestamps(settings: impl Iterator<Item: Borrow<Setting>>) {
    let mut known = BTreeSet::new();
    for setting in settings {
        known.extend(setting.borrow().lacking_timestamps().map(str::to_string));
    }
    for name in known {
        say(format_args!(
            "warning: {name} runs without its estimate: receivers report no timestamps without \
             --timestamps, or timestamps = true in a file's [[flows]]"
        ));
    }
}

/// Fails where runs did.
pub(crate) fn complain(failed: impl Iterator<Item: fmt::Display>) -> Result<(), Failure> {
    let failed: Vec<String> = failed.map(|run| run.to_string()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::run(format!(
        "runs failed and are missing above: {}",
        failed.join("; ")
    )))
}

/// A number of things.
pub(crate) fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
