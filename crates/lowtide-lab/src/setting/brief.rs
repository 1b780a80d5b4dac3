//! Settings in short: what flags, keyword arguments and forms say, by short names, sections or both.

use std::path::PathBuf;

use lowtide_cc::units::Duration;
use lowtide_sim::{Direction, trace};
use toml::{Table, Value};

use super::folder::traces_below;
use super::problem::Problem;
use super::quantity::TimeText;
use super::resolve::Resolver;
use super::sections::{FlowSection, Sections};
use super::short::{SECTIONS, SHORT, SHORT_FOR_MORE, short_name};
use super::{BuiltIn, built_in, put};

/// What makes a link.
const SOURCES: [&str; 4] = ["rate", "schedule", "trace", "model"];

/// The longest default duration on a trace.
const MAX_DEFAULT_DURATION: Duration = Duration::from_secs(120);

impl Sections {
    /// The setting, once through the trace of its link where nothing says how long, unless that takes too
    /// long.
    fn with_length_of_trace(mut self, resolver: &mut Resolver) -> Result<Self, Problem> {
        if let (None, Some(file)) = (self.run.duration, &self.link.trace) {
            let link = resolver.trace(file, self.link.opportunity.map(|bytes| bytes.0))?;
            let length = trace::info::natural_length(&link).unwrap_or(MAX_DEFAULT_DURATION);
            self.run.duration = Some(TimeText(length.min(MAX_DEFAULT_DURATION)));
        }
        Ok(self)
    }

    /// Adds flows the other way, with this controller and else like the first group's; they start at once
    /// and send all they can.
    fn add_reverse_flows(&mut self, controller: &str, count: Option<u64>) {
        let like = self.flows.first().cloned().unwrap_or_default();
        self.flows.push(FlowSection {
            controller: Some(controller.to_string()),
            direction: Some(Direction::Reverse),
            count,
            every: None,
            source: None,
            ..like
        });
    }
}

/// What somebody said in short names, whole sections, or both.
#[derive(Clone, Debug)]
pub struct Brief {
    /// All but what stands for more than one key.
    table: Table,
    /// The short names that were used.
    short: Vec<&'static str>,
    /// Each makes a setting of its own; without any there is one.
    traces: Vec<PathBuf>,
    /// The folder that they were found in.
    below: Option<PathBuf>,
    reverse_flows: Option<(String, Option<u64>)>,
}

impl Brief {
    /// What a table says: short names, and sections by theirs. `flows` may be a number or groups of flows.
    ///
    /// # Errors
    /// Names what is unknown, said twice, or does not go together.
    pub fn new(mut said: Table) -> Result<Self, Problem> {
        let traces = traces(&mut said)?;
        let below = text(&mut said, "traces")?.map(PathBuf::from);
        if below.is_some() && !traces.is_empty() {
            let problem = Problem::new("traces", "there is 'trace' already; leave one out");
            return Err(problem);
        }
        let scenario = text(&mut said, "scenario")?;
        let reverse_flows = reverse_flows(&mut said)?;
        let has_source = !traces.is_empty() || below.is_some() || has_source(&said);
        let mut table = match &scenario {
            Some(_) if has_source => {
                let problem = "there is a link already; leave one out";
                return Err(Problem::new("scenario", problem));
            }
            Some(name) => BuiltIn::of_name(name)?.table(),
            None if has_source => Table::from_iter([(
                "flows".to_string(),
                Value::Array(vec![Value::Table(Table::new())]),
            )]),
            None => built_in()[0].table(),
        };
        let mut brief = Self {
            table: Table::new(),
            short: Vec::new(),
            traces,
            below,
            reverse_flows,
        };
        let is_section = |key: &str, value: &Value| {
            SECTIONS.contains(&key) && (key != "flows" || value.is_array())
        };
        for (name, value) in said.iter().filter(|(key, value)| is_section(key, value)) {
            fill(&mut table, name, value)?;
        }
        for (name, value) in said.iter().filter(|(key, value)| !is_section(key, value)) {
            let Some((short, key)) = SHORT.iter().find(|(short, _)| short == name) else {
                return Err(unknown(name));
            };
            if is_said(&said, key) {
                let problem = format!("is said by '{key}' already; leave one out");
                return Err(Problem::new(*short, problem));
            }
            let path: Vec<&str> = key.split('.').collect();
            let value = match (*short, value) {
                ("cross" | "reverse_cross", Value::String(_)) => Value::Array(vec![value.clone()]),
                _ => value.clone(),
            };
            put(&mut table, &path, &value).map_err(|e| Problem::new(*short, e))?;
            brief.short.push(short);
        }
        brief.table = table;
        Ok(brief)
    }

