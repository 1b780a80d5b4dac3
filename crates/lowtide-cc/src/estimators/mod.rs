//! Estimators that stand alone: each takes numbers and gives numbers, knows nothing of a
//! controller, allocates nothing after construction, and stays finite for any input.

mod capacity;
mod ewma;
mod forecast;
mod kalman;
mod noise;
pub mod normal;
mod slope;
mod tobit;
mod windowed;

pub use capacity::capacity;
pub use ewma::Ewma;
pub use forecast::{ArrivalForecast, RANGE, TICK, TICKS};
pub use kalman::AdaptiveKalman;
pub use noise::{Belief, Noise};
pub use slope::SlopeFit;
pub use tobit::{Adaptation, NoiseBounds, TobitKalman};
pub use windowed::{Extremum, Maximum, Minimum, Windowed};
