//! RBBR (Haile et al. 2022): the receiver estimates the bandwidth and feeds it back.
//!
//! BBR v1 takes the highest delivery rate of ten rounds for the bandwidth; on a link whose capacity
//! changes every few milliseconds that is far more than the link carries on average. Here the
//! receiver filters what it receives ([`Receiver`]), sends the estimate with its acknowledgments,
//! and the sender uses it from ProbeBW on ([`FeedbackEstimator`]). While the sender limits itself
//! it tells the receiver to suspend its estimate. Where a receiver without RBBR reports when packets
//! arrived, the sender runs the receiver's part as well.

pub(crate) mod entry;

pub mod frame;
mod receiver;
mod regular;
mod remote;
mod sender;
mod witness;

pub use self::receiver::{Filter, Gaps, Noise, Receiver, ReceiverConfig, Schedule};
pub use self::sender::{FeedbackEstimator, Source};
