//! Controllers by name: the one list from which hosts, tools and documentation take them.
//!
//! A controller is named by a *spec*: `bbr`, or with parameters `bbr:aggregation=false`,
//! `window:packets=40`, several separated by commas.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::bbr::{Bbr, Options};
use crate::controller::{Config, Controller};
use crate::cubic::Cubic;
use crate::newreno::NewReno;
use crate::window::ConstantWindow;

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// `true` or `false`.
    Flag,
    /// A whole number in this range, both ends included.
    Whole {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
}

impl core::fmt::Display for Domain {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Flag => write!(f, "true or false"),
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
        }
    }
}

/// A parameter of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its key in a spec.
    pub name: &'static str,
    /// What it does, with its unit.
    pub summary: &'static str,
    /// Its value when not given.
    pub default: &'static str,
    /// What fits.
    pub domain: Domain,
}

/// A controller that can be built by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in a spec.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is defined: paper, RFC or reference implementation.
    pub source: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    make: fn(&Values, &Config) -> Box<dyn Controller>,
}

const AGGREGATION: Parameter = Parameter {
    name: "aggregation",
    summary: "compensate aggregated acknowledgments by a larger window",
    default: "true",
    domain: Domain::Flag,
};

const POLICER: Parameter = Parameter {
    name: "policer",
    summary: "recognise token-bucket policers by long-term sampling",
    default: "true",
    domain: Domain::Flag,
};

const BURST: Parameter = Parameter {
    name: "burst",
    summary: "packets of a burst; 0: about a millisecond's worth",
    default: "0",
    domain: Domain::Whole { min: 0, max: 1000 },
};

fn burst_packets(packets: u64) -> Option<u64> {
    (packets > 0).then_some(packets)
}

static ENTRIES: &[Entry] = &[
    Entry {
        name: "bbr",
        summary: "BBR v1: paces at the highest delivery rate of 10 rounds",
        source: "Cardwell et al. 2016; Linux tcp_bbr",
        parameters: &[AGGREGATION, POLICER, BURST],
        make: |values, config| {
            let options = Options {
                aggregation: values.flag(0, true),
                policer: values.flag(1, true),
                burst_packets: burst_packets(values.whole(2, 0)),
            };
            Box::new(Bbr::v1(config, options))
        },
    },
    Entry {
        name: "bbr-noagg",
        summary: "BBR v1 without compensation of ACK aggregation",
        source: "Haile et al. 2022 (RBBR) §IV; Linux tcp_bbr before 5.1",
        parameters: &[POLICER, BURST],
        make: |values, config| {
            let options = Options {
                aggregation: false,
                policer: values.flag(0, true),
                burst_packets: burst_packets(values.whole(1, 0)),
            };
            Box::new(Bbr::v1(config, options))
        },
    },
    Entry {
        name: "cubic",
        summary: "CUBIC: the window follows a cubic function of time since the last loss",
        source: "RFC 9438; HyStart++ RFC 9406",
        parameters: &[Parameter {
            name: "hystart",
            summary: "leave slow start when the RTT rises (HyStart++)",
            default: "false",
            domain: Domain::Flag,
        }],
        make: |values, config| Box::new(Cubic::new(config, values.flag(0, false))),
    },
    Entry {
        name: "newreno",
        summary: "NewReno: one packet more a round, half the window at a loss",
        source: "RFC 9002 §7, RFC 5681, RFC 6582",
        parameters: &[],
        make: |_, config| Box::new(NewReno::new(config)),
    },
    Entry {
        name: "window",
        summary: "a constant window: the floor that any controller must beat",
        source: "Lowtide",
        parameters: &[Parameter {
            name: "packets",
            summary: "the window, packets",
            default: "20",
            domain: Domain::Whole {
                min: 1,
                max: 100_000_000,
            },
        }],
        make: |values, config| Box::new(ConstantWindow::new(config, values.whole(0, 20))),
    },
];

/// All controllers, in the order in which they should be shown.
#[must_use]
pub fn all() -> &'static [Entry] {
    ENTRIES
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Flag(bool),
    Whole(u64),
}

/// The given values, in the order of the entry's parameters.
#[derive(Clone, Debug, PartialEq)]
struct Values(Vec<Option<Value>>);

impl Values {
    fn flag(&self, at: usize, default: bool) -> bool {
        match self.0.get(at) {
            Some(Some(Value::Flag(flag))) => *flag,
            _ => default,
        }
    }

