//! A flow's events.
//!
//! A host names the packets that were acknowledged or lost in any order, and settles that. Each event
//! is checked against those before it, and refused where a host cannot have meant it. The core itself
//! survives any event; the checks are there to find mistakes of hosts.

use std::sync::{MutexGuard, PoisonError};

use lowtide_cc::Controller;
use lowtide_cc::controller::TimeoutKind;
use lowtide_cc::units::{Bytes, Duration, Time};
use lowtide_host::contract::{Notes, Shared};
use lowtide_host::{Driver, RoundTrip, Sent, SentPacket};

use crate::boundary::{Outcome, borrow, borrow_mut, guard};
use crate::clock::Clock;
use crate::packets::Packets;
use crate::{LOWTIDE_NONE, LowtideStatus};

/// The congestion control of one flow.
pub struct LowtideFlow {
    pub(crate) driver: Driver,
    packets: Packets,
    clock: Clock,
    min_rtt: Duration,
    /// Acknowledged since the last settlement; as large as the largest acknowledgment.
    acked: Vec<Acked>,
    timeout: Option<TimeoutKind>,
    /// The timeout before was spurious.
    is_spurious: bool,
    /// Something was said and not settled.
    unsettled: bool,
    /// Notes of a flow whose host is checked.
    notes: Option<Shared>,
    /// Breaches of the contract that the host was told of.
    breaches: usize,
    panicked: bool,
}

struct Acked {
    packet: SentPacket,
    was_in_flight: bool,
    received_at: Option<Time>,
}

impl LowtideFlow {
    pub(crate) fn hosting(
        controller: Box<dyn Controller>,
        now: Time,
        notes: Option<Shared>,
    ) -> Self {
        Self {
            driver: Driver::new(controller),
            packets: Packets::default(),
            clock: Clock::starting_at(now),
            min_rtt: Duration::MAX,
            acked: Vec::new(),
            timeout: None,
            is_spurious: false,
            unsettled: false,
            notes,
            breaches: 0,
            panicked: false,
        }
    }

    /// The time of an event that takes place. Wake-ups before it are made up for; that of this very
    /// moment is left to the host's timer.
    pub(crate) fn advance(&mut self, now: u64) -> Result<Time, LowtideStatus> {
        let before = self.clock.newest();
        let now = self.clock.advance(now)?;
        self.driver.wake(before, now - Duration::from_nanos(1));
        Ok(now)
    }

    /// A packet was acknowledged that left no later than at `sent_at`.
    pub(crate) fn acknowledge(
        &mut self,
        number: u64,
        sent_at: Time,
        received_at: Option<Time>,
    ) -> Outcome {
        let found = self.packets.take(number);
        let (sent, was_in_flight) = found.ok_or(LowtideStatus::WrongOrder)?;
        let mut packet = sent.packet();
        packet.sent_at = packet.sent_at.min(sent_at);
        self.acked.push(Acked {
            packet,
            was_in_flight,
            received_at,
        });
        self.unsettled = true;
        Ok(())
    }

    /// What the last retransmission timeout gave up is in flight again.
    pub(crate) fn undo_timeout(&mut self) -> Outcome {
        let bytes = self.packets.revive().ok_or(LowtideStatus::WrongOrder)?;
        self.driver.on_revived(bytes);
        self.is_spurious = true;
        self.unsettled = true;
        Ok(())
    }

    fn settle(&mut self, now: Time, rtt: Option<Duration>) {
        for acked in self.acked.drain(..) {
            let (packet, received_at) = (&acked.packet, acked.received_at);
            match acked.was_in_flight {
                true => self.driver.note_acked(now, packet, received_at),
                false => self.driver.note_late_ack(now, packet, received_at),
            }
        }
        if std::mem::take(&mut self.is_spurious) {
            self.driver.on_spurious_timeout(now);
        }
        self.min_rtt = self.min_rtt.min(rtt.unwrap_or(Duration::MAX));
        let rtt = RoundTrip {
            sample: rtt,
            smoothed: Duration::ZERO, // for observers, of which there are none
            min: self.min_rtt,
        };
        let timeout = self.timeout.take();
        if let Some(kind) = timeout {
            self.driver.note_timeout(kind);
        }
        self.packets.settle(timeout == Some(TimeoutKind::Rto));
        self.unsettled = false;
        self.driver.settle(now, rtt, |_| ());
    }

