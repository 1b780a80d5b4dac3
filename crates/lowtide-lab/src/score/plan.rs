//! What has to be run for a scorecard.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use lowtide_cc::controllers::bbr3;
use lowtide_cc::units::Bytes;
use lowtide_cc::{Config, Ecn};
use lowtide_sim::SenderKind;

use super::suite::Suite;
use super::verdict::check;
use crate::contender::{Contender, Contenders};
use crate::key::Key;
use crate::reproduce;
use crate::scenario_file::{Cell, FileError, Need, ScenarioFile};
use crate::setting::Host;

/// A case for a controller.
#[derive(Clone, Debug)]
pub struct Job {
    /// The controller, by its place.
    pub candidate: usize,
    /// The case, with the controller in its place.
    pub case: ScenarioFile,
    /// The case's cells, and the place of each one's run in [`Plan::cells`]; or why it is not
    /// applicable.
    pub cells: Result<Vec<(Cell, usize)>, String>,
}

/// Controllers that cannot be judged together, or not over the host that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Apart(String);

/// The host that cases are to have, whatever they say: the one that was asked for, or else that over which alone one of
/// these runs.
///
/// # Errors
/// When they run over different ones.
pub fn host_of(candidates: &[Contender], asked: Option<Host>) -> Result<Option<Host>, Apart> {
    let mut host = asked;
    let mut of: Option<&Contender> = None;
    for candidate in candidates {
        let Some(home) = Host::home_of(candidate) else {
            continue;
        };
        let name = candidate.name();
        match (host, of) {
            (Some(host), _) if host == home => {}
            (None, _) => host = Some(home),
            (Some(other), None) => {
                return Err(Apart(format!(
                    "{name} runs over {home} only, not over {other}: use --host {home}, or leave it out"
                )));
            }
            (Some(other), Some(of)) => {
                let of = of.name();
                return Err(Apart(format!(
                    "{of} runs over {other} only and {name} over {home}: ask for them one after the other"
                )));
            }
        }
        of = Some(candidate);
    }
    Ok(host)
}

/// All that has to be run, nothing twice: what others are held against is the same for all of them.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Controllers that are judged.
    pub candidates: Vec<Contender>,
    /// The cases of each.
    pub jobs: Vec<Job>,
    /// The runs.
    pub cells: Vec<Cell>,
}

impl Plan {
    /// All cases of a suite for each of the candidates. Recorded links lie below `traces`; a case
    /// of none but links that are not there is not applicable.
    ///
    /// # Errors
    /// When a case is wrong; the error names file, line and key.
    pub fn new(
        suite: &Suite,
        candidates: Vec<Contender>,
        contenders: &Contenders,
        traces: Option<&Path>,
    ) -> Result<Self, FileError> {
        let mut plan = Self {
            candidates,
            jobs: Vec::new(),
            cells: Vec::new(),
        };
        let mut places: HashMap<(Key, u64, u64), usize> = HashMap::new();
        for n in 0..plan.candidates.len() {
            let candidate = plan.candidates[n].clone();
            for case in &suite.cases {
                let case = case.judging(candidate.name());
                let cells = match cells(&case, &candidate, contenders, traces)? {
                    Err(reason) => Err(reason),
                    Ok(cells) => {
                        check(&case, &cells, contenders)?;
                        Ok(cells
                            .into_iter()
                            .map(|cell| {
                                let seeds = cell.setting.seeds;
                                let key = (cell.key, seeds.first, seeds.count);
                                let place = *places.entry(key).or_insert_with(|| {
                                    plan.cells.push(cell.clone());
                                    plan.cells.len() - 1
                                });
                                (cell, place)
                            })
                            .collect())
                    }
                };
                plan.jobs.push(Job {
                    candidate: n,
                    case,
                    cells,
                });
            }
        }
        Ok(plan)
    }