    fn whole(&self, at: usize, default: u64) -> u64 {
        match self.0.get(at) {
            Some(Some(Value::Whole(n))) => *n,
            _ => default,
        }
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
}

/// Why a spec names no controller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No controller has that name.
    #[error("there is no controller '{name}'{}; known are: {known}", suggest(.nearest))]
    UnknownController {
        /// What was asked for.
        name: String,
        /// The nearest name.
        nearest: Option<&'static str>,
        /// All names.
        known: String,
    },
    /// The controller has no such parameter.
    #[error("controller '{controller}' has no parameter '{key}'{}; {known}", suggest(.nearest))]
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
    #[error("'{part}' in controller spec '{spec}' is no parameter: write key=value")]
    NotKeyValue {
        /// The whole spec.
        spec: String,
        /// The part in question.
        part: String,
    },
    /// A parameter was given twice.
    #[error("parameter '{key}' of controller '{controller}' is given twice")]
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
        /// What fits.
        domain: String,
    },
}

fn suggest(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| {
        alloc::format!(" (did you mean '{name}'?)")
    })
}

/// Checks a spec.
///
/// # Errors
/// When there is no such controller or parameter, or a value does not fit; the error names the
/// part in question and what fits.
pub fn parse(spec: &str) -> Result<Spec, Error> {
    let (name, parameters) = match spec.split_once(':') {
        Some((name, parameters)) => (name, Some(parameters)),
        None => (spec, None),
    };
    let entry =
        ENTRIES
            .iter()
            .find(|e| e.name == name)
            .ok_or_else(|| Error::UnknownController {
                name: name.to_string(),
                nearest: nearest(name, ENTRIES.iter().map(|e| e.name)),
                known: join(ENTRIES.iter().map(|e| e.name)),
            })?;
    let mut values = Values(alloc::vec![None; entry.parameters.len()]);
    for part in parameters.into_iter().flat_map(|p| p.split(',')) {
        let (key, text) = part.split_once('=').ok_or_else(|| Error::NotKeyValue {
            spec: spec.to_string(),
            part: part.to_string(),
        })?;
        let at = entry
            .parameters
            .iter()
            .position(|p| p.name == key)
            .ok_or_else(|| {
                let names = || entry.parameters.iter().map(|p| p.name);
                Error::UnknownParameter {
                    controller: entry.name,
                    key: key.to_string(),
                    nearest: nearest(key, names()),
                    known: if entry.parameters.is_empty() {
                        "it has none".to_string()
                    } else {
                        alloc::format!("it has: {}", join(names()))
                    },
                }
            })?;
        let parameter = &entry.parameters[at];
        if values.0[at].is_some() {
            return Err(Error::Twice {
                controller: entry.name,
                key: parameter.name,
            });
        }
        let value = parse_value(text, parameter.domain).ok_or_else(|| Error::BadValue {
            controller: entry.name,
            key: parameter.name,
            value: text.to_string(),
            domain: parameter.domain.to_string(),
        })?;
        values.0[at] = Some(value);
    }
    Ok(Spec { entry, values })
}

/// Checks a spec and builds its controller.
///
/// # Errors
/// As [`parse`].
pub fn build(spec: &str, config: &Config) -> Result<Box<dyn Controller>, Error> {
    parse(spec).map(|s| s.build(config))
}

fn parse_value(text: &str, domain: Domain) -> Option<Value> {
    match domain {
        Domain::Flag => text.parse().ok().map(Value::Flag),
        Domain::Whole { min, max } => text
            .parse()
            .ok()
            .filter(|n| (min..=max).contains(n))
            .map(Value::Whole),
    }
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// The name with the smallest edit distance, if it is near enough to be meant.
fn nearest(wanted: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // Long input is no slip of the pen, and the distance costs the product of the lengths.
    if wanted.len() > 40 {
        return None;
    }
    names
        .map(|name| (edit_distance(wanted, name), name))
        .filter(|(distance, name)| *distance <= name.len().div_ceil(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Levenshtein's distance in bytes.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("newreno:x=1", &["'x'", "it has none"]),
            ("bbr:aggregation", &["key=value"]),
            ("bbr:", &["''", "key=value"]),
            ("bbr:policer=true,policer=true", &["twice"]),
            ("window:packets=0", &["'0'", "from 1 to"]),
            ("window:packets=1e9", &["'1e9'", "a whole number"]),
        ] {
            let error = parse(spec).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{error}");
            }
        }
    }
}
