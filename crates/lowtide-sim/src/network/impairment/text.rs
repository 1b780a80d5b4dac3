//! Impairments as people write them.

use lowtide_cc::units::quantity::{self, QuantityError};
use lowtide_cc::units::{Duration, Time};

use super::LossModel;

/// Delays from given times on: `20s:60ms,40s:40ms`.
///
/// # Errors
/// When a part is no time and delay, or times do not rise.
pub fn parse_delay_steps(text: &str) -> Result<Vec<(Time, Duration)>, QuantityError> {
    let mut steps: Vec<(Time, Duration)> = Vec::new();
    for part in text.split(',') {
        let Some((at, delay)) = part.split_once(':') else {
            return Err(QuantityError::of(part, "is no TIME:DELAY, as in 20s:60ms"));
        };
        let at = Time::ZERO + quantity::duration(at)?;
        if steps.last().is_some_and(|(last, _)| *last >= at) {
            return Err(QuantityError::of(
                part,
                "does not come after the step before it",
            ));
        }
        steps.push((at, quantity::duration(delay)?));
    }
    Ok(steps)
}

/// Bursty loss, mean share and mean burst in packets (`1%:10`), as a Gilbert–Elliott model that
/// loses everything in its bad state.
///
/// # Errors
/// When the text is none, the share 100 %, or the burst shorter than a packet.
pub fn parse_burst_loss(text: &str) -> Result<LossModel, QuantityError> {
    let wrong = || {
        let problem = "is no SHARE:PACKETS, as in 1%:10 (share below 100 %, at least 1 packet)";
        Err(QuantityError::of(text, problem))
    };
    let Some((share, length)) = text.split_once(':') else {
        return wrong();
    };
    let share = quantity::probability(share)
        .map_err(|e| QuantityError::new(format!("{e}; SHARE:PACKETS is as in 1%:10")))?;
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
