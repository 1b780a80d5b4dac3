//! A controller's events, and what it answers.
//!
//! Each event is checked against those before it, and refused as a whole where a host cannot have
//! meant it. The core itself survives any event; the checks are there to find mistakes of hosts.

use lowtide_cc::Controller;
use lowtide_cc::controller::{
    AckEvent, AckedPacket, Feedback, LossEvent, LostPacket, PacketSent, PeerSignal, TimeoutEvent,
    TimeoutKind,
};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use crate::boundary::{Outcome, borrow, borrow_mut, flag, guard, put};
use crate::clock::Clock;
use crate::packets::Packets;
use crate::sampler::LowtideRateSample;
use crate::{LOWTIDE_NONE, LowtideStatus};

/// A congestion controller.
pub struct LowtideController {
    pub(crate) inner: Box<dyn Controller>,
    clock: Clock,
    /// What has become of the packets.
    packets: Packets,
    /// Declared lost since the last acknowledgment.
    lost: Bytes,
    /// A retransmission timeout happened that may still turn out to be spurious.
    timed_out: bool,
    pub(crate) panicked: bool,
    // Reused from call to call; as large as the largest acknowledgment or loss.
    acked_packets: Vec<AckedPacket>,
    lost_packets: Vec<LostPacket>,
}

impl LowtideController {
    pub(crate) fn hosting(inner: Box<dyn Controller>, now: Time) -> Self {
        Self {
            inner,
            clock: Clock::starting_at(now),
            packets: Packets::default(),
            lost: Bytes::ZERO,
            timed_out: false,
            panicked: false,
            acked_packets: Vec::new(),
            lost_packets: Vec::new(),
        }
    }
}

/// Checks the order and the sending times of the packets of an acknowledgment or a loss, and that each
/// `is_open` to it.
fn check_packets(
    now: Time,
    packets: impl Iterator<Item = (u64, u64)>,
    is_open: impl Fn(u64) -> bool,
) -> Outcome {
    let mut last = None;
    for (number, sent_at) in packets {
        let grows = last.is_none_or(|last| number > last);
        if !grows || !is_open(number) || Time::from_nanos(sent_at) > now {
            return Err(LowtideStatus::WrongOrder);
        }
        last = Some(number);
    }
    last.map(|_| ()).ok_or(LowtideStatus::BadValue)
}

/// A packet that was acknowledged.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtidePacket {
    /// Its number, as given to `lowtide_on_packet_sent`.
    pub number: u64,
    /// Its size, bytes.
    pub bytes: u64,
    /// When it was sent, ns. TCP: where an earlier transmission of its data may have been the one that
    /// arrived, no later than the least RTT ago.
    pub sent_at: u64,
    /// When it arrived, ns on the peer's clock, where the peer reports that
    /// (draft-ietf-quic-receive-ts); only differences count. `LOWTIDE_NONE` or 0: it does not.
    pub received_at: u64,
}

impl LowtidePacket {
    fn to_core(self) -> AckedPacket {
        AckedPacket {
            number: self.number,
            bytes: Bytes::new(self.bytes),
            sent_at: Time::from_nanos(self.sent_at),
            // Zero is what a host leaves there that does not know of the field.
            received_at: (self.received_at != LOWTIDE_NONE && self.received_at != 0)
                .then_some(Time::from_nanos(self.received_at)),
        }
    }
}

/// A packet that was lost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideLostPacket {
    /// Its number, as given to `lowtide_on_packet_sent`.
    pub number: u64,
    /// Its size, bytes.
    pub bytes: u64,
    /// When it was sent, ns.
    pub sent_at: u64,
    /// Bytes in flight when it was sent, with it included: `inflight` of its `LowtideRateState`.
    pub sent_inflight: u64,
    /// Bytes declared lost from its sending until now, with it, without packets behind it in the
    /// same event: from `lowtide_sampler_on_packet_lost`.
    pub lost: u64,
    /// 1: the application limited the flow when it was sent: `app_limited` of its `LowtideRateState`.
    /// Otherwise 0.
    pub app_limited: u8,
}

/// An acknowledgment that newly covers at least one packet.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideAck {
    /// When it arrived, ns.
    pub now: u64,
    /// All packets it newly acknowledges, in the order of their numbers.
    pub packets: *const LowtidePacket,
    /// How many; at least 1.
    pub packet_count: usize,
    /// The newest RTT sample, ns, not corrected for the peer's delay; `LOWTIDE_NONE` when the
    /// acknowledgment gives none.
    pub rtt: u64,
    /// Bytes in flight just before this acknowledgment and the losses found with it.
    pub prior_inflight: u64,
    /// Bytes in flight after both.
    pub inflight: u64,
    /// Delivery-rate sample, as from `lowtide_sampler_sample`; null when there is none.
    pub rate_sample: *const LowtideRateSample,
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
    /// Rate at which packets may leave, bytes per second, above zero; `LOWTIDE_NONE` when the
    /// algorithm does not pace.
    pub pacing_rate: u64,
    /// The most bytes that may leave back to back when pacing; above zero.
    pub send_quantum: u64,
    /// When to call `lowtide_on_wakeup`, ns; `LOWTIDE_NONE`: never.
    pub next_wakeup: u64,
    /// What to tell the peer's estimator.
    pub peer_signal: LowtidePeerSignal,
}

