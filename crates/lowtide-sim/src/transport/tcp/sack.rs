//! Acknowledgment of segments, cumulative and selective (RFC 2018), with timestamps (RFC 7323).

use lowtide_cc::units::{Duration, Time};

use super::rack::Rack;
use crate::transport::connection::Connection;
use crate::transport::ranges::Range;
use crate::transport::receiver::Ack;

/// What an acknowledgment says of times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    /// The RTT of the segment whose timestamp is echoed.
    pub(super) sample: Option<Duration>,
    /// When the oldest of the newly covered segments left that were sent once only.
    pub(super) oldest_original: Option<Time>,
}

/// Marks the segments of `new` delivered: the SACKed ones first, then those below SND.UNA, both in
/// order (Linux `tcp_sacktag_write_queue`, `tcp_clean_rtx_queue`).
pub(super) fn take_in(
    now: Time,
    ack: &Ack,
    new: &[Range],
    connection: &mut Connection,
    rack: &mut Rack,
) -> Taken {
    // Timestamps tell which transmission made the receiver answer, so that samples of retransmissions count, too
    // (RFC 6298 §3).
    let trigger = connection.board.get(ack.trigger).copied();
    let mut taken = Taken::default();
    let mut is_spurious = false;
    let cumulative = ack.ranges.last().filter(|range| range.start == 0);
    let una = cumulative.map_or(0, |range| range.end);
    let sacked = new.iter().filter(|range| range.start >= una);
    let below = new.iter().filter(|range| range.start < una);
    let prior_fack = rack.fack();
    for range in sacked.chain(below) {
        for segment in range.start..range.end {
            let Some(newest) = connection.board.newest_transmission(segment) else {
                continue;
            };
            let triggered = trigger.filter(|t| t.segment == segment);
            if let Some(t) = triggered {
                taken.sample = Some(now.since(t.sent_at));
            }
            let delivered = if ack.trigger >= newest {
                newest
            } else {
                // The receiver answers something sent earlier than the retransmission: an original
                // arrived, and the retransmission was spurious.
                is_spurious = true;
                if triggered.is_none() {
                    // An earlier one of this segment came, too; where it is forgotten, the newest stands
                    // for it.
                    let rtt = &connection.rtt;
                    let least = rtt.has_sample().then(|| rtt.min());
                    let age = trigger.map(|t| now.since(t.sent_at));
                    let age = age.into_iter().chain(least).min().unwrap_or_default();
                    let earlier = connection
                        .board
                        .transmission_before(segment, newest, now - age);
                    connection.deliver_older(now, earlier.unwrap_or(newest), age);
                    if earlier.is_some() {
                        connection.discard(newest);
                    }
                    continue;
                }
                ack.trigger
            };
            if let Some(t) = connection.deliver(now, delivered) {
                let is_only = !t.retransmission && delivered == newest;
                if is_only {
                    // What is below SND.UNA is compared with what had arrived before this acknowledgment.
                    let is_below = segment < una;
                    rack.on_original(segment, if is_below { prior_fack } else { rack.fack() });
                }
                rack.on_delivered(now, delivered, &t, &connection.rtt);
                if is_only {
                    let oldest = taken.oldest_original.get_or_insert(t.sent_at);
                    *oldest = t.sent_at.min(*oldest);
                }
            }
            if delivered != newest {
                connection.discard(newest);
            }
        }
    }
    if is_spurious {
        rack.on_spurious_retransmission(connection.board.next_number());
    }
    taken
}
