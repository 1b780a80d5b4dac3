//! Disciplines by name, with their parameters: what a user chooses among.

use lowtide_cc::registry::{self, Parameter, Values, nearest, suggest};
use lowtide_cc::units::quantity::QuantityError;

use super::abc::AbcConfig;
use super::codel::{self, CoDelConfig};
use super::dualpi2::{self, DualPi2Config};
use super::flow_queues::{self, RoundRobin};
use super::fq_codel::{self, FqCoDelConfig};
use super::l4s::{self, L4sMarkerConfig};
use super::pie::{self, PieConfig};
use super::red::{self, RedConfig};

/// How a queue is managed. How much it holds at most is [`QueueLimit`](super::QueueLimit)'s to say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum QueueKind {
    /// First in, first out; what does not fit is dropped.
    #[default]
    DropTail,
    /// First in, first out; the oldest make room for what does not fit.
    HeadDrop,
    /// CoDel (RFC 8289).
    CoDel(CoDelConfig),
    /// FQ-CoDel (RFC 8290).
    FqCoDel(FqCoDelConfig),
    /// PIE (RFC 8033).
    Pie(PieConfig),
    /// RED (Floyd and Jacobson 1993).
    Red(RedConfig),
    /// Deficit round robin between flows.
    Drr(RoundRobin),
    /// DualPI2 (RFC 9332).
    DualPi2(DualPi2Config),
    /// One queue that marks L4S packets by the time that they have waited.
    L4sMarker(L4sMarkerConfig),
    /// ABC's router (NSDI 2020).
    Abc(AbcConfig),
}

/// A discipline that has a name.
#[derive(Clone, Copy, Debug)]
pub struct QueueEntry {
    /// Its name in a spec.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What can be set.
    pub parameters: &'static [Parameter],
    make: fn(&Values) -> QueueKind,
}

/// All disciplines, in the order in which they should be shown.
pub static QUEUES: &[QueueEntry] = &[
    QueueEntry {
        name: "droptail",
        summary: "first in, first out; what does not fit is dropped",
        source: "",
        parameters: &[],
        make: |_| QueueKind::DropTail,
    },
    QueueEntry {
        name: "headdrop",
        summary: "first in, first out; the oldest make room for what does not fit",
        source: "Lakshman et al. 1996",
        parameters: &[],
        make: |_| QueueKind::HeadDrop,
    },
    QueueEntry {
        name: "codel",
        summary: "drops or marks at the head while the wait stays above a target",
        source: "RFC 8289",
        parameters: codel::PARAMETERS,
        make: |values| QueueKind::CoDel(CoDelConfig::of(values)),
    },
    QueueEntry {
        name: "fq_codel",
        summary: "a queue for each flow, served in turn, each under CoDel",
        source: "RFC 8290",
        parameters: fq_codel::PARAMETERS,
        make: |values| QueueKind::FqCoDel(FqCoDelConfig::of(values)),
    },
    QueueEntry {
        name: "pie",
        summary: "drops or marks arrivals by chance, the probability controlled by the wait",
        source: "RFC 8033",
        parameters: pie::PARAMETERS,
        make: |values| QueueKind::Pie(PieConfig::of(values)),
    },
    QueueEntry {
        name: "red",
        summary: "drops or marks arrivals by chance, more often the longer the average queue",
        source: "Floyd and Jacobson 1993",
        parameters: red::PARAMETERS,
        make: |values| QueueKind::Red(RedConfig::of(values)),
    },
    QueueEntry {
        name: "drr",
        summary: "a queue for each flow, served in turn",
        source: "Shreedhar and Varghese 1995",
        parameters: flow_queues::PARAMETERS,
        make: |values| QueueKind::Drr(RoundRobin::of(values)),
    },
    QueueEntry {
        name: "dualpi2",
        summary: "a queue for L4S and one for classic flows, marks coupled so that both get their share",
        source: "RFC 9332",
        parameters: dualpi2::PARAMETERS,
        make: |values| QueueKind::DualPi2(DualPi2Config::of(values)),
    },
    QueueEntry {
        name: "l4s",
        summary: "one queue that marks L4S packets by the time they have waited, as mobile networks do",
        source: "3GPP TS 23.501 §5.37.3",
        parameters: l4s::PARAMETERS,
        make: |values| QueueKind::L4sMarker(L4sMarkerConfig::of(values)),
    },
    QueueEntry {
        name: "abc",
        summary: "marks so many packets that what comes back is what the link carries",
        source: "Goyal et al., NSDI 2020",
        parameters: AbcConfig::PARAMETERS,
        make: |values| QueueKind::Abc(AbcConfig::of(values)),
    },
];

impl QueueKind {
    /// The discipline of a spec, as in `codel` or `codel:target=5ms,ecn=false`.
    ///
    /// # Errors
    /// When there is no such discipline or parameter, or a value does not fit; the error names the part
    /// in question and what fits.
    pub fn parse(spec: &str) -> Result<Self, QuantityError> {
        let (name, parameters) = match spec.split_once(':') {
            Some((name, parameters)) => (name, Some(parameters)),
            None => (spec, None),
        };
        let Some(entry) = QUEUES.iter().find(|entry| entry.name == name) else {
            let names = || QUEUES.iter().map(|entry| entry.name);
            let known = names().collect::<Vec<_>>().join(", ");
            let meant = suggest(nearest(name, names()));
            let problem = format!("is no queue{meant}; known are: {known}");
            return Err(QuantityError::of(name, &problem));
        };
        let values = registry::parse_parameters(entry.name, entry.parameters, parameters);
        values
            .map(|values| (entry.make)(&values))
            .map_err(QuantityError::new)
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Duration;

    use super::*;

    #[test]
    fn a_spec_names_a_discipline_and_its_parameters_and_errors_say_what_fits() {
        for entry in QUEUES {
            let plain = QueueKind::parse(entry.name).unwrap();
            for p in entry.parameters {
                let spec = format!("{}:{}={}", entry.name, p.name, p.default);
                assert_eq!(QueueKind::parse(&spec), Ok(plain), "{spec}");
            }
        }
        let Ok(QueueKind::CoDel(config)) = QueueKind::parse("codel:target=1ms,ecn=false") else {
            panic!("no CoDel");
        };
        assert_eq!(
            (config.target, config.ecn),
            (Duration::from_millis(1), false)
        );
        for (spec, parts) in [
            (
                "codle",
                &["'codle' is no queue", "did you mean 'codel'"][..],
            ),
            ("droptail:x=1", &["'droptail' has no parameter 'x'"]),
            (
                "codel:target=5",
                &["'5' is no value for codel:target", "unit"],
            ),
        ] {
            let error = QueueKind::parse(spec).unwrap_err().to_string();
            for part in parts {
                assert!(error.contains(part), "{error}");
            }
        }
    }
}
