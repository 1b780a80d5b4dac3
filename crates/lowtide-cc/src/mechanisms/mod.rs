//! What several controllers share: epochs of recovery, packet-timed rounds, Reno's window, ProbeRTT's small
//! flight, the smoothed RTT and Linux's variation of it, and what a spurious timeout gives back.

mod prr;
mod recovery;
mod reno;
mod rounds;
mod small_flight;
mod smoothed_rtt;
mod undo;
mod validation;
mod variation;

pub(crate) use self::prr::ProportionalReduction;
pub use self::recovery::RecoveryEpoch;
pub use self::reno::RenoWindow;
pub use self::rounds::Rounds;
pub(crate) use self::rounds::RoundsByNumber;
pub(crate) use self::small_flight::SmallFlight;
pub(crate) use self::smoothed_rtt::SmoothedRtt;
pub(crate) use self::undo::Undo;
pub(crate) use self::validation::{Validation, is_cwnd_limited};
pub use self::variation::RttVariation;
