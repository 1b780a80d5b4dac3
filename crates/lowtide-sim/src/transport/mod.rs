//! Transport protocols: numbering, acknowledgment, loss detection and timers.

mod connection;
mod ecn;
mod expiry;
mod lie;
mod pacer;
mod quic;
mod ranges;
mod recovery;
mod rtt;
mod scoreboard;
mod tcp;

pub(crate) mod receiver;
pub(crate) mod sender;

use lowtide_cc::units::{Bytes, Duration};
use lowtide_cc::{Config, Transport};

pub use self::ecn::EcnFeedback;
pub use self::lie::Lie;
pub use self::pacer::Pacing;

/// A flow's transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum TransportConfig {
    /// QUIC (RFC 9000, RFC 9002).
    Quic {
        /// The receiver acknowledges every Nth packet (RFC 9000 §13.2.2: 2).
        ack_every: u32,
        /// Time after which an acknowledgment leaves in any case (`max_ack_delay`, 25 ms by
        /// default).
        max_ack_delay: Duration,
        /// The receiver reports when packets arrived (draft-ietf-quic-receive-ts), and the controller
        /// is told.
        timestamps: bool,
    },
    /// TCP with SACK, RACK-TLP (RFC 8985) and delayed acknowledgments.
    Tcp {
        /// Lower bound of what the retransmission timer adds to the smoothed RTT (Linux: 200 ms).
        min_rto: Duration,
        /// Longest delay of an acknowledgment (Linux: 40 ms).
        delayed_ack: Duration,
        /// Selective acknowledgments (RFC 2018). Without them the sender learns of a loss by its
        /// timer alone and then sends all that was in flight again: there is no NewReno recovery
        /// here, so this is an upper bound on what SACK is worth.
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
            timestamps: false,
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

    /// Whether the receiver reports when packets arrived.
    #[must_use]
    pub const fn reports_timestamps(&self) -> bool {
        matches!(
            self,
            Self::Quic {
                timestamps: true,
                ..
            }
        )
    }

    /// Which protocol it is, for controllers.
    #[must_use]
    pub const fn protocol(&self) -> Transport {
        match self {
            Self::Quic { .. } => Transport::Quic,
            Self::Tcp { .. } => Transport::Tcp,
        }
    }

    /// Window of a new connection, for packets of `packet_size`.
    #[must_use]
    pub fn initial_window(&self, packet_size: Bytes) -> Bytes {
        match self {
            // Its 14,720 bytes are 9 whole packets of 1500 (RFC 9002 §7.2).
            Self::Quic { .. } => Config::for_datagram(packet_size).initial_window,
            // Linux's TCP_INIT_CWND. It counts segments, and so does RFC 6928 up to segments of
            // 1460 bytes: the headers of a packet are not part of them.
            Self::Tcp { .. } => packet_size * 10,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_starts_with_ten_packets_and_quic_with_ten_but_not_more_than_14720_bytes() {
        let windows = |size: u64| {
            let size = Bytes::new(size);
            [TransportConfig::tcp(), TransportConfig::quic()]
                .map(|t| t.initial_window(size).get() / size.get())
        };
        assert_eq!(windows(1000), [10, 10]);
        assert_eq!(windows(1500), [10, 9]);
        assert_eq!(windows(9000), [10, 2]);
    }
}
