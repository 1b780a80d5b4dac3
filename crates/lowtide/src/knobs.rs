//! The flags that make a setting: one for each of its knobs that has a short name.

use std::marker::PhantomData;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use lowtide_lab::contender::Contenders;
use lowtide_lab::setting::{Brief, Knob, Problem, Resolver, Sections, Setting, Takes, knobs};
use toml::{Table, Value};

use crate::failure::Failure;
use crate::output;

/// Which knobs a command has.
pub(crate) trait Choice {
    /// Whether it has this one.
    fn has(knob: &Knob) -> bool;
}

/// All of them.
pub(crate) struct All;

impl Choice for All {
    fn has(_: &Knob) -> bool {
        true
    }
}

/// The knobs of a link and its path; who sends, and for how long, is said otherwise.
pub(crate) struct OfLink;

impl Choice for OfLink {
    fn has(knob: &Knob) -> bool {
        ["link", "reverse", "path"].contains(&knob.section) && knob.name != "packet_size"
    }
}

/// Recorded links, and what is the same on all of them where RTT and buffer are varied.
pub(crate) struct OfTraces;

impl Choice for OfTraces {
    fn has(knob: &Knob) -> bool {
        match knob.section {
            "link" => ["trace", "traces", "opportunity"].contains(&knob.name),
            "path" => !["rtt", "packet_size"].contains(&knob.name),
            "flows" => knob.name == "timestamps",
            section => section == "run",
        }
    }
}

/// The knobs of a choice as flags, and what was said by them.
pub(crate) struct Knobs<C> {
    said: Table,
    choice: PhantomData<C>,
}

/// A knob's flag.
fn flag(name: &str) -> String {
    name.replace('_', "-")
}

fn arg(knob: &Knob) -> Arg {
    let about = knob.about.replace('`', "");
    let arg = Arg::new(knob.name)
        .long(flag(knob.name))
        .help(about.trim_end_matches('.').to_string())
        .help_heading(match knob.section {
            "flows" => "Flows",
            "run" => "Run",
            _ => "Link",
        });
    match &knob.takes {
        Takes::Nothing => arg.action(ArgAction::SetTrue),
        Takes::Whole => arg
            .value_name("N")
            .value_parser(clap::value_parser!(i64).range(0..)),
        // Of one name there is no choice: in a build without stacks the lab says what other hosts need.
        Takes::Name(names) if names.len() == 1 => arg.value_name("NAME"),
        Takes::Name(names) => {
            let values = names.iter().map(|(name, about)| {
                PossibleValue::new(name).help(about.trim_end_matches('.').to_string())
            });
            arg.value_name("NAME")
                .value_parser(PossibleValuesParser::new(values))
        }
        Takes::Text(kind) => arg.value_name(kind.to_uppercase()),
        Takes::Texts(kind) => arg
            .value_name(kind.to_uppercase())
            .action(ArgAction::Append),
    }
}

impl<C: Choice> Args for Knobs<C> {
    fn augment_args(command: Command) -> Command {
        command.args(knobs().iter().filter(|knob| C::has(knob)).map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: Choice> FromArgMatches for Knobs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut said = Table::new();
        for knob in knobs().into_iter().filter(C::has) {
            let text = || matches.get_one::<String>(knob.name).cloned();
            let value = match knob.takes {
                Takes::Nothing => matches.get_flag(knob.name).then_some(Value::Boolean(true)),
                Takes::Whole => matches.get_one(knob.name).copied().map(Value::Integer),
                Takes::Name(_) | Takes::Text(_) => text().map(Value::String),
                Takes::Texts(_) => {
                    let all = matches.get_many::<String>(knob.name);
                    all.map(|all| Value::Array(all.cloned().map(Value::String).collect()))
                }
            };
            said.extend(value.map(|value| (knob.name.to_string(), value)));
        }
        Ok(Self {
            said,
            choice: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What flags say of settings.
pub(crate) struct Said {
    brief: Brief,
    /// Once, or once for each trace.
    pub(crate) sections: Vec<Sections>,
}

impl Said {
    /// What is wrong, by its flag.
    pub(crate) fn failure(&self, problem: &Problem) -> Failure {
        failure(problem, Some(&self.brief))
    }
}

impl<C: Choice> Knobs<C> {
    /// Whether a link was chosen by its trace.
    pub(crate) fn has_traces(&self) -> bool {
        self.said.contains_key("trace") || self.said.contains_key("traces")
    }

    /// What the flags say. Files beside traces that are none are left out and named.
    pub(crate) fn sections(&self, resolver: &mut Resolver) -> Result<Said, Failure> {
        let brief = Brief::new(self.said.clone()).map_err(|p| failure(&p, None))?;
        let left_out = |problem: &Problem| {
            let problem = failure(problem, Some(&brief));
            output::say(format_args!("left out: {problem}"));
        };
        let sections = brief.sections(resolver, left_out);
        let sections = sections.map_err(|p| failure(&p, Some(&brief)))?;
        Ok(Said { brief, sections })
    }

    /// The settings that the flags describe: one, or one for each trace.
    pub(crate) fn settings(&self, resolver: &mut Resolver) -> Result<Vec<Setting>, Failure> {
        let said = self.sections(resolver)?;
        let resolved = said.sections.iter().map(|s| resolver.setting(s));
        resolved.map(|r| r.map_err(|p| said.failure(&p))).collect()
    }
}

impl Knobs<All> {
    /// The settings, each with the mean rate of a generated link in its name.
    pub(crate) fn named_settings(&self, contenders: &Contenders) -> Result<Vec<Setting>, Failure> {
        let mut resolver = Resolver::new(contenders, Path::new(""));
        let settings = self.settings(&mut resolver)?.into_iter();
        let named = settings.map(|setting| setting.with_mean_in_name().map_err(Failure::input));
        named.collect()
    }
}

fn failure(problem: &Problem, brief: Option<&Brief>) -> Failure {
    let name = |key: &str| {
        let name = brief.map_or_else(|| key.to_string(), |brief| brief.name(key));
        flag_of(&name)
    };
    Failure::input(format!("{}: {}", name(&problem.at), problem.sentence(name)))
}

/// The flag of an option, or of the key of a section that no option has set.
fn flag_of(name: &str) -> String {
    let name = match name {
        "reverse" => "reverse-trace or --reverse-rate",
        _ => match name.rsplit('.').next().unwrap_or(name) {
            "direction" => "reverse-cc",
            "controller" | "parameters" => "cc",
            other => other,
        },
    };
    format!("--{}", flag(name))
}
