//! What happens to packets behind a link.

mod delay;
mod ecn;
mod loss;
mod text;

pub use self::delay::{Aggregation, DelayProcess, Jitter};
pub use self::ecn::EcnTreatment;
pub use self::loss::{LossModel, LossProcess};
pub use self::text::{parse_burst_loss, parse_delay_steps};
