//! The running link.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use lowtide_sim::Direction;

use crate::error::Error;
use crate::path::PathConfig;
use crate::relay::Relay;
use crate::shaper::Shaper;
use crate::summary::{Counts, DirectionSummary, Summary};
use crate::tunnel::{Device, Side, Tunnel};
use crate::worker::{Clock, Egress, Ingress, carry, stop_pair};

type Worker = JoinHandle<(Counts, io::Result<()>)>;

/// A link that carries packets, on two threads, until [`finish`](Self::finish).
pub struct Emulation {
    clock: Clock,
    down: Worker,
    up: Worker,
    /// Hung up to stop the threads.
    stop: io::PipeWriter,
    /// Packets missed on their way down and up.
    missed: Box<dyn FnOnce() -> (u64, u64) + Send>,
}

impl std::fmt::Debug for Emulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Emulation")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Emulation {
    /// A link between the two ends of a tunnel; its trace begins now.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn between(tunnel: &Arc<Tunnel>, path: &PathConfig) -> Result<Self, Error> {
        let far = || Device::new(tunnel, Side::Far);
        let near = || Device::new(tunnel, Side::Near);
        let counted = tunnel.clone();
        let missed = Box::new(move || counted.missed());
        Self::start(path, (far(), near()), (near(), far()), missed)
    }

    /// A link before a UDP service; its trace begins now.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn before(relay: &Relay, path: &PathConfig) -> Result<Self, Error> {
        let counted = relay.clone();
        let missed = Box::new(move || counted.missed());
        Self::start(path, relay.down(), relay.up(), missed)
    }

    fn start<DI, DE, UI, UE>(
        path: &PathConfig,
        down: (DI, DE),
        up: (UI, UE),
        missed: Box<dyn FnOnce() -> (u64, u64) + Send>,
    ) -> Result<Self, Error>
    where
        DI: Ingress + Send + 'static,
        DI::Destination: Send,
        DE: Egress<DI::Destination> + Send + 'static,
        UI: Ingress + Send + 'static,
        UI::Destination: Send,
        UE: Egress<UI::Destination> + Send + 'static,
    {
        let (stopped, stop) = stop_pair().map_err(Error::Broken)?;
        let other = stopped.try_clone().map_err(Error::Broken)?;
        let clock = Clock(Instant::now());
        let shape_down = Shaper::new(path, Direction::Forward);
        let shape_up = Shaper::new(path, Direction::Reverse);
        Ok(Self {
            clock,
            down: spawn("link down", clock, shape_down, down, stopped)?,
            up: spawn("link up", clock, shape_up, up, other)?,
            stop,
            missed,
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

    /// Stops the link and says how it was. Packets still in it are gone.
    ///
    /// # Errors
    /// When a direction had failed before.
    pub fn finish(self) -> Result<Summary, Error> {
        let duration = self.clock.now().since(lowtide_cc::units::Time::ZERO);
        let (missed_down, missed_up) = (self.missed)();
        drop(self.stop);
        let ended = |worker: Worker, missed| {
            let (mut counts, result) = match worker.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            counts.summary.missed_packets = missed;
            result.map_err(Error::Broken)?;
            Ok(DirectionSummary::finish(counts, duration))
        };
        let down = ended(self.down, missed_down);
        let up = ended(self.up, missed_up);
        Ok(Summary::new(duration, down?, up?))
    }
}

fn spawn<I, E>(
    name: &str,
    clock: Clock,
    mut shaper: Shaper<I::Destination>,
    (mut ingress, mut egress): (I, E),
    stop: io::PipeReader,
) -> Result<Worker, Error>
where
    I: Ingress + Send + 'static,
    I::Destination: Send,
    E: Egress<I::Destination> + Send + 'static,
{
    let work = move || {
        let done = carry(clock, &mut shaper, &mut ingress, &mut egress, &stop);
        (shaper.into_counts(), done)
    };
    let thread = thread::Builder::new().name(name.to_string());
    thread.spawn(work).map_err(Error::Broken)
}
