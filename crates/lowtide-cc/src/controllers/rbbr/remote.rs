//! The receiver's estimator at the sender, where the receiver reports when packets arrived.

use super::receiver::{Receiver, ReceiverConfig};
use super::regular::Regular;
use crate::controller::{AckEvent, PeerSignal};
use crate::units::{Bytes, Rate};

/// What a receiver with RBBR's estimator would report, from the times at which packets reached one
/// without.
///
/// The times are the peer's word, as RBBR's own reports are: the sender trusts them no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remote {
    estimator: Receiver,
    /// Arrived at a time that was not reported; counted with the next packet of which it was.
    unplaced: Bytes,
}

impl Remote {
    pub(super) fn new(config: &ReceiverConfig) -> Self {
        Self {
            estimator: Receiver::new(config),
            unplaced: Bytes::ZERO,
        }
    }

    /// What the receiver would report with this acknowledgment; `None` where that says nothing of
    /// arrivals, and where no report is due.
    pub(super) fn on_ack(&mut self, ack: &AckEvent<'_>, regular: &Regular) -> Option<Rate> {
        let mut is_told = false;
        for packet in ack.packets {
            self.unplaced += packet.bytes;
            let Some(received_at) = packet.received_at else {
                continue;
            };
            is_told = true;
            self.estimator
                .on_signal(if regular.contains(packet.number) {
                    PeerSignal::Regular
                } else {
                    PeerSignal::Suspend
                });
            let bytes = core::mem::take(&mut self.unplaced);
            self.estimator.on_packet(received_at, bytes);
        }
        is_told.then(|| self.estimator.feedback_for_ack(ack.now))?
    }
}
