//! The two ends of a link between namespaces, and the commands that run there.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use lowtide_sim::Probe;
use nix::libc::SIGINT;

use super::child::{Child, at_terminal, exit_code};
use super::emulation::Emulation;
use super::guard::Guard;
use super::namespace::{Namespace, listens};
use super::tunnel::{Addresses, Tunnel};
use crate::error::Error;
use crate::path::PathConfig;
use crate::summary::Summary;

/// How often children and signals are looked at.
const LOOK: Duration = Duration::from_millis(10);

/// How long a command may take to end once it was told to.
const GRACE: Duration = Duration::from_secs(3);

/// How long the command waits for the peer to listen.
const PEER_READY: Duration = Duration::from_secs(2);

/// Both ends of a link, joined, with a guard in each namespace that is the link's own. Dropped, they leave nothing
/// running there.
#[derive(Debug)]
pub struct Ends {
    /// Guards of the near end, and of the far one where it is a namespace of the link's own.
    /// Dropped first: they end what is left before the namespaces go.
    guards: Vec<Guard>,
    tunnel: Arc<Tunnel>,
}

impl Ends {
    /// With a far end that is this machine, as far as permissions allow and unless a peer is to run there. Without
    /// permission for namespaces this process becomes root in a user namespace, from where the machine's own network
    /// cannot be reached; it must not have started threads.
    ///
    /// `mtu` is the largest packet in bytes. `program` starts this program again, which calls
    /// [`guard_if_asked`](crate::guard_if_asked).
    ///
    /// # Errors
    /// When the kernel refuses namespaces or TUN devices, or `program` cannot be started.
    pub fn new(has_peer: bool, mtu: u16, program: &Path) -> Result<Self, Error> {
        let (near, is_unprivileged) = Namespace::first()?;
        if !has_peer && !is_unprivileged {
            let here = Namespace::current()?;
            let within = Addresses::within(&here)?;
            match Tunnel::between(here, near, mtu, within) {
                // Root, but not of the network that this process is in.
                Err(Error::Tunnel { problem, .. })
                    if problem.kind() == io::ErrorKind::PermissionDenied => {}
                done => return Self::guarded(done?, false, program),
            }
        }
        Self::isolated(mtu, program)
    }

    /// Each in a namespace of its own; the arguments are those of [`new`](Self::new).
    ///
    /// # Errors
    /// The same.
    pub fn isolated(mtu: u16, program: &Path) -> Result<Self, Error> {
        let (far, near) = (Namespace::new()?, Namespace::new()?);
        let tunnel = Tunnel::between(far, near, mtu, Addresses::ALL)?;
        Self::guarded(tunnel, true, program)
    }

    fn guarded(tunnel: Tunnel, is_isolated: bool, program: &Path) -> Result<Self, Error> {
        let own = [Some(tunnel.near()), is_isolated.then(|| tunnel.far())];
        let guards = own.into_iter().flatten().map(|end| Guard::of(end, program));
        Ok(Self {
            guards: guards.collect::<Result<_, _>>()?,
            tunnel: Arc::new(tunnel),
        })
    }

    /// Whether the far end is a namespace of the link's own.
    #[must_use]
    pub fn are_isolated(&self) -> bool {
        self.guards.len() == 2
    }

    /// What joins them.
    #[must_use]
    pub fn tunnel(&self) -> &Arc<Tunnel> {
        &self.tunnel
    }

    /// Runs a command (a program and its arguments; a shell where there is none) behind the link, and hands `signals` on
    /// to it. The peer is run by `sh` at the far end before the link begins, and ended with the command. `probes` are those
    /// of the ways down and up; `started` is called when the link has begun. The exit code is the command's.
    ///
    /// # Errors
    /// When a command cannot be run, or the link fails.
    pub fn run<P: Probe + Send + 'static>(
        self,
        command: &[OsString],
        peer: Option<&OsStr>,
        path: &PathConfig,
        probes: [P; 2],
        signals: &Receiver<i32>,
        started: impl FnOnce(Addresses),
    ) -> Result<(u8, Summary, [P; 2]), Error> {
        let Self { tunnel, .. } = &self;
        let addresses = tunnel.addresses();
        let environment =
            |local, peer| [("LOWTIDE_LINK_LOCAL", local), ("LOWTIDE_LINK_PEER", peer)];
        let start_peer = |text| {
            let environment = environment(addresses.far(), addresses.near());
            let peer = tunnel.far().run(|| Child::peer(text, environment))??;
            self.wait_for_listener()?;
            Ok::<_, Error>(peer)
        };
        let peer = peer.map(start_peer).transpose()?;
        let emulation = Emulation::between(tunnel, path, probes)?;
        started(addresses);
        let environment = environment(addresses.near(), addresses.far());
        let start = || Child::command(command, environment);
        let ended = tunnel.near().run(start).flatten().and_then(|mut command| {
            let ended = wait(&mut command, signals, &emulation);
            if ended.is_err() {
                command.end(GRACE);
            }
            ended
        });
        if let Some(mut peer) = peer {
            peer.end(GRACE);
        }
        let seen = emulation.finish();
        drop(self);
        let ended = ended?;
        let (summary, probes) = seen?;
        Ok((exit_code(ended), summary, probes))
    }

    /// Waits until something at the far end listens, so that the command finds it; not for long, as
    /// not everything does.
    fn wait_for_listener(&self) -> Result<(), Error> {
        let start = Instant::now();
        while start.elapsed() < PEER_READY && !self.tunnel.far().run(|| listens(None))? {
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// Waits for the end of the command, and hands signals on to it.
fn wait<P: Probe + Send + 'static>(
    command: &mut Child,
    signals: &Receiver<i32>,
    emulation: &Emulation<P>,
) -> Result<ExitStatus, Error> {
    let mut kill_at = None;
    loop {
        if let Some(ended) = command.has_ended()? {
            return Ok(ended);
        }
        if emulation.is_broken() {
            return Err(Error::failed("the link failed; the command was ended"));
        }
        for signal in signals.try_iter() {
            match signal {
                // A terminal sends it to the command itself, which may go on after it.
                SIGINT if at_terminal() => {}
                SIGINT => command.interrupt(),
                _ => {
                    command.terminate();
                    kill_at = kill_at.or(Some(Instant::now() + GRACE));
                }
            }
        }
        if kill_at.is_some_and(|at| Instant::now() > at) {
            command.kill();
        }
        thread::sleep(LOOK);
    }
}
