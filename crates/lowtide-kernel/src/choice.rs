//! A controller with its parameters.

use std::fmt;

use lowtide_cc::registry::parse_parameters;

use crate::{Error, Known, find};

/// Fixed point's shares (`bpf/fixed.h`): 1 is 2^48.
#[cfg(any(has_programs, test))]
const ONE_SHARE: f64 = (1_u64 << 48) as f64;

/// What is to be loaded: a controller, and the share of the link that `ebb` lets idle.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The controller.
    pub known: &'static Known,
    idle: Option<f64>,
}

impl Choice {
    /// From a spec, as in `ebb` or `ebb:idle=0.02`.
    ///
    /// # Errors
    /// [`Error::Unknown`] and [`Error::Parameter`].
    pub fn parse(spec: &str) -> Result<Self, Error> {
        let (name, parameters) = match spec.split_once(':') {
            Some((name, parameters)) => (name, Some(parameters)),
            None => (spec, None),
        };
        let known = find(name)?;
        let values = parse_parameters(known.name, known.parameters, parameters)?;
        Ok(Self {
            known,
            idle: known
                .parameters
                .iter()
                .any(|parameter| parameter.name == "idle")
                .then(|| values.share("idle")),
        })
    }

    /// What the program's constants say.
    #[cfg(any(has_programs, test))]
    pub(crate) fn of_constants(known: &'static Known, idle: Option<u64>) -> Self {
        Self {
            known,
            idle: idle.map(|share| share as f64 / ONE_SHARE),
        }
    }

    /// `idle` as the program has it, where it has one.
    #[cfg(any(has_programs, test))]
    pub(crate) fn idle(&self) -> Option<u64> {
        self.idle.map(|idle| (idle * ONE_SHARE).round() as u64)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.known.name)?;
        // More digits than anybody types, and fewer than fixed point keeps.
        match self.idle {
            Some(idle) => write!(f, ":idle={}", (idle * 1e12).round() / 1e12),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_survives_the_kernel() {
        for spec in [
            "ebb:idle=0.02",
            "ebb:idle=0.333",
            "ebb:idle=0.001",
            "rtt-gain",
        ] {
            let choice = Choice::parse(spec).unwrap();
            let back = Choice::of_constants(choice.known, choice.idle());
            assert_eq!(
                (choice.to_string(), back.to_string()),
                (spec.into(), spec.into())
            );
        }
        assert_eq!(Choice::parse("ebb").unwrap().to_string(), "ebb:idle=0.05");
        assert_eq!(Choice::parse("ebb:idle=0.5").unwrap().idle(), Some(1 << 47));
    }

    #[test]
    fn what_the_kernel_does_not_have_is_refused() {
        for (spec, says) in [
            ("ebb:l4s=true", "no parameter 'l4s'; it has: idle"),
            ("ebb:idle=0.9", "it takes"),
            ("ebcc:idle=0.1", "it has none"),
            ("bbr", "there are: bbr-acd"),
        ] {
            let error = Choice::parse(spec).unwrap_err();
            assert!(
                error.is_usage() && error.to_string().contains(says),
                "{error}"
            );
        }
    }
}
