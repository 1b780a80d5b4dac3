//! A grid's values over one of its fields, as the report's view of sweeps first shows them.

use std::io;
use std::path::Path;

use super::folder::Folder;
use super::plot::{Axis, Look, Plot, Series, span};
use super::style::Style;
use crate::report::{Field, Group, Sweep};

/// Metrics that are drawn: those that the file asks for come first.
const MAX_METRICS: usize = 4;
/// Characters of a file's name that say where a panel is.
const MAX_SUFFIX: usize = 120;
/// Figures that are drawn, so that a large grid does not fill a folder.
const MAX_FIGURES: usize = 48;

/// Writes `grid-METRIC`, in the formats of `style`, into `folder`, which is made; with more fields than a
/// plot can show each has the others' values in its name, as in `grid-share_buffer-1bdp_rtt-20ms`. Returns
/// how many: none where there is nothing to compare, at most 48.
///
/// # Errors
/// When a figure cannot be drawn or a file cannot be written.
pub fn write_grid(sweep: &Sweep, folder: &Path, style: &Style) -> io::Result<usize> {
    if !sweep.is_grid() {
        return Ok(0);
    }
    let folder = Folder::new(folder, style);
    let plots = plots(sweep);
    plots.iter().try_for_each(|plot| folder.put(plot))?;
    Ok(plots.len())
}

/// A line: its name, and which cells and which group's values it takes.
struct Line {
    label: String,
    group: usize,
    /// Place in the field of lines.
    at: Option<usize>,
}

/// Which field has which part in the plots.
struct Roles {
    x: usize,
    /// The field of lines; `None` where groups of flows are the lines, or there is one line.
    lines: Option<usize>,
    /// All other fields that vary.
    rest: Vec<usize>,
}

/// Groups are lines where there are several, else controllers; numbers go across, of them the field
/// with most values.
fn roles(sweep: &Sweep) -> Option<Roles> {
    let varies = |n: &usize| sweep.fields[*n].labels.len() > 1;
    let mut fields: Vec<usize> = (0..sweep.fields.len()).filter(varies).collect();
    fields.sort_by_key(|n| {
        let field = &sweep.fields[*n];
        let is_controllers = sweep.controllers == Some(*n);
        let fewest_last = usize::MAX - field.labels.len();
        (is_controllers, field.numbers.is_none(), fewest_last)
    });
    let (x, others) = fields.split_first()?;
    let mut rest = others.to_vec();
    let lines = match (sweep.groups.len() > 1, sweep.controllers) {
        (true, _) => None,
        (false, Some(own)) if rest.contains(&own) => Some(own),
        (false, _) => rest.first().copied(),
    };
    rest.retain(|n| lines != Some(*n));
    Some(Roles { x: *x, lines, rest })
}

fn lines(sweep: &Sweep, roles: &Roles) -> Vec<Line> {
    let Some(field) = roles.lines else {
        let groups = sweep.groups.iter().enumerate();
        let line = |(group, about): (usize, &Group)| Line {
            label: about.name.clone(),
            group,
            at: None,
        };
        return groups.map(line).collect();
    };
    let labels = sweep.fields[field].labels.iter().enumerate();
    let line = |(n, label): (usize, &String)| Line {
        label: label.clone(),
        group: 0,
        at: Some(n),
    };
    labels.map(line).collect()
}

fn plots(sweep: &Sweep) -> Vec<Plot> {
    let Some(roles) = roles(sweep) else {
        return Vec::new();
    };
    let lines = lines(sweep, &roles);
    let panels = panels(sweep, &roles.rest);
    let suffixes = suffixes(sweep, &panels);
    let mut plots = Vec::new();
    for metric in sweep.metrics.iter().take(MAX_METRICS) {
        for (panel, suffix) in panels.iter().zip(&suffixes) {
            let name = format!("grid-{}{suffix}", metric.key.replace('.', "-"));
            let x = across(&sweep.fields[roles.x]);
            let mut plot = Plot::new(&name, x, Axis::linear(&metric.label));
            plot.title = title(sweep, panel);
            let lines = lines.iter().enumerate();
            let series = lines.map(|(n, line)| Series {
                look: Look::Controller(n),
                ..series(sweep, &roles, (metric.key, metric.factor), panel, line)
            });
            plot.series = series.filter(|s| !s.points.is_empty()).collect();
            if !plot.series.is_empty() {
                plots.push(plot);
            }
        }
    }
    plots.truncate(MAX_FIGURES);
    plots
}