/// Runs an event on a handle that has not panicked.
///
/// # Safety
/// `controller` is null, or valid and not otherwise used during the call.
unsafe fn event(
    controller: *mut LowtideController,
    inside: impl FnOnce(&mut LowtideController) -> Outcome,
) -> LowtideStatus {
    let status = guard(|| {
        // SAFETY: the caller's promise.
        let controller = unsafe { borrow_mut(controller) }?;
        if controller.panicked {
            return Err(LowtideStatus::Panicked);
        }
        inside(controller)
    });
    if status == LowtideStatus::Panicked {
        // SAFETY: the caller's promise; the reference above is gone.
        if let Ok(controller) = unsafe { borrow_mut(controller) } {
            controller.panicked = true;
        }
    }
    status
}

/// A packet that counts towards bytes in flight has left.
///
/// `number`: packet number (QUIC) or transmission number (TCP: retransmissions get new ones);
/// grows from call to call. `inflight`: bytes in flight with this packet included. `app_limited`:
/// the application, not window or pacer, limited the flow when it left.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `WRONG_ORDER` when the number does not
/// grow.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_packet_sent(
    controller: *mut LowtideController,
    now: u64,
    number: u64,
    bytes: u64,
    inflight: u64,
    app_limited: bool,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        let now = c.clock.check(now)?;
        if !c.packets.may_send(number) {
            return Err(LowtideStatus::WrongOrder);
        }
        c.clock.set(now);
        c.packets.on_sent(number);
        c.inner.on_packet_sent(&PacketSent {
            now,
            number,
            bytes: Bytes::new(bytes),
            inflight: Bytes::new(inflight),
            app_limited,
        });
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(controller, inside) }
}

/// An acknowledgment arrived. Losses found with it are reported first, by `lowtide_on_loss`.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `BAD_VALUE` when there are no packets, or a
/// flag is neither 0 nor 1; `WRONG_ORDER` when their numbers do not grow, and when one was never sent
/// or was acknowledged before. A packet that was declared lost may be acknowledged, once.
///
/// Numbers are remembered in runs, of which acknowledgments and losses leave gaps: 4096 runs at most,
/// and packets of older ones count as never sent.
///
/// # Safety
/// As the header of the library says of pointers; `packets` points to `packet_count` packets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_ack(
    controller: *mut LowtideController,
    ack: *const LowtideAck,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        // SAFETY: null or valid by the library's rule.
        let ack = unsafe { borrow(ack) }?;
        let now = c.clock.check(ack.now)?;
        // SAFETY: as above.
        let packets = unsafe { packets(ack.packets, ack.packet_count) }?;
        let sent = packets.iter().map(|p| (p.number, p.sent_at));
        check_packets(now, sent, |number| c.packets.may_acknowledge(number))?;
        let rate_sample = match ack.rate_sample.is_null() {
            true => None,
            // SAFETY: as above.
            false => Some(unsafe { borrow(ack.rate_sample) }?.to_core()?),
        };
        c.clock.set(now);
        for packet in packets {
            c.packets.on_acknowledged(packet.number);
        }
        c.acked_packets.clear();
        c.acked_packets.extend(packets.iter().map(|p| p.to_core()));
        c.inner.on_ack(&AckEvent {
            now,
            packets: &c.acked_packets,
            bytes_acked: c.acked_packets.iter().map(|p| p.bytes).sum(),
            bytes_lost: core::mem::take(&mut c.lost),
            rtt: (ack.rtt != LOWTIDE_NONE).then_some(Duration::from_nanos(ack.rtt)),
            prior_inflight: Bytes::new(ack.prior_inflight),
            inflight: Bytes::new(ack.inflight),
            rate_sample,
        });
        Ok(())
    };
    // SAFETY: as above.
    unsafe { event(controller, inside) }
}

