//! Limits of queues as people write them.

use lowtide_cc::units::quantity::{self, QuantityError, is_time_unit, is_volume_unit};

use super::{Policer, QueueLimit};

/// A policer, rate and burst: `10mbit:100kB`.
///
/// # Errors
/// When the text is none.
pub fn parse_policer(text: &str) -> Result<Policer, QuantityError> {
    let Some((rate, burst)) = text.split_once(':') else {
        return Err(QuantityError::of(
            text,
            "is no RATE:BURST, as in 10mbit:100kB",
        ));
    };
    let rate = quantity::rate(rate)?;
    let burst = quantity::bytes(burst)?;
    Ok(Policer { rate, burst })
}

/// A queue's limit: `2bdp`, `100p`, `64kB`, `50ms`, `inf`.
///
/// # Errors
/// When the text is none of these.
pub fn parse(text: &str) -> Result<QueueLimit, QuantityError> {
    if text.trim() == "inf" {
        return Ok(QueueLimit::Unlimited);
    }
    let fits = "2bdp, 100p (packets), 64kB, 50ms or inf";
    let wrong = |problem: &str| Err(QuantityError::of(text, problem));
    let Some((number, unit)) = quantity::split(text) else {
        return wrong(&format!("is no buffer: write for example {fits}"));
    };
    match unit {
        "bdp" if number <= 1e6 => Ok(QueueLimit::Bdp(number)),
        "p" if number.fract() == 0.0 && number <= 1e12 => Ok(QueueLimit::Packets(number as u64)),
        "" => wrong(&format!("has no unit: write for example {fits}")),
        _ if is_time_unit(unit) => quantity::duration_or_zero(text).map(QueueLimit::Time),
        _ if is_volume_unit(unit) => quantity::bytes(text).map(QueueLimit::Bytes),
        _ => wrong(&format!("is no buffer: write for example {fits}")),
    }
}

#[cfg(test)]
mod tests {
    use lowtide_cc::units::{Bytes, Duration, Rate};

    use super::*;

    #[test]
    fn a_limit_is_read_with_its_unit() {
        assert_eq!(parse("2bdp"), Ok(QueueLimit::Bdp(2.0)));
        assert_eq!(parse("100p"), Ok(QueueLimit::Packets(100)));
        assert_eq!(parse("64kB"), Ok(QueueLimit::Bytes(Bytes::new(64_000))));
        let time = Duration::from_millis(50);
        assert_eq!(parse("50ms"), Ok(QueueLimit::Time(time)));
        assert_eq!(parse("inf"), Ok(QueueLimit::Unlimited));
        let policer = Policer {
            rate: Rate::from_mbps(10),
            burst: Bytes::new(100_000),
        };
        assert_eq!(parse_policer("10mbit:100kB"), Ok(policer));
        assert!(parse_policer("10mbit").is_err() && parse_policer("0mbit:1kB").is_err());
        for text in ["2", "nan", "2.5p", "-1bdp", "inf2", "9999999999bdp"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
