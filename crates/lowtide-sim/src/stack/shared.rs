//! The network of a stack's run, as the run and the observers of its controllers share it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lowtide_cc::controller::PacketSent;
use lowtide_cc::units::Time;
use lowtide_host::{AckSeen, LossSeen, Observer};

use super::{Dumbbell, Error};
use crate::Probe;

/// A network and its clock.
pub trait Timed: Send + 'static {
    /// What the stack makes packets of.
    type Packet;
    /// The probe that watches the network.
    type Probe: Probe;

    /// The time on the run's clock.
    fn now(&mut self) -> Time;

    /// The network between the stacks.
    fn dumbbell(&mut self) -> &mut Dumbbell<Self::Packet, Self::Probe>;
}

/// A network behind a lock. Copies are of the same network.
#[derive(Debug)]
pub struct Shared<N>(Arc<Mutex<N>>);

impl<N> Clone for Shared<N> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<N> Shared<N> {
    /// Shares a network.
    pub fn new(network: N) -> Self {
        Self(Arc::new(Mutex::new(network)))
    }

    /// The network, as long as nobody else has it.
    pub fn lock(&self) -> MutexGuard<'_, N> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The network for the run alone, after all copies are gone.
    ///
    /// # Errors
    /// When one is left.
    pub fn into_inner(self) -> Result<N, Error> {
        let Some(network) = Arc::into_inner(self.0) else {
            return Err(Error::Setup("the network outlived its run".into()));
        };
        Ok(network.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<N: Timed> Shared<N> {
    /// What tells the probe of a flow's controller, at the times of the run's clock.
    #[must_use]
    pub fn observer(&self, flow: usize) -> Arc<dyn Observer> {
        let network = self.clone();
        Arc::new(FlowObserver { flow, network })
    }
}

struct FlowObserver<N> {
    flow: usize,
    network: Shared<N>,
}

impl<N> fmt::Debug for FlowObserver<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FlowObserver").field(&self.flow).finish()
    }
}

impl<N: Timed> Observer for FlowObserver<N> {
    fn on_sent(&self, sent: &PacketSent) {
        let mut network = self.network.lock();
        let now = network.now();
        let dumbbell = network.dumbbell();
        dumbbell.on_send(now, self.flow, sent.number, sent.bytes);
    }

    fn on_ack(&self, ack: &AckSeen<'_>) {
        let mut network = self.network.lock();
        let now = network.now();
        let probe = &mut network.dumbbell().probe;
        probe.on_ack(self.flow, &AckSeen { now, ..*ack });
    }

    fn on_loss(&self, loss: &LossSeen<'_>) {
        let mut network = self.network.lock();
        let now = network.now();
        let dumbbell = network.dumbbell();
        let probe = &mut dumbbell.probe;
        probe.on_loss(self.flow, &LossSeen { now, ..*loss });
        dumbbell.owe(self.flow, loss.bytes);
    }
}
