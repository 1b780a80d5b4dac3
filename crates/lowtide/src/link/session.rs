//! One run of `lowtide link`.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lowtide_cc::units;
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::program::Program;
use lowtide_lab::setting::{Resolver, Setting};
use lowtide_link::{
    Addresses, Emulation, Error, Namespace, PathConfig, Relay, Summary, Tunnel,
    become_root_of_new_user_namespace,
};
use lowtide_sim::Probe;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::children::{Child, Ended, at_terminal};
use super::guard::Guard;
use super::{Args, Limited, comparison, report};
use crate::failure::Failure;
use crate::output;

/// How often children and signals are looked at.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// How long a command may take to end once it was told to.
const GRACE: Duration = Duration::from_secs(3);

/// How long the command waits for the peer to listen.
const PEER_READY: Duration = Duration::from_secs(2);

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        Self::run(e)
    }
}

pub(super) fn run(args: &Args, contenders: &Contenders) -> Result<u8, Failure> {
    let asked = comparison::asked(args, contenders)?;
    let mut resolver = Resolver::new(contenders, Path::new(""));
    let settings = args.link.settings(&mut resolver)?;
    let [setting] = settings.as_slice() else {
        return Err(Failure::input(
            "lowtide link emulates one link: give one --trace",
        ));
    };
    let path = path(setting, args)?;
    let programs = comparison::programs(args, setting, &asked)?;
    let run = Run {
        args,
        setting,
        path: &path,
        asked: &asked,
    };
    match args.udp {
        Some((listen, target)) => {
            let relay = Relay::new(listen, target)?;
            let at = relay.address().map_err(Failure::run)?;
            let mut signals = signals()?;
            let emulation = Emulation::before(&relay, &path, programs)?;
            say(
                args,
                &format!("{}; {at} is {target}", report::link(setting)),
            );
            let end = args
                .duration
                .map(|d| Instant::now() + Duration::from_nanos(d.as_nanos()));
            while signals.pending().next().is_none()
                && end.is_none_or(|end| Instant::now() < end)
                && !emulation.is_broken()
            {
                thread::sleep(LOOK);
            }
            run.conclude(emulation.finish()?, &mut signals)?;
            Ok(0)
        }
        None => run_command(&run, programs),
    }
}

/// What is run.
struct Run<'a> {
    args: &'a Args,
    setting: &'a Setting,
    path: &'a PathConfig,
    /// With whom what runs is compared.
    asked: &'a [Contender],
}

impl Run<'_> {
    /// Says what happened, first of all; then compares, which may take its time.
    fn conclude(
        &self,
        (summary, programs): (Summary, [Option<Program>; 2]),
        signals: &mut Signals,
    ) -> Result<(), Failure> {
        report::say(self.args, &summary);
        let end = units::Duration::from_nanos((summary.duration_s * 1e9) as u64);
        let watched = programs.map(|program| program.map(|p| p.finish(end)));
        let compared = comparison::compare(watched, self.asked, signals)?;
        report::write(self.args, self.setting, &summary, compared)
    }
}

fn path(setting: &Setting, args: &Args) -> Result<PathConfig, Failure> {
    let config = setting.config(args.seed).map_err(Failure::input)?;
    if args.limited == Limited::Both && setting.reverse.is_some() {
        let problem = "--limited both: both ways have the same link; leave it out where the way back has \
                       one of its own";
        return Err(Failure::input(problem));
    }
    if setting.groups.iter().any(|group| group.web.is_some()) {
        let problem = "--cross: web traffic has hosts of its own, which a real link has not: run them behind \
                       it, or take cbr, onoff, video or file";
        return Err(Failure::input(problem));
    }
    let (limited, free) = (config.forward, config.reverse);
    let (down, up) = match args.limited {
        Limited::Down => (limited, free),
        Limited::Up => (free, limited),
        Limited::Both => (limited.clone(), limited),
    };
    Ok(PathConfig {
        down,
        up,
        base_rtt: setting.base_rtt(),
        seed: args.seed,
        ports: None,
    })
}

fn signals() -> Result<Signals, Failure> {
    Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Failure::run)
}

fn say(args: &Args, text: &str) {
    if !args.quiet {
        output::say(text);
    }
}

