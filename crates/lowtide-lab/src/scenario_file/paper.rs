//! The sections of a file that say what a paper printed and claimed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Which paper, and where in it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Short name of the paper; `lowtide reproduce NAME` runs all its files.
    pub name: String,
    /// Figure, table or section.
    pub place: String,
    /// Full reference.
    pub reference: String,
    /// What is not the paper's: stand-ins, parameters that it does not print.
    #[serde(default)]
    pub stand_in: String,
    /// What was found where the result is another than the paper's, and how.
    #[serde(default)]
    pub finding: String,
}

/// Printed values of one metric: a table of settings by columns.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Printed {
    /// What is measured, for people, with its unit.
    pub metric: String,
    /// The measured value: a metric's name, or an expression without labels.
    pub value: String,
    /// Labels that all its cells have, besides those of line and column.
    #[serde(default)]
    pub cells: Vec<String>,
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// Label of each line, with a printed value for each column; NaN where none is printed.
    pub values: BTreeMap<String, Vec<f64>>,
    /// When it counts as reproduced, in terms of `ours` and `paper`.
    pub claim: String,
    /// What was found where it does not hold.
    #[serde(default)]
    pub note: String,
}

/// Something that the paper says of its results.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What is claimed, in a sentence.
    pub claim: String,
    /// Where: the cells in question, for people.
    pub setting: String,
    /// What `value` is, for people, with its unit.
    pub metric: String,
    /// A number that shows how it came out.
    pub value: String,
    /// The number that the paper gives for it.
    pub paper: Option<f64>,
    /// The claim as an expression.
    pub holds: String,
    /// Whether it is tested on recorded links too.
    #[serde(default)]
    pub on_traces: bool,
    /// What was found where it does not hold.
    #[serde(default)]
    pub note: String,
}

/// A curve of the paper, drawn with ours.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name of the file, without its ending.
    pub file: String,
    /// Title.
    pub title: String,
    /// The horizontal axis.
    pub x_label: String,
    /// The vertical axis.
    pub y_label: String,
    /// Value over the horizontal axis, an expression like those of claims; one for each cell.
    pub y: String,
    /// Labels along the horizontal axis, with the number at which each stands. Without numbers
    /// they stand side by side.
    pub x: Vec<Point>,
    /// Labels of the curves.
    pub series: Vec<String>,
    /// Logarithmic vertical axis.
    #[serde(default)]
    pub log: bool,
    /// Points that the paper prints: label of the curve, then a value for each of `x`.
    #[serde(default)]
    pub printed: BTreeMap<String, Vec<f64>>,
}

/// A place on a horizontal axis.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The label of its cells.
    pub label: String,
    /// Where it stands.
    pub at: Option<f64>,
}

/// Measured values against each other, a mark for each label.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// Name of the file, without its ending.
    pub file: String,
    /// Title.
    pub title: String,
    /// The horizontal axis.
    pub x_label: String,
    /// The vertical axis.
    pub y_label: String,
    /// Value along the horizontal axis, an expression like those of claims.
    pub x: String,
    /// Value along the vertical axis.
    pub y: String,
    /// Labels that all cells have.
    #[serde(default)]
    pub cells: Vec<String>,
    /// Labels of the marks.
    pub marks: Vec<String>,
    /// Points that the paper prints: label of the mark, then x and y.
    #[serde(default)]
    pub printed: BTreeMap<String, [f64; 2]>,
    /// Logarithmic horizontal axis.
    #[serde(default)]
    pub log: bool,
}

/// A figure over time: the first seed of some cells.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverTime {
    /// Name of the file, without its ending.
    pub file: String,
    /// Title.
    pub title: String,
    /// What is drawn.
    pub quantity: Quantity,
    /// Labels that all its cells have.
    #[serde(default)]
    pub cells: Vec<String>,
    /// A label for each line, or set of lines; without any there is one cell.
    #[serde(default)]
    pub lines: Vec<String>,
    /// Whether a cell has one line or several.
    #[serde(default)]
    pub each: Each,
    /// Whether what the link of the first line could carry is shaded.
    #[serde(default)]
    pub capacity: bool,
    /// Logarithmic vertical axis.
    #[serde(default)]
    pub log: bool,
    /// Values that the paper prints.
    #[serde(default)]
    pub levels: Vec<Level>,
}

/// What is drawn over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// Delivery rate, Mbit/s.
    Rate,
    /// The controllers' bandwidth estimate, Mbit/s.
    Estimate,
    /// RTT, ms.
    Rtt,
    /// Window, kB.
    Cwnd,
    /// The bottleneck's queue, kB.
    Queue,
}

/// What has a line of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Each {
    /// All flows together have one.
    #[default]
    All,
    /// Each group of flows.
    Group,
    /// Each flow.
    Flow,
}

/// A value that holds over the whole time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// What it is.
    pub label: String,
    /// Its value.
    pub at: f64,
}
