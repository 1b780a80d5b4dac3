//! Controllers by name: from here hosts, tools and documentation take them.
//!
//! A controller is named by a *spec*: `bbr`, or with parameters `bbr:aggregation=false`,
//! `window:packets=40`, several separated by commas. The functions of this module know the
//! controllers of this crate; a [`Registry`] also takes those of others.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use self::entry::{Entry, ReceiverTask};
pub use self::nearest::{nearest, unknown};
pub use self::parameter::{Domain, Parameter, UP_TO_10_S, Value, Values};
use crate::controller::{Config, Controller};
use crate::controllers::ENTRIES;
use crate::controllers::rbbr::ReceiverConfig;

mod entry;
mod nearest;
mod parameter;

/// All controllers of this crate, in the order in which they should be shown.
#[must_use]
pub fn all() -> &'static [&'static Entry] {
    ENTRIES
}

/// The controllers that a tool knows: by default those of this crate.
#[derive(Clone, Debug)]
pub struct Registry {
    entries: Vec<&'static Entry>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            entries: ENTRIES.to_vec(),
        }
    }
}

impl Registry {
    /// With one more.
    ///
    /// # Errors
    /// When another controller has its name.
    pub fn with(mut self, entry: &'static Entry) -> Result<Self, Error> {
        if self.entries.iter().any(|e| e.name == entry.name) {
            return Err(Error::NameTaken {
                name: entry.name.to_string(),
            });
        }
        self.entries.push(entry);
        Ok(self)
    }

    /// All of them, in the order in which they should be shown.
    #[must_use]
    pub fn entries(&self) -> &[&'static Entry] {
        &self.entries
    }

    /// Checks a spec.
    ///
    /// # Errors
    /// When there is no such controller or parameter, or a value does not fit; the error names the
    /// part in question and what fits.
    pub fn parse(&self, spec: &str) -> Result<Spec, Error> {
        parse_among(&self.entries, spec)
    }
}

/// A checked spec: builds as many controllers as one likes.
#[derive(Clone, Debug)]
pub struct Spec {
    entry: &'static Entry,
    values: Values,
}

impl Spec {
    /// The controller that it names.
    #[must_use]
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// A new controller.
    #[must_use]
    pub fn build(&self, config: &Config) -> Box<dyn Controller> {
        (self.entry.make)(&self.values, config)
    }

    /// The estimator that the receiver must run, where the controller works by feedback (RBBR).
    #[must_use]
    pub fn receiver(&self) -> Option<ReceiverConfig> {
        match self.receiver_task()? {
            ReceiverTask::Estimate(config) => Some(config),
            ReceiverTask::Timestamps => None,
        }
    }

    /// Whether the controller lacks its estimate where the receiver does not report when packets
    /// arrived. Others may use such reports as well, and need none.
    #[must_use]
    pub fn needs_timestamps(&self) -> bool {
        self.receiver_task() == Some(ReceiverTask::Timestamps)
    }

    /// The spec with every parameter and its value, whether it was given or not: equal for equal
    /// controllers.
    #[must_use]
    pub fn resolved(&self) -> String {
        alloc::format!("{}:{}", self.entry.name, self.values)
    }

    fn receiver_task(&self) -> Option<ReceiverTask> {
        self.entry.receiver.map(|task| task(&self.values))
    }
}

