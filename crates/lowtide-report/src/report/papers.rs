//! The papers' experiments as the report shows them: claims, figures, findings.

use lowtide_lab::claim::Holds;
use lowtide_lab::reproduce::{Experiment, Row};
use lowtide_lab::run::FailedRun;
use serde::Serialize;

use super::figure::FigureData;
use crate::reproduce::{figures, notes};

/// One experiment of a paper.
#[derive(Clone, Debug, Serialize)]
pub struct PaperResult {
    name: String,
    paper: String,
    place: String,
    reference: String,
    about: String,
    stand_in: String,
    finding: String,
    rows: Vec<RowData>,
    figures: Vec<FigureData>,
    /// Claim, and what was found where it does not hold.
    notes: Vec<(String, String)>,
    failed: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct RowData {
    setting: String,
    metric: String,
    paper: String,
    ours: String,
    claim: String,
    holds: Holds,
}

impl PaperResult {
    /// An experiment with its rows.
    ///
    /// # Errors
    /// When a figure cannot be drawn.
    pub fn new(experiment: &Experiment, rows: &[Row]) -> Result<Self, String> {
        let content = &experiment.file.content;
        let paper = content.paper.as_ref();
        let text = |get: fn(&lowtide_lab::scenario_file::Paper) -> &str| {
            paper.map_or_else(String::new, |p| get(p).trim().to_string())
        };
        let drawn = figures(experiment)?.into_iter();
        let figures = drawn.map(|drawn| FigureData::new(drawn.title, &drawn.svg));
        Ok(Self {
            name: experiment.file.name(),
            paper: text(|p| &p.name),
            place: text(|p| &p.place),
            reference: text(|p| &p.reference),
            about: content.about.trim().to_string(),
            stand_in: text(|p| &p.stand_in),
            finding: text(|p| &p.finding),
            rows: rows.iter().map(row).collect(),
            figures: figures.collect(),
            notes: notes(rows)
                .into_iter()
                .map(|(note, claim)| (claim.to_string(), note.to_string()))
                .collect(),
            failed: experiment.failed().map(FailedRun::to_string).collect(),
        })
    }
}

fn row(row: &Row) -> RowData {
    RowData {
        setting: row.setting.clone(),
        metric: row.metric.clone(),
        paper: row.printed(),
        ours: row.shown(),
        claim: row.claim.clone(),
        holds: row.holds,
    }
}
