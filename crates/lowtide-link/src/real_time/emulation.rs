//! The running link.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use lowtide_sim::{Direction, Probe};

use super::relay::Relay;
use super::tunnel::{Device, Side, Tunnel};
use super::worker::{Clock, Egress, Ingress, carry};
use crate::error::Error;
use crate::path::PathConfig;
use crate::shaper::Shaper;
use crate::summary::{Counts, DirectionSummary, Summary, Unseen};

type Worker<P> = JoinHandle<(Counts, P, io::Result<()>)>;
type AskUnseen = Box<dyn FnOnce() -> [Unseen; 2] + Send>;

/// A link that carries packets, on two threads, until [`finish`](Self::finish).
///
/// Each direction has a probe, which sees all packets of the direction as one flow, or those of each port
/// as one ([`PathConfig::ports`]), at the times of the model: sent when they come to the link, delivered
/// when they are due behind it. `()` sees nothing.
pub struct Emulation<P = ()> {
    clock: Clock,
    down: Worker<P>,
    up: Worker<P>,
    /// Hung up to stop the threads.
    stop: io::PipeWriter,
    /// Asked for the ways down and up.
    unseen: AskUnseen,
}

impl<P> std::fmt::Debug for Emulation<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emulation")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl<P: Probe + Send + 'static> Emulation<P> {
    /// A link between the two ends of a tunnel; its trace begins now. `probes`: of the ways down and
    /// up.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn between(tunnel: &Arc<Tunnel>, path: &PathConfig, probes: [P; 2]) -> Result<Self, Error> {
        let far = || Device::new(tunnel, Side::Far, path.ports);
        let near = || Device::new(tunnel, Side::Near, path.ports);
        let counted = tunnel.clone();
        let unseen = Box::new(move || counted.unseen());
        Self::start(path, (far(), near()), (near(), far()), probes, unseen)
    }

    /// A link before a UDP service; its trace begins now. `probes`: of the ways down and up.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn before(relay: &Relay, path: &PathConfig, probes: [P; 2]) -> Result<Self, Error> {
        let counted = relay.clone();
        let unseen = Box::new(move || counted.unseen());
        Self::start(path, relay.down(), relay.up(), probes, unseen)
    }

    fn start<DI, DE, UI, UE>(
        path: &PathConfig,
        down: (DI, DE),
        up: (UI, UE),
        [probe_down, probe_up]: [P; 2],
        unseen: AskUnseen,
    ) -> Result<Self, Error>
    where
        DI: Ingress,
        DE: Egress<DI::Destination>,
        UI: Ingress,
        UE: Egress<UI::Destination>,
    {
        let (stopped, stop) = io::pipe().map_err(Error::Broken)?;
        let other = stopped.try_clone().map_err(Error::Broken)?;
        let clock = Clock(Instant::now());
        let shape_down = Shaper::new(path, Direction::Forward, probe_down);
        let shape_up = Shaper::new(path, Direction::Reverse, probe_up);
        Ok(Self {
            clock,
            down: spawn("link down", clock, shape_down, down, stopped)?,
            up: spawn("link up", clock, shape_up, up, other)?,
            stop,
            unseen,
        })
    }

    /// When the trace began.
    #[must_use]
    pub fn started_at(&self) -> Instant {
        self.clock.0
    }

    /// Whether a direction has failed; [`finish`](Self::finish) says why.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.down.is_finished() || self.up.is_finished()
    }

    /// Stops the link, says how it was, and gives the probes back. Packets still in it are gone.
    ///
    /// # Errors
    /// When a direction had failed before.
    pub fn finish(self) -> Result<(Summary, [P; 2]), Error> {
        let duration = self.clock.now().since(lowtide_cc::units::Time::ZERO);
        let [unseen_down, unseen_up] = (self.unseen)();
        drop(self.stop);
        let ended = |worker: Worker<P>, unseen| -> Result<_, Error> {
            let (counts, probe, result) = match worker.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            result.map_err(Error::Broken)?;
            Ok((DirectionSummary::finish(counts, unseen, duration), probe))
        };
        let down = ended(self.down, unseen_down);
        let up = ended(self.up, unseen_up);
        let ((down, probe_down), (up, probe_up)) = (down?, up?);
        Ok((Summary::new(duration, down, up), [probe_down, probe_up]))
    }
}

fn spawn<I: Ingress, E: Egress<I::Destination>, P: Probe + Send + 'static>(
    name: &str,
    clock: Clock,
    mut shaper: Shaper<I::Destination, P>,
    (mut ingress, mut egress): (I, E),
    stop: io::PipeReader,
) -> Result<Worker<P>, Error> {
    let work = move || {
        let done = carry(clock, &mut shaper, &mut ingress, &mut egress, &stop);
        let (counts, probe) = shaper.into_parts();
        (counts, probe, done)
    };
    let thread = thread::Builder::new().name(name.to_string());
    thread.spawn(work).map_err(Error::Broken)
}