/// Why a spec names no controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A controller was to be added whose name another one has.
    #[error("there is a controller '{name}' already: give yours another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// No controller has that name.
    #[error("there is no controller '{name}'{}; known are: {known}", suggest(.nearest.as_deref()))]
    UnknownController {
        /// What was asked for.
        name: String,
        /// The nearest name.
        nearest: Option<String>,
        /// All names.
        known: String,
    },
    /// The controller has no such parameter.
    #[error("'{controller}' has no parameter '{key}'{}; {known}", suggest(*.nearest))]
    UnknownParameter {
        /// The controller.
        controller: &'static str,
        /// What was given.
        key: String,
        /// The nearest parameter.
        nearest: Option<&'static str>,
        /// What it has.
        known: String,
    },
    /// A parameter without a value.
    #[error("'{part}' in '{spec}' is no parameter: write key=value")]
    NotKeyValue {
        /// The whole spec.
        spec: String,
        /// The part in question.
        part: String,
    },
    /// A parameter was given twice.
    #[error("parameter '{key}' of '{controller}' is given twice")]
    Twice {
        /// The controller.
        controller: &'static str,
        /// The parameter.
        key: &'static str,
    },
    /// The value does not fit.
    #[error("'{value}' is no value for {controller}:{key}: it takes {domain}")]
    BadValue {
        /// The controller.
        controller: &'static str,
        /// The parameter.
        key: &'static str,
        /// What was given.
        value: String,
        /// Values that would fit.
        domain: String,
    },
    /// A controller that is no entry's takes no such parameters.
    #[error("'{spec}' cannot be made: {reason}")]
    Refused {
        /// The whole spec.
        spec: String,
        /// Why, in the words of what makes it.
        reason: String,
    },
}

/// What a message about a name that is not known adds where another one is near: nothing otherwise.
#[must_use]
pub fn suggest(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| {
        alloc::format!(" (did you mean '{name}'?)")
    })
}

/// Checks a spec that names a controller of this crate.
///
/// # Errors
/// As [`Registry::parse`].
pub fn parse(spec: &str) -> Result<Spec, Error> {
    parse_among(ENTRIES, spec)
}

fn parse_among(entries: &[&'static Entry], spec: &str) -> Result<Spec, Error> {
    let (name, parameters) = match spec.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (spec, None),
    };
    let names = || entries.iter().map(|e| e.name);
    let entry =
        *entries
            .iter()
            .find(|e| e.name == name)
            .ok_or_else(|| Error::UnknownController {
                name: name.to_string(),
                nearest: nearest(name, names()).map(ToString::to_string),
                known: join(names()),
            })?;
    let values = parse_parameters(entry.name, entry.parameters, parameters)?;
    Ok(Spec { entry, values })
}

/// Checks what a spec says behind its name and colon, as in `key=value,key=value`; `None`: all are at their
/// defaults. For what is named by specs and is no controller.
///
/// # Errors
/// When there is no such parameter, or a value does not fit; the error names the part in question and
/// what fits.
pub fn parse_parameters(
    name: &'static str,
    parameters: &'static [Parameter],
    text: Option<&str>,
) -> Result<Values, Error> {
    let mut values = Values::of(parameters);
    for part in text.into_iter().flat_map(|text| text.split(',')) {
        let (key, value) = part.split_once('=').ok_or_else(|| Error::NotKeyValue {
            spec: alloc::format!("{name}:{}", text.unwrap_or_default()),
            part: part.to_string(),
        })?;
        let at = parameters
            .iter()
            .position(|p| p.name == key)
            .ok_or_else(|| {
                let names = || parameters.iter().map(|p| p.name);
                Error::UnknownParameter {
                    controller: name,
                    key: key.to_string(),
                    nearest: nearest(key, names()),
                    known: if parameters.is_empty() {
                        "it has none".to_string()
                    } else {
                        alloc::format!("it has: {}", join(names()))
                    },
                }
            })?;
        let parameter = &parameters[at];
        if values.is_given(at) {
            return Err(Error::Twice {
                controller: name,
                key: parameter.name,
            });
        }
        values.set(at, value).ok_or_else(|| Error::BadValue {
            controller: name,
            key: parameter.name,
            value: value.to_string(),
            domain: parameter.domain.to_string(),
        })?;
    }
    Ok(values)
}

