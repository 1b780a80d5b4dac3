//! One run of `lowtide link`.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use lowtide_cc::units;
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::program::Program;
use lowtide_lab::setting::{Resolver, Setting};
use lowtide_link::{Addresses, Emulation, Ends, PathConfig, Relay, Summary};

use super::{Args, Limited, comparison, report};
use crate::failure::Failure;
use crate::{executable, interrupt, output};

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(10);

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
    output::check([args.json.file()], [args.report.as_deref()])?;
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
            with_signals(|signals| run.relay(&relay, target, programs, signals))
        }
        None => {
            // A user namespace can only be entered before there are threads, as that which waits for signals.
            let ends = Ends::new(args.peer.is_some(), args.mtu, &executable::start())?;
            with_signals(|signals| run.command(ends, programs, signals))
        }
    }
}

fn with_signals(work: impl FnOnce(&Receiver<i32>) -> Result<u8, Failure>) -> Result<u8, Failure> {
    let (send, signals) = mpsc::channel();
    let on = move |signal| {
        // After the last look at them there is nobody to tell.
        let _ = send.send(signal);
    };
    interrupt::heeding(interrupt::END_OR_HANGUP, on, || work(&signals))?
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
    fn command(
        &self,
        ends: Ends,
        programs: [Option<Program>; 2],
        signals: &Receiver<i32>,
    ) -> Result<u8, Failure> {
        let args = self.args;
        if ends.are_isolated() && args.peer.is_none() {
            self.say(
                "without root the command reaches nothing but its own namespace and the empty one at \
                 the other end; --peer runs something there",
            );
        }
        let started = |addresses: Addresses| {
            let (near, far) = (addresses.near(), addresses.far());
            let link = report::link(self.setting);
            self.say(&format!(
                "{link}; the command is {near}, the other end {far}"
            ));
        };
        let (command, peer) = (&args.command, args.peer.as_deref());
        let (exit_code, summary, programs) =
            ends.run(command, peer, self.path, programs, signals, started)?;
        self.conclude(&summary, programs)?;
        Ok(exit_code)
    }

    fn relay(
        &self,
        relay: &Relay,
        target: SocketAddr,
        programs: [Option<Program>; 2],
        signals: &Receiver<i32>,
    ) -> Result<u8, Failure> {
        let at = relay.address().map_err(Failure::run)?;
        let emulation = Emulation::before(relay, self.path, programs)?;
        self.say(&format!("{}; {at} is {target}", report::link(self.setting)));
        let duration = self.args.duration;
        let end = duration.map(|d| Instant::now() + Duration::from_nanos(d.as_nanos()));
        while signals.try_recv().is_err()
            && end.is_none_or(|end| Instant::now() < end)
            && !emulation.is_broken()
        {
            thread::sleep(LOOK);
        }
        let (summary, programs) = emulation.finish()?;
        self.conclude(&summary, programs)?;
        Ok(0)
    }

    fn say(&self, text: &str) {
        if !self.args.quiet {
            output::say(text);
        }
    }

    /// Says what happened, first of all; then compares, which may take its time.
    fn conclude(&self, summary: &Summary, programs: [Option<Program>; 2]) -> Result<(), Failure> {
        report::say(self.args, summary);
        let end = units::Duration::from_nanos((summary.duration_s * 1e9) as u64);
        let watched = programs.map(|program| program.map(|p| p.finish(end)));
        let compared = comparison::compare(watched, self.asked)?;
        report::write(self.args, self.setting, summary, compared)
    }
}

fn path(setting: &Setting, args: &Args) -> Result<PathConfig, Failure> {
    let config = setting.config(args.seed).map_err(Failure::input)?;
    if args.limited == Limited::Both && setting.back_name.is_some() {
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
