//! Scorecards as a report.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use lowtide_lab::experiment::by_path;
use lowtide_lab::files::Draft;
use lowtide_lab::score::Scorecard;

use crate::qlog::{self, Version};
use crate::report::{FailureLinks, Report, ScoreResult};

/// Runs of failing cases that a report shows over time; they take some megabytes of memory each.
pub const MAX_OVER_TIME: usize = 48;

/// A case of a controller: suite, controller and case by their places.
type Case = (usize, usize, usize);

/// Writes scorecards with what happened in cases that fail, `index.html`, into a folder, and qlogs beside it;
/// `title` and `made_by`: what it is, and what made it.
///
/// # Errors
/// When a file cannot be written.
pub fn write_report(
    cards: &[Scorecard],
    title: &str,
    made_by: &str,
    folder: &Path,
) -> io::Result<()> {
    let mut runs = Vec::new();
    let mut shown: BTreeMap<Case, FailureLinks> = BTreeMap::new();
    for (n, card) in cards.iter().enumerate() {
        for (s, score) in card.results.iter().enumerate() {
            for (c, case) in score.cases.iter().enumerate() {
                let Some(mut result) = case.shown_by.clone() else {
                    continue;
                };
                let setting = &mut result.cell.setting;
                let seed = setting.seeds.first;
                let name = format!(
                    "{} {} {}, seed {seed}",
                    card.suite, case.id, score.controller
                );
                let mut log = None;
                if qlog::check(setting).is_ok() {
                    let path = qlog::path(&folder.join("qlog"), &name);
                    let draft = qlog::write(setting, Version::default(), Draft::of(&path)?);
                    draft.map_err(io::Error::other)?.keep()?;
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    log = Some(format!("qlog/{file}"));
                }
                setting.link_name = format!("{name}: {}", setting.link_name);
                let link = Some(runs.len());
                shown.insert((n, s, c), FailureLinks { link, qlog: log });
                // One place each: what a cell of the matrix leads to.
                let places = by_path(&[result]).into_iter();
                runs.extend(places.map(|p| (p.setting, p.comparison)));
            }
        }
    }
    let score = |(n, card)| {
        let of = |s, c| shown.get(&(n, s, c)).cloned().unwrap_or_default();
        ScoreResult::new(card, of)
    };
    let report = Report {
        title: title.to_string(),
        made_by: made_by.to_string(),
        scores: cards.iter().enumerate().map(score).collect(),
        ..Report::of_comparisons(&runs)
    };
    report.write(&folder.join("index.html"))
}