/// Checks a spec that names a controller of this crate, and builds it.
///
/// # Errors
/// As [`parse`].
pub fn build(spec: &str, config: &Config) -> Result<Box<dyn Controller>, Error> {
    parse(spec).map(|s| s.build(config))
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spec_builds_without_parameters_is_the_types_default() {
        use crate::controllers::{bbr, bbr_s, bbr3, c4, compound, copa, ebb, vegas};

        let config = &Config::default();
        let same = |spec, cc: &dyn Controller| {
            let built = build(spec, config).unwrap();
            assert_eq!(alloc::format!("{built:?}"), alloc::format!("{cc:?}"));
        };
        same("bbr", &bbr::Bbr::v1(config, bbr::Options::DEFAULT));
        let plain = bbr::Options {
            aggregation: false,
            ..bbr::Options::DEFAULT
        };
        let skip = bbr_s::SkipEstimator::new(&bbr_s::SkipConfig::DEFAULT);
        same(
            "bbr-s",
            &bbr::Bbr::new(config, plain, skip, bbr_s::LowDelay),
        );
        same("c4", &c4::C4::new(config, c4::Options::DEFAULT));
        same("bbr3", &bbr3::Bbr3::new(config, bbr3::Options::DEFAULT));
        same("copa", &copa::Copa::new(config, copa::Options::DEFAULT));
        same(
            "vegas",
            &vegas::Vegas::new(config, vegas::Thresholds::DEFAULT),
        );
        let gamma = compound::Gamma::default();
        same("compound", &compound::Compound::new(config, gamma));
        let tuning = ebb::Tuning::default();
        same("ebb", &ebb::Ebb::new(config, tuning));
        let tuning = ebb::Tuning {
            idle: 0.03,
            ..tuning
        };
        same("ebb:idle=3%", &ebb::Ebb::new(config, tuning));
        same("ebb:idle=0.03", &ebb::Ebb::new(config, tuning));
        let receiver = parse("rbbr").unwrap().receiver();
        assert_eq!(receiver, Some(ReceiverConfig::DEFAULT));
    }

    #[test]
    fn specs_build_controllers_and_errors_name_the_part_and_the_remedy() {
        let config = Config::default();
        let window = build("window:packets=7", &config).unwrap();
        assert_eq!(window.cwnd(), config.max_datagram * 7);
        for entry in all() {
            assert!(build(entry.name, &config).is_ok());
            for p in entry.parameters {
                // The documented default fits, and is what is used when nothing is given.
                let spec = alloc::format!("{}:{}={}", entry.name, p.name, p.default);
                let (given, not_given) = (build(&spec, &config), build(entry.name, &config));
                assert_eq!(
                    alloc::format!("{:?}", given.unwrap()),
                    alloc::format!("{:?}", not_given.unwrap())
                );
            }
        }
        for (spec, parts) in [
            ("bbbr", &["'bbbr'", "did you mean 'bbr'"][..]),
            ("", &["there is no controller ''"]),
            ("bbr:agregation=true", &["'agregation'", "'aggregation'"]),
            ("bbr-noagg:x=1", &["'x'", "it has"]),
            ("bbr:aggregation", &["key=value"]),
            ("bbr:", &["''", "key=value"]),
            ("bbr:policer=true,policer=true", &["twice"]),
            ("window:packets=0", &["'0'", "from 1 to"]),
            ("window:packets=1e9", &["'1e9'", "a whole number"]),
            ("rtt-gain:alpha=2", &["'2'", "from 0.01 to 1"]),
            ("rtt-gain:alpha=nan", &["'nan'", "a number"]),
            ("rbbr:interval=10", &["'10'", "its unit", "from 1us to 10s"]),
            ("rbbr:interval=11s", &["'11s'", "from 1us to 10s"]),
            ("rbbr:acks=100000", &["'100000'", "from 1 to 1000"]),
            ("rbbr:filter=foo", &["'foo'", "one of kalman, ewma, none"]),
        ] {
            let error = parse(spec).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{error}");
            }
        }
    }
}
