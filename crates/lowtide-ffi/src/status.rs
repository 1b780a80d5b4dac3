//! What a call says of itself.

use core::ffi::{CStr, c_char};

/// What became of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowtideStatus {
    /// Done.
    Ok = 0,
    /// A pointer that must not be null is null.
    NullPointer = 1,
    /// The spec names no controller, or a parameter does not fit; the message says which and why.
    BadSpec = 2,
    /// A value is outside of its range: no packets, an unknown kind of timeout, a maximum datagram
    /// of zero.
    BadValue = 3,
    /// The event is not possible after those before it: packet numbers that do not grow, packets
    /// settled that were never sent or before they were sent, a spurious timeout without a timeout.
    WrongOrder = 4,
    /// The event is earlier than the one before it.
    TimeWentBack = 5,
    /// There is no delivery-rate sample; no error.
    NoSample = 6,
    /// The controller panicked, now or in an earlier call. Destroy it.
    Panicked = 7,
}

/// A status in words: a static string, never null. Takes any number.
#[unsafe(no_mangle)]
pub extern "C" fn lowtide_status_text(status: i32) -> *const c_char {
    text(status).as_ptr()
}

fn text(status: i32) -> &'static CStr {
    match status {
        0 => c"done",
        1 => c"a pointer that must not be null is null",
        2 => c"the spec names no controller, or a parameter does not fit",
        3 => c"a value is outside of its range",
        4 => c"the event is not possible after those before it",
        5 => c"the event is earlier than the one before it",
        6 => c"there is no delivery-rate sample",
        7 => c"the controller panicked",
        _ => c"unknown status",
    }
}
