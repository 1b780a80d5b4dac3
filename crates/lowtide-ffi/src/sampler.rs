//! Delivery-rate samples, for hosts that take none themselves.

use lowtide_cc::delivery_rate::{DeliveryRateSampler, PacketRateState, RateSample};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use crate::boundary::{borrow, borrow_mut, flag, free, guard, put};
use crate::clock::Clock;
use crate::{LOWTIDE_NONE, LowtideStatus};

/// Takes delivery-rate samples for one connection (draft-cheng-iccrg-delivery-rate-estimation).
pub struct LowtideSampler {
    inner: DeliveryRateSampler,
    clock: Clock,
}

/// The connection when a packet was sent. The host keeps it with the packet until that is
/// acknowledged or lost; it need not look inside.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideRateState {
    /// Total bytes delivered.
    pub delivered: u64,
    /// When `delivered` last grew, ns.
    pub delivered_at: u64,
    /// When the first packet of the packet's flight was sent, ns.
    pub first_sent_at: u64,
    /// Total bytes declared lost.
    pub lost: u64,
    /// Bytes in flight with this packet included.
    pub inflight: u64,
    /// 1: the flow was application-limited; otherwise 0.
    pub app_limited: u8,
}

/// One delivery-rate sample.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LowtideRateSample {
    /// `delivered / interval`, bytes per second.
    pub delivery_rate: u64,
    /// Bytes delivered over `interval`.
    pub delivered: u64,
    /// The longer of the send and the ACK interval, ns.
    pub interval: u64,
    /// Total bytes delivered when the sampled packet was sent.
    pub prior_delivered: u64,
    /// Total bytes delivered now.
    pub total_delivered: u64,
    /// Bytes declared lost between the sending of the sampled packet and now.
    pub lost: u64,
    /// Total bytes declared lost now.
    pub total_lost: u64,
    /// Bytes in flight when the sampled packet was sent, with it included.
    pub sent_inflight: u64,
    /// When the sampled packet was sent, ns.
    pub sent_at: u64,
    /// 1: the application limited the flow then, and the rate may be too low. Otherwise 0.
    pub app_limited: u8,
}

impl LowtideRateState {
    fn to_core(self) -> Result<PacketRateState, LowtideStatus> {
        Ok(PacketRateState {
            delivered: Bytes::new(self.delivered),
            delivered_at: Time::from_nanos(self.delivered_at),
            first_sent_at: Time::from_nanos(self.first_sent_at),
            lost: Bytes::new(self.lost),
            inflight: Bytes::new(self.inflight),
            app_limited: flag(self.app_limited)?,
        })
    }
}

impl LowtideRateSample {
    pub(crate) fn to_core(self) -> Result<RateSample, LowtideStatus> {
        Ok(RateSample {
            delivery_rate: Rate::from_bytes_per_sec(self.delivery_rate),
            delivered: Bytes::new(self.delivered),
            interval: Duration::from_nanos(self.interval),
            prior_delivered: Bytes::new(self.prior_delivered),
            total_delivered: Bytes::new(self.total_delivered),
            lost: Bytes::new(self.lost),
            total_lost: Bytes::new(self.total_lost),
            sent_inflight: Bytes::new(self.sent_inflight),
            sent_at: Time::from_nanos(self.sent_at),
            app_limited: flag(self.app_limited)?,
        })
    }

    fn from_core(s: &RateSample) -> Self {
        Self {
            delivery_rate: s.delivery_rate.as_bytes_per_sec(),
            delivered: s.delivered.get(),
            interval: s.interval.as_nanos(),
            prior_delivered: s.prior_delivered.get(),
            total_delivered: s.total_delivered.get(),
            lost: s.lost.get(),
            total_lost: s.total_lost.get(),
            sent_inflight: s.sent_inflight.get(),
            sent_at: s.sent_at.as_nanos(),
            app_limited: u8::from(s.app_limited),
        }
    }
}

/// Makes a sampler for a connection that has sent nothing: `*out`, to be given to
/// `lowtide_sampler_free` once.
///
/// Returns `NULL_POINTER`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_new(out: *mut *mut LowtideSampler) -> LowtideStatus {
    guard(|| {
        if out.is_null() {
            return Err(LowtideStatus::NullPointer);
        }
        let sampler = LowtideSampler {
            inner: DeliveryRateSampler::new(),
            clock: Clock::starting_at(Time::ZERO),
        };
        // SAFETY: valid by the library's rule.
        unsafe { put(out, Box::into_raw(Box::new(sampler))) }
    })
}

/// Destroys a sampler. Null is allowed and does nothing.
///
/// # Safety
/// `sampler` comes from `lowtide_sampler_new` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_free(sampler: *mut LowtideSampler) {
    // SAFETY: made by `Box::into_raw` and given back once, by the caller's promise.
    unsafe { free(sampler) }
}

