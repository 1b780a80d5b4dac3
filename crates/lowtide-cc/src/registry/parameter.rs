//! Parameters of controllers: what fits, and what was given.

use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeInclusive;

use crate::units::{Duration, quantity};

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
    /// A number in this range, both ends included.
    Real {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A share in this range, both ends included: `3%` or `0.03`.
    Share {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A span of time in this range, both ends included, with its unit: `500us`, `30ms`, `2s`.
    Span {
        /// Shortest.
        min: Duration,
        /// Longest.
        max: Duration,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Domain {
    fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Flag => text.parse().ok().map(Value::Flag),
            Self::Whole { min, max } => text
                .parse()
                .ok()
                .filter(|n| (min..=max).contains(n))
                .map(Value::Whole),
            Self::Real { min, max } => text
                .parse()
                .ok()
                .filter(|x| (min..=max).contains(x))
                .map(Value::Real),
            Self::Share { min, max } => match text.strip_suffix('%') {
                Some(percent) => percent.parse().ok().map(|p: f64| p / 100.0),
                None => text.parse().ok(),
            }
            .filter(|x| (min..=max).contains(x))
            .map(Value::Share),
            Self::Span { min, max } => quantity::duration_or_zero(text)
                .ok()
                .filter(|span| (min..=max).contains(span))
                .map(Value::Span),
            Self::Choice(words) => words.iter().find(|w| **w == text).copied().map(Value::Word),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => write!(f, "true or false"),
            Self::Whole { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Real { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Share { min, max } => {
                let (min, max) = (Value::Share(*min), Value::Share(*max));
                write!(f, "a share from {min} to {max}")
            }
            Self::Span { min, max } => write!(
                f,
                "a time with its unit (us, ms, s) from {} to {}",
                Spelt(*min),
                Spelt(*max)
            ),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
        }
    }
}

/// A span as it would be typed.
struct Spelt(Duration);

impl fmt::Display for Spelt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_micros() {
            us if us % 1_000_000 == 0 => write!(f, "{}s", us / 1_000_000),
            us if us % 1_000 == 0 => write!(f, "{}ms", us / 1_000),
            us => write!(f, "{us}us"),
        }
    }
}

/// A parameter of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The parameter's key in a spec.
    pub name: &'static str,
    /// What the parameter does, with its unit.
    pub summary: &'static str,
    /// The default value: that of the type which it sets.
    pub default: Value,
    /// Values that the parameter takes.
    pub domain: Domain,
}

/// Spans of time that most parameters take.
pub const UP_TO_10_S: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(10);

/// One constructor for each [`Domain`], from name, default and what fits.
impl Parameter {
    const fn new(name: &'static str, default: Value, domain: Domain) -> Self {
        let summary = "";
        Self {
            name,
            summary,
            default,
            domain,
        }
    }

    /// With its summary.
    #[must_use]
    pub const fn about(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// A [`Domain::Flag`].
    #[must_use]
    pub const fn flag(name: &'static str, default: bool) -> Self {
        Self::new(name, Value::Flag(default), Domain::Flag)
    }

    /// A [`Domain::Whole`].
    #[must_use]
    pub const fn whole(name: &'static str, default: u64, fits: RangeInclusive<u64>) -> Self {
        let (min, max) = (*fits.start(), *fits.end());
        Self::new(name, Value::Whole(default), Domain::Whole { min, max })
    }

    /// A [`Domain::Real`].
    #[must_use]
    pub const fn real(name: &'static str, default: f64, fits: RangeInclusive<f64>) -> Self {
        let (min, max) = (*fits.start(), *fits.end());
        Self::new(name, Value::Real(default), Domain::Real { min, max })
    }

    /// A [`Domain::Share`].
    #[must_use]
    pub const fn share(name: &'static str, default: f64, fits: RangeInclusive<f64>) -> Self {
        let (min, max) = (*fits.start(), *fits.end());
        Self::new(name, Value::Share(default), Domain::Share { min, max })
    }

    /// A [`Domain::Span`].
    #[must_use]
    pub const fn span(
        name: &'static str,
        default: Duration,
        fits: RangeInclusive<Duration>,
    ) -> Self {
        let (min, max) = (*fits.start(), *fits.end());
        Self::new(name, Value::Span(default), Domain::Span { min, max })
    }

    /// A [`Domain::Choice`].
    #[must_use]
    pub const fn choice(
        name: &'static str,
        default: &'static str,
        fits: &'static [&'static str],
    ) -> Self {
        Self::new(name, Value::Word(default), Domain::Choice(fits))
    }
}

