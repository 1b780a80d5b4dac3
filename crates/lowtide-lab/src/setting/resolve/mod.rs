//! From sections to a setting: the one place where they are checked.

mod flows;
mod link;
mod path;
mod read;
mod triggered;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::impairment::MovingDelay;
use lowtide_sim::link::Link;
use lowtide_sim::network::Arrivals;

pub(crate) use self::link::model;
use self::link::{of_reverse, set_link};
use self::path::set_path;
use self::triggered::trigger;
use super::links::Links;
use super::measures;
use super::problem::{Problem, wrong};
use super::sections::{LinkSection, Sections};
use super::{Host, Seeds, Setting};
use crate::contender::Contenders;
use crate::key::Key;

/// The longest run.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);
/// The most flows of a run: more would not fit into the memory of a laptop.
const MAX_FLOWS: u64 = 10_000;
/// The most runs of a setting.
pub const MAX_SEEDS: u64 = 10_000;

/// Makes settings of sections. It knows whom names mean, and reads no trace twice.
#[derive(Debug, Default)]
pub struct Resolver {
    contenders: Contenders,
    /// Traces are looked for from here.
    folder: PathBuf,
    /// Traces that are no files.
    links: Links,
    traces: HashMap<(PathBuf, Bytes), Arc<Link>>,
    delays: HashMap<PathBuf, Arc<MovingDelay>>,
    arrivals: HashMap<PathBuf, Arrivals>,
    keys: HashMap<PathBuf, Key>,
    /// Contents of files that need not be on this machine.
    brought: HashMap<PathBuf, Vec<u8>>,
    /// Bytes of the traces.
    read: usize,
    schedules: HashMap<String, Arc<Link>>,
    /// Names of the registry's phases, once somebody has asked for one.
    phases: Option<Vec<&'static str>>,
}

impl Resolver {
    /// A resolver that takes names from `contenders`, and traces from below `folder` where their
    /// paths do not begin at the root.
    #[must_use]
    pub fn new(contenders: &Contenders, folder: &Path) -> Self {
        Self {
            contenders: contenders.clone(),
            folder: folder.to_path_buf(),
            ..Self::default()
        }
    }

    /// The resolver, with links that sections call as they would call files.
    #[must_use]
    pub fn with_links(self, links: &Links) -> Self {
        let links = links.clone();
        Self { links, ..self }
    }

    /// The resolver, with the contents of files that need not be where their names say.
    #[must_use]
    pub fn with_files(mut self, files: HashMap<PathBuf, Vec<u8>>) -> Self {
        self.brought = files;
        self
    }

    /// The files that were read, and the keys of their contents.
    pub fn files(&self) -> impl Iterator<Item = (&Path, Key)> {
        self.keys.iter().map(|(file, key)| (file.as_path(), *key))
    }

    /// Checks sections and makes a setting of them.
    ///
    /// # Errors
    /// Names the key whose value is wrong.
    pub fn setting(&mut self, sections: &Sections) -> Result<Setting, Problem> {
        let link = self.link(&sections.link)?;
        let name = sections.link.name.clone();
        let mut setting = Setting::on_link(&name.unwrap_or(link.1), link.0);
        if let Some(rtt) = sections.path.rtt {
            setting = setting.with_rtt(rtt.0);
        }
        let rtt = setting.base_rtt();
        set_path(&mut setting, &sections.path)?;
        set_link(&mut setting.forward, &sections.link, rtt);
        if sections.reverse != LinkSection::default() {
            let (link, name) = self.link(&sections.reverse).map_err(of_reverse)?;
            setting.back.link = link;
            setting.back_name = Some(sections.reverse.name.clone().unwrap_or(name));
            set_link(&mut setting.back, &sections.reverse, rtt);
        }
        let run = &sections.run;
        if let Some(duration) = run.duration {
            setting.duration = duration.0;
        }
        if setting.duration > MAX_DURATION {
            return wrong("run.duration", "the longest is 24 hours (86400s)");
        }
        self.move_delay(&mut setting, &sections.path)?;
        setting.seeds = Seeds {
            first: run.first_seed.unwrap_or(1),
            count: run.seeds.unwrap_or(1),
        };
        if !(1..=MAX_SEEDS).contains(&setting.seeds.count) {
            return wrong("run.seeds", format!("must lie between 1 and {MAX_SEEDS}"));
        }
        setting.measure_from = Time::ZERO + run.measure_from.map_or(Duration::ZERO, |t| t.0);
        if setting.measure_from >= Time::ZERO + setting.duration {
            return wrong("run.measure_from", "the run is over by then");
        }
        setting.groups = self.groups(sections, setting.duration)?;
        self.cross(&mut setting, sections)?;
        if let Some(section) = &sections.trigger {
            setting.trigger = Some(trigger(section, &setting)?);
        }
        setting.host = run.host.unwrap_or_default();
        Host::check(&setting)?;
        measures::check(&sections.measures, &setting)?;
        setting.measures = sections.measures.clone();
        self.check_phases(&setting)?;
        Ok(setting)
    }

    /// Checks that there are the phases that a setting names. Which phases a stack's own controller or a function's
    /// has, nobody can tell before it runs.
    fn check_phases(&mut self, setting: &Setting) -> Result<(), Problem> {
        let trigger = setting.trigger.iter();
        let mut named: Vec<(String, &str)> = trigger
            .map(|trigger| ("trigger.phase".to_string(), trigger.phase.as_str()))
            .collect();
        for (name, measure) in &setting.measures {
            named.extend(measure.phases().map(|(key, phase)| {
                let at = format!("measures.{name}.phase.{key}");
                (at, phase)
            }));
        }
        let contenders = &self.contenders;
        let mut senders = setting.groups.iter().map(|group| &group.contender);
        if named.is_empty() || !senders.all(|sender| contenders.is_registered(sender)) {
            return Ok(());
        }
        let known = self.phases.get_or_insert_with(|| {
            let phases = contenders.phases().into_iter();
            phases.map(|phase| phase.name).collect()
        });
        match named.into_iter().find(|(_, phase)| !known.contains(phase)) {
            Some((at, phase)) => wrong(&at, registry::unknown("phase ", phase, known)),
            None => Ok(()),
        }
    }
}
