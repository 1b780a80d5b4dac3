//! A comparison that comes in as JSON, and whose runs are made elsewhere.

use std::path::Path;
use std::sync::Arc;

use lowtide_cc::units::Duration;
use lowtide_lab::compare::{self, Due, count_runs};
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::json::JsonComparison;
use lowtide_lab::key::Key;
use lowtide_lab::run::{self, FailedRun};
use lowtide_lab::setting::{Brief, Links, Problem, Resolver, Sections, Setting};
use lowtide_report::report::Report;
use lowtide_sim::link::MAHIMAHI_OPPORTUNITY;
use lowtide_sim::trace;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::json;

/// The longest run.
const MAX_DURATION: Duration = Duration::from_secs(3600);
/// The most flows: each takes memory, and a phone's browser has little.
const MAX_FLOWS: u64 = 1_000;
/// The most seeds.
const MAX_SEEDS: u64 = 100;
/// The most packets of all runs together: some ten minutes on one core.
const MAX_PACKETS: f64 = 1e9;

/// The controllers and the setting to compare them in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    /// The setting: short names as those of flags, and sections as in a scenario file.
    setting: toml::Table,
    /// The controllers, as in `["bbr", "cubic:abe=true"]`; none: all controllers.
    #[serde(default)]
    controllers: Vec<String>,
}

/// Files that a question names.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Files(Vec<(String, Vec<u8>)>);

#[wasm_bindgen]
impl Files {
    /// None.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One more, with what is in it.
    pub fn add(&mut self, name: String, bytes: Vec<u8>) {
        self.0.push((name, bytes));
    }
}

/// What is wrong, at which key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// The key, as in `path.rtt`; empty where no key is to blame.
    pub at: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl Wrong {
    fn new(at: &str, problem: impl ToString) -> Self {
        Self {
            at: at.to_string(),
            problem: problem.to_string(),
        }
    }
}

impl From<Problem> for Wrong {
    fn from(problem: Problem) -> Self {
        let text = problem.sentence(|key| format!("'{key}'"));
        Self::new(&problem.at, text)
    }
}

/// JavaScript is thrown the JSON.
impl From<Wrong> for JsValue {
    fn from(wrong: Wrong) -> Self {
        Self::from_str(&json(&wrong))
    }
}

/// What is compared and how much work that is.
#[derive(Debug, Serialize)]
struct About {
    link: String,
    rtt: String,
    duration_s: f64,
    flows: usize,
    seeds: u64,
    runs: u64,
    /// Packets that the link can carry in all runs.
    packets: f64,
}

/// A comparison under way. Its runs have numbers, which are the same in every instance.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Comparison {
    setting: Setting,
    about: About,
    runs: compare::Underway,
}

#[wasm_bindgen]
impl Comparison {
    /// `question`: JSON, as `{ "setting": { "rate": "20mbit" }, "controllers": ["bbr"] }`; `files`: traces
    /// that it names, in the formats of the command line.
    ///
    /// # Errors
    /// What is wrong with the question or a file.
    #[wasm_bindgen(constructor)]
    pub fn new(question: &str, files: &Files) -> Result<Self, Wrong> {
        let question: Question = serde_json::from_str(question).map_err(|e| Wrong::new("", e))?;
        let contenders = Contenders::default();
        let setting = setting(question.setting, &files.0, &contenders)?;
        let asked = match question.controllers.as_slice() {
            [] => contenders.usual(),
            specs => {
                let parsed = specs.iter().map(|spec| contenders.parse(spec));
                let parsed: Result<Vec<Contender>, _> = parsed.collect();
                parsed.map_err(|e| Wrong::new("controllers", e))?
            }
        };
        let about = about(&setting, &asked)?;
        let setting = setting
            .with_mean_in_name()
            .map_err(|e| Wrong::new("link", e))?;
        let runs = compare::Underway::new(&setting, &asked, true);
        Ok(Self {
            runs: runs.map_err(|e| Wrong::new("controllers", e))?,
            setting,
            about,
        })
    }

    /// What is compared and how much work that is, as JSON.
    #[must_use]
    pub fn about(&self) -> String {
        json(&self.about)
    }

    /// The numbers of the runs that can be made now, each named once. When there are none although all
    /// that were due are done, the comparison is at its end.
    #[must_use]
    pub fn due(&mut self) -> Vec<u32> {
        let due = self.runs.due();
        due.into_iter().map(|due| self.number(due)).collect()
    }

    /// Makes a run: what an instance of this version takes.
    ///
    /// # Errors
    /// Why it did not come to its end.
    pub fn make(&self, run: u32) -> Result<Vec<u8>, Wrong> {
        let task = self.runs.task(self.due_of(run));
        let task = task.ok_or_else(|| Wrong::new("", format!("there is no run {run}")))?;
        let done = run::run(task.setting, task.seed, task.keep).map_err(|e| Wrong::new("", e))?;
        postcard::to_allocvec(&done).map_err(|e| Wrong::new("", e))
    }

    /// Takes a run that was made, in whatever instance.
    ///
    /// # Errors
    /// When these bytes are none.
    pub fn take(&mut self, run: u32, bytes: &[u8]) -> Result<(), Wrong> {
        let done = postcard::from_bytes(bytes).map_err(|e| Wrong::new("", e))?;
        self.runs.take(self.due_of(run), Ok(done));
        Ok(())
    }

