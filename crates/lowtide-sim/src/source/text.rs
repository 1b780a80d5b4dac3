//! Sources as people write them.

use lowtide_cc::units::quantity::{self, QuantityError};

use super::SourceConfig;

/// A source: `bulk`, `10MB` (a volume), `10mbit` (a constant rate), `video:2mbit` (30 frames a
/// second, sizes ± 30 %), `onoff:10mbit:1s:500ms` (rate, on, off).
///
/// # Errors
/// When the text is none of these; the error says what would be right.
pub fn parse(text: &str) -> Result<SourceConfig, QuantityError> {
    let remedy = |e: &dyn std::fmt::Display| {
        QuantityError::new(format!(
            "{e}; write bulk, 10MB, 10mbit, video:2mbit or onoff:10mbit:1s:500ms"
        ))
    };
    if let Some(source) = parse_timed(text).map_err(|e| remedy(&e))? {
        return Ok(source);
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

/// A source that is named and writes at times of its own: `video:2mbit`, `onoff:10mbit:1s:500ms`; `None`
/// for any other text.
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
        ["onoff", rate, on, off] => Ok(Some(SourceConfig::OnOff {
            on: quantity::duration(on)?,
            off: quantity::duration(off)?,
            rate: quantity::rate(rate)?,
        })),
        _ => Ok(None),
    }
}
