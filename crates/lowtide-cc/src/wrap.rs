//! Controllers around a controller, for what they change.

use core::fmt;

use crate::controller::{
    AckEvent, Controller, Feedback, LossEvent, PacketSent, PeerSignal, Snapshot, TimeoutEvent,
};
use crate::ecn::Ecn;
use crate::state::State;
use crate::units::{Bytes, Rate, Time};

/// Makes the trait, and the implementation of [`Controller`] for wrappers, from one list of methods.
macro_rules! wrap {
    (
        events { $($event:ident($($told:ident: $of:ty),*);)* }
        shows { $($shown:ident($($given:ident: $by:ty),*) -> $is:ty;)* }
    ) => {
        /// A controller around another: each method forwards to the controller inside unless the
        /// wrapper overrides it.
        ///
        /// A wrapper that implements [`Controller`] by hand may forget a method that has a default.
        /// Nobody would notice: its packets would be Not-ECT, or its wake-ups would not come.
        ///
        /// A wrapper has each method twice: a call on it where both traits are in scope has to name the
        /// trait, as in `Controller::cwnd(self)`.
        pub trait Wrap: fmt::Debug + Send {
            /// The controller inside: a type, or `dyn Controller`.
            type Inner: Controller + ?Sized;

            /// The controller inside.
            fn inner(&self) -> &Self::Inner;

            /// The controller inside, for its events.
            fn inner_mut(&mut self) -> &mut Self::Inner;

            $(
                #[doc = concat!("Forwards [`Controller::", stringify!($event), "`].")]
                #[inline]
                fn $event(&mut self, $($told: $of),*) {
                    self.inner_mut().$event($($told),*);
                }
            )*
            $(
                #[doc = concat!("Forwards [`Controller::", stringify!($shown), "`].")]
                #[inline]
                fn $shown(&self, $($given: $by),*) -> $is {
                    self.inner().$shown($($given),*)
                }
            )*
        }

        // A new method of `Controller` has to enter the list.
        #[deny(clippy::missing_trait_methods)]
        impl<W: Wrap> Controller for W {
            $(
                #[inline]
                fn $event(&mut self, $($told: $of),*) {
                    Wrap::$event(self, $($told),*);
                }
            )*
            $(
                #[inline]
                fn $shown(&self, $($given: $by),*) -> $is {
                    Wrap::$shown(self, $($given),*)
                }
            )*
        }
    };
}

wrap! {
    events {
        on_packet_sent(sent: &PacketSent);
        on_ack(ack: &AckEvent<'_>);
        on_loss(loss: &LossEvent<'_>);
        on_timeout(timeout: &TimeoutEvent);
        on_spurious_timeout(now: Time);
        on_ecn_ce(now: Time, sent_at: Time, marked_packets: u64);
        on_mtu_change(max_datagram: Bytes);
        on_feedback(feedback: &Feedback);
        on_wakeup(now: Time);
    }
    shows {
        ecn() -> Ecn;
        next_wakeup() -> Option<Time>;
        cwnd() -> Bytes;
        pacing_rate() -> Option<Rate>;
        send_quantum() -> Bytes;
        peer_signal() -> Option<PeerSignal>;
        snapshot() -> Snapshot;
        variables(visit: &mut dyn FnMut(&'static str, f64)) -> ();
        phases() -> &'static [State];
        filter_modes() -> &'static [State];
    }
}
