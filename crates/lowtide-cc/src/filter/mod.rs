//! Estimators that stand alone.

mod windowed;

pub use windowed::{Extremum, Maximum, Minimum, Windowed};
