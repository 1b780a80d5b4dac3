//! Quantities as people write them: `100mbit`, `40ms`, `64kB`, `0.1%`. Command lines, scenario files
//! and parameters of controllers all read them here.
//!
//! A rate, time or volume without a unit is an error: sooner or later it would be taken for another.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Bytes, Duration, Rate};

/// Bytes a second.
const RATE: &[(&str, f64)] = &[
    ("bit", 0.125),
    ("kbit", 125.0),
    ("mbit", 125e3),
    ("gbit", 125e6),
    // As rates are printed.
    ("bit/s", 0.125),
    ("kbit/s", 125.0),
    ("Mbit/s", 125e3),
    ("Gbit/s", 125e6),
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
];
/// Nanoseconds.
const TIME: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("min", 60e9),
];
/// Bytes.
const VOLUME: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];
/// Larger values (1 Tbit/s, 11 days, 1 PB) are taken for mistakes.
const MAX_RATE: f64 = 1.25e11;
const MAX_TIME: f64 = 1e15;
const MAX_VOLUME: f64 = 1e15;

/// Why a text is not such a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(String);

impl QuantityError {
    /// An error that says this.
    pub fn new(problem: impl ToString) -> Self {
        Self(problem.to_string())
    }

    /// An error that begins with the text in question: `problem` goes on as in "has no unit".
    pub fn of(text: &str, problem: &str) -> Self {
        let shown: String = text.chars().take(40).collect();
        Self(format!("'{}' {problem}", shown.escape_debug()))
    }
}

fn error<T>(text: &str, problem: &str) -> Result<T, QuantityError> {
    Err(QuantityError::of(text, problem))
}

fn names(units: &[(&str, f64)]) -> String {
    units
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Splits a text into number and unit; `None` where it does not begin with a number.
#[must_use]
pub fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let at = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    Some((text[..at].parse().ok()?, text[at..].trim()))
}

fn parse(
    text: &str,
    what: &str,
    units: &[(&str, f64)],
    min: f64,
    max: f64,
) -> Result<u64, QuantityError> {
    let Some((number, unit)) = split(text) else {
        return error(
            text,
            &format!("is no {what}: write a number and one of {}", names(units)),
        );
    };
    if unit.is_empty() {
        return error(
            text,
            &format!("has no unit: a {what} needs one of {}", names(units)),
        );
    }
    // Units are told apart by case only where that matters (B and bit do not clash).
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit).or_else(|| {
        units
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
    }) else {
        return error(
            text,
            &format!(
                "has an unknown unit: a {what} needs one of {}",
                names(units)
            ),
        );
    };
    let value = number * factor;
    if value < min {
        return error(text, &format!("is too small for a {what}"));
    }
    if value > max {
        return error(text, &format!("is too large for a {what}"));
    }
    Ok(libm::round(value) as u64)
}

/// A rate above zero: `100mbit`, `1.5gbit`, `12kB/s`.
///
/// # Errors
/// When the text is no rate with a unit, zero, or above 1 Tbit/s.
pub fn rate(text: &str) -> Result<Rate, QuantityError> {
    parse(text, "rate", RATE, 1.0, MAX_RATE).map(Rate::from_bytes_per_sec)
}

/// A rate that may be zero.
///
/// # Errors
/// As [`rate`].
pub fn rate_or_zero(text: &str) -> Result<Rate, QuantityError> {
    parse(text, "rate", RATE, 0.0, MAX_RATE).map(Rate::from_bytes_per_sec)
}

/// A time above zero: `40ms`, `2s`, `100us`.
///
/// # Errors
/// When the text is no time with a unit, zero, or above 10^6 s.
pub fn duration(text: &str) -> Result<Duration, QuantityError> {
    parse(text, "time", TIME, 1.0, MAX_TIME).map(Duration::from_nanos)
}

/// A time that may be zero.
///
/// # Errors
/// As [`duration`].
pub fn duration_or_zero(text: &str) -> Result<Duration, QuantityError> {
    parse(text, "time", TIME, 0.0, MAX_TIME).map(Duration::from_nanos)
}

/// A volume above zero: `64kB`, `1MiB`.
///
/// # Errors
/// When the text is no volume with a unit, zero, or above 10^15 bytes.
pub fn bytes(text: &str) -> Result<Bytes, QuantityError> {
    parse(text, "volume", VOLUME, 1.0, MAX_VOLUME).map(Bytes::new)
}

/// Whether a text is the name of a unit of time.
#[must_use]
pub fn is_time_unit(unit: &str) -> bool {
    TIME.iter().any(|(name, _)| *name == unit)
}

/// Whether a text is the name of a unit of volume, in small letters or large.
#[must_use]
pub fn is_volume_unit(unit: &str) -> bool {
    VOLUME
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case(unit))
}

/// A probability: `0.1%`, or `0`.
///
/// # Errors
/// When the text is neither, or above 100 %. A fraction is refused: `0.1` could be taken for 0.1 %.
pub fn probability(text: &str) -> Result<f64, QuantityError> {
    let value = match split(text) {
        Some((number, "%")) => number / 100.0,
        Some((0.0, "")) => 0.0,
        Some((number, "")) if number > 1.0 => {
            return error(text, &format!("has no unit: write {}%", text.trim()));
        }
        Some((number, "")) => {
            // Digits that only binary fractions have are rounded away.
            let percent = libm::round(number * 1e12) / 1e10;
            let problem = format!("has no unit: write {percent}% or {}%", text.trim());
            return error(text, &problem);
        }
        _ => return error(text, "is no probability: write it as in 0.1%"),
    };
    if value > 1.0 {
        return error(text, "is no probability: it is above 100 %");
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(rate("100mbit"), Ok(Rate::from_mbps(100)));
        assert_eq!(rate(" 1.5 Gbit "), Ok(Rate::from_mbps(1500)));
        assert_eq!(rate("12kB/s"), Ok(Rate::from_bytes_per_sec(12_000)));
        // As it is printed.
        let printed = Rate::from_mbps(20);
        assert_eq!(rate(&format!("{printed}")), Ok(printed));
        assert_eq!(rate("20 Mbit/s"), Ok(printed));
        assert_eq!(duration("0.5ms"), Ok(Duration::from_micros(500)));
        assert_eq!(duration_or_zero("0s"), Ok(Duration::ZERO));
        assert_eq!(bytes("64kB"), Ok(Bytes::new(64_000)));
        assert_eq!(bytes("1MiB"), Ok(Bytes::new(1_048_576)));
        assert_eq!(probability("0.1%"), Ok(0.001));
        assert_eq!(probability("0"), Ok(0.0));
    }

    #[test]
    fn what_is_no_quantity_is_refused_with_the_remedy() {
        for (text, part) in [
            ("100", "has no unit: a rate needs one of bit"),
            ("0mbit", "too small"),
            ("1e18mbit", "unknown unit"),
            ("1000000000000000000mbit", "too large"),
            ("nan", "is no rate"),
            ("-5mbit", "is no rate"),
            ("5parsec", "unknown unit"),
            ("", "is no rate"),
        ] {
            let error = rate(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        for (text, part) in [
            ("150%", "above 100 %"),
            ("1.5", "write 1.5%"),
            ("0.07", "write 7% or 0.07%"),
            ("1", "write 100% or 1%"),
            ("x", "is no probability"),
            ("-1%", "is no probability"),
            ("NaN", "is no probability"),
        ] {
            let error = probability(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