/// The host's loss detection gave up packets; `packets` in the order of their numbers, `inflight`
/// bytes in flight without them.
///
/// Returns as `lowtide_on_ack`; `WRONG_ORDER` also when a packet was declared lost before, unless a
/// spurious timeout has brought it back.
///
/// # Safety
/// As the header of the library says of pointers; `packets` points to `packet_count` packets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_loss(
    controller: *mut LowtideController,
    now: u64,
    packets: *const LowtideLostPacket,
    packet_count: usize,
    inflight: u64,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        let now = c.clock.check(now)?;
        // SAFETY: null or valid by the library's rule.
        let packets = unsafe { self::packets(packets, packet_count) }?;
        let sent = packets.iter().map(|p| (p.number, p.sent_at));
        check_packets(now, sent, |number| c.packets.may_be_lost(number))?;
        for packet in packets {
            flag(packet.app_limited)?;
        }
        c.clock.set(now);
        for packet in packets {
            c.packets.on_lost(packet.number);
        }
        c.lost_packets.clear();
        c.lost_packets.extend(packets.iter().map(|p| LostPacket {
            number: p.number,
            bytes: Bytes::new(p.bytes),
            sent_at: Time::from_nanos(p.sent_at),
            sent_inflight: Bytes::new(p.sent_inflight),
            lost: Bytes::new(p.lost),
            app_limited: p.app_limited == 1,
        }));
        let bytes_lost = c.lost_packets.iter().map(|p| p.bytes).sum();
        c.lost += bytes_lost;
        c.inner.on_loss(&LossEvent {
            now,
            packets: &c.lost_packets,
            bytes_lost,
            inflight: Bytes::new(inflight),
        });
        Ok(())
    };
    // SAFETY: as above.
    unsafe { event(controller, inside) }
}

/// The whole flight is taken for lost. Called after `lowtide_on_loss` for the packets concerned.
/// `kind` is a `LowtideTimeoutKind`, `inflight` the bytes still counted in flight.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `BAD_VALUE` when there is no such kind;
/// `WRONG_ORDER` when nothing was ever sent.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_timeout(
    controller: *mut LowtideController,
    now: u64,
    kind: u32,
    inflight: u64,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        let now = c.clock.check(now)?;
        let kind = match kind {
            k if k == LowtideTimeoutKind::Rto as u32 => TimeoutKind::Rto,
            k if k == LowtideTimeoutKind::PersistentCongestion as u32 => {
                TimeoutKind::PersistentCongestion
            }
            _ => return Err(LowtideStatus::BadValue),
        };
        if c.packets.is_unused() {
            return Err(LowtideStatus::WrongOrder);
        }
        c.clock.set(now);
        c.timed_out = kind == TimeoutKind::Rto;
        c.inner.on_timeout(&TimeoutEvent {
            now,
            kind,
            inflight: Bytes::new(inflight),
        });
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(controller, inside) }
}

/// The last retransmission timeout was spurious: packets taken for lost arrived, and are in flight
/// again (RFC 3522, RFC 5682). To be called before `lowtide_on_ack` for the acknowledgment that
/// shows it; what was declared lost before does not count as lost with that.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `WRONG_ORDER` when there was no such
/// timeout, or it was already undone.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_spurious_timeout(
    controller: *mut LowtideController,
    now: u64,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        let now = c.clock.check(now)?;
        if !c.timed_out {
            return Err(LowtideStatus::WrongOrder);
        }
        c.clock.set(now);
        c.timed_out = false;
        c.lost = Bytes::ZERO;
        c.packets.revive();
        c.inner.on_spurious_timeout(now);
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(controller, inside) }
}

/// The peer reported packets newly marked ECN-CE (RFC 3168, RFC 9002 §7.1); `sent_at` is when the
/// newest acknowledged packet was sent. To be called before `lowtide_on_ack` of the acknowledgment that
/// reports them, and after `lowtide_on_loss`.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_ecn_ce(
    controller: *mut LowtideController,
    now: u64,
    sent_at: u64,
    marked_packets: u64,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        let now = c.clock.advance(now)?;
        c.inner
            .on_ecn_ce(now, Time::from_nanos(sent_at), marked_packets);
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(controller, inside) }
}

/// Reads the codepoint that packets are to carry in the ECN bits of their header: 0 none, 1 ECT(1), 2
/// ECT(0) (RFC 3168 §5). It may change with every event. A path or peer that mangles ECN is the host's to
/// find out (RFC 9000 §13.4.2); packets then carry none.
///
/// Returns `NULL_POINTER`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_ecn(
    controller: *const LowtideController,
    out: *mut u8,
) -> LowtideStatus {
    guard(|| {
        // SAFETY: null or valid by the library's rule.
        let c = unsafe { borrow(controller) }?;
        if c.panicked {
            return Err(LowtideStatus::Panicked);
        }
        // SAFETY: as above.
        unsafe { put(out, c.inner.ecn().bits()) }
    })
}

