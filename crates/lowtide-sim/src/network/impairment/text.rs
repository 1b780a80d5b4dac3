//! Impairments as people write them.

use lowtide_cc::units::quantity::{self, QuantityError};
use lowtide_cc::units::{Duration, Time};

use super::{HeldBack, LossModel, ScriptedLoss, Share, Span, WifiJitter};

/// Parts such as `2s:600ms:1/20`: of what leaves the link from 2 s on for 600 ms the last of each 20.
/// Instead of a time, so many packets: `2s:60p:1/20`.
///
/// # Errors
/// Names the part that is none.
pub fn parse_scripted_loss(text: &str) -> Result<Vec<ScriptedLoss>, QuantityError> {
    let form = "is no TIME:SPAN:LOST/OF, as in 2s:600ms:1/20 or 2s:60p:1/20";
    let parts = text.split(',').map(|part| {
        let wrong = || QuantityError::of(part, form);
        let mut fields = part.split(':');
        let (from, span) = from_and_span(&mut fields).ok_or_else(wrong)?;
        match (fields.next().and_then(share), fields.next()) {
            (Some(share), None) => Ok(ScriptedLoss { from, span, share }),
            _ => Err(wrong()),
        }
    });
    parts.collect()
}

/// Parts such as `6s:3p:25ms`: the first three packets that leave the link from 6 s on arrive 25 ms
/// late, those behind them do not. `6s:40ms:1.5s`: all that leave within 40 ms; `6s:10s:1/20:50ms`: of
/// those that leave within 10 s the last of each 20.
///
/// # Errors
/// Names the part that is none.
pub fn parse_held_back(text: &str) -> Result<Vec<HeldBack>, QuantityError> {
    let form = "is no TIME:SPAN:DELAY, as in 6s:3p:25ms or 6s:40ms:1.5s, and no \
                TIME:SPAN:LATE/OF:DELAY, as in 6s:10s:1/20:50ms";
    let parts = text.split(',').map(|part| {
        let wrong = || QuantityError::of(part, form);
        let mut fields = part.split(':');
        let (from, span) = from_and_span(&mut fields).ok_or_else(wrong)?;
        let (share, by) = match (fields.next(), fields.next(), fields.next()) {
            (Some(by), None, None) => (Share::ALL, by),
            (Some(of_each), Some(by), None) => (share(of_each).ok_or_else(wrong)?, by),
            _ => return Err(wrong()),
        };
        let by = quantity::duration(by).map_err(|_| wrong())?;
        Ok(HeldBack {
            from,
            span,
            share,
            by,
        })
    });
    parts.collect()
}

/// `1/20`: the last of each 20.
fn share(text: &str) -> Option<Share> {
    let (hit, of) = text.trim().split_once('/')?;
    let (hit, of) = (hit.trim().parse().ok()?, of.trim().parse().ok()?);
    (1..=of).contains(&hit).then_some(Share { hit, of })
}

fn from_and_span<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<(Time, Span)> {
    let from = Time::ZERO + quantity::duration_or_zero(fields.next()?).ok()?;
    let span = fields.next()?.trim();
    let packets = span.strip_suffix('p').and_then(|count| count.parse().ok());
    let span = match packets {
        Some(packets) => Span::Packets(packets),
        None => Span::Time(quantity::duration(span).ok()?),
    };
    Some((from, span))
}

/// A delay that becomes shorter by little again and again: `500ms:100us`, each 500 ms by 100 µs.
///
/// # Errors
/// When the text is no time and delay.
pub fn parse_drift(text: &str) -> Result<(Duration, Duration), QuantityError> {
    let wrong = || QuantityError::of(text, "is no TIME:DELAY, as in 500ms:100us");
    let (every, by) = text.split_once(':').ok_or_else(wrong)?;
    Ok((quantity::duration(every)?, quantity::duration(by)?))
}

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

/// The mean delay of a busy Wi-Fi: `7ms`, or from when on each, `0s:999us,1s:12ms`.
///
/// # Errors
/// When a part is none, or times do not rise.
pub fn parse_wifi_jitter(text: &str) -> Result<WifiJitter, QuantityError> {
    let mut steps = Vec::new();
    for part in text.split(',') {
        let (at, mean) = part.split_once(':').unwrap_or(("0s", part));
        steps.push((
            Time::ZERO + quantity::duration_or_zero(at)?,
            quantity::duration_or_zero(mean)?,
        ));
    }
    let problem =
        "is no mean delay, as in 7ms, or several with rising times, as in 0s:999us,1s:12ms";
    WifiJitter::new(steps).ok_or_else(|| QuantityError::of(text, problem))
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
