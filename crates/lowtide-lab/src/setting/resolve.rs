//! From sections to a setting: the one place where they are checked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::registry;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_sim::impairment::{self, Aggregation, Jitter, LossModel, MovingDelay, Script};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::network::{Arrivals, Cross};
use lowtide_sim::queue::QueueKind;
use lowtide_sim::source::{self, SourceConfig};
use lowtide_sim::trace::{self, generate};
use lowtide_sim::transport::{EcnFeedback, Lie, TransportConfig};
use lowtide_sim::{AccessConfig, Direction};

use super::buffer::buffer;
use super::cross::{self, Traffic, Web};
use super::links::Links;
use super::measures;
use super::problem::{Problem, wrong};
use super::sections::{
    AccessSection, FlowSection, LinkSection, PathSection, Sections, Transport, TriggerSection,
};
use super::{Group, Host, LinkSource, Reverse, Seeds, Setting, Trigger};
use crate::contender::{Contender, Contenders};
use crate::files;
use crate::key::Key;

/// The longest run.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);
/// The largest packet: what IP can carry.
const MAX_PACKET: Bytes = Bytes::new(65_535);
/// The most flows of a run: more would not fit into the memory of a laptop.
const MAX_FLOWS: u64 = 10_000;
/// The most packets that are acknowledged at once.
const MAX_ACK_EVERY: u32 = 1_000;
/// The most bytes of all traces that one resolver reads; as links they take up to six times as much.
const MAX_TRACE_BYTES: usize = 256 << 20;
/// The most steps of a delay that drifts.
const MAX_DRIFT_STEPS: u64 = 100_000;
/// The most kinds of cross traffic of a run.
const MAX_CROSS: usize = 100;
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

    /// The same, with links that sections call as they would call files.
    #[must_use]
    pub fn with_links(self, links: &Links) -> Self {
        let links = links.clone();
        Self { links, ..self }
    }

    /// The same with the contents of files that need not be where their names say.
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
        setting.queue = queue(&sections.link);
        setting.policer = sections.link.policer.map(|policer| policer.0);
        set_path(&mut setting, &sections.path)?;
        setting.buffer = buffer(&sections.link, &setting.link, setting.rtt);
        setting.reverse = self.reverse(&sections.reverse, setting.rtt)?;
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
            setting.trigger = Some(self.trigger(section, &setting)?);
        }
        setting.host = run.host.unwrap_or_default();
        Host::check(&setting)?;
        measures::check(&sections.measures, &setting)?;
        setting.measures = sections.measures.clone();
        Ok(setting)
    }

    /// The bottleneck of the way back.
    fn reverse(
        &mut self,
        section: &LinkSection,
        rtt: Duration,
    ) -> Result<Option<Reverse>, Problem> {
        if *section == LinkSection::default() {
            return Ok(None);
        }
        let named = |problem: Problem| Problem {
            at: problem.at.replacen("link", "reverse", 1),
            ..problem
        };
        let (link, name) = self.link(section).map_err(named)?;
        Ok(Some(Reverse {
            name: section.name.clone().unwrap_or(name),
            queue: queue(section),
            buffer: buffer(section, &link, rtt),
            link,
            policer: section.policer.map(|policer| policer.0),
            cross: Vec::new(),
        }))
    }

    /// What shares the links with the flows.
    fn cross(&mut self, setting: &mut Setting, sections: &Sections) -> Result<(), Problem> {
        let forward = sections.link.cross.iter();
        let forward = forward.map(|text| (text, "link.cross", Direction::Forward));
        let reverse = sections.reverse.cross.iter();
        let reverse = reverse.map(|text| (text, "reverse.cross", Direction::Reverse));
        let all: Vec<_> = forward.chain(reverse).collect();
        if all.len() > MAX_CROSS {
            return wrong("link.cross", format!("at most {MAX_CROSS} of them"));
        }
        for (n, (text, key, direction)) in all.into_iter().enumerate() {
            let packet = setting.packet_size;
            let cross = match cross::parse(text).or_else(|e| wrong(key, e))? {
                Traffic::Source(source) => Cross::Source { source, packet },
                Traffic::File(path) => Cross::Recorded(self.arrivals(&path, key)?),
                Traffic::Web(load) => {
                    let web = self.web(setting, load, (n, key, direction))?;
                    setting.groups.push(web);
                    continue;
                }
            };
            match (direction, &mut setting.reverse) {
                (Direction::Reverse, Some(reverse)) => reverse.cross.push(cross),
                _ => setting.cross.push(cross),
            }
        }
        Ok(())
    }

    /// Short flows that offer a share of a link; `place`: their number, key and direction.
    fn web(
        &self,
        setting: &Setting,
        load: f64,
        place: (usize, &str, Direction),
    ) -> Result<Group, Problem> {
        let (number, key, direction) = place;
        let link = match (direction, &setting.reverse) {
            (Direction::Reverse, Some(reverse)) => &reverse.link,
            _ => &setting.link,
        };
        let count = Web::count(setting.duration, load, link.mean_rate());
        if count + setting.flow_count() as u64 > MAX_FLOWS {
            let problem = format!(
                "in {} s these would be {count} short flows; a run has at most {MAX_FLOWS} flows: take \
                 a lower load or a shorter run",
                setting.duration.as_secs_f64()
            );
            return wrong(key, problem);
        }
        let cubic = self.contenders.parse("cubic").or_else(|e| wrong(key, e))?;
        let like = setting.groups.first();
        Ok(Group {
            count: count as usize,
            transport: like.map_or(TransportConfig::quic(), |group| group.transport),
            web: Some(Web::new(setting.duration, number)),
            access: AccessConfig {
                direction,
                ..AccessConfig::default()
            },
            ..Group::of(cubic)
        })
    }

    /// The packets of a file.
    fn arrivals(&mut self, path: &Path, key: &str) -> Result<Arrivals, Problem> {
        let file = self.file(path);
        if let Some(arrivals) = self.arrivals.get(&file) {
            return Ok(arrivals.clone());
        }
        let wrong = |e: String| Problem::new(key, e);
        let bytes = self.read(&file).map_err(wrong)?;
        let parsed = trace::arrivals::parse(&bytes);
        let arrivals = parsed.map_err(|e| wrong(format!("{}: {e}", file.display())))?;
        self.arrivals.insert(file, arrivals.clone());
        Ok(arrivals)
    }

    /// What happens once a flow has entered a phase.
    fn trigger(&mut self, section: &TriggerSection, setting: &Setting) -> Result<Trigger, Problem> {
        let flow = usize::try_from(section.flow).unwrap_or(usize::MAX);
        let groups = setting.group_of_flows();
        let Some(group) = groups.get(flow).map(|group| &setting.groups[*group]) else {
            let problem = format!("there are {} flows, counted from 0", groups.len());
            return wrong("trigger.flow", problem);
        };
        let visit = section.visit.unwrap_or(1);
        if !(1..=1_000_000).contains(&visit) {
            return wrong("trigger.visit", "must lie between 1 and 1000000");
        }
        let rates = match &section.schedule {
            None => None,
            Some(text) => {
                let at = "trigger.schedule";
                let LinkSource::Fixed(link) = &setting.link else {
                    return wrong(at, "needs a link with a 'rate' or a 'schedule' before it");
                };
                let Link::Rates(before) = &**link else {
                    return wrong(at, "needs a link with a 'rate' or a 'schedule' before it");
                };
                let rates = trace::schedule::parse(text).or_else(|e| wrong(at, e))?;
                let both = before.followed_by(Time::ZERO + setting.duration, &rates);
                both.or_else(|e| wrong(at, e))?;
                Some(rates)
            }
        };
        let source = match &section.source {
            None => None,
            Some(text) => {
                let at = "trigger.source";
                let steps = source::parse_steps(text).or_else(|e| wrong(at, e))?;
                let follows = super::trigger::followed_by(&group.source, setting.duration, &steps);
                follows.or_else(|e| wrong(at, e))?;
                Some(steps)
            }
        };
        let by = section.by.map(|by| Time::ZERO + by.0);
        if by.is_some_and(|by| by >= Time::ZERO + setting.duration) {
            let problem = Problem::new("trigger.by", "the run is over by then");
            return Err(problem.see("run.duration"));
        }
        Ok(Trigger {
            flow,
            phase: section.phase.clone(),
            visit,
            by,
            rates,
            source,
            script: script(
                ("trigger.scripted_loss", section.scripted_loss.as_deref()),
                ("trigger.held_back", section.held_back.as_deref()),
            )?,
            aggregation: section.ack_aggregation.map(|period| period.0),
        })
    }

    /// How the delays of a path move.
    fn move_delay(&mut self, setting: &mut Setting, path: &PathSection) -> Result<(), Problem> {
        if let Some(file) = &path.delay_trace {
            if path.rtt_steps.is_some() {
                let problem = "there is 'rtt_steps' already; leave one out";
                return wrong("path.delay_trace", problem);
            }
            let delay = self.delay_trace(file)?;
            setting.moving = Some(if path.reorder {
                Arc::new(delay.as_ref().clone().reordering())
            } else {
                delay
            });
        }
        let steps = match (&path.rtt_steps, &path.rtt_drift) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                let problem = "there is 'rtt_steps' already; leave one out";
                return wrong("path.rtt_drift", problem);
            }
            (Some(text), None) => {
                let steps = impairment::parse_delay_steps(text);
                Some(steps.or_else(|e| wrong("path.rtt_steps", e))?)
            }
            (None, Some(_)) if path.delay_trace.is_some() => {
                let problem = "there is 'delay_trace' already; leave one out";
                return wrong("path.rtt_drift", problem);
            }
            (None, Some(text)) => Some(drift(text, setting)?),
        };
        if let Some(steps) = steps {
            let way = |part: fn(Duration) -> Duration| {
                let steps: Vec<_> = steps.iter().map(|(at, rtt)| (*at, part(*rtt))).collect();
                let delay = MovingDelay::stepped(part(setting.rtt), &steps);
                let delay = delay.or_else(|e| wrong("path.rtt_steps", e))?;
                Ok(Some(Arc::new(if path.reorder {
                    delay.reordering()
                } else {
                    delay
                })))
            };
            let (there, back) = (way(|rtt| rtt.div(2))?, way(|rtt| rtt - rtt.div(2))?);
            (setting.moving, setting.moving_back) = (there, back);
        }
        Ok(())
    }

    fn groups(&self, sections: &Sections, duration: Duration) -> Result<Vec<Group>, Problem> {
        if sections.flows.is_empty() {
            return wrong(
                "flows",
                "there is nobody to send: write a [[flows]] with a controller",
            );
        }
        let mut flows = 0;
        let groups = sections.flows.iter().enumerate();
        groups
            .map(|(n, section)| {
                let count = section.count.unwrap_or(1);
                flows += count;
                if count == 0 || flows > MAX_FLOWS {
                    let problem = format!("all together must be 1 to {MAX_FLOWS}");
                    return wrong(&format!("flows.{n}.count"), problem);
                }
                let named = |problem: Problem| Problem {
                    at: format!("flows.{n}.{}", problem.at),
                    ..problem
                };
                let mut group = self.group(section, duration).map_err(named)?;
                group.poisson = section.poisson.then_some(n as u64);
                if group.is_reverse() && sections.reverse == LinkSection::default() {
                    let problem = "there is no limit on the way back, which these flows would fill \
                                   without end: give it a rate or a trace";
                    let problem = Problem::new(format!("flows.{n}.direction"), problem);
                    return Err(problem.see("reverse"));
                }
                Ok(group)
            })
            .collect()
    }

    /// A group of flows; problems are at the section's keys.
    fn group(&self, section: &FlowSection, duration: Duration) -> Result<Group, Problem> {
        let zero = Duration::ZERO;
        let group = Group {
            count: section.count.unwrap_or(1) as usize,
            start: section.start.map_or(zero, |t| t.0),
            every: section.every.map_or(zero, |t| t.0),
            stop: section.stop.map(|t| Time::ZERO + t.0),
            transport: transport(section)?,
            ecn: ecn(section)?,
            lie: lie(section)?,
            pacing: section.pacing.unwrap_or_default(),
            source: section.source.map_or(SourceConfig::Bulk, |s| s.0),
            access: access(section),
            ..Group::of(self.contender(section)?)
        };
        let gaps = group.count as u64 - u64::from(!section.poisson);
        let last_start = group.start + group.every * gaps;
        if last_start >= duration {
            let key = if group.start >= duration {
                "start"
            } else {
                "every"
            };
            let (last_start, duration) = (last_start.as_secs_f64(), duration.as_secs_f64());
            let problem = format!(
                "the last flow would start at {last_start} s, when the run of {duration} s is over"
            );
            return Err(Problem::new(key, problem).see("run.duration"));
        }
        Ok(group)
    }

    fn contender(&self, section: &FlowSection) -> Result<Contender, Problem> {
        let mut spec = section
            .controller
            .clone()
            .unwrap_or_else(|| "bbr".to_string());
        for (key, value) in &section.parameters {
            let join = if spec.contains(':') { ',' } else { ':' };
            spec = format!("{spec}{join}{key}={value}");
        }
        self.contenders.parse(&spec).or_else(|e| {
            let key = if section.parameters.is_empty() {
                "controller"
            } else {
                "parameters"
            };
            match e {
                registry::Error::UnknownController { name, .. } if name.contains(',') => {
                    let problem = format!(
                        "'{}' is no controller: to try several, repeat --vary with one each, or \
                         write a list under [sweep]",
                        name.escape_debug()
                    );
                    wrong(key, problem)
                }
                e => wrong(key, e),
            }
        })
    }

    /// A link, and what it is for people.
    fn link(&mut self, section: &LinkSection) -> Result<(LinkSource, String), Problem> {
        let given = [
            section.rate.is_some(),
            section.schedule.is_some(),
            section.trace.is_some(),
            section.model.is_some(),
        ];
        if given.iter().filter(|g| **g).count() != 1 {
            return wrong(
                "link",
                "needs exactly one of 'rate', 'schedule', 'trace' and 'model'",
            );
        }
        if section.burst.is_some() && section.rate.is_none() {
            return wrong("link.burst", "goes with a constant 'rate' only");
        }
        let fixed = |link: Link| LinkSource::Fixed(Arc::new(link));
        if let Some(rate) = section.rate {
            let mbps = rate.0.as_mbps();
            let (link, name) = match section.burst {
                None => (Link::constant(rate.0), format!("constant {mbps} Mbit/s")),
                Some(burst) => (
                    Link::shaper(rate.0, burst.0),
                    format!("shaped to {mbps} Mbit/s, bursts of {}", burst.0),
                ),
            };
            return Ok((fixed(link.or_else(|e| wrong("link.rate", e))?), name));
        }
        if let Some(text) = &section.schedule {
            return Ok((LinkSource::Fixed(self.schedule(text)?), text.clone()));
        }
        if let Some(path) = &section.trace {
            let link = self.trace(path, section.opportunity.map(|bytes| bytes.0))?;
            let label = self.links.label(path).map(str::to_string);
            let label = label.unwrap_or_else(|| path.display().to_string());
            return Ok((LinkSource::Fixed(link), label));
        }
        generated(section)
    }

    fn schedule(&mut self, text: &str) -> Result<Arc<Link>, Problem> {
        if let Some(link) = self.schedules.get(text) {
            return Ok(link.clone());
        }
        let schedule = trace::schedule::parse(text).or_else(|e| wrong("link.schedule", e))?;
        let link = Arc::new(Link::Rates(schedule));
        self.schedules.insert(text.to_string(), link.clone());
        Ok(link)
    }

    /// Where a trace is; `-`, standard input, is everywhere.
    fn file(&self, path: &Path) -> PathBuf {
        match files::name(path) {
            Some(path) => self.folder.join(path),
            None => path.to_path_buf(),
        }
    }

    /// The link of a trace, which is read from standard input where the path is `-`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn trace(&mut self, path: &Path, opportunity: Option<Bytes>) -> Result<Arc<Link>, Problem> {
        if let Some(link) = self.links.get(path) {
            if opportunity.is_some() {
                let problem = "goes with a file in mahimahi's format: this link is read already";
                return wrong("link.opportunity", problem);
            }
            return Ok(link.clone());
        }
        let opportunity = opportunity.unwrap_or(MAHIMAHI_OPPORTUNITY);
        let cached = (self.file(path), opportunity);
        if let Some(link) = self.traces.get(&cached) {
            return Ok(link.clone());
        }
        let file = &cached.0;
        let bytes = self.read(file).or_else(|e| wrong("link.trace", e))?;
        let link = trace::parse(files::name(file), &bytes, opportunity)
            .or_else(|e| wrong("link.trace", format!("{}: {e}", file.display())))?;
        let link = Arc::new(link);
        self.traces.insert(cached, link.clone());
        Ok(link)
    }

    /// The delays of a file.
    fn delay_trace(&mut self, path: &Path) -> Result<Arc<MovingDelay>, Problem> {
        let file = self.file(path);
        if let Some(delay) = self.delays.get(&file) {
            return Ok(delay.clone());
        }
        let wrong = |e: String| Problem::new("path.delay_trace", e);
        let bytes = self.read(&file).map_err(wrong)?;
        let parsed = trace::delay::parse(&bytes);
        let delay = parsed.map_err(|e| wrong(format!("{}: {e}", file.display())))?;
        let delay = Arc::new(delay);
        self.delays.insert(file, delay.clone());
        Ok(delay)
    }

    /// Reads a file, and notes its key.
    fn read(&mut self, file: &Path) -> Result<Vec<u8>, String> {
        let bytes = match self.brought.get(file) {
            Some(bytes) => bytes.clone(),
            None => files::read_or_stdin(file, files::TRACE).map_err(|e| e.to_string())?,
        };
        self.read += bytes.len();
        if self.read > MAX_TRACE_BYTES {
            return Err(format!(
                "{}: all traces together are larger than {} MiB: take fewer at a time",
                file.display(),
                MAX_TRACE_BYTES >> 20
            ));
        }
        self.keys.insert(file.to_path_buf(), Key::of(&[&bytes]));
        Ok(bytes)
    }
}