    /// What is noted of a checked host.
    pub(crate) fn notes(&self) -> Option<MutexGuard<'_, Notes>> {
        let notes = self.notes.as_ref()?;
        Some(notes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the host broke the contract with the event that has just taken place.
    fn check_contract(&mut self) -> Outcome {
        let breaches = self.notes().map_or(0, |notes| notes.breaches.len());
        if std::mem::replace(&mut self.breaches, breaches) < breaches {
            return Err(LowtideStatus::BrokeContract);
        }
        Ok(())
    }
}

/// A flow whose controller has not panicked.
///
/// # Safety
/// `flow` is null or valid for `'a`.
pub(crate) unsafe fn alive<'a>(flow: *const LowtideFlow) -> Result<&'a LowtideFlow, LowtideStatus> {
    // SAFETY: the caller's promise.
    let flow = unsafe { borrow(flow) }?;
    if flow.panicked {
        return Err(LowtideStatus::Panicked);
    }
    Ok(flow)
}

/// Runs an event on a flow whose controller has not panicked.
///
/// # Safety
/// `flow` is null, or valid and not otherwise used during the call.
pub(crate) unsafe fn event(
    flow: *mut LowtideFlow,
    inside: impl FnOnce(&mut LowtideFlow) -> Outcome,
) -> LowtideStatus {
    let status = guard(|| {
        // SAFETY: the caller's promise.
        unsafe { alive(flow) }?;
        // SAFETY: the caller's promise; the reference above is gone.
        let flow = unsafe { borrow_mut(flow) }?;
        inside(flow)?;
        flow.check_contract()
    });
    if status == LowtideStatus::Panicked {
        // SAFETY: the caller's promise; the reference above is gone.
        if let Ok(flow) = unsafe { borrow_mut(flow) } {
            flow.panicked = true;
        }
    }
    status
}

/// A packet of `bytes` has left that counts towards bytes in flight.
///
/// `number`: packet number (QUIC; of all number spaces together) or transmission number (TCP:
/// retransmissions get new ones); grows from call to call.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`, `BROKE_CONTRACT`; `BAD_VALUE` when it has no
/// bytes; `WRONG_ORDER` when the number does not grow, and when something was said before that is not
/// settled.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_sent(
    flow: *mut LowtideFlow,
    now: u64,
    number: u64,
    bytes: u64,
) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        if bytes == 0 {
            return Err(LowtideStatus::BadValue);
        }
        if f.unsettled || !f.packets.may_send(number) {
            return Err(LowtideStatus::WrongOrder);
        }
        let now = f.advance(now)?;
        let bytes = Bytes::new(bytes);
        let (_, rate_state) = f.driver.on_sent(now, number, bytes);
        let sent = Sent::new(number, None, bytes, now, rate_state);
        f.packets.push(sent);
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// A packet was acknowledged. One that was declared lost may be, too: it arrived after all.
///
/// Of those declared lost the newest 4096 are remembered, and all that one settlement lost. Others
/// count as never sent.
///
/// Returns `NULL_POINTER`, `PANICKED`; `WRONG_ORDER` when it was never sent, or was acknowledged or
/// discarded before.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_acked(flow: *mut LowtideFlow, number: u64) -> LowtideStatus {
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, |f| f.acknowledge(number, Time::MAX, None)) }
}

/// The host's loss detection gave up a packet.
///
/// Returns `NULL_POINTER`, `PANICKED`; `WRONG_ORDER` when it is not in flight.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_lost(flow: *mut LowtideFlow, number: u64) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        let lost = f.packets.lose(number);
        let (sent, forgotten) = lost.ok_or(LowtideStatus::WrongOrder)?;
        f.driver.note_lost(&sent.packet());
        if let Some(forgotten) = forgotten {
            f.driver.on_discarded(forgotten.bytes);
        }
        f.unsettled = true;
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// A packet is forgotten, neither acknowledged nor lost: its keys were discarded (QUIC), or another
/// copy of its data arrived (TCP).
///
/// Returns as `lowtide_flow_acked`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_discarded(
    flow: *mut LowtideFlow,
    number: u64,
) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        let found = f.packets.take(number);
        let (sent, was_in_flight) = found.ok_or(LowtideStatus::WrongOrder)?;
        if was_in_flight {
            f.driver.on_discarded(sent.bytes);
        }
        if let Some(mut notes) = f.notes() {
            notes.discarded.push(number);
        }
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// The peer reports so many packets newly marked ECN-CE (RFC 3168, RFC 9002 §7.1). The controller is
/// told with the next acknowledgment that is settled.
///
/// Returns `NULL_POINTER`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_marked(
    flow: *mut LowtideFlow,
    packets: u64,
) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        f.driver.note_marked(packets);
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// Why a connection's whole flight is taken for lost.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowtideTimeoutKind {
    /// TCP's retransmission timer fired (RFC 6298).
    Rto = 0,
    /// QUIC found persistent congestion (RFC 9002 §7.6).
    PersistentCongestion = 1,
}

