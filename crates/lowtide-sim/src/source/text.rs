//! Sources as people write them.

use lowtide_cc::units::{Duration, Rate};

use super::config::SourceConfig;
use crate::trace::quantity::{self, QuantityError};

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
    let parts: Vec<&str> = text.split(':').collect();
    let rate = |text: &str| -> Result<Rate, _> { quantity::rate(text).map_err(|e| remedy(&e)) };
    let time =
        |text: &str| -> Result<Duration, _> { quantity::duration(text).map_err(|e| remedy(&e)) };
    match parts.as_slice() {
        ["bulk"] => Ok(SourceConfig::Bulk),
        ["video", r] => Ok(SourceConfig::Video {
            rate: rate(r)?,
            fps: 30,
            spread: 0.3,
        }),
        ["onoff", r, on, off] => Ok(SourceConfig::OnOff {
            on: time(on)?,
            off: time(off)?,
            rate: rate(r)?,
        }),
        [one] => match quantity::bytes(one) {
            Ok(volume) => Ok(SourceConfig::Sized(volume)),
            Err(_) => Ok(SourceConfig::ConstantRate(rate(one)?)),
        },
        _ => Err(remedy(&format!("'{}' is no source", text.escape_debug()))),
    }
}
