//! Flows with controllers by name.

use core::ffi::c_char;
use std::sync::Arc;

use lowtide_cc::units::{Bytes, Time};
use lowtide_cc::{Config, Transport};
use lowtide_host::{Make, contract};

use crate::boundary::{borrow, flag, free, guard, parse_spec, put, read_text, write_text};
use crate::{LowtideFlow, LowtideStatus};

/// What a flow needs to know when it is made. Zero is the usual value of all but `max_datagram`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideConfig {
    /// Largest datagram (QUIC) or segment (TCP), bytes: the unit of "packets" in window rules. At
    /// least 1.
    pub max_datagram: u64,
    /// Window before any feedback, bytes. 0: 10 packets, but not more than 14 720 bytes unless two
    /// packets are larger (RFC 9002 §7.2).
    pub initial_window: u64,
    /// When the connection starts, ns on the host's clock. No event may be earlier.
    pub now: u64,
    /// Seeds the controller's own randomness, so that a run can be repeated.
    pub seed: u64,
    /// A `LowtideTransport`.
    pub transport: u32,
    /// 1: the host is checked against the contract of controllers, for tests and debug builds; memory
    /// then grows with the packets declared lost. 0: it is not.
    pub checked: u8,
}

impl LowtideConfig {
    fn to_core(self) -> Result<Config, LowtideStatus> {
        let transport = match self.transport {
            t if t == LowtideTransport::Quic as u32 => Transport::Quic,
            t if t == LowtideTransport::Tcp as u32 => Transport::Tcp,
            _ => return Err(LowtideStatus::BadValue),
        };
        if self.max_datagram == 0 {
            return Err(LowtideStatus::BadValue);
        }
        let mut config = Config::for_datagram(Bytes::new(self.max_datagram));
        if self.initial_window > 0 {
            config.initial_window = Bytes::new(self.initial_window);
        }
        Ok(Config {
            now: Time::from_nanos(self.now),
            seed: self.seed,
            transport,
            ..config
        })
    }
}

/// The transport protocol that carries a flow.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowtideTransport {
    /// QUIC (RFC 9000).
    Quic = 0,
    /// TCP (RFC 9293). CUBIC leaves slow start as Linux's does, and recovery ends by sequence number.
    Tcp = 1,
}

/// Makes a flow that has sent nothing.
///
/// `spec` names its controller, as `lowtide list` does: `"ebb"`, `"rtt-gain:alpha=0.75"`. On success
/// `*out` is the handle, to be given to `lowtide_flow_free` once; otherwise `*out` is null. `message`,
/// of `message_size` bytes, receives what is wrong with the spec, cut where it does not fit, and
/// the empty string on success; it may be null.
///
/// Returns `NULL_POINTER`; `BAD_SPEC`; `BAD_VALUE` when a value of `config` is outside of its range.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_new(
    spec: *const c_char,
    config: *const LowtideConfig,
    out: *mut *mut LowtideFlow,
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
        let given = unsafe { borrow(config) }?;
        let config = given.to_core()?;
        let is_checked = flag(given.checked)?;
        // SAFETY: as above.
        let spec = unsafe { parse_spec(spec, message, message_size) }?;
        let flow = if is_checked {
            let make: Make = Arc::new(move |config| spec.build(config));
            let (make, notes) = match config.transport {
                Transport::Quic => contract::recorded(make),
                Transport::Tcp => contract::recorded_tcp(make),
            };
            LowtideFlow::hosting(make(&config), config.now, Some(notes))
        } else {
            LowtideFlow::hosting(spec.build(&config), config.now, None)
        };
        // SAFETY: as above.
        unsafe { put(out, Box::into_raw(Box::new(flow))) }
    })
}

/// Destroys a flow. Null is allowed and does nothing.
///
/// # Safety
/// `flow` comes from `lowtide_flow_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_free(flow: *mut LowtideFlow) {
    // SAFETY: made by `Box::into_raw` and given back once, by the caller's promise.
    unsafe { free(flow) }
}