/// The whole flight is taken for lost: `lowtide_flow_lost` names the packets concerned. `kind` is a
/// `LowtideTimeoutKind`. A probe timeout of QUIC is none.
///
/// Returns `NULL_POINTER`, `PANICKED`; `BAD_VALUE` when there is no such kind; `WRONG_ORDER` when
/// nothing was ever sent.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_timeout(flow: *mut LowtideFlow, kind: u32) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        let kind = match kind {
            k if k == LowtideTimeoutKind::Rto as u32 => TimeoutKind::Rto,
            k if k == LowtideTimeoutKind::PersistentCongestion as u32 => {
                TimeoutKind::PersistentCongestion
            }
            _ => return Err(LowtideStatus::BadValue),
        };
        if f.packets.is_unused() {
            return Err(LowtideStatus::WrongOrder);
        }
        f.timeout = Some(kind);
        f.unsettled = true;
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// An acknowledgment has been read or a timer has fired, and all that it brought was said: the
/// controller is told.
///
/// `rtt`: the newest RTT sample, ns, not corrected for the peer's delay; `LOWTIDE_NONE` when the
/// acknowledgment gives none (RFC 9002 §5.1: the largest acknowledged packet is not new; TCP: only
/// retransmitted segments).
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`, `BROKE_CONTRACT`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_settle(
    flow: *mut LowtideFlow,
    now: u64,
    rtt: u64,
) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        let now = f.advance(now)?;
        f.settle(
            now,
            (rtt != LOWTIDE_NONE).then_some(Duration::from_nanos(rtt)),
        );
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// The controller's `next_wakeup` is due.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_wakeup(flow: *mut LowtideFlow, now: u64) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        let before = f.clock.newest();
        let now = f.clock.advance(now)?;
        f.driver.wake(before, now);
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

/// The application has nothing to send although window and pacer would allow it.
///
/// Returns `NULL_POINTER`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_flow_app_limited(flow: *mut LowtideFlow) -> LowtideStatus {
    let inside = |f: &mut LowtideFlow| {
        f.driver.on_app_limited();
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(flow, inside) }
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;

    use lowtide_cc::controllers::window::ConstantWindow;
    use lowtide_cc::units::Rate;
    use lowtide_cc::{Config, Wrap};

    use super::*;
    use crate::{lowtide_flow_control, lowtide_flow_snapshot};

    /// Panics when woken.
    #[derive(Debug)]
    struct Bomb(ConstantWindow);

    impl Wrap for Bomb {
        type Inner = ConstantWindow;

        fn inner(&self) -> &ConstantWindow {
            &self.0
        }

        fn inner_mut(&mut self) -> &mut ConstantWindow {
            &mut self.0
        }

        fn on_wakeup(&mut self, _: Time) {
            panic!("woken");
        }

        fn next_wakeup(&self) -> Option<Time> {
            Some(Time::from_nanos(1))
        }

        fn pacing_rate(&self) -> Option<Rate> {
            Some(Rate::MAX)
        }
    }

    #[test]
    fn a_panic_ends_at_the_boundary_and_the_handle_remembers_it() {
        use LowtideStatus::{Ok, Panicked};
        let window = ConstantWindow::new(&Config::default(), 1);
        let mut flow = LowtideFlow::hosting(Box::new(Bomb(window)), Time::ZERO, None);
        let mut control = MaybeUninit::uninit();
        let mut snapshot = MaybeUninit::uninit();
        // SAFETY: the flow lives here, the places may be written and are read once they were.
        unsafe {
            assert_eq!(lowtide_flow_control(&flow, control.as_mut_ptr()), Ok);
            assert_eq!(control.assume_init().pacing_rate, LOWTIDE_NONE - 1);
            assert_eq!(lowtide_flow_wakeup(&mut flow, 1), Panicked);
            assert_eq!(lowtide_flow_sent(&mut flow, 2, 0, 1), Panicked);
            assert_eq!(lowtide_flow_control(&flow, control.as_mut_ptr()), Panicked);
            assert_eq!(
                lowtide_flow_snapshot(&flow, snapshot.as_mut_ptr()),
                Panicked
            );
        }
    }
}
