//! Events that most hosts do not have, and what a host did wrong.

use core::ffi::c_char;

use lowtide_cc::controller::Feedback;
use lowtide_cc::units::{Bytes, Rate, Time};

use crate::boundary::{borrow, write_text};
use crate::flow::event;
use crate::{LOWTIDE_NONE, LowtideFlow, LowtideStatus};

/// As `lowtide_flow_acked`, with what the host knows besides.
///
/// `sent_at`: TCP, where an earlier transmission of the packet's data may have been the one that
/// arrived: the least RTT ago, ns. A time that is too late makes RTTs that no path has, and only an
/// earlier one than that of `lowtide_flow_sent` counts. `received_at`: when it arrived, ns on the peer's
/// clock, where the peer reports that (draft-ietf-quic-receive-ts); only differences count. Either may be
/// `LOWTIDE_NONE`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_acked_at(
    flow: *mut LowtideFlow,
    number: u64,
    sent_at: u64,
    received_at: u64,
) -> LowtideStatus {
    let received_at = (received_at != LOWTIDE_NONE).then_some(Time::from_nanos(received_at));
    let inside =
        |f: &mut LowtideFlow| f.acknowledge(number, Time::from_nanos(sent_at), received_at);
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// The last retransmission timeout was spurious: packets taken for lost arrived (RFC 3522, RFC 5682).
///
/// What it gave up is in flight again, but for packets discarded since: a host discards those of which
/// it has sent the data again. To be said with the acknowledgment that shows it. What was declared lost
/// before does not count as lost with that.
///
/// Returns `NULL_POINTER`, `PANICKED`; `WRONG_ORDER` when there was no such timeout, or it was
/// already undone.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_spurious_timeout(flow: *mut LowtideFlow) -> LowtideStatus {
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, LowtideFlow::undo_timeout) }
}

/// The path's maximum datagram changed, bytes.
///
/// Returns `NULL_POINTER`, `PANICKED`; `BAD_VALUE` when it is zero.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_mtu(
    flow: *mut LowtideFlow,
    max_datagram: u64,
) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        if max_datagram == 0 {
            return Err(LowtideStatus::BadValue);
        }
        f.driver.on_mtu_change(Bytes::new(max_datagram));
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// The peer's bandwidth estimator sent feedback. `carrier`: number of the peer's packet that
/// carried it; feedback older than the newest is ignored. `rate`: the peer's estimate, bytes per
/// second; may be anything.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_feedback(
    flow: *mut LowtideFlow,
    now: u64,
    carrier: u64,
    rate: u64,
) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        let now = f.advance(now)?;
        f.driver.on_feedback(&Feedback {
            now,
            carrier,
            rate: Rate::from_bytes_per_sec(rate),
        });
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// Writes what the host of a checked flow did against the contract, a sentence a line, into `buffer`
/// of `size` bytes, cut where it does not fit. `buffer` may be null; so may `flow`, of which there is
/// nothing to say.
///
/// Returns the size that holds all of it and the final zero.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_breaches(
    flow: *const LowtideFlow,
    buffer: *mut c_char,
    size: usize,
) -> usize {
    // SAFETY: null or valid by the library's rule.
    let notes = unsafe { borrow(flow) }.ok().and_then(LowtideFlow::notes);
    let mut text = String::new();
    for breach in notes.iter().flat_map(|notes| &notes.breaches) {
        text.push_str(breach);
        text.push('\n');
    }
    // SAFETY: null or valid by the library's rule.
    unsafe { write_text(&text, buffer, size) };
    text.len() + 1
}