fn set_path(setting: &mut Setting, path: &PathSection) -> Result<(), Problem> {
    if let Some(rtt) = path.rtt {
        setting.rtt = rtt.0;
    }
    if let Some(treatment) = path.ecn {
        setting.ecn = treatment.0;
    }
    if path.loss.is_some() && path.burst_loss.is_some() {
        return wrong("path.burst_loss", "there is 'loss' already; leave one out");
    }
    if let Some(share) = path.loss {
        setting.loss = LossModel::Random(share.0);
    }
    if let Some(model) = path.burst_loss {
        setting.loss = model.0;
    }
    if let Some(share) = path.ack_loss {
        setting.ack_loss = LossModel::Random(share.0);
    }
    setting.jitter = path.jitter.map(|max| Jitter {
        max: max.0,
        reorder: path.reorder,
    });
    let from = Time::ZERO + path.ack_aggregation_from.map_or(Duration::ZERO, |t| t.0);
    if path.ack_aggregation_from.is_some() && path.ack_aggregation.is_none() {
        let problem = "goes with 'ack_aggregation' only";
        return wrong("path.ack_aggregation_from", problem);
    }
    if let Some(text) = &path.wifi_jitter {
        let wifi = impairment::parse_wifi_jitter(text).or_else(|e| wrong("path.wifi_jitter", e))?;
        setting.wifi = Some(Arc::new(wifi));
    }
    setting.aggregation = path
        .ack_aggregation
        .map(|p| Aggregation { period: p.0, from });
    setting.script = script(
        ("path.scripted_loss", path.scripted_loss.as_deref()),
        ("path.held_back", path.held_back.as_deref()),
    )?;
    let ack_loss = path.ack_scripted_loss.as_deref();
    setting.ack_script = script(("path.ack_scripted_loss", ack_loss), ("", None))?;
    if let Some(size) = path.packet_size {
        setting.packet_size = size.0;
    }
    if setting.packet_size > MAX_PACKET {
        return wrong("path.packet_size", format!("the most is {MAX_PACKET}"));
    }
    Ok(())
}

