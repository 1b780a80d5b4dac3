//! What a connection's controller and its extension tell each other.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use lowtide_cc::controller::{Feedback, PeerSignal};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_host::signal_repetition;

/// The signal is repeated only after this many packets: as DATAGRAM frames are acknowledged,
/// repeating it while hardly anything is sent would keep an idle connection awake forever.
const MIN_PACKETS: u64 = 4;

#[derive(Debug, Default)]
struct State {
    /// Feedback that the controller has not seen.
    feedback: Option<Rate>,
    /// Feedback received so far: stands in for the carrier's packet number, which noq does not
    /// tell.
    received: u64,
    /// The peer has sent a datagram of the extension.
    is_spoken: bool,
    /// Signal for the peer's estimator, and when it was told what.
    signal: Option<PeerSignal>,
    told: Option<PeerSignal>,
    told_at: Time,
    /// Data sent since.
    sent: Bytes,
    due: bool,
    now: Time,
    waker: Option<Waker>,
}

/// One for each path that noq gives a controller of its own.
#[derive(Debug, Default)]
pub(crate) struct Exchange(Mutex<State>);

impl Exchange {
    /// Locks; what a panic elsewhere left behind is still good enough to go on with.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Extension → controller

    pub(crate) fn on_frame(&self) {
        self.lock().is_spoken = true;
    }

    /// Whether the peer speaks the extension, as far as has been seen.
    pub(crate) fn is_spoken(&self) -> bool {
        self.lock().is_spoken
    }

    pub(crate) fn on_feedback(&self, rate: Rate) {
        let mut state = self.lock();
        state.received += 1;
        state.feedback = Some(rate);
    }

    /// The newest feedback, once.
    pub(crate) fn take_feedback(&self, now: Time) -> Option<Feedback> {
        let mut state = self.lock();
        let rate = state.feedback.take()?;
        Some(Feedback {
            now,
            carrier: state.received,
            rate,
        })
    }

    // Controller → extension

    /// Sets what the peer's estimator should know, `sent` bytes later than at the last call.
    pub(crate) fn set_signal(
        &self,
        now: Time,
        signal: Option<PeerSignal>,
        sent: Bytes,
        round_trip: Duration,
        max_datagram: Bytes,
    ) {
        let mut state = self.lock();
        state.now = now;
        state.signal = signal;
        state.sent += sent;
        // An estimator starts suspended.
        let told = state.told.unwrap_or(PeerSignal::Suspend);
        let repeat = state.sent >= max_datagram * MIN_PACKETS
            && now.since(state.told_at) >= signal_repetition(round_trip);
        state.due = signal.is_some_and(|signal| signal != told || repeat);
        if state.due
            && let Some(waker) = state.waker.take()
        {
            waker.wake();
        }
    }

    /// Whether the peer's estimator should be told.
    pub(crate) fn is_signal_due(&self) -> bool {
        self.lock().due
    }

    /// Ready when the peer's estimator should be told.
    #[cfg_attr(not(feature = "noq"), allow(dead_code))]
    pub(crate) fn poll_due(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.due {
            return Poll::Ready(());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// The signal to send, which from now on counts as sent. A sender that does not run RBBR limits
    /// itself.
    pub(crate) fn tell(&self) -> PeerSignal {
        let mut state = self.lock();
        state.due = false;
        state.told = state.signal;
        state.told_at = state.now;
        state.sent = Bytes::ZERO;
        state.signal.unwrap_or(PeerSignal::Suspend)
    }
}
