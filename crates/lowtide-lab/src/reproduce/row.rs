//! A line of what came out: printed, measured, claimed.

use serde::Serialize;

use crate::claim::Holds;

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The file's name.
    pub experiment: String,
    /// The cells in question.
    pub setting: String,
    /// What was measured, with its unit.
    pub metric: String,
    /// What the paper prints.
    pub paper: Option<f64>,
    /// What was measured here: mean over the seeds.
    pub ours: Option<f64>,
    /// Half the width of its 95 % interval.
    pub ci95: Option<f64>,
    /// What is claimed.
    pub claim: String,
    /// Whether it holds.
    pub holds: Holds,
    /// The claim as it was worked out.
    pub expression: String,
    /// What was found where it does not hold.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A number as the page shows it: four significant digits.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 1000.0 => 0,
        v if v >= 100.0 => 1,
        v if v >= 10.0 => 2,
        _ => 3,
    };
    let shown = format!("{value:.digits$}");
    if digits == 0 || !shown.contains('.') {
        return shown;
    }
    shown
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_string()
}

impl Row {
    /// Ours with its interval, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        match (self.ours, self.ci95) {
            (None, _) => "–".to_string(),
            // An interval that four digits do not show is none.
            (Some(ours), Some(half)) if half > 5e-4 * ours.abs() => {
                let digits = (1 - half.log10().floor() as i32).clamp(0, 4) as usize;
                format!("{ours:.digits$} ± {half:.digits$}")
            }
            (Some(ours), _) => number(ours),
        }
    }

    /// The paper's value, for people.
    #[must_use]
    pub fn printed(&self) -> String {
        self.paper.map_or_else(|| "–".to_string(), number)
    }
}