    /// A run did not come to its end.
    pub fn fail(&mut self, run: u32, reason: &str) {
        let due = self.due_of(run);
        let name = self.runs.task(due).map_or("", |task| task.name);
        let failed = FailedRun {
            name: name.to_string(),
            seed: due.seed,
            reason: reason.to_string(),
        };
        self.runs.take(due, Err(failed));
    }

    /// What is known so far, as `lowtide compare --json --no-timing` prints it.
    #[must_use]
    pub fn json(&self) -> String {
        let [(setting, comparison)] = self.known();
        let json = JsonComparison::new(&setting, &comparison, None);
        let text = serde_json::to_string_pretty(&json).unwrap_or_default();
        text + "\n"
    }

    /// What is known so far, as the report's scripts draw it.
    ///
    /// # Errors
    /// When the link cannot be made again.
    pub fn data(&self) -> Result<String, Wrong> {
        let data = Report::of_comparisons(&self.known()).data();
        data.map_err(|e| Wrong::new("link", e))
    }

    /// The report, a page that needs nothing else.
    ///
    /// # Errors
    /// When the link cannot be made again.
    pub fn report(&self) -> Result<String, Wrong> {
        let page = Report::of_comparisons(&self.known()).html();
        page.map_err(|e| Wrong::new("link", e))
    }
}

impl Comparison {
    /// A run's number counts seeds, and then participants.
    fn number(&self, due: Due) -> u32 {
        let seeds = self.setting.seeds;
        let seed = due.seed.wrapping_sub(seeds.first);
        (due.participant as u64 * seeds.count + seed) as u32
    }

    fn due_of(&self, run: u32) -> Due {
        let seeds = self.setting.seeds;
        Due {
            participant: (u64::from(run) / seeds.count) as usize,
            seed: seeds.first.wrapping_add(u64::from(run) % seeds.count),
        }
    }

    fn known(&self) -> [(Setting, compare::Comparison); 1] {
        [(self.setting.clone(), self.runs.clone().comparison())]
    }
}

/// The setting that somebody asks for, within what a browser can do.
fn setting(
    said: toml::Table,
    files: &[(String, Vec<u8>)],
    contenders: &Contenders,
) -> Result<Setting, Wrong> {
    let mut links = Links::default();
    for (name, bytes) in files {
        let link = trace::parse(Some(Path::new(name)), bytes, MAHIMAHI_OPPORTUNITY);
        let link = link.map_err(|e| Wrong::new("trace", format!("{name}: {e}")))?;
        links.insert(name, name, Arc::new(link), Key::of(&[bytes]));
    }
    if let Some(name) = said.get("trace").and_then(toml::Value::as_str)
        && files.iter().all(|(given, _)| given != name)
    {
        let name = name.escape_debug();
        let problem = format!("no file that is called '{name}' was given");
        return Err(Wrong::new("trace", problem));
    }
    let brief = Brief::new(said)?;
    let named = |problem: Problem| Wrong {
        at: brief.name(&problem.at),
        problem: problem.sentence(|key| format!("'{}'", brief.name(key))),
    };
    let mut resolver = Resolver::new(contenders, Path::new("")).with_links(&links);
    let mut all = brief.sections(&mut resolver, |_| ()).map_err(named)?;
    let [sections] = all.as_mut_slice() else {
        return Err(Wrong::new("trace", "one at a time"));
    };
    bounded(sections).map_err(named)?;
    resolver.setting(sections).map_err(named)
}

/// Refuses what a browser cannot do.
fn bounded(sections: &Sections) -> Result<(), Problem> {
    let wrong = |at: &str, most: String| {
        let problem = format!("in a browser at most {most}; the command line takes more");
        Err(Problem {
            at: at.to_string(),
            problem,
            see: None,
        })
    };
    let run = &sections.run;
    if run.duration.is_some_and(|d| d.0 > MAX_DURATION) {
        return wrong("run.duration", "an hour (3600s)".to_string());
    }
    if run.seeds.is_some_and(|seeds| seeds > MAX_SEEDS) {
        return wrong("run.seeds", MAX_SEEDS.to_string());
    }
    let flows = sections.flows.iter().map(|flows| flows.count.unwrap_or(1));
    if flows.fold(0, u64::saturating_add) > MAX_FLOWS {
        return wrong("flows.0.count", MAX_FLOWS.to_string());
    }
    Ok(())
}

/// How much work it is; refused where it is too much.
fn about(setting: &Setting, asked: &[Contender]) -> Result<About, Wrong> {
    let link = setting.link(setting.seeds.first);
    let link = link.map_err(|e| Wrong::new("link", e))?;
    let runs = count_runs(setting, asked);
    let volume = link.mean_rate().as_f64() * setting.duration.as_secs_f64();
    let packets = volume / setting.packet_size.as_f64() * runs as f64;
    if packets > MAX_PACKETS {
        let problem = format!(
            "the link can carry {packets:.1e} packets in {runs} runs, which takes too long in a browser: \
             take a shorter duration, fewer controllers or seeds, or the command line"
        );
        return Err(Wrong::new("duration", problem));
    }
    Ok(About {
        link: setting.link_name.clone(),
        rtt: setting.rtt_shown(),
        duration_s: setting.duration.as_secs_f64(),
        flows: setting.flow_count(),
        seeds: setting.seeds.count,
        runs,
        packets,
    })
}
