//! Scorecards as a report.

use std::collections::BTreeMap;
use std::path::Path;

use lowtide_lab::experiment::{self, Options};
use lowtide_lab::qlog::{self, Version};
use lowtide_lab::report::{Report, ScoreResult, Shown};
use lowtide_lab::run::Run;
use lowtide_lab::score::Scorecard;

use super::{Args, command};
use crate::experiment::{Place, places};
use crate::failure::Failure;
use crate::output;

/// Runs of failing cases that a report shows over time; they take some megabytes of memory each.
const MAX_OVER_TIME: usize = 48;

pub(super) fn write(args: &Args, cards: &[Scorecard], folder: &Path) -> Result<(), Failure> {
    let mut cells = Vec::new();
    // What was watched as it ran is shown as it was: programs do not run the same twice.
    let mut watched: BTreeMap<usize, Run> = BTreeMap::new();
    let mut shown: BTreeMap<(usize, usize, usize), usize> = BTreeMap::new();
    for (n, card) in cards.iter().enumerate() {
        for (s, score) in card.results.iter().enumerate() {
            for (c, case) in score.cases.iter().enumerate() {
                let Some(result) = case.worst_cell().filter(|_| cells.len() < MAX_OVER_TIME) else {
                    continue;
                };
                let mut cell = result.cell.clone();
                let name = format!("{} {} {}", card.suite, case.id, score.controller);
                cell.setting.link_name = format!("{name}: {}", cell.setting.link_name);
                cell.setting.seeds.count = 1;
                let mut runs = result.runs.iter();
                let run =
                    runs.find(|run| run.details.as_ref().is_some_and(|d| d.timeline.is_some()));
                watched.extend(run.map(|run| (cells.len(), run.clone())));
                shown.insert((n, s, c), cells.len());
                cells.push(cell);
            }
        }
    }
    let mut logs = BTreeMap::new();
    for (place, n) in &shown {
        let setting = &cells[*n].setting;
        if qlog::check(setting).is_ok() {
            let name = setting.link_name.split(':').next().unwrap_or_default();
            let path = output::qlog_path(&folder.join("qlog"), name);
            output::write_qlog(setting, Version::default(), &path)?;
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            logs.insert(*place, format!("qlog/{file}"));
        }
    }
    let all: Vec<usize> = (0..cells.len()).collect();
    let options = Options {
        jobs: args.flags.jobs.threads(),
        over_time: &all,
        ..Options::default()
    };
    let mut results = experiment::run(&cells, options, &|| ()).map_err(Failure::run)?;
    for (n, run) in watched {
        results[n].runs = vec![run];
        results[n].failed.clear();
    }
    // One place each: what a cell of the matrix leads to.
    let places: Vec<Place> = results
        .iter()
        .flat_map(|result| places(std::slice::from_ref(result)))
        .collect();
    let runs = places
        .iter()
        .map(|p| (p.setting.clone(), p.comparison.clone()));
    let runs: Vec<_> = runs.collect();
    let report = Report {
        title: "Scorecards".to_string(),
        about: format!("Made by {}.", command(args)),
        scores: cards
            .iter()
            .enumerate()
            .map(|(n, card)| {
                ScoreResult::new(card, |s, c| Shown {
                    link: shown.get(&(n, s, c)).copied(),
                    qlog: logs.get(&(n, s, c)).cloned(),
                })
            })
            .collect(),
        ..Report::of_comparisons(&runs)
    };
    output::write_report(report, folder)
}