/// A packet of `bytes` leaves while `inflight` other bytes are in flight; `*out` is what to keep
/// with it.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_on_packet_sent(
    sampler: *mut LowtideSampler,
    now: u64,
    bytes: u64,
    inflight: u64,
    out: *mut LowtideRateState,
) -> LowtideStatus {
    guard(|| {
        if out.is_null() {
            return Err(LowtideStatus::NullPointer);
        }
        // SAFETY: null or valid by the library's rule.
        let s = unsafe { borrow_mut(sampler) }?;
        let now = s.clock.advance(now)?;
        let state = s
            .inner
            .on_packet_sent(now, Bytes::new(bytes), Bytes::new(inflight));
        let state = LowtideRateState {
            delivered: state.delivered.get(),
            delivered_at: state.delivered_at.as_nanos(),
            first_sent_at: state.first_sent_at.as_nanos(),
            lost: state.lost.get(),
            inflight: state.inflight.get(),
            app_limited: u8::from(state.app_limited),
        };
        // SAFETY: as above.
        unsafe { put(out, state) }
    })
}

/// The packet of `bytes` sent at `sent_at` with `state` is newly acknowledged. Call it for every
/// packet of an acknowledgment, then `lowtide_sampler_sample` once.
///
/// Returns `NULL_POINTER`, `TIME_WENT_BACK`; `WRONG_ORDER` when it was sent later than now; `BAD_VALUE`
/// when `app_limited` is neither 0 nor 1.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_on_packet_acked(
    sampler: *mut LowtideSampler,
    now: u64,
    bytes: u64,
    sent_at: u64,
    state: *const LowtideRateState,
) -> LowtideStatus {
    guard(|| {
        // SAFETY: null or valid by the library's rule.
        let s = unsafe { borrow_mut(sampler) }?;
        // SAFETY: as above.
        let state = unsafe { borrow(state) }?.to_core()?;
        if sent_at > now {
            return Err(LowtideStatus::WrongOrder);
        }
        let now = s.clock.advance(now)?;
        s.inner
            .on_packet_acked(now, Bytes::new(bytes), Time::from_nanos(sent_at), &state);
        Ok(())
    })
}

/// The packet of `bytes` sent with `state` was declared lost; `*lost` is what `LowtideLostPacket`
/// wants to know.
///
/// Returns `NULL_POINTER`; `BAD_VALUE` when `app_limited` is neither 0 nor 1.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_on_packet_lost(
    sampler: *mut LowtideSampler,
    bytes: u64,
    state: *const LowtideRateState,
    lost: *mut u64,
) -> LowtideStatus {
    guard(|| {
        if lost.is_null() {
            return Err(LowtideStatus::NullPointer);
        }
        // SAFETY: null or valid by the library's rule.
        let s = unsafe { borrow_mut(sampler) }?;
        // SAFETY: as above.
        let state = unsafe { borrow(state) }?.to_core()?;
        let total = s.inner.on_packet_lost(Bytes::new(bytes), &state);
        // SAFETY: as above.
        unsafe { put(lost, total.get()) }
    })
}

/// The application has nothing to send although window and pacer would allow it, with `inflight`
/// bytes in flight.
///
/// Returns `NULL_POINTER`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_on_app_limited(
    sampler: *mut LowtideSampler,
    inflight: u64,
) -> LowtideStatus {
    guard(|| {
        // SAFETY: null or valid by the library's rule.
        let s = unsafe { borrow_mut(sampler) }?;
        s.inner.on_app_limited(Bytes::new(inflight));
        Ok(())
    })
}

/// Whether packets sent now are marked application-limited; false for null.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_is_app_limited(sampler: *const LowtideSampler) -> bool {
    // SAFETY: null or valid by the library's rule.
    unsafe { borrow(sampler) }.is_ok_and(|s| s.inner.is_app_limited())
}

/// The sample of the acknowledgment that was just fed in. `min_rtt`: the connection's minimum RTT,
/// ns, or `LOWTIDE_NONE`; a sample over a shorter time would be far too high.
///
/// Returns `NO_SAMPLE` when none can be taken, `NULL_POINTER`.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_sampler_sample(
    sampler: *mut LowtideSampler,
    min_rtt: u64,
    out: *mut LowtideRateSample,
) -> LowtideStatus {
    guard(|| {
        if out.is_null() {
            return Err(LowtideStatus::NullPointer);
        }
        // SAFETY: null or valid by the library's rule.
        let s = unsafe { borrow_mut(sampler) }?;
        let min_rtt = match min_rtt {
            LOWTIDE_NONE => Duration::MAX,
            ns => Duration::from_nanos(ns),
        };
        let sample = s.inner.sample(min_rtt).ok_or(LowtideStatus::NoSample)?;
        // SAFETY: as above.
        unsafe { put(out, LowtideRateSample::from_core(&sample)) }
    })
}
