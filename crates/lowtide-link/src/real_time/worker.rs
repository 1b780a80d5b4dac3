//! The thread that drives one shaper.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use lowtide_cc::units::{Duration, Time};
use lowtide_sim::Probe;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeSpec, TimeValLike};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::shaper::{Incoming, Release, Shaper};

/// Packets read or sent on before the other is looked at again.
const BATCH: usize = 16;

/// A thread wakes no more often than this. It costs bursts up to this much delay, and
/// saves a wakeup for each packet, which at 1 Gbit/s would take most of a core.
const QUANTUM: Duration = Duration::from_micros(40);

/// The largest IP packet.
const LARGEST: usize = 65_536;

/// The emulation's clock: zero when it starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(pub(crate) Instant);

impl Clock {
    pub(crate) fn now(self) -> Time {
        let ns = u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Time::from_nanos(ns)
    }
}

/// Where packets come from.
pub(crate) trait Ingress: Send + 'static {
    /// Where what comes from here goes.
    type Destination: Send;

    /// Readable when a packet waits.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Takes a packet into `buffer`, if one waits.
    fn receive<'a>(
        &mut self,
        buffer: &'a mut [u8],
    ) -> io::Result<Option<Incoming<'a, Self::Destination>>>;
}

/// Where packets go.
pub(crate) trait Egress<D>: Send + 'static {
    /// Sends a packet on; false when the system does not take it.
    fn send(&mut self, release: Release<'_, D>) -> bool;
}

/// Asks for precise wakeups of this thread. Returns whether it got real-time priority, which needs root.
pub fn be_prompt() -> bool {
    // Without this, timers may be 50 µs late (prctl(2), PR_SET_TIMERSLACK).
    let _ = prctl::set_timerslack(1);
    ThreadPriority::try_from(1).is_ok_and(|lowest| {
        set_thread_priority_and_policy(
            thread_native_id(),
            lowest,
            ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo),
        )
        .is_ok()
    })
}

/// Carries packets from `ingress` through `shaper` to `egress` until `stop` is hung up.
pub(crate) fn carry<I: Ingress, E: Egress<I::Destination>, P: Probe>(
    clock: Clock,
    shaper: &mut Shaper<I::Destination, P>,
    ingress: &mut I,
    egress: &mut E,
    stop: &io::PipeReader,
) -> io::Result<()> {
    shaper.counts().summary.real_time_priority = be_prompt();
    let mut buffer = vec![0; LARGEST];
    let mut awake_since = Time::ZERO;
    let done = loop {
        let mut busy = false;
        for _ in 0..BATCH {
            let released = shaper.release(clock.now(), |release| {
                egress.send(release).then(|| clock.now())
            });
            busy = released;
            if !released {
                break;
            }
        }
        for _ in 0..BATCH {
            let received = ingress.receive(&mut buffer)?;
            busy |= received.is_some();
            let Some(incoming) = received else {
                break;
            };
            shaper.offer(clock.now(), incoming);
        }
        let rest = (awake_since + QUANTUM).since(clock.now());
        let mut fds = [
            PollFd::new(stop.as_fd(), PollFlags::POLLIN),
            PollFd::new(ingress.fd(), PollFlags::POLLIN),
        ];
        let resting = !rest.is_zero();
        let (waiting_for, timeout) = if busy {
            (&mut fds[..1], Some(Duration::ZERO))
        } else if resting {
            (&mut fds[..1], Some(rest))
        } else {
            let next = shaper.next_release();
            (&mut fds[..], next.map(|at| at.since(clock.now())))
        };
        match ppoll(waiting_for, timeout.map(to_timespec), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => break Err(e.into()),
        }
        if !busy && !resting {
            awake_since = clock.now();
        }
        if fds[0].any().unwrap_or(true) {
            break Ok(());
        }
    };
    if let Ok(usage) = getrusage(UsageWho::RUSAGE_THREAD) {
        let used = usage.user_time() + usage.system_time();
        shaper.counts().summary.cpu_s = used.num_microseconds() as f64 / 1e6;
    }
    done
}

fn to_timespec(duration: Duration) -> TimeSpec {
    TimeSpec::nanoseconds(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
}
