//! What happens to packets behind a link.

mod delay;
mod ecn;
mod loss;
mod moving;
mod script;
mod text;
mod wifi;

pub use self::delay::{Aggregation, DelayProcess, Jitter};
pub use self::ecn::EcnTreatment;
pub use self::loss::{LossModel, LossProcess};
pub use self::moving::MovingDelay;
pub(crate) use self::script::ScriptProcess;
pub use self::script::{HeldBack, Script, ScriptedLoss, Share, Span};
pub use self::text::{
    parse_burst_loss, parse_delay_steps, parse_drift, parse_held_back, parse_scripted_loss,
    parse_wifi_jitter,
};
pub use self::wifi::WifiJitter;
