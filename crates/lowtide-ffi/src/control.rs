//! What a controller wants of its host.

use lowtide_cc::controller::PeerSignal;
use lowtide_cc::units::Time;

use crate::boundary::{guard, put};
use crate::flow::alive;
use crate::{LOWTIDE_NONE, LowtideFlow, LowtideStatus};

/// What the sender is to tell the peer's bandwidth estimator.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowtidePeerSignal {
    /// The algorithm uses no feedback.
    None = 0,
    /// Sample: the network limits the sender.
    Regular = 1,
    /// Do not sample: the sender limits itself.
    Suspend = 2,
}

/// What a controller wants of its host now.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideControl {
    /// The most bytes that may be in flight; above zero.
    pub cwnd: u64,
    /// Bytes that are: sent, and neither acknowledged, lost nor discarded.
    pub inflight: u64,
    /// Rate at which packets may leave, bytes per second, above zero; `LOWTIDE_NONE` when the
    /// algorithm does not pace.
    pub pacing_rate: u64,
    /// The most bytes that may leave back to back when pacing; above zero.
    pub send_quantum: u64,
    /// When to call `lowtide_flow_wakeup`, ns; `LOWTIDE_NONE`: never.
    pub next_wakeup: u64,
    /// What to tell the peer's estimator.
    pub peer_signal: LowtidePeerSignal,
    /// ECN bits of the packets to send (RFC 3168 §5): 0 none, 1 ECT(1), 2 ECT(0). A path or peer that
    /// mangles ECN is the host's to find out (RFC 9000 §13.4.2); packets then carry none.
    pub ecn: u8,
}

/// Reads what the controller wants now. It may change with every event.
///
/// Returns `NULL_POINTER`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_control(
    flow: *const LowtideFlow,
    out: *mut LowtideControl,
) -> LowtideStatus {
    guard(|| {
        // SAFETY: null or valid by the library's rule.
        let driver = &unsafe { alive(flow) }?.driver;
        let c = driver.controller();
        let control = LowtideControl {
            cwnd: c.cwnd().get(),
            inflight: driver.inflight().get(),
            // The highest rate is no rate at all to a caller that knows `LOWTIDE_NONE`.
            pacing_rate: c
                .pacing_rate()
                .map_or(LOWTIDE_NONE, |r| r.as_bytes_per_sec().min(LOWTIDE_NONE - 1)),
            send_quantum: c.send_quantum().get(),
            next_wakeup: c.next_wakeup().map_or(LOWTIDE_NONE, Time::as_nanos),
            peer_signal: match c.peer_signal() {
                None => LowtidePeerSignal::None,
                Some(PeerSignal::Regular) => LowtidePeerSignal::Regular,
                Some(PeerSignal::Suspend) => LowtidePeerSignal::Suspend,
            },
            ecn: c.ecn().bits(),
        };
        // SAFETY: as above.
        unsafe { put(out, control) }
    })
}
