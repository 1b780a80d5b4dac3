//! Controllers by name.

use core::ffi::c_char;

use lowtide_cc::units::{Bytes, Time};
use lowtide_cc::{Config, Transport, registry};

use crate::boundary::{borrow, free, guard, parse_spec, put, read_text, write_text};
use crate::{LowtideController, LowtideStatus};

/// What a controller needs to know when it is made.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideConfig {
    /// Largest datagram (QUIC) or segment (TCP), bytes: the unit of "packets" in window rules. At
    /// least 1.
    pub max_datagram: u64,
    /// Window before any feedback, bytes.
    pub initial_window: u64,
    /// When the connection starts, ns on the host's clock. No event may be earlier.
    pub now: u64,
    /// Seeds the controller's own randomness, so that a run can be repeated.
    pub seed: u64,
}

/// Fills in the usual configuration for packets of `max_datagram` bytes: an initial window of 10
/// packets, but not more than 14 720 bytes unless two packets are larger (RFC 9002 §7.2); time and
/// seed zero.
///
/// Returns `NULL_POINTER`; `BAD_VALUE` when `max_datagram` is zero.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_config_init(
    config: *mut LowtideConfig,
    max_datagram: u64,
) -> LowtideStatus {
    guard(|| {
        if max_datagram == 0 {
            return Err(LowtideStatus::BadValue);
        }
        let usual = Config::for_datagram(Bytes::new(max_datagram));
        let usual = LowtideConfig {
            max_datagram: usual.max_datagram.get(),
            initial_window: usual.initial_window.get(),
            now: usual.now.as_nanos(),
            seed: usual.seed,
        };
        // SAFETY: null or valid by the library's rule.
        unsafe { put(config, usual) }
    })
}

/// Makes a controller for a QUIC connection.
///
/// `spec` names it, as `lowtide list` does: `"ebb"`, `"rtt-gain:alpha=0.75"`. On success `*out` is
/// the handle, to be given to `lowtide_controller_free` once; otherwise `*out` is null. `message`,
/// of `message_size` bytes, receives what is wrong with the spec, cut where it does not fit, and
/// the empty string on success; it may be null.
///
/// Returns `NULL_POINTER`; `BAD_SPEC`; `BAD_VALUE` when the maximum datagram is zero.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_controller_new(
    spec: *const c_char,
    config: *const LowtideConfig,
    out: *mut *mut LowtideController,
    message: *mut c_char,
    message_size: usize,
) -> LowtideStatus {
    // SAFETY: the caller's promise.
    unsafe { make(Transport::Quic, spec, config, out, message, message_size) }
}

/// Makes a controller for a TCP connection; as `lowtide_controller_new` in all else.
///
/// CUBIC leaves slow start as Linux's does, and recovery ends by sequence number.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_controller_new_tcp(
    spec: *const c_char,
    config: *const LowtideConfig,
    out: *mut *mut LowtideController,
    message: *mut c_char,
    message_size: usize,
) -> LowtideStatus {
    // SAFETY: the caller's promise.
    unsafe { make(Transport::Tcp, spec, config, out, message, message_size) }
}

/// Makes a controller for either.
///
/// # Safety
/// As the header of the library says of pointers.
unsafe fn make(
    transport: Transport,
    spec: *const c_char,
    config: *const LowtideConfig,
    out: *mut *mut LowtideController,
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
        let config = unsafe { borrow(config) }?;
        if config.max_datagram == 0 {
            return Err(LowtideStatus::BadValue);
        }
        // SAFETY: as above.
        let spec = unsafe { parse_spec(spec, message, message_size) }?;
        let config = Config {
            max_datagram: Bytes::new(config.max_datagram),
            initial_window: Bytes::new(config.initial_window),
            now: Time::from_nanos(config.now),
            seed: config.seed,
            transport,
        };
        let handle = LowtideController::hosting(spec.build(&config), config.now);
        // SAFETY: as above.
        unsafe { put(out, Box::into_raw(Box::new(handle))) }
    })
}

/// Destroys a controller. Null is allowed and does nothing.
///
/// # Safety
/// `controller` comes from `lowtide_controller_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_controller_free(controller: *mut LowtideController) {
    // SAFETY: made by `Box::into_raw` and given back once, by the caller's promise.
    unsafe { free(controller) }
}

/// Writes the names of all controllers, one a line, into `buffer` of `size` bytes, cut where they
/// do not fit. `buffer` may be null.
///
/// Returns the size that holds all of them and the final zero.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_controller_names(buffer: *mut c_char, size: usize) -> usize {
    let mut names = String::new();
    for entry in registry::all() {
        names.push_str(entry.name);
        names.push('\n');
    }
    // SAFETY: null or valid by the library's rule.
    unsafe { write_text(&names, buffer, size) };
    names.len() + 1
}
