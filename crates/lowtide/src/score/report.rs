//! Scorecards as a report.

use std::collections::BTreeMap;
use std::path::Path;

use lowtide_lab::qlog::{self, Version};
use lowtide_lab::report::{Report, ScoreResult, Shown};
use lowtide_lab::score::Scorecard;

use super::{Args, command};
use crate::experiment::places;
use crate::failure::Failure;
use crate::output;

/// Runs of failing cases that a report shows over time; they take some megabytes of memory each.
pub(super) const MAX_OVER_TIME: usize = 48;

/// A case of a controller: suite, controller and case by their places.
type Case = (usize, usize, usize);

pub(super) fn write(args: &Args, cards: &[Scorecard], folder: &Path) -> Result<(), Failure> {
    let mut runs = Vec::new();
    let mut shown: BTreeMap<Case, Shown> = BTreeMap::new();
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
                    let path = output::qlog_path(&folder.join("qlog"), &name);
                    output::write_qlog(setting, Version::default(), &path)?;
                    let file = path.file_name().unwrap_or_default().to_string_lossy();
                    log = Some(format!("qlog/{file}"));
                }
                setting.link_name = format!("{name}: {}", setting.link_name);
                let link = Some(runs.len());
                shown.insert((n, s, c), Shown { link, qlog: log });
                // One place each: what a cell of the matrix leads to.
                runs.extend(
                    places(&[result])
                        .into_iter()
                        .map(|p| (p.setting, p.comparison)),
                );
            }
        }
    }
    let report = Report {
        title: "Scorecards".to_string(),
        about: format!("Made by {}.", command(args)),
        scores: cards
            .iter()
            .enumerate()
            .map(|(n, card)| {
                let of = |s, c| shown.get(&(n, s, c)).cloned().unwrap_or_default();
                ScoreResult::new(card, of)
            })
            .collect(),
        ..Report::of_comparisons(&runs)
    };
    output::write_report(report, folder)
}
