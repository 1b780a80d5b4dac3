//! Disciplines by name, with their parameters: what a user chooses among.

use lowtide_cc::registry::{self, Parameter, Values, nearest, suggest};
use lowtide_cc::units::quantity::QuantityError;

use super::{QUEUES, QueueKind};

/// A discipline that has a name.
#[derive(Clone, Copy, Debug)]
pub struct QueueEntry {
    /// The discipline's name in a spec.
    pub name: &'static str,
    /// What the discipline is, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Parameters that a spec can set.
    pub parameters: &'static [Parameter],
    pub(super) make: fn(&Values) -> QueueKind,
}

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
