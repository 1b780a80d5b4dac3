//! The sections of a file that is a case of a suite: what is asked of a controller, and by whom.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::setting::Value;

/// In the place of a controller: the one that is judged.
pub const CANDIDATE: &str = "candidate";

/// What a scorecard says of a case.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgedCase {
    /// Its name in tables, JSON and `--case` (default: the file's name).
    pub id: Option<String>,
    /// What it is, in a few words.
    pub title: String,
    /// The document, and its section, that asks for it.
    pub source: String,
    /// What a controller, or what carries it, must have for the case to be applicable.
    #[serde(default)]
    pub needs: Vec<Need>,
}

/// What a case or a limit needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// The phases of BBR as the draft (draft-ietf-ccwg-bbr) names them.
    Bbr,
    /// Phases that can be seen.
    State,
    /// Its packets are ECN-capable.
    Ecn,
    /// The simulator's own transports.
    Model,
    /// More than one path at once.
    Multipath,
    /// Somebody who reads what is written about it: it cannot be measured.
    Person,
}

/// Over which seeds a limit must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Seeds {
    /// In the mean: it fails when the mean's 95 % interval lies beyond the limit as a whole.
    #[default]
    Mean,
    /// In each of them.
    Each,
    /// The worst value of all seeds against the worst that the limit's expression has in any.
    Worst,
}

/// What must hold for a controller to pass.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// What `value` is, for people, with its unit.
    pub metric: String,
    /// What is measured, an expression like those of claims: a number, or one for each cell.
    pub value: String,
    /// It must not be larger: a number or an expression.
    pub at_most: Option<Value>,
    /// It must not be smaller, likewise.
    pub at_least: Option<Value>,
    /// Over which seeds.
    #[serde(default)]
    pub seeds: Seeds,
    /// Why the limit is this one.
    pub reason: String,
    /// Whose number it is (default: the case's source).
    #[serde(default)]
    pub source: String,
    /// What it needs besides what the case does.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// The controllers that it is for, by name and without parameters (default: all).
    #[serde(default)]
    pub only: Vec<String>,
    /// Controllers for which it is shown and does not count.
    #[serde(default)]
    pub report: Vec<String>,
}
