//! Transport protocols: numbering, acknowledgment, loss detection and timers.

mod flight;
mod loss_detection;
mod pacer;
mod quic;
mod ranges;
mod rtt;
mod tcp;

pub(crate) mod receiver;
pub(crate) mod sender;

use lowtide_cc::units::Duration;

/// A flow's transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportConfig {
    /// QUIC (RFC 9000, RFC 9002).
    Quic {
        /// The receiver acknowledges every so many packets (RFC 9000 §13.2.2: 2) …
        ack_every: u32,
        /// … or after this time (`max_ack_delay`, 25 ms by default).
        max_ack_delay: Duration,
    },
    /// TCP with SACK, RACK-TLP (RFC 8985) and delayed acknowledgments.
    Tcp {
        /// Lower bound of the retransmission timer (Linux: 200 ms; RFC 6298: 1 s).
        min_rto: Duration,
        /// Longest delay of an acknowledgment (Linux: 40 ms).
        delayed_ack: Duration,
        /// Selective acknowledgments (RFC 2018). Without them the sender learns of a loss by its
        /// timer alone and then sends all that was in flight again: there is no NewReno recovery
        /// here, so that this shows how much SACK is worth at the most.
        sack: bool,
    },
}

impl TransportConfig {
    /// QUIC with the defaults of its RFCs.
    #[must_use]
    pub const fn quic() -> Self {
        Self::Quic {
            ack_every: 2,
            max_ack_delay: Duration::from_millis(25),
        }
    }

    /// TCP with the defaults of Linux.
    #[must_use]
    pub const fn tcp() -> Self {
        Self::Tcp {
            min_rto: Duration::from_millis(200),
            delayed_ack: Duration::from_millis(40),
            sack: true,
        }
    }
}
