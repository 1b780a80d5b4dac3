//! Sources as people write them.

use lowtide_cc::units::Rate;
use lowtide_cc::units::quantity::{self, QuantityError};

use super::{MAX_STEPS, SourceConfig, Step, Steps};

/// A source: `bulk`, `10MB` (a volume), `10mbit` (a constant rate), `video:2mbit` (30 frames a
/// second, sizes ± 30 %), `frames:30:4kB:40kB:60` (frames a second, bytes of each, and of each 60th), `live:2mbit`
/// (30 frames a second of what the last left room for), `onoff:10mbit:1s:500ms` (rate, on, off),
/// `steps:0s:bulk,3s:off,9s:2mbit,20s:60kB` (what from when on, counted from the flow's start).
///
/// # Errors
/// When the text is none of these; the error says what would be right.
pub fn parse(text: &str) -> Result<SourceConfig, QuantityError> {
    let remedy = |e: &dyn std::fmt::Display| {
        QuantityError::new(format!(
            "{e}; write bulk, 10MB, 10mbit, video:2mbit, frames:30:4kB:40kB:60, live:2mbit, \
             onoff:10mbit:1s:500ms or steps:0s:bulk,3s:off,9s:2mbit"
        ))
    };
    if let Some(source) = parse_timed(text).map_err(|e| remedy(&e))? {
        return Ok(source);
    }
    if let Some(steps) = text.strip_prefix("steps:") {
        return parse_steps(steps)
            .map_err(|e| remedy(&e))
            .map(SourceConfig::Steps);
    }
    if let Some(rate) = text.strip_prefix("live:") {
        let rate = quantity::rate(rate).map_err(|e| remedy(&e))?;
        return Ok(SourceConfig::Live(rate));
    }
    if text == "bulk" {
        return Ok(SourceConfig::Bulk);
    }
    if text.contains(':') {
        return Err(remedy(&format!("'{}' is no source", text.escape_debug())));
    }
    if let Ok(volume) = quantity::bytes(text) {
        return Ok(SourceConfig::Sized(volume));
    }
    let rate = quantity::rate(text).map_err(|e| remedy(&e))?;
    Ok(SourceConfig::ConstantRate(rate))
}

/// A source that is named and writes at times of its own: `video:2mbit`, `frames:30:4kB:40kB:60`,
/// `onoff:10mbit:1s:500ms`; `None` for any other text.
///
/// # Errors
/// When one of its quantities is none.
pub fn parse_timed(text: &str) -> Result<Option<SourceConfig>, QuantityError> {
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        ["video", rate] => Ok(Some(SourceConfig::Video {
            rate: quantity::rate(rate)?,
            fps: 30,
            spread: 0.3,
        })),
        ["frames", fps, bytes] => {
            let bytes = quantity::bytes(bytes)?;
            let fps = per_second(fps)?;
            let (key, group) = (bytes, 1);
            Ok(Some(SourceConfig::Frames {
                fps,
                bytes,
                key,
                group,
            }))
        }
        ["frames", fps, bytes, key, group] => Ok(Some(SourceConfig::Frames {
            fps: per_second(fps)?,
            bytes: quantity::bytes(bytes)?,
            key: quantity::bytes(key)?,
            group: group
                .parse()
                .ok()
                .filter(|n| *n >= 1)
                .ok_or_else(|| QuantityError::of(group, "is no number of frames, as in 60"))?,
        })),
        ["onoff", rate, on, off] => Ok(Some(SourceConfig::OnOff {
            on: quantity::duration(on)?,
            off: quantity::duration(off)?,
            rate: quantity::rate(rate)?,
        })),
        _ => Ok(None),
    }
}

/// Frames a second, 1 to 1000.
fn per_second(text: &str) -> Result<u32, QuantityError> {
    let fps = text.parse().ok().filter(|fps| (1..=1000).contains(fps));
    fps.ok_or_else(|| QuantityError::of(text, "is no number of frames a second (1 to 1000)"))
}

/// What a source does from when on: `0s:bulk,3s:off,9s:2mbit,20s:60kB`.
///
/// # Errors
/// Names the part that is wrong.
pub fn parse_steps(text: &str) -> Result<Steps, QuantityError> {
    let mut steps = Vec::new();
    for part in text.split(',') {
        let Some((at, what)) = part.split_once(':') else {
            return Err(QuantityError::of(part, "is no TIME:SOURCE, as in 3s:off"));
        };
        let what = match what.trim() {
            "bulk" => Step::Bulk,
            "off" => Step::Rate(Rate::ZERO),
            text => match quantity::bytes(text) {
                Ok(volume) => Step::Volume(volume),
                Err(_) => Step::Rate(quantity::rate(text)?),
            },
        };
        steps.push((quantity::duration_or_zero(at)?, what));
    }
    let problem = || {
        let problem =
            format!("must be 1 to {MAX_STEPS} steps, the first at 0s, their times rising");
        QuantityError::of(text, &problem)
    };
    Steps::new(&steps).ok_or_else(problem)
}