/// The path's maximum datagram changed, bytes.
///
/// Returns `NULL_POINTER`, `PANICKED`; `BAD_VALUE` when it is zero.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_mtu_change(
    controller: *mut LowtideController,
    max_datagram: u64,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        if max_datagram == 0 {
            return Err(LowtideStatus::BadValue);
        }
        c.inner.on_mtu_change(Bytes::new(max_datagram));
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(controller, inside) }
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
pub unsafe extern "C" fn lowtide_on_feedback(
    controller: *mut LowtideController,
    now: u64,
    carrier: u64,
    rate: u64,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        let now = c.clock.advance(now)?;
        c.inner.on_feedback(&Feedback {
            now,
            carrier,
            rate: Rate::from_bytes_per_sec(rate),
        });
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(controller, inside) }
}

/// The controller's `next_wakeup` is due.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_on_wakeup(
    controller: *mut LowtideController,
    now: u64,
) -> LowtideStatus {
    let inside = |c: &mut LowtideController| {
        let now = c.clock.advance(now)?;
        c.inner.on_wakeup(now);
        Ok(())
    };
    // SAFETY: null or valid by the library's rule.
    unsafe { event(controller, inside) }
}

/// Reads what the controller wants now.
///
/// Returns `NULL_POINTER`, `PANICKED`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_control(
    controller: *const LowtideController,
    out: *mut LowtideControl,
) -> LowtideStatus {
    guard(|| {
        // SAFETY: null or valid by the library's rule.
        let c = unsafe { borrow(controller) }?;
        if c.panicked {
            return Err(LowtideStatus::Panicked);
        }
        let control = LowtideControl {
            cwnd: c.inner.cwnd().get(),
            // The highest rate is no rate at all to a caller that knows `LOWTIDE_NONE`.
            pacing_rate: c
                .inner
                .pacing_rate()
                .map_or(LOWTIDE_NONE, |r| r.as_bytes_per_sec().min(LOWTIDE_NONE - 1)),
            send_quantum: c.inner.send_quantum().get(),
            next_wakeup: c.inner.next_wakeup().map_or(LOWTIDE_NONE, Time::as_nanos),
            peer_signal: match c.inner.peer_signal() {
                None => LowtidePeerSignal::None,
                Some(PeerSignal::Regular) => LowtidePeerSignal::Regular,
                Some(PeerSignal::Suspend) => LowtidePeerSignal::Suspend,
            },
        };
        // SAFETY: as above.
        unsafe { put(out, control) }
    })
}

/// The caller's array.
///
/// # Safety
/// `packets` is null, or points to `count` packets that stay as they are for `'a`.
unsafe fn packets<'a, T>(packets: *const T, count: usize) -> Result<&'a [T], LowtideStatus> {
    if packets.is_null() {
        return Err(LowtideStatus::NullPointer);
    }
    // More could not be in memory, and would be no slice.
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(LowtideStatus::BadValue);
    }
    // SAFETY: not null; `count` packets by the caller's promise.
    Ok(unsafe { core::slice::from_raw_parts(packets, count) })
}

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;

    use lowtide_cc::controller::Snapshot;

    use super::*;

    /// Panics when woken.
    #[derive(Debug)]
    struct Bomb;

    impl Controller for Bomb {
        fn on_packet_sent(&mut self, _: &PacketSent) {}
        fn on_ack(&mut self, _: &AckEvent<'_>) {}
        fn on_loss(&mut self, _: &LossEvent<'_>) {}
        fn on_timeout(&mut self, _: &TimeoutEvent) {}
        fn on_mtu_change(&mut self, _: Bytes) {}
        fn on_wakeup(&mut self, _: Time) {
            panic!("woken");
        }
        fn cwnd(&self) -> Bytes {
            Bytes::new(1)
        }
        fn pacing_rate(&self) -> Option<Rate> {
            Some(Rate::MAX)
        }
        fn send_quantum(&self) -> Bytes {
            Bytes::new(1)
        }
        fn snapshot(&self) -> Snapshot {
            Snapshot::default()
        }
    }

    #[test]
    fn a_panic_ends_at_the_boundary_and_the_handle_remembers_it() {
        use LowtideStatus::{Ok, Panicked};
        let mut handle = LowtideController::hosting(Box::new(Bomb), Time::ZERO);
        let mut control = MaybeUninit::uninit();
        let mut snapshot = MaybeUninit::uninit();
        // SAFETY: the handle lives here, the places may be written and are read once they were.
        unsafe {
            assert_eq!(lowtide_control(&handle, control.as_mut_ptr()), Ok);
            assert_eq!(control.assume_init().pacing_rate, LOWTIDE_NONE - 1);
            assert_eq!(lowtide_on_wakeup(&mut handle, 1), Panicked);
            assert_eq!(
                lowtide_on_packet_sent(&mut handle, 2, 0, 1, 1, false),
                Panicked
            );
            assert_eq!(lowtide_control(&handle, control.as_mut_ptr()), Panicked);
            assert_eq!(
                crate::lowtide_snapshot(&handle, snapshot.as_mut_ptr()),
                Panicked
            );
        }
    }
}
