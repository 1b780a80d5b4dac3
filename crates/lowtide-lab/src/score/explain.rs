//! A failure in a few lines: when, and what queue, window and rate did.

use lowtide_cc::units::{Duration, Time};

use super::offered::offered;
use super::scorecard::CaseResult;
use crate::curves;
use crate::experiment::CellResult;
use crate::run::{Keep, NoThreads, Pool, Run, Stop, config, run_until};
use crate::setting::Seeds;
use crate::timeline::{Envelope, FlowBin, Timeline};

/// Says of each of these what happened in it, where it fails; on so many threads, 0: one for each core. The first
/// `kept` of them keep the run that shows it, which takes some megabytes of memory each. `stop` ends it.
///
/// # Errors
/// When threads cannot be started.
pub fn explain_all(
    cases: Vec<&mut CaseResult>,
    threads: usize,
    kept: usize,
    stop: &Stop,
) -> Result<(), NoThreads> {
    let told = |case: &&mut CaseResult| case.worst().is_some();
    let cases: Vec<_> = cases.into_iter().filter(told).enumerate().collect();
    Pool::new(threads)?.each(cases, |(n, case)| {
        let Some(shown_by) = shown_by(case, stop) else {
            return;
        };
        case.explanation = explain(case, &shown_by);
        case.shown_by = Some(shown_by).filter(|_| n < kept);
    });
    Ok(())
}

/// The run that shows why a case fails: the worst seed of its worst cell, once more where it was not watched over
/// time. `None` for a case that does not fail, or that is of no single cell.
fn shown_by(case: &CaseResult, stop: &Stop) -> Option<CellResult> {
    let (_, result, seed) = case.worst()?;
    let mut cell = result.cell.clone();
    let known = result.runs.get(seed);
    cell.setting.seeds = Seeds {
        first: known.map_or(cell.setting.seeds.first, |run| run.seed),
        count: 1,
    };
    let watched = known.filter(|run| timeline(run).is_some());
    let run = match watched {
        Some(run) => run.clone(),
        None => run_until(
            &cell.setting,
            cell.setting.seeds.first,
            Keep::Timeline,
            stop,
        )
        .ok()?,
    };
    Some(CellResult {
        runs: vec![run],
        ..CellResult::new(cell)
    })
}

fn timeline(run: &Run) -> Option<&Timeline> {
    run.details.as_ref()?.timeline.as_ref()
}

/// What happened in a run that shows why a case fails.
fn explain(case: &CaseResult, shown_by: &CellResult) -> Vec<String> {
    let setting = &shown_by.cell.setting;
    let seed = setting.seeds.first;
    let timeline = shown_by.runs.first().and_then(timeline);
    let (Some(timeline), Ok((config, _))) = (timeline, config(setting, seed)) else {
        return Vec::new();
    };
    let capacity = curves::capacity(&config.forward.link, timeline.bin(), timeline.link().len());
    let cell = match case.worst() {
        Some((limit, ..)) if !limit.cell.is_empty() => &limit.cell,
        _ => &setting.link_name,
    };
    let mut lines = vec![format!("{cell}, seed {seed}:")];
    lines.extend(longest_queue(timeline));
    let is_wanted = |bin: usize| offered(&config, timeline, bin) >= capacity[bin];
    lines.extend(idle(timeline, &capacity, is_wanted));
    lines.extend(losses(timeline));
    lines
}

fn at(timeline: &Timeline, bin: usize) -> f64 {
    (timeline.bin() * bin as u64).as_secs_f64()
}

/// The controllers' phase at a time.
fn phase(timeline: &Timeline, now: Duration) -> String {
    let Some(flow) = timeline.flows().first() else {
        return String::new();
    };
    let changes = flow.phases.changes();
    let before = changes.partition_point(|(time, _)| *time <= Time::ZERO + now);
    let state = before.checked_sub(1).map(|n| usize::from(changes[n].1));
    let state = state.and_then(|n| flow.phases.states().get(n));
    state.map_or_else(String::new, |state| format!(" in {}", state.name))
}

/// When the queue was longest.
fn longest_queue(timeline: &Timeline) -> Option<String> {
    let bins = timeline.link().iter().enumerate();
    let waits = bins.filter_map(|(n, bin)| Some((n, f64::from(bin.sojourn.get()?.1))));
    let (n, sojourn) = waits.max_by(|a, b| a.1.total_cmp(&b.1))?;
    // A bin without an acknowledgment says nothing of the sender: what it had before still holds.
    let before = timeline.total().get(..=n)?;
    let known = |get: fn(&FlowBin) -> Envelope| {
        let bins = before.iter().rev().map(get);
        bins.into_iter()
            .find(|values| values.get().is_some())
            .unwrap_or_default()
    };
    let kb = |values: Envelope| {
        let most = values.get().map(|(_, most)| most);
        most.map_or_else(|| "?".to_string(), |v| format!("{v:.0} kB"))
    };
    let mut line = format!(
        "longest wait: {sojourn:.1} ms at {:.2} s, with {} in the queue",
        at(timeline, n),
        kb(timeline.link()[n].queue)
    );
    // Of a program nobody knows.
    if let (Some((_, window)), Some((_, inflight))) =
        (known(|bin| bin.cwnd).get(), known(|bin| bin.inflight).get())
    {
        let phase = phase(timeline, timeline.bin() * n as u64);
        line += &format!("; window {window:.0} kB, {inflight:.0} kB in flight{phase}");
    }
    Some(line)
}

/// The longest time in which less than half of the link was used, though all of it was wanted.
fn idle(
    timeline: &Timeline,
    capacity: &[f64],
    is_wanted: impl Fn(usize) -> bool,
) -> Option<String> {
    let rates = curves::rates(timeline.total(), timeline.bin(), |bin| bin.delivered);
    let is_idle: Vec<bool> = rates
        .iter()
        .zip(capacity)
        .enumerate()
        .map(|(n, (rate, capacity))| *capacity > 0.0 && *rate < 0.5 * capacity && is_wanted(n))
        .collect();
    let mut longest = 0..0;
    let mut since = 0;
    for (n, idle) in is_idle.iter().enumerate() {
        if !idle {
            since = n + 1;
        } else if n + 1 - since > longest.len() {
            longest = since..n + 1;
        }
    }
    let all = is_idle.iter().filter(|idle| **idle).count();
    if longest.is_empty() {
        return None;
    }
    Some(format!(
        "less than half of the link was used for {:.2} s in all, the longest time from {:.2} s to {:.2} s{}",
        at(timeline, all),
        at(timeline, longest.start),
        at(timeline, longest.end),
        phase(timeline, timeline.bin() * longest.start as u64),
    ))
}

/// The second with the most losses.
fn losses(timeline: &Timeline) -> Option<String> {
    let second = Duration::from_secs(1).as_nanos() / timeline.bin().as_nanos().max(1);
    let seconds = timeline.link().chunks((second as usize).max(1));
    let drops = seconds.map(|bins| bins.iter().map(|bin| u64::from(bin.drops)).sum::<u64>());
    let drops: Vec<u64> = drops.collect();
    let (n, most) = drops.iter().enumerate().max_by_key(|(_, drops)| **drops)?;
    let all: u64 = drops.iter().sum();
    (all > 0).then(|| {
        format!(
            "{all} packets lost, {most} of them from {n} s to {} s{}",
            n + 1,
            phase(timeline, Duration::from_secs(n as u64)),
        )
    })
}