    /// What whoever said it calls a key.
    #[must_use]
    pub fn name(&self, key: &str) -> String {
        let short = short_name(key).filter(|short| self.short.contains(short));
        let of_reverse_flows = |part: &str| {
            let groups = self.table.get("flows").and_then(Value::as_array);
            let last = groups.map_or(0, Vec::len);
            self.reverse_flows.is_some() && key == format!("flows.{last}.{part}")
        };
        let of_more = || match key {
            "link.trace" if self.below.is_some() => Some("traces"),
            "link.trace" if !self.traces.is_empty() => Some("trace"),
            _ if of_reverse_flows("controller") => Some("reverse_cc"),
            _ if of_reverse_flows("count") => Some("reverse_flows"),
            _ => None,
        };
        let name = of_more().or(short).unwrap_or(key);
        name.to_string()
    }

    /// The sections: once, or once for each trace. `left_out` is told of files in a folder of traces that
    /// are none.
    ///
    /// # Errors
    /// Names the key whose value is wrong.
    pub fn sections(
        &self,
        resolver: &mut Resolver,
        mut left_out: impl FnMut(&Problem),
    ) -> Result<Vec<Sections>, Problem> {
        let mut common = Sections::of_values(&self.table)?;
        if common.reverse.trace.is_some() && common.reverse.opportunity.is_none() {
            common.reverse.opportunity = common.link.opportunity;
        }
        if let Some((controller, count)) = &self.reverse_flows {
            common.add_reverse_flows(controller, *count);
        }
        let files = match &self.below {
            None if self.traces.is_empty() => {
                return Ok(vec![common.with_length_of_trace(resolver)?]);
            }
            None => self.traces.clone(),
            Some(folder) => traces_below(folder).map_err(|e| Problem::new("traces", e))?,
        };
        let mut all = Vec::with_capacity(files.len());
        let mut last = None;
        for file in files {
            let mut sections = common.clone();
            if let Some(folder) = &self.below {
                let name = file.strip_prefix(folder).unwrap_or(&file);
                sections.link.name = Some(name.display().to_string());
            }
            sections.link.trace = Some(file);
            match sections.with_length_of_trace(resolver) {
                Ok(sections) => all.push(sections),
                Err(problem) if self.below.is_some() => {
                    left_out(&problem);
                    last = Some(problem);
                }
                Err(problem) => return Err(problem),
            }
        }
        match (last, &self.below) {
            (Some(last), Some(folder)) if all.is_empty() => {
                let folder = folder.display();
                let last = last.problem;
                let problem = format!("{folder}: no file in it is a trace; the last: {last}");
                Err(Problem::new("traces", problem))
            }
            _ => Ok(all),
        }
    }
}

/// The text of a name that stands for more than one key.
fn text(said: &mut Table, name: &str) -> Result<Option<String>, Problem> {
    match said.remove(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Problem::new(name, "must be a text")),
    }
}

fn traces(said: &mut Table) -> Result<Vec<PathBuf>, Problem> {
    let wrong = || Problem::new("trace", "must be a file, or a list of files");
    let of = |value: Value| match value {
        Value::String(text) => Ok(PathBuf::from(text)),
        _ => Err(wrong()),
    };
    match said.remove("trace") {
        None => Ok(Vec::new()),
        Some(Value::Array(files)) if files.is_empty() => Err(wrong()),
        Some(Value::Array(files)) => files.into_iter().map(of).collect(),
        Some(file) => Ok(vec![of(file)?]),
    }
}

fn reverse_flows(said: &mut Table) -> Result<Option<(String, Option<u64>)>, Problem> {
    let controller = text(said, "reverse_cc")?;
    let wrong = |problem| Err(Problem::new("reverse_flows", problem));
    let count = match said.remove("reverse_flows") {
        None => None,
        Some(Value::Integer(count)) => Some(u64::try_from(count).unwrap_or(0)),
        Some(_) => return wrong("must be a whole number"),
    };
    match controller {
        None if count.is_some() => wrong("goes with 'reverse_cc' only"),
        None => Ok(None),
        Some(controller) => Ok(Some((controller, count))),
    }
}

/// Whether anything makes a link.
fn has_source(said: &Table) -> bool {
    let link = said.get("link").and_then(Value::as_table);
    let has = |table: &Table| SOURCES.iter().any(|source| table.contains_key(*source));
    has(said) || link.is_some_and(has)
}