/// A script from its keys and texts.
fn script(
    losses: (&str, Option<&str>),
    held_back: (&str, Option<&str>),
) -> Result<Script, Problem> {
    let mut script = Script::default();
    if let (key, Some(text)) = losses {
        script.losses = impairment::parse_scripted_loss(text).or_else(|e| wrong(key, e))?;
    }
    if let (key, Some(text)) = held_back {
        script.held_back = impairment::parse_held_back(text).or_else(|e| wrong(key, e))?;
    }
    Ok(script)
}

/// The steps of a delay that becomes shorter again and again, for the whole run.
fn drift(text: &str, setting: &Setting) -> Result<Vec<(Time, Duration)>, Problem> {
    let at = "path.rtt_drift";
    let (every, by) = impairment::parse_drift(text).or_else(|e| wrong(at, e))?;
    let count = setting.duration.as_nanos() / every.as_nanos().max(1);
    if count > MAX_DRIFT_STEPS {
        return wrong(
            at,
            format!("makes {count} steps in the run; the most is {MAX_DRIFT_STEPS}"),
        );
    }
    if by * count >= setting.rtt {
        let problem = Problem::new(at, "leaves nothing of the delay before the run is over");
        return Err(problem.see("path.rtt"));
    }
    let steps = (1..=count).map(|n| (Time::ZERO + every * n, setting.rtt - by * n));
    Ok(steps.collect())
}

