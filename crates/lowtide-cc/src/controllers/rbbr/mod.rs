//! RBBR (Haile et al. 2022): the receiver estimates the bandwidth and feeds it back.
//!
//! BBR v1 takes the highest delivery rate of ten rounds for the bandwidth; on a link whose capacity
//! changes every few milliseconds that is far more than the link carries on average. Here the
//! receiver filters what it receives ([`Receiver`]), sends the estimate with its acknowledgments,
//! and the sender uses it from ProbeBW on ([`FeedbackEstimator`]). While the sender limits itself
//! it tells the receiver to suspend its estimate.

pub(crate) mod entry;

pub mod frame;
mod receiver;
mod sender;
mod witness;

pub use self::receiver::{Filter, Gaps, Noise, Receiver, ReceiverConfig, Schedule};
pub use self::sender::FeedbackEstimator;
use crate::controller::Config;
use crate::controllers::bbr::{Bbr, Options, V1};

/// RBBR's sender, whose receiver runs by `receiver`. ACK-aggregation compensation, which belongs
/// to the sender's own estimate, is off regardless of `options` (§V-A).
#[must_use]
pub fn rbbr(
    config: &Config,
    options: Options,
    receiver: &ReceiverConfig,
) -> Bbr<FeedbackEstimator> {
    let options = Options {
        aggregation: false,
        ..options
    };
    Bbr::new(config, options, FeedbackEstimator::new(receiver), V1)
}
