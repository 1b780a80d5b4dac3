//! Numbers that Python hands over, checked: the message says whose they are and what fits.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

const NANOS: f64 = 1e9;

/// What a quantity may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Zero {
    Fits,
    DoesNot,
}

/// A finite number; `what` it is, with its unit, stands in the message.
pub(super) fn finite(value: &Bound<'_, PyAny>, what: &str, zero: Zero) -> PyResult<f64> {
    let number = any(value, what)?;
    let fits = number.is_finite() && (number > 0.0 || (zero == Zero::Fits && number == 0.0));
    if fits {
        return Ok(number);
    }
    let fitting = match zero {
        Zero::Fits => "finite and not negative",
        Zero::DoesNot => "finite and above zero",
    };
    Err(wrong(what, fitting, number))
}

/// A number above zero, or infinity.
pub(super) fn positive(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    let number = any(value, what)?;
    // NaN is not above zero either.
    if number > 0.0 {
        Ok(number)
    } else {
        Err(wrong(what, "above zero", number))
    }
}

fn wrong(what: &str, fitting: &str, number: f64) -> PyErr {
    PyValueError::new_err(format!("{what} must be {fitting}, not {number}"))
}

fn any(value: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    value.extract().map_err(|_| {
        let kind = kind_of(value);
        PyTypeError::new_err(format!("{what} must be a number, not {kind}"))
    })
}

/// The name of a value's class, for messages.
pub(super) fn kind_of(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name();
    name.map_or_else(|_| String::new(), |name| name.to_string())
}

/// A [`finite`] number, where `None` says that there is none.
pub(super) fn optional(
    value: Option<&Bound<'_, PyAny>>,
    what: &str,
    zero: Zero,
) -> PyResult<Option<f64>> {
    value.map(|value| finite(value, what, zero)).transpose()
}

pub(crate) fn seconds(time: Time) -> f64 {
    time.as_nanos() as f64 / NANOS
}

pub(crate) fn span(duration: Duration) -> f64 {
    if duration == Duration::MAX {
        return f64::INFINITY;
    }
    duration.as_nanos() as f64 / NANOS
}

// `as` saturates: what is beyond the range is the range's end.
pub(crate) fn time(seconds: f64) -> Time {
    Time::from_nanos((seconds * NANOS).round() as u64)
}

pub(crate) fn duration(seconds: f64) -> Duration {
    if seconds == f64::INFINITY {
        return Duration::MAX;
    }
    Duration::from_nanos((seconds * NANOS).round() as u64)
}

pub(crate) fn bytes(number: f64) -> Bytes {
    Bytes::new(number as u64)
}

/// Never zero, which no pacing rate may be.
pub(crate) fn rate(bytes_per_second: f64) -> Rate {
    Rate::from_bytes_per_sec((bytes_per_second as u64).max(1))
}
