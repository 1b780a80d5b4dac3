//! Acknowledgment of packet numbers (RFC 9002 §5.1).

use lowtide_cc::units::{Duration, Time};

use super::loss::LossDetection;
use crate::transport::connection::Connection;
use crate::transport::ranges::Range;
use crate::transport::receiver::Ack;

/// Marks the packets of `new` delivered. Returns the RTT sample: there is one only if the largest
/// acknowledged packet is newly acknowledged.
#[inline]
pub(super) fn take_in(
    now: Time,
    ack: &Ack,
    new: &[Range],
    connection: &mut Connection,
    loss: &mut LossDetection,
) -> Option<Duration> {
    let mut newest = None;
    for range in new {
        for number in range.start..range.end {
            if let Some(t) = connection.deliver(now, number) {
                loss.on_delivered(number);
                newest = Some((number, t.sent_at));
            }
        }
    }
    let largest = ack.ranges.first()?.end - 1;
    let (_, sent_at) = newest.filter(|(number, _)| *number == largest)?;
    Some(now.since(sent_at))
}
