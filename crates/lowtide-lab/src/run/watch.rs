//! Who watches runs being made, and may end them.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lowtide_sim::Probe;
use lowtide_sim::probe::{AckSeen, Departure, Sent};

/// Watches runs being made; any `Fn() + Sync` is one that never ends them.
pub trait Watch: Sync {
    /// A run that was not known has been made.
    fn on_run(&self);

    /// What ends all of them.
    fn stop(&self) -> Stop {
        Stop::default()
    }
}

impl<F: Fn() + Sync> Watch for F {
    fn on_run(&self) {
        self();
    }
}

/// A wish that runs end, those that are being made as well; each counts as one that did not come to its
/// end. The default is never uttered.
#[derive(Clone, Debug, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

/// What unwinds a run that is to end.
pub(super) struct Stopped;

impl Stop {
    /// One that can be uttered.
    #[must_use]
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Runs end from now on.
    pub fn utter(&self) {
        if let Some(wish) = &self.0 {
            wish.store(true, Ordering::Relaxed);
        }
    }

    /// Whether they are to end.
    #[must_use]
    pub fn is_uttered(&self) -> bool {
        let wish = self.0.as_ref();
        wish.is_some_and(|wish| wish.load(Ordering::Relaxed))
    }

    #[inline]
    fn check(&self) {
        if self.is_uttered() {
            // Unwinds as a panic does, which says nothing on standard error.
            panic::resume_unwind(Box::new(Stopped));
        }
    }
}

/// Ends a run from within.
impl Probe for Stop {
    fn on_send(&mut self, _sent: &Sent) {
        self.check();
    }

    fn on_bottleneck_exit(&mut self, _exit: &Departure) {
        self.check();
    }

    fn on_ack(&mut self, _flow: usize, _ack: &AckSeen<'_>) {
        self.check();
    }
}