/// How the queue before a link is managed.
fn queue(section: &LinkSection) -> QueueKind {
    section.queue.map_or(QueueKind::DropTail, |queue| queue.0)
}

fn generated(section: &LinkSection) -> Result<(LinkSource, String), Problem> {
    let name = section.model.as_deref().unwrap_or_default();
    let named = generate::named();
    let Some(found) = named.iter().find(|n| n.name == name) else {
        let known: Vec<&str> = named.iter().map(|n| n.name).collect();
        return wrong("link.model", registry::unknown("", name, &known));
    };
    let mut model = found.model();
    if let Some(mean) = section.mean {
        model = model.with_mean(mean.0);
    }
    let about = format!("{name} of {} Mbit/s", model.mean().as_mbps());
    let seed = section.seed;
    Ok((LinkSource::Generated { model, seed }, about))
}

fn ecn(section: &FlowSection) -> Result<EcnFeedback, Problem> {
    let is_quic = !matches!(section.transport, Some(Transport::Tcp));
    match section.ecn.unwrap_or_default() {
        EcnFeedback::Classic if is_quic => {
            let problem = "'classic' is for tcp only: QUIC reports counts ('accurate')";
            Err(Problem::new("ecn", problem).see("flows.0.transport"))
        }
        ecn => Ok(ecn),
    }
}

