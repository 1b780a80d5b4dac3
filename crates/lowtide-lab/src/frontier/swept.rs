//! A controller over several values of its parameters.

use lowtide_cc::registry;

use crate::contender::{self, Contender, Contenders};

/// The most points of one controller.
const MAX_POINTS: usize = 1_000;

/// Why a spec cannot be swept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// One of its points is no controller.
    #[error(transparent)]
    Spec(#[from] registry::Error),
    /// The spec has too many points.
    #[error("'{spec}' has more than {} points: give fewer values", MAX_POINTS)]
    TooMany {
        /// The spec.
        spec: String,
    },
}

/// A controller at all combinations of the values that its parameters are given.
#[derive(Clone, Debug)]
pub struct Swept {
    /// The spec as the user wrote it, as in `rbbr:alpha=0.5/0.7/0.9`.
    pub name: String,
    /// Each combination, in the order of the values.
    pub points: Vec<Contender>,
    /// How many parameters have several values.
    pub parameters: usize,
}

impl Swept {
    /// A single point.
    #[must_use]
    pub fn of(contender: Contender) -> Self {
        Self {
            name: contender.name().to_string(),
            points: vec![contender],
            parameters: 0,
        }
    }

    /// The controllers that specs name, separated by commas; values of a parameter are separated by slashes.
    ///
    /// # Errors
    /// When there is no such controller, a value does not fit, or there are too many points.
    pub fn parse_all(specs: &str, contenders: &Contenders) -> Result<Vec<Self>, Error> {
        let each = contender::split(specs).map(|spec| Self::parse(spec, contenders));
        each.collect()
    }

    fn parse(spec: &str, contenders: &Contenders) -> Result<Self, Error> {
        let (name, given): (&str, Vec<&str>) = match spec.split_once(':') {
            Some((name, given)) => (name, given.split(',').collect()),
            None => (spec, Vec::new()),
        };
        let mut specs = vec![name.to_string()];
        let mut parameters = 0;
        for (n, parameter) in given.into_iter().enumerate() {
            let join = if n == 0 { ':' } else { ',' };
            let (key, values) = match parameter.split_once('=') {
                Some((key, values)) => (format!("{key}="), values),
                // No parameter: the registry says so.
                None => (String::new(), parameter),
            };
            let count = values.split('/').count();
            if specs.len().saturating_mul(count) > MAX_POINTS {
                let spec = spec.to_string();
                return Err(Error::TooMany { spec });
            }
            parameters += usize::from(count > 1);
            let with = |spec: &String| -> Vec<String> {
                let values = values.split('/');
                values.map(|v| format!("{spec}{join}{key}{v}")).collect()
            };
            specs = specs.iter().flat_map(with).collect();
        }
        let points = specs.iter().map(|spec| contenders.parse(spec));
        Ok(Self {
            name: spec.to_string(),
            points: points.collect::<Result<_, _>>()?,
            parameters,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(specs: &str) -> Result<Vec<Vec<String>>, String> {
        let swept = Swept::parse_all(specs, &Contenders::default());
        let names = |s: &Swept| s.points.iter().map(|p| p.name().to_string()).collect();
        let swept = swept.map_err(|e| e.to_string())?;
        Ok(swept.iter().map(names).collect())
    }

    #[test]
    fn every_combination_of_values_is_a_controller() {
        let made = names("rbbr:alpha=0.5/0.9,bbr,vegas:alpha=2/3,beta=5/6").unwrap();
        assert_eq!(made[0], ["rbbr:alpha=0.5", "rbbr:alpha=0.9"]);
        assert_eq!(made[1], ["bbr"]);
        let all = [(2, 5), (2, 6), (3, 5), (3, 6)];
        assert_eq!(
            made[2],
            all.map(|(a, b)| format!("vegas:alpha={a},beta={b}"))
        );
    }

    #[test]
    fn a_value_that_does_not_fit_and_too_many_points_are_refused() {
        assert!(names("rbbr:alpha=0.5/x").unwrap_err().contains("'x'"));
        assert!(names("rbbr:alpha=0.5/").is_err());
        assert!(names("rbbr:0.5/0.6").unwrap_err().contains("key=value"));
        let many = format!("window:packets={}", vec!["1"; 1001].join("/"));
        assert!(names(&many).unwrap_err().contains("1000 points"));
    }
}