/// Whether a key of a section is said by that section.
fn is_said(said: &Table, key: &str) -> bool {
    let path: Vec<&str> = key.split('.').collect();
    let within = |value: Option<&Value>, path: &[&str]| {
        let mut value = value;
        for part in path {
            value = value.and_then(|value| value.get(part));
        }
        value.is_some()
    };
    match said.get(path[0]) {
        Some(Value::Array(groups)) => groups.iter().any(|g| within(Some(g), &path[1..])),
        section @ Some(Value::Table(_)) => within(section, &path[1..]),
        _ => false,
    }
}

/// Puts what a section says over what is there; groups of flows take the place of those that are.
fn fill(table: &mut Table, name: &str, value: &Value) -> Result<(), Problem> {
    let Value::Table(section) = value else {
        table.insert(name.to_string(), value.clone());
        return match value {
            Value::Array(_) => Ok(()),
            _ => Err(Problem::new(name, "must have keys and values")),
        };
    };
    for (key, value) in section {
        put(table, &[name, key], value).map_err(|e| Problem::new(format!("{name}.{key}"), e))?;
    }
    Ok(())
}

fn unknown(name: &str) -> Problem {
    let short = SHORT.iter().map(|(short, _)| *short);
    let all = short.chain(SHORT_FOR_MORE.iter().map(|(short, _)| *short));
    let all = all.chain(SECTIONS.iter().copied());
    let meant = lowtide_cc::registry::nearest(name, all);
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean '{meant}'?"));
    Problem::new(
        name.escape_debug().to_string(),
        format!("there is no such option{meant}"),
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::short::plain;
    use super::*;
    use crate::contender::Contenders;
    use crate::setting::Setting;

    fn setting(text: &str) -> Result<Setting, (String, String)> {
        let mut resolver = Resolver::new(&Contenders::default(), Path::new(""));
        let brief = Brief::new(text.parse().unwrap()).map_err(|p| (p.at, p.problem))?;
        let named = |p: Problem| (brief.name(&p.at), p.sentence(|key| brief.name(key)));
        let sections = brief.sections(&mut resolver, |_| ()).map_err(named)?;
        resolver.setting(&sections[0]).map_err(named)
    }

    #[test]
    fn short_names_and_sections_say_the_same() {
        let short =
            "rate = '20mbit'\nrtt = '20ms'\nbuffer = '1bdp'\nflows = 2\nstagger = '1s'\nseed = 3";
        let long = "link = { rate = '20mbit', buffer = '1bdp' }\npath = { rtt = '20ms' }\n\
                    run = { first_seed = 3 }\nflows = [{ count = 2, every = '1s' }]";
        let [short, long] = [short, long].map(|text| format!("{:?}", setting(text).unwrap()));
        assert_eq!(short, long);
    }

    #[test]
    fn every_short_name_fills_a_key_that_there_is() {
        for (short, key) in SHORT {
            // Nothing is of this kind.
            let value = Value::Table(Table::from_iter([("x".to_string(), Value::Integer(1))]));
            let brief = Brief::new(Table::from_iter([(short.to_string(), value)])).unwrap();
            let mut resolver = Resolver::default();
            let problem = brief.sections(&mut resolver, |_| ()).unwrap_err();
            assert!(!problem.problem.contains("unknown field"), "{problem:?}");
            // Of a word's place the key within is wrong, of any other the value.
            let at = plain(&problem.at);
            assert_eq!(at.strip_suffix(".x").unwrap_or(&at), *key, "{problem:?}");
            assert_eq!(brief.name(&problem.at), *short);
        }
    }

    #[test]
    fn problems_have_the_names_that_were_used() {
        let wrong = |text: &str| setting(text).unwrap_err();
        let (at, problem) = wrong("rate = '20'");
        assert_eq!(at, "rate");
        assert!(problem.contains("unit"), "{problem}");
        assert_eq!(wrong("link = { rate = '20' }").0, "link.rate");
        assert_eq!(wrong("buffer = []").0, "buffer");
        assert_eq!(wrong("flows = [{ access = [] }]").0, "flows.0.access");
        assert_eq!(
            wrong("flows = [{ access = { \"\" = 1 } }]").0,
            "flows.0.access."
        );
        let (at, problem) = wrong("link = { rat = '20mbit' }");
        assert_eq!(at, "link.rat");
        assert!(problem.contains("did you mean `rate`"), "{problem}");
        let (at, problem) = wrong("rtt = '9s'\npath = { rtt = '9s' }");
        assert_eq!((at.as_str(), problem.contains("path.rtt")), ("rtt", true));
        let (at, problem) = wrong("rat = '20mbit'");
        assert_eq!(at, "rat");
        assert!(problem.contains("did you mean 'rate'"), "{problem}");
        assert_eq!(wrong("rate = '1mbit'\nscenario = '4g'").0, "scenario");
    }
}