/// A value of a parameter. It prints as it would be typed in a spec.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number.
    Real(f64),
    /// A share of 1.
    Share(f64),
    /// A span of time.
    Span(Duration),
    /// A word of a [`Domain::Choice`].
    Word(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(n) => write!(f, "{n}"),
            Self::Real(x) => write!(f, "{x}"),
            // Digits that only binary fractions have are rounded away.
            Self::Share(x) => write!(f, "{}%", libm::round(x * 1e12) / 1e10),
            Self::Span(span) => write!(f, "{}", Spelt(*span)),
            Self::Word(word) => write!(f, "{word}"),
        }
    }
}

/// The value of each of an entry's parameters.
///
/// One reader for each type. They panic when the entry has no such parameter, or one of another
/// type: build each entry once in a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    parameters: &'static [Parameter],
    given: Vec<Option<Value>>,
}

/// All values by their names, to the last digit.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (parameter, given) in self.parameters.iter().zip(&self.given) {
            write!(f, "{}=", parameter.name)?;
            match given.unwrap_or(parameter.default) {
                Value::Share(share) => write!(f, "{share},")?,
                value => write!(f, "{value},")?,
            }
        }
        Ok(())
    }
}

impl Values {
    /// All at their defaults.
    pub(super) fn of(parameters: &'static [Parameter]) -> Self {
        Self {
            parameters,
            given: alloc::vec![None; parameters.len()],
        }
    }

    pub(super) fn is_given(&self, at: usize) -> bool {
        self.given[at].is_some()
    }

    /// Takes a value; `None` when it does not fit.
    pub(super) fn set(&mut self, at: usize, text: &str) -> Option<()> {
        self.given[at] = Some(self.parameters[at].domain.parse(text)?);
        Some(())
    }

    fn get(&self, name: &str) -> Option<Value> {
        let at = self.parameters.iter().position(|p| p.name == name)?;
        Some(self.given[at].unwrap_or(self.parameters[at].default))
    }

    /// Whether the entry has this [`Domain::Flag`], and it is set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name) == Some(Value::Flag(true))
    }

    /// Whether a [`Domain::Flag`] is set.
    ///
    /// # Panics
    /// When the entry has no such parameter of that type.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Flag(flag)) => flag,
            other => panic!("parameter {name} is no flag: {other:?}"),
        }
    }

    /// A [`Domain::Whole`].
    ///
    /// # Panics
    /// When the entry has no such parameter of that type.
    #[must_use]
    pub fn whole(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Value::Whole(n)) => n,
            other => panic!("parameter {name} is no whole number: {other:?}"),
        }
    }

    /// A [`Domain::Real`].
    ///
    /// # Panics
    /// When the entry has no such parameter of that type.
    #[must_use]
    pub fn real(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Value::Real(x)) => x,
            other => panic!("parameter {name} is no number: {other:?}"),
        }
    }

    /// A [`Domain::Share`].
    ///
    /// # Panics
    /// When the entry has no such parameter of that type.
    #[must_use]
    pub fn share(&self, name: &str) -> f64 {
        match self.get(name) {
            Some(Value::Share(x)) => x,
            other => panic!("parameter {name} is no share: {other:?}"),
        }
    }

    /// A [`Domain::Span`].
    ///
    /// # Panics
    /// When the entry has no such parameter of that type.
    #[must_use]
    pub fn span(&self, name: &str) -> Duration {
        match self.get(name) {
            Some(Value::Span(span)) => span,
            other => panic!("parameter {name} is no span of time: {other:?}"),
        }
    }

    /// A [`Domain::Choice`].
    ///
    /// # Panics
    /// When the entry has no such parameter of that type.
    #[must_use]
    pub fn word(&self, name: &str) -> &'static str {
        match self.get(name) {
            Some(Value::Word(word)) => word,
            other => panic!("parameter {name} is no choice: {other:?}"),
        }
    }
}
