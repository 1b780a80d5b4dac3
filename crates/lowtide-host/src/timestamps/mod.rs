//! When packets arrived, from receiver to sender: the Receive Timestamps of
//! draft-ietf-quic-receive-ts-02.
//!
//! The receiver notes [`Arrivals`] and reports them with its acknowledgments; the sender reads the
//! [`Report`] and hands each time to [`Driver::note_acked`](crate::Driver::note_acked). What the draft
//! negotiates is fixed here: [`MAX_PER_ACK`] and [`EXPONENT`].

mod arrivals;
mod encoding;
pub mod frame;
mod report;

pub use arrivals::Arrivals;
pub use encoding::{EXPONENT, MAX_PER_ACK, Malformed, decode, encode};
pub use report::Report;