/// A place in each of some fields: field, place.
type Panel = Vec<(usize, usize)>;

/// Every combination of places in these fields.
fn panels(sweep: &Sweep, fields: &[usize]) -> Vec<Panel> {
    let mut panels = vec![Panel::new()];
    for field in fields {
        let places = 0..sweep.fields[*field].labels.len();
        let longer = |panel: &Panel| {
            let panel = panel.clone();
            let with = move |place| [panel.as_slice(), &[(*field, place)]].concat();
            places.clone().map(with)
        };
        panels = panels.iter().flat_map(longer).take(MAX_FIGURES).collect();
    }
    panels
}

/// What follows the metric in the names of the panels' files: where each is, in characters of file names.
fn suffixes(sweep: &Sweep, panels: &[Panel]) -> Vec<String> {
    let is_file_name = |c: char| c.is_ascii_alphanumeric() || ".-".contains(c);
    let plain = |text: &str| text.replace(|c| !is_file_name(c), "-");
    let mut all: Vec<String> = Vec::with_capacity(panels.len());
    for panel in panels {
        let places = panel.iter().map(|(field, place)| {
            let field = &sweep.fields[*field];
            let key = field.key.rsplit('.').next().unwrap_or_default();
            format!("_{}-{}", plain(key), plain(&field.labels[*place]))
        });
        let name: String = places
            .collect::<String>()
            .chars()
            .take(MAX_SUFFIX)
            .collect();
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        all.extend(names.find(|name| !all.contains(name)));
    }
    all
}

/// The controller of a line that is a group of flows, where the panel says which that is.
fn controller_in<'a>(sweep: &'a Sweep, panel: &Panel, line: &Line) -> Option<&'a str> {
    let own = format!("{}controller", sweep.groups[line.group].prefix);
    let places = panel
        .iter()
        .map(|(field, place)| (&sweep.fields[*field], *place));
    let mut own = places.filter(|(field, _)| line.at.is_none() && field.key == own);
    let (field, place) = own.next()?;
    field.labels.get(place).map(String::as_str)
}

/// Where a panel is.
fn title(sweep: &Sweep, panel: &Panel) -> String {
    let places = panel.iter().map(|(field, place)| {
        let field = &sweep.fields[*field];
        format!("{} = {}", field.key, field.labels[*place])
    });
    places.collect::<Vec<_>>().join(", ")
}

/// The axis of a field.
fn across(field: &Field) -> Axis {
    let Some(numbers) = &field.numbers else {
        return Axis::of_names(&field.key, field.labels.clone());
    };
    let (low, high) = span(numbers.iter().copied());
    let title = match field.unit {
        Some(unit) => format!("{}, {unit}", field.key),
        None => field.key.clone(),
    };
    if low > 0.0 && high > 8.0 * low {
        Axis::log(&title).within(low / 1.1, high * 1.1)
    } else {
        Axis::linear(&title).around((low, high))
    }
}

/// The values of a metric (key, factor) along a line.
fn series(
    sweep: &Sweep,
    roles: &Roles,
    (metric, factor): (&str, f64),
    panel: &Panel,
    line: &Line,
) -> Series {
    let numbers = &sweep.fields[roles.x].numbers;
    let prefix = &sweep.groups[line.group].prefix;
    let column = sweep.values.get(&format!("{prefix}{metric}"));
    let is_in_line = |cell: &[usize]| {
        let of_line = roles.lines.is_none_or(|field| line.at == Some(cell[field]));
        of_line && panel.iter().all(|(field, place)| cell[*field] == *place)
    };
    let cells = sweep.cells.iter().enumerate();
    let mut points: Vec<((f64, f64), f64)> = cells
        .filter(|(_, cell)| is_in_line(cell))
        .filter_map(|(n, cell)| {
            let place = cell[roles.x];
            let x = numbers.as_ref().map_or(place as f64, |v| v[place]);
            let (mean, half) = (column?.mean[n]?, column?.half[n]);
            Some(((x, mean * factor), half.unwrap_or(0.0) * factor))
        })
        .collect();
    points.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
    Series {
        label: match controller_in(sweep, panel, line) {
            Some(controller) => format!("{}: {controller}", line.label),
            None => line.label.clone(),
        },
        look: Look::Frame,
        half: points.iter().map(|(_, half)| *half).collect(),
        points: points.into_iter().map(|(point, _)| point).collect(),
        // Between places without numbers there is nothing.
        joined: numbers.is_some(),
    }
}