/// A namespace, and whether this process had to become root in a user namespace for it: it must not have
/// started threads.
pub(crate) fn first_namespace() -> Result<(Namespace, bool), Error> {
    match Namespace::new() {
        Err(Error::NoNamespace(e)) if e.kind() == io::ErrorKind::PermissionDenied => {
            become_root_of_new_user_namespace()?;
            Ok((Namespace::new()?, true))
        }
        near => Ok((near?, false)),
    }
}

/// The namespaces at both ends, joined, and whether the one at the far end is the link's own too.
/// Without permission for that this process becomes root in a user namespace, from where the
/// machine's own network cannot be reached.
fn tunnel(args: &Args) -> Result<(Tunnel, bool), Failure> {
    let (near, unprivileged) = first_namespace()?;
    if args.peer.is_none() && !unprivileged {
        let here = Namespace::current()?;
        let within = Addresses::within(&here)?;
        match Tunnel::between(here, near, args.mtu, within) {
            // Root, but not of the network that this process is in.
            Err(Error::Tunnel { problem, .. })
                if problem.kind() == io::ErrorKind::PermissionDenied => {}
            done => return Ok((done?, false)),
        }
    }
    let tunnel = Tunnel::between(
        Namespace::new()?,
        Namespace::new()?,
        args.mtu,
        Addresses::ALL,
    )?;
    if args.peer.is_none() {
        say(
            args,
            "without root the command reaches nothing but its own namespace and the empty one at \
             the other end; --peer runs something there",
        );
    }
    Ok((tunnel, true))
}

fn run_command(run: &Run<'_>, programs: [Option<Program>; 2]) -> Result<u8, Failure> {
    let Run { args, setting, .. } = *run;
    // First of all: a user namespace can only be entered before there are threads.
    let (tunnel, isolated) = tunnel(args)?;
    let tunnel = Arc::new(tunnel);
    let near_guard = Guard::of(tunnel.near())?;
    let far_guard = isolated.then(|| Guard::of(tunnel.far())).transpose()?;
    let mut signals = signals()?;
    let addresses = tunnel.addresses();
    let peer = match &args.peer {
        Some(text) => {
            let environment = [
                ("LOWTIDE_LINK_LOCAL", addresses.far()),
                ("LOWTIDE_LINK_PEER", addresses.near()),
            ];
            let peer = tunnel.far().run(|| Child::peer(text, environment))??;
            wait_for_listener(&tunnel)?;
            Some(peer)
        }
        None => None,
    };
    let emulation = Emulation::between(&tunnel, run.path, programs)?;
    say(
        args,
        &format!(
            "{}; the command is {}, the other end {}",
            report::link(setting),
            addresses.near(),
            addresses.far()
        ),
    );
    let environment = [
        ("LOWTIDE_LINK_LOCAL", addresses.near()),
        ("LOWTIDE_LINK_PEER", addresses.far()),
    ];
    let started = tunnel
        .near()
        .run(|| Child::command(&args.command, environment))
        .map_err(Failure::from)
        .flatten();
    let ended = started.and_then(|mut command| {
        let ended = wait(&mut command, &mut signals, &emulation);
        if ended.is_err() {
            command.end(GRACE);
        }
        ended
    });
    if let Some(mut peer) = peer {
        peer.end(GRACE);
    }
    let summary = emulation.finish();
    drop((near_guard, far_guard));
    let ended = ended?;
    run.conclude(summary?, &mut signals)?;
    Ok(ended.exit_code())
}

/// Waits until something at the far end listens, so that the command finds it; not for long, as
/// not everything does.
fn wait_for_listener(tunnel: &Tunnel) -> Result<(), Failure> {
    let start = Instant::now();
    while start.elapsed() < PEER_READY && !tunnel.far().run(|| lowtide_link::listens(None))? {
        thread::sleep(LOOK);
    }
    Ok(())
}

/// Waits for the end of the command, and hands signals on to it.
fn wait<P: Probe + Send + 'static>(
    command: &mut Child,
    signals: &mut Signals,
    emulation: &Emulation<P>,
) -> Result<Ended, Failure> {
    let mut kill_at = None;
    loop {
        if let Some(ended) = command.has_ended()? {
            return Ok(ended);
        }
        if emulation.is_broken() {
            return Err(Failure::run("the link failed; the command was ended"));
        }
        for signal in signals.pending() {
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
