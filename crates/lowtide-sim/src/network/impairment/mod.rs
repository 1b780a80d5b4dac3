//! What happens to packets behind a link.

mod delay;
mod loss;

pub use self::delay::{Aggregation, DelayProcess, Jitter};
pub use self::loss::{LossModel, LossProcess};
