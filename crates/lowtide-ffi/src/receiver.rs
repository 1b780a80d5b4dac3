//! The estimator at the receiver that RBBR works with.

use core::ffi::c_char;

use lowtide_cc::controller::PeerSignal;
use lowtide_cc::controllers::rbbr::Receiver;
use lowtide_cc::units::{Bytes, Rate, Time};

use crate::boundary::{Outcome, borrow_mut, free, guard, parse_spec, put, read_text, write_text};
use crate::clock::Clock;
use crate::{LOWTIDE_NONE, LowtidePeerSignal, LowtideStatus};

/// A bandwidth estimator at a receiver.
pub struct LowtideReceiver {
    inner: Receiver,
    clock: Clock,
}

/// Makes the estimator that the receiver runs when the sender's controller is `spec`, as in
/// `"rbbr"` or `"rbbr:interval=20ms"`. On success `*out` is the handle, to be given to
/// `lowtide_receiver_free` once; it is null where the controller works without an estimator at the
/// receiver, and after errors. `message` is as in `lowtide_flow_new`.
///
/// Returns `NULL_POINTER`, `BAD_SPEC`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_receiver_new(
    spec: *const c_char,
    out: *mut *mut LowtideReceiver,
    message: *mut c_char,
    message_size: usize,
) -> LowtideStatus {
    guard(|| {
        // SAFETY: null or valid by the library's rule.
        unsafe { write_text("", message, message_size) };
        // SAFETY: as above.
        unsafe { put(out, core::ptr::null_mut()) }?;
        // SAFETY: as above.
        let spec = unsafe { read_text(spec) }?;
        // SAFETY: as above.
        let spec = unsafe { parse_spec(spec, message, message_size) }?;
        let Some(config) = spec.receiver() else {
            return Ok(());
        };
        let receiver = LowtideReceiver {
            inner: Receiver::new(&config),
            clock: Clock::starting_at(Time::ZERO),
        };
        // SAFETY: as above.
        unsafe { put(out, Box::into_raw(Box::new(receiver))) }
    })
}

/// Destroys an estimator. Null is allowed and does nothing.
///
/// # Safety
/// `receiver` comes from `lowtide_receiver_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_receiver_free(receiver: *mut LowtideReceiver) {
    // SAFETY: made by `Box::into_raw` and given back once, by the caller's promise.
    unsafe { free(receiver) }
}

/// A packet of `bytes` arrived, new or not. `signal` is the `LowtidePeerSignal` that came with it;
/// `LOWTIDE_PEER_SIGNAL_NONE`: none came, the last one stays.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`; `BAD_VALUE` when there is no such signal.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_receiver_on_packet(
    receiver: *mut LowtideReceiver,
    now: u64,
    bytes: u64,
    signal: u32,
) -> LowtideStatus {
    guard(|| -> Outcome {
        // SAFETY: null or valid by the library's rule.
        let r = unsafe { borrow_mut(receiver) }?;
        let signal = match signal {
            s if s == LowtidePeerSignal::None as u32 => None,
            s if s == LowtidePeerSignal::Regular as u32 => Some(PeerSignal::Regular),
            s if s == LowtidePeerSignal::Suspend as u32 => Some(PeerSignal::Suspend),
            _ => return Err(LowtideStatus::BadValue),
        };
        let now = r.clock.advance(now)?;
        if let Some(signal) = signal {
            r.inner.on_signal(signal);
        }
        r.inner.on_packet(now, Bytes::new(bytes));
        Ok(())
    })
}

/// An acknowledgment is about to leave: `*rate` is the estimate that it should carry, bytes per
/// second, above zero; `LOWTIDE_NONE` for none. The sender gives it to `lowtide_flow_feedback`.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_receiver_feedback_for_ack(
    receiver: *mut LowtideReceiver,
    now: u64,
    rate: *mut u64,
) -> LowtideStatus {
    guard(|| {
        if rate.is_null() {
            return Err(LowtideStatus::NullPointer);
        }
        // SAFETY: null or valid by the library's rule.
        let r = unsafe { borrow_mut(receiver) }?;
        let now = r.clock.advance(now)?;
        let feedback = r.inner.feedback_for_ack(now);
        let value = feedback.map_or(LOWTIDE_NONE, |f: Rate| {
            f.as_bytes_per_sec().min(LOWTIDE_NONE - 1)
        });
        // SAFETY: as above.
        unsafe { put(rate, value) }
    })
}