    /// Makes cases not applicable in whose cells there is an obstacle, and leaves out their runs.
    pub fn leave_out(&mut self, obstacle: impl Fn(&Cell) -> Option<String>) {
        for job in &mut self.jobs {
            let cells = job.cells.iter().flatten();
            let found = cells.map(|(cell, _)| cell).find_map(&obstacle);
            if let Some(reason) = found {
                job.cells = Err(reason);
            }
        }
        let cells = self.jobs.iter().flat_map(|job| job.cells.iter().flatten());
        let kept: BTreeSet<usize> = cells.map(|(_, place)| *place).collect();
        let kept: Vec<usize> = kept.into_iter().collect();
        for job in &mut self.jobs {
            for (_, place) in job.cells.iter_mut().flatten() {
                *place = kept.partition_point(|n| n < place);
            }
        }
        let cells = kept.into_iter().map(|n| self.cells[n].clone());
        self.cells = cells.collect();
    }
}

/// The cells of a case for a candidate, or why it is not applicable.
fn cells(
    case: &ScenarioFile,
    candidate: &Contender,
    contenders: &Contenders,
    traces: Option<&Path>,
) -> Result<Result<Vec<Cell>, String>, FileError> {
    let needs = case.content.case.iter().flat_map(|c| &c.needs);
    let host = case.host();
    for need in needs {
        if let Some(lacking) = lacks(*need, candidate, host) {
            return Ok(Err(lacking));
        }
    }
    let (found, lacking) = match traces {
        _ if case.content.traces.is_empty() => (Vec::new(), String::new()),
        None => (Vec::new(), "needs recorded links: --traces DIR".to_string()),
        Some(folder) => {
            let (found, missing) = reproduce::traces(case, folder);
            let missing = missing.join(", ");
            (found, format!("{missing}: not in {}", folder.display()))
        }
    };
    let cells = if found.is_empty() {
        if !case.content.traces.is_empty() && case.content.cases.is_empty() {
            return Ok(Err(lacking));
        }
        case.cells(contenders)
    } else {
        case.on_traces_too(&found).cells(contenders)
    };
    match cells {
        Ok(cells) => Ok(Ok(cells)),
        // The case is right, and the host is not for it.
        Err(e) if host != Host::Model && is_right(case, contenders) => Ok(Err(e.problem)),
        Err(e) => Err(e),
    }
}

/// Whether the simulator's own transports could carry a case for a controller of ours.
fn is_right(case: &ScenarioFile, contenders: &Contenders) -> bool {
    let mut case = case.judging("cubic");
    case.set_host(Host::Model);
    case.cells(contenders).is_ok()
}

/// What a candidate lacks of a need; `None` where it has it.
pub(super) fn lacks(need: Need, candidate: &Contender, host: Host) -> Option<String> {
    let name = candidate.name();
    let is_program = matches!(candidate, Contender::Program(_));
    let controller = match candidate.sender() {
        SenderKind::Controlled { controller, .. } => {
            Some(controller(&Config::for_datagram(Bytes::new(1200))))
        }
        _ => None,
    };
    let states = controller.as_ref().map_or(&[][..], |c| c.phases());
    let mut of_bbr = bbr3::Phase::STATES.iter();
    let is_capable = controller.as_ref().is_some_and(|c| c.ecn() != Ecn::NotEct);
    let lacking = match need {
        Need::Multipath => format!("{name} has one path at a time"),
        Need::Person => "judged by a person".to_string(),
        Need::Bbr | Need::State if is_program => {
            format!("{name} is seen from the link, which knows no phases")
        }
        Need::Ecn if is_program => format!("whether {name} asks for ECN is not known"),
        Need::Model if is_program => "needs the simulator's own transports".to_string(),
        Need::Bbr if !of_bbr.all(|state| states.contains(state)) => {
            format!("{name} has not the phases of BBR's draft")
        }
        Need::State if states.is_empty() => format!("the phases of {name} cannot be seen"),
        Need::Ecn if !is_capable => format!("{name} sends packets that are not ECN-capable"),
        Need::Model if host != Host::Model => {
            "needs the simulator's own transports (--host model)".to_string()
        }
        _ => return None,
    };
    Some(lacking)
}
