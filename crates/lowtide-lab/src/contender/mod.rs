//! Who sends: controllers by name, those that QUIC stacks bring along, and bounds.

mod bound;
mod made;
mod stock;

use std::sync::Arc;

use lowtide_cc::Config;
use lowtide_cc::registry::{self, Entry, Registry, Spec};
use lowtide_cc::state::State;
use lowtide_host::Stock;
use lowtide_sim::queue::{AbcConfig, QueueKind};
use lowtide_sim::{CausalConfig, SenderKind};
use serde::{Serialize, Serializer};

pub use self::bound::{ABC, BOUNDS, Bound, CAUSAL, ORACLE};
use self::bound::{parse_abc, parse_causal};
pub use self::made::{Made, MadeSender, MakeSender, Surroundings};
use self::stock::parse_stock;
pub use self::stock::stock;

/// A sender of a group's flows, or a participant of a comparison.
#[derive(Clone, Debug)]
pub enum Contender {
    /// The physical limit.
    Oracle,
    /// The bound of what can be done without knowing the future.
    Causal {
        /// How it is shown; the spec as the user wrote it.
        name: String,
        /// What the spec says.
        config: CausalConfig,
    },
    /// Explicit feedback: what can be done where the queue says what its link carries now.
    Abc {
        /// How it is shown; the spec as the user wrote it.
        name: String,
        /// ABC's queue, which it brings along.
        queue: AbcConfig,
    },
    /// A controller: one of the registry's, or your own.
    Controller {
        /// How it is shown; the spec as the user wrote it.
        name: String,
        /// Identity of the controller, whatever it is called: equal for equal controllers.
        identity: String,
        /// What makes a controller for each flow.
        sender: SenderKind,
        /// Whether it lacks its estimate where receivers report no timestamps.
        needs_timestamps: bool,
        /// What a thread does around its runs.
        surroundings: Option<Surroundings>,
    },
    /// A QUIC stack's own controller, which sends over that stack alone.
    Stock(&'static Stock),
    /// A program, which sends real packets over a real link and cannot be simulated.
    Program(String),
}

impl Contender {
    /// A constant window of so many packets.
    pub(crate) fn window(packets: u64) -> Option<Self> {
        Contenders::default()
            .parse(&format!("window:packets={}", packets.max(1)))
            .ok()
    }

    /// How it is shown.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Oracle => ORACLE,
            Self::Causal { name, .. } | Self::Abc { name, .. } | Self::Controller { name, .. } => {
                name
            }
            Self::Stock(stock) => stock.name,
            Self::Program(name) => name,
        }
    }

    /// Identity of the sender, whatever it is called: equal for equal senders.
    pub(crate) fn identity(&self) -> String {
        match self {
            Self::Causal { config, .. } => {
                format!("causal:{:?},{}", config.forecast, config.margin)
            }
            Self::Abc { queue, .. } => format!("abc:{}", queue.delay.as_nanos()),
            Self::Controller { identity, .. } => identity.clone(),
            Self::Oracle | Self::Stock(_) | Self::Program(_) => self.name().to_string(),
        }
    }

    /// Whether it is a bound, which is told about the link, and no controller.
    #[must_use]
    pub const fn is_bound(&self) -> bool {
        matches!(self, Self::Oracle | Self::Causal { .. } | Self::Abc { .. })
    }

    /// What a thread does around its runs.
    pub(crate) const fn surroundings(&self) -> Option<&Surroundings> {
        match self {
            Self::Controller { surroundings, .. } => surroundings.as_ref(),
            _ => None,
        }
    }

    /// The queue that it brings along, in the place of the setting's.
    #[must_use]
    pub const fn queue(&self) -> Option<QueueKind> {
        match self {
            Self::Abc { queue, .. } => Some(QueueKind::Abc(*queue)),
            _ => None,
        }
    }

    /// What makes this contender's senders.
    #[must_use]
    pub fn sender(&self) -> SenderKind {
        match self {
            Self::Oracle => SenderKind::Oracle,
            Self::Causal { config, .. } => SenderKind::Causal(*config),
            Self::Abc { .. } => SenderKind::Abc,
            Self::Controller { sender, .. } => sender.clone(),
            Self::Stock(stock) => SenderKind::Stock(stock),
            // No simulation asks it to send: `run` refuses programs.
            Self::Program(_) => SenderKind::Oracle,
        }
    }
}

