//! Claims as expressions over measured values, so that whether one holds is computed.
//!
//! ```text
//! claim    = clause { ";" clause }
//! clause   = sum { ( "<" | "<=" | ">" | ">=" ) sum }        chained: a < b < c
//! sum      = product { ( "+" | "-" ) product }
//! product  = factor { ( "*" | "/" ) factor }
//! factor   = number | "-" factor | "(" sum ")" | value | function
//! value    = name [ "(" label { "," label } ")" ]           rtt_ms.mean("bbr", "20mbit")
//! function = ( "min" | "max" | "mean" | "geomean" | "median" | "abs" | "log2" ) "(" sum ")"
//!          | ( "min" | "max" ) "(" sum "," sum { "," sum } ")"
//!          | "or" "(" sum "," sum ")"
//! label    = '"' text '"' | "'" text "'"
//! ```
//!
//! A value stands for all cells that have all its labels, in their order; arithmetic and
//! comparisons go cell by cell, and a single number goes with each of them. `abs`, `log2`, and `min`
//! and `max` of several, work cell by cell; so does `or`, which is its second value where the first does
//! not exist. The other functions make one number of all. A claim [`Holds`] when every clause does for
//! every cell, partly when some do.

mod evaluate;
mod parse;

use serde::Serialize;

pub use self::evaluate::{Context, evaluate, holds};
pub(crate) use self::evaluate::{number, pairwise};
pub use self::parse::{Claim, Expression, parse_claim, parse_expression};

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// Everywhere.
    Yes,
    /// In some of the cells, or some of the clauses.
    Partly,
    /// Nowhere.
    No,
}

impl Holds {
    /// Name for people and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
        }
    }
}

/// Why an expression cannot be read or worked out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ClaimError(pub(crate) String);

#[cfg(test)]
mod tests;
