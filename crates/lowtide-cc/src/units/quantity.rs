//! Quantities as people write them: `100mbit`, `40ms`, `64kB`, `2bdp`, `0.1%`.
//!
//! A bare number is an error: it would be taken for something else sooner or later.

use lowtide_cc::units::{Bytes, Duration, Rate};

use crate::impairment::LossModel;
use crate::queue::QueueLimit;

/// Bytes a second.
const RATE: &[(&str, f64)] = &[
    ("bit", 0.125),
    ("kbit", 125.0),
    ("mbit", 125e3),
    ("gbit", 125e6),
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
/// 1 Tbit/s, 11 days, 1 PB: beyond these is a slip of the pen.
const MAX_RATE: f64 = 1.25e11;
const MAX_TIME: f64 = 1e15;
const MAX_VOLUME: f64 = 1e15;

/// Why a text is no such quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(String);

impl QuantityError {
    pub(crate) fn new(problem: String) -> Self {
        Self(problem)
    }
}

fn error<T>(text: &str, problem: &str) -> Result<T, QuantityError> {
    let shown: String = text.chars().take(40).collect();
    Err(QuantityError(format!(
        "'{}' {problem}",
        shown.escape_debug()
    )))
}

fn names(units: &[(&str, f64)]) -> String {
    units
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Splits a text into number and unit.
fn split(text: &str) -> Option<(f64, &str)> {
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
    Ok(value.round() as u64)
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

/// A queue's limit: `2bdp`, `100p`, `64kB`, `50ms`, `inf`.
///
/// # Errors
/// When the text is none of these.
pub fn queue_limit(text: &str) -> Result<QueueLimit, QuantityError> {
    if text.trim() == "inf" {
        return Ok(QueueLimit::Unlimited);
    }
    let fits = "2bdp, 100p (packets), 64kB, 50ms or inf";
    let Some((number, unit)) = split(text) else {
        return error(text, &format!("is no buffer: write for example {fits}"));
    };
    match unit {
        "bdp" if number <= 1e6 => Ok(QueueLimit::Bdp(number)),
        "p" if number.fract() == 0.0 && number <= 1e12 => Ok(QueueLimit::Packets(number as u64)),
        "" => error(text, &format!("has no unit: write for example {fits}")),
        _ if TIME.iter().any(|(name, _)| *name == unit) => {
            duration_or_zero(text).map(QueueLimit::Time)
        }
        _ if VOLUME
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(unit)) =>
        {
            bytes(text).map(QueueLimit::Bytes)
        }
        _ => error(text, &format!("is no buffer: write for example {fits}")),
    }
}

/// A probability: `0.1%` or a fraction `0.001`.
///
/// # Errors
/// When the text is neither, or not within 0 to 1.
pub fn probability(text: &str) -> Result<f64, QuantityError> {
    let value = match split(text) {
        Some((number, "%")) => number / 100.0,
        Some((number, "")) => number,
        _ => return error(text, "is no probability: write 0.1% or 0.001"),
    };
    if value > 1.0 {
        return error(text, "is no probability: it is above 100 %");
    }
    Ok(value)
}

/// Bursty loss, mean share and mean burst in packets (`1%:10`), as a Gilbert–Elliott model that
/// loses everything in its bad state.
///
/// # Errors
/// When the text is none, the share 100 %, or the burst shorter than a packet.
pub fn burst_loss(text: &str) -> Result<LossModel, QuantityError> {
    let wrong = || {
        error(
            text,
            "is no SHARE:PACKETS, as in 1%:10 (share below 100 %, at least 1 packet)",
        )
    };
    let Some((share, length)) = text.split_once(':') else {
        return wrong();
    };
    let Ok(share) = probability(share) else {
        return wrong();
    };
    let Some(length) = length
        .parse()
        .ok()
        .filter(|n: &f64| (1.0..=1e6).contains(n))
    else {
        return wrong();
    };
    let bad_to_good = 1.0 / length;
    // In balance, share = good_to_bad / (good_to_bad + bad_to_good).
    let good_to_bad = share * bad_to_good / (1.0 - share);
    if !(0.0..=1.0).contains(&good_to_bad) {
        return wrong();
    }
    Ok(LossModel::GilbertElliott {
        good_to_bad,
        bad_to_good,
        loss_good: 0.0,
        loss_bad: 1.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_units() {
        assert_eq!(rate("100mbit"), Ok(Rate::from_mbps(100)));
        assert_eq!(rate(" 1.5 Gbit "), Ok(Rate::from_mbps(1500)));
        assert_eq!(rate("12kB/s"), Ok(Rate::from_bytes_per_sec(12_000)));
        assert_eq!(duration("0.5ms"), Ok(Duration::from_micros(500)));
        assert_eq!(duration_or_zero("0s"), Ok(Duration::ZERO));
        assert_eq!(bytes("64kB"), Ok(Bytes::new(64_000)));
        assert_eq!(bytes("1MiB"), Ok(Bytes::new(1_048_576)));
        assert_eq!(queue_limit("2bdp"), Ok(QueueLimit::Bdp(2.0)));
        assert_eq!(queue_limit("100p"), Ok(QueueLimit::Packets(100)));
        assert_eq!(
            queue_limit("50ms"),
            Ok(QueueLimit::Time(Duration::from_millis(50)))
        );
        assert_eq!(queue_limit("inf"), Ok(QueueLimit::Unlimited));
        assert_eq!(probability("0.1%"), Ok(0.001));
        assert_eq!(probability("0.001"), Ok(0.001));
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
        for text in ["2", "nan", "2.5p", "-1bdp", "inf2", "9999999999bdp"] {
            assert!(queue_limit(text).is_err(), "{text}");
        }
        for text in ["150%", "1.5", "x", "-1%", "NaN"] {
            assert!(probability(text).is_err(), "{text}");
        }
    }
}
