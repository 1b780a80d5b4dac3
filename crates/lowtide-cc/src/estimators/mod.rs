//! Estimators that stand alone: each takes numbers and gives numbers, knows nothing of a
//! controller, allocates nothing, and stays finite for any input.

mod capacity;
mod ewma;
mod kalman;
mod noise;
pub mod normal;
mod slope;
mod tobit;
mod windowed;

pub use capacity::capacity;
pub use ewma::Ewma;
pub use kalman::AdaptiveKalman;
pub use noise::Noise;
pub use slope::SlopeFit;
pub use tobit::{Adaptation, NoiseBounds, TobitKalman};
pub use windowed::{Extremum, Maximum, Minimum, Windowed};