fn lie(section: &FlowSection) -> Result<Option<Lie>, Problem> {
    let needs = |problem: &str, see| Err(Problem::new("lie", problem).see(see));
    if section.lie.is_some() && matches!(section.transport, Some(Transport::Tcp)) {
        return needs("is for quic only", "flows.0.transport");
    }
    if section.lie == Some(Lie::Timestamps) && section.timestamps != Some(true) {
        return needs("its receiver reports no timestamps", "flows.0.timestamps");
    }
    Ok(section.lie)
}

fn transport(section: &FlowSection) -> Result<TransportConfig, Problem> {
    let only = |key: &str, what: &str| {
        let problem = Problem::new(key, format!("is for {what} only"));
        Err(problem.see("flows.0.transport"))
    };
    match section.transport.unwrap_or(Transport::Quic) {
        Transport::Quic => {
            if section.min_rto.is_some() {
                return only("min_rto", "tcp");
            }
            if section.sack.is_some() {
                return only("sack", "tcp");
            }
            let mut config = TransportConfig::quic();
            if let TransportConfig::Quic {
                ack_every,
                timestamps,
                ..
            } = &mut config
            {
                *ack_every = section.ack_every.unwrap_or(*ack_every);
                if !(1..=MAX_ACK_EVERY).contains(ack_every) {
                    let problem = format!("must lie between 1 and {MAX_ACK_EVERY}");
                    return wrong("ack_every", problem);
                }
                *timestamps = section.timestamps.unwrap_or(*timestamps);
            }
            Ok(config)
        }
        Transport::Tcp => {
            if section.ack_every.is_some() {
                return only("ack_every", "quic");
            }
            if section.timestamps.is_some() {
                return only("timestamps", "quic");
            }
            let mut config = TransportConfig::tcp();
            if let TransportConfig::Tcp { min_rto, sack, .. } = &mut config {
                *min_rto = section.min_rto.map_or(*min_rto, |least| least.0);
                *sack = section.sack.unwrap_or(*sack);
            }
            Ok(config)
        }
    }
}

fn access(flow: &FlowSection) -> AccessConfig {
    let section: &AccessSection = &flow.access;
    let zero = Duration::ZERO;
    AccessConfig {
        direction: flow.direction.unwrap_or_default(),
        sender_rate: section.sender_rate.map(|r| r.0),
        sender_delay: section.sender_delay.map_or(zero, |t| t.0),
        receiver_rate: section.receiver_rate.map(|r| r.0),
        receiver_delay: section.receiver_delay.map_or(zero, |t| t.0),
    }
}
