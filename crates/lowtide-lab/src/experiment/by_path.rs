//! Cells as comparisons.

use super::CellResult;
use crate::compare::{Comparison, Entry, Role};
use crate::setting::Setting;

/// Cells on the same link and path side by side, as reports show them.
#[derive(Clone, Debug)]
pub struct PathCells {
    /// Where.
    pub setting: Setting,
    /// Who, and what came out.
    pub comparison: Comparison,
}

/// The cells by link and path. What differs between paths is in their names, what differs within
/// one in its entries'.
#[must_use]
pub fn by_path(results: &[CellResult]) -> Vec<PathCells> {
    let mut paths: Vec<(String, Vec<&CellResult>)> = Vec::new();
    for result in results {
        let s = &result.cell.setting;
        let key = format!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            s.link_name,
            s.base_rtt(),
            s.forward.buffer,
            s.duration,
            s.forward.loss,
            s.back.loss,
            s.packet_size,
            s.forward.link.seed(s.seeds.first)
        );
        match paths.iter_mut().find(|(known, _)| *known == key) {
            Some((_, cells)) => cells.push(result),
            None => paths.push((key, vec![result])),
        }
    }
    let several = paths.len() > 1;
    paths
        .into_iter()
        .map(|(_, cells)| of_path(&cells, several))
        .collect()
}

fn of_path(cells: &[&CellResult], several: bool) -> PathCells {
    let first = &cells[0].cell;
    let common = |n: usize| {
        cells
            .iter()
            .all(|c| c.cell.labels.get(n) == first.labels.get(n))
    };
    let labels = |result: &CellResult, wanted: bool| -> String {
        let all = result.cell.labels.iter().enumerate();
        let own: Vec<&str> = all
            .filter(|(n, _)| common(*n) == wanted)
            .map(|(_, (_, label))| label.as_str())
            .collect();
        own.join(", ")
    };
    let mut setting = first.setting.clone();
    if several {
        setting.link_name = format!("{}: {}", labels(cells[0], true), setting.link_name);
    }
    let mut comparison = Comparison::default();
    for result in cells {
        comparison.failed.extend(result.failed.iter().cloned());
        let details = result.runs.iter().filter_map(|r| r.details.as_ref());
        comparison.simulated_packets += details.map(|d| d.packets).sum::<u64>();
        if result.runs.is_empty() {
            continue;
        }
        let name = match labels(result, false) {
            name if name.is_empty() => result.cell.setting.controllers().join(" + "),
            name => name,
        };
        let groups = result.cell.setting.groups.iter();
        let role = groups.map(|group| Role::of(&group.contender)).max();
        let role = role.unwrap_or(Role::Contender);
        let entry = Entry::of_runs(&name, role, result.runs.clone());
        let entry = entry.with_flows_of(&result.cell.setting);
        comparison.entries.push(entry);
    }
    PathCells {
        setting,
        comparison,
    }
}