impl Serialize for Contender {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.identity())
    }
}

/// Two are the same when they are called the same.
impl PartialEq for Contender {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

/// A controller spec as a sender, with the estimator that it needs at the receiver.
#[must_use]
pub fn sender(spec: &Spec) -> SenderKind {
    let spec = spec.clone();
    SenderKind::Controlled {
        estimator: spec.receiver(),
        controller: Arc::new(move |config| spec.build(config)),
    }
}

/// Splits `bbr:policer=false,burst=4,cubic` before `cubic`: neither names nor keys have `=` or `:`.
pub(crate) fn split(specs: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(specs);
    std::iter::from_fn(move || {
        let text = rest?;
        let commas = text.match_indices(',').map(|(at, _)| at);
        let begins_spec = |at: &usize| {
            let part = text[at + 1..].split(',').next().unwrap_or_default();
            part.split(':')
                .next()
                .is_none_or(|head| !head.contains('='))
        };
        let mut cuts = commas.filter(begins_spec);
        let (spec, after) = match cuts.next() {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        rest = after;
        Some(spec)
    })
}

/// Whom the lab knows by name: the controllers of a registry, those of QUIC stacks, and the bounds. Whatever resolves names
/// is given one of these.
#[derive(Clone, Debug, Default)]
pub struct Contenders {
    registry: Registry,
    programs: Vec<String>,
    made: Vec<Made>,
}

impl Contenders {
    /// With one more controller.
    ///
    /// # Errors
    /// When another has its name.
    pub fn with(self, entry: &'static Entry) -> Result<Self, registry::Error> {
        let registry = self.registry.with(entry)?;
        Ok(Self { registry, ..self })
    }

    /// Whether all controllers are this project's.
    #[must_use]
    pub fn are_ours(&self) -> bool {
        self.made.is_empty() && self.registry.entries().len() == Registry::default().entries().len()
    }

    /// With one more controller that a function makes.
    ///
    /// # Errors
    /// When another has its name, or its name cannot stand in a spec.
    pub fn with_made(mut self, made: Made) -> Result<Self, registry::Error> {
        made.check_name()?;
        let entries = self.registry.entries().iter().map(|entry| entry.name);
        let bounds = BOUNDS.iter().map(|bound| bound.name);
        let others = self.made.iter().map(|made| made.name.as_str());
        if entries
            .chain(bounds)
            .chain(others)
            .any(|name| name == made.name)
        {
            return Err(registry::Error::NameTaken { name: made.name });
        }
        self.made.push(made);
        Ok(self)
    }

    /// The one that a function makes and a spec names.
    pub(crate) fn made(&self, spec: &str) -> Option<&Made> {
        let name = spec.split(':').next().unwrap_or_default();
        self.made.iter().find(|made| made.name == name)
    }

    /// With one more program, which hides whoever has the same name.
    #[must_use]
    pub fn with_program(mut self, name: &str) -> Self {
        self.programs.push(name.to_string());
        self
    }

    /// The controllers.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The phases of the registry's controllers, each once.
    #[must_use]
    pub fn phases(&self) -> Vec<State> {
        let mut phases: Vec<State> = Vec::new();
        for entry in self.registry.entries() {
            let Ok(spec) = self.registry.parse(entry.name) else {
                continue;
            };
            for state in spec.build(&Config::default()).phases() {
                if !phases.contains(state) {
                    phases.push(*state);
                }
            }
        }
        phases
    }

    /// Whether a contender is one of the registry's controllers.
    #[must_use]
    pub fn is_registered(&self, contender: &Contender) -> bool {
        let is_controller = matches!(contender, Contender::Controller { .. });
        is_controller && self.made(contender.name()).is_none()
    }

    /// Contenders that are compared when nobody names any: all controllers but the constant window,
    /// which is part of every comparison.
    #[must_use]
    pub fn usual(&self) -> Vec<Contender> {
        let names = self.registry.entries().iter().map(|entry| entry.name);
        names
            .filter(|name| *name != "window")
            .filter_map(|name| self.parse(name).ok())
            .collect()
    }

    /// Contenders that specs name, separated by commas: `bbr,cubic:hystart=true`. What has the form
    /// of a parameter belongs to the spec before it.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_all(&self, specs: &str) -> Result<Vec<Contender>, registry::Error> {
        split(specs).map(|spec| self.parse(spec)).collect()
    }

    /// An error of the registry, which knows nothing of those that functions make.
    fn with_made_names(&self, error: registry::Error) -> registry::Error {
        match error {
            registry::Error::UnknownController {
                name,
                nearest,
                known,
            } if !self.made.is_empty() => {
                let names = self.made.iter().map(|made| made.name.as_str());
                let all: Vec<&str> = names.collect();
                let among = nearest
                    .iter()
                    .map(String::as_str)
                    .chain(all.iter().copied());
                registry::Error::UnknownController {
                    nearest: registry::nearest(&name, among).map(str::to_string),
                    known: format!("{known}, {}", all.join(", ")),
                    name,
                }
            }
            other => other,
        }
    }

    /// The one that a spec names.
    ///
    /// # Errors
    /// When there is none, or its parameters do not fit.
    pub fn parse(&self, spec: &str) -> Result<Contender, registry::Error> {
        if self.programs.iter().any(|name| name == spec) {
            return Ok(Contender::Program(spec.to_string()));
        }
        if let Some(made) = self.made(spec) {
            let (sender, surroundings) = made.sender(spec)?;
            return Ok(Contender::Controller {
                name: spec.to_string(),
                identity: format!("{spec} {}", made.contents),
                sender,
                needs_timestamps: false,
                surroundings,
            });
        }
        if spec == ORACLE {
            return Ok(Contender::Oracle);
        }
        if let Some(config) = parse_causal(spec) {
            let (name, config) = (spec.to_string(), config?);
            return Ok(Contender::Causal { name, config });
        }
        if let Some(queue) = parse_abc(spec) {
            let (name, queue) = (spec.to_string(), queue?);
            return Ok(Contender::Abc { name, queue });
        }
        if let Some(stock) = parse_stock(spec) {
            return stock.map(Contender::Stock);
        }
        let parsed = self
            .registry
            .parse(spec)
            .map_err(|e| self.with_made_names(e))?;
        Ok(Contender::Controller {
            name: spec.to_string(),
            identity: parsed.resolved(),
            sender: sender(&parsed),
            needs_timestamps: parsed.needs_timestamps(),
            surroundings: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::{Duration, Rate};
    use lowtide_sim::link::Link;

    use super::*;
    use crate::setting::{LinkSource, Setting};

    #[test]
    fn abc_brings_its_queue_along_and_others_have_the_settings() {
        let link = Arc::new(Link::constant(Rate::from_mbps(12)).unwrap());
        let mut setting = Setting::on_link("constant", LinkSource::Fixed(link));
        setting.forward.queue = QueueKind::parse("codel").unwrap();
        let queue = |spec| {
            let contender = Contenders::default().parse(spec).unwrap();
            setting.run_by(&contender).config(1).unwrap().forward.queue
        };
        let delay = Duration::from_millis(50);
        assert_eq!(queue("abc:delay=50ms"), QueueKind::Abc(AbcConfig { delay }));
        assert_eq!(queue("bbr"), setting.forward.queue);
        let error = Contenders::default().parse("abc:dely=1ms").unwrap_err();
        let error = error.to_string();
        assert!(error.contains("did you mean 'delay'"), "{error}");
    }

    #[test]
    fn lists_of_specs_are_split_where_a_controller_begins() {
        let names = |specs: &str| -> Result<String, String> {
            let parsed = Contenders::default().parse_all(specs);
            let parsed = parsed.map_err(|e| e.to_string())?;
            Ok(parsed.iter().map(|c| format!("{} ", c.name())).collect())
        };
        let with = "bbr:policer=false,burst=4,cubic:hystart=true,vegas";
        for (specs, expected) in [
            ("bbr", "bbr "),
            ("cubic,bbr,oracle", "cubic bbr oracle "),
            (with, "bbr:policer=false,burst=4 cubic:hystart=true vegas "),
        ] {
            assert_eq!(names(specs).as_deref(), Ok(expected));
        }
        for (specs, part) in [
            ("cubic,", "no controller ''"),
            ("bbbr", "did you mean 'bbr'"),
        ] {
            assert!(names(specs).unwrap_err().contains(part), "{specs}");
        }
    }
}
