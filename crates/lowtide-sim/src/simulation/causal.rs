//! The causal bound: what a sender can do that knows all of the link's past, used or not, and nothing of its
//! future.
//!
//! What the link could have sent at a moment, this sender knows when an acknowledgment of a packet sent then
//! could have come back. A packet that it sends meets the link one base RTT after the newest of what it
//! knows. It keeps a window in flight: what is more than the link serves in that RTT will wait, what is less
//! will leave it idle. The window is a forecast of that service and a margin, which has the measure of what
//! forecasts have missed.
//!
//! How good it is depends on the forecast alone; [`Forecast`] has some.

use std::sync::Arc;

use lowtide_cc::controller::{
    AckEvent, Config, Controller, LossEvent, PacketSent, Snapshot, TimeoutEvent,
};
use lowtide_cc::state::{State, StateKind};
use lowtide_cc::units::{Bytes, Duration, Rate, Time};

use crate::network::link::Link;

/// How the link's service in the coming base RTT R is forecast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forecast {
    /// The service of the last R.
    Last,
    /// A mean over R and one over 16 R, the slower one with the larger weight the steadier the link is.
    Mix,
    /// The mean over packets, not over time, of what was served in the R before each: pauses, in which
    /// nothing is sent, say little of what meets a packet.
    Packets,
    /// The weighted geometric mean of a mean over R and of [`Self::Packets`].
    #[default]
    Blend,
}

/// The causal bound, and its preference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CausalConfig {
    /// How the service is forecast.
    pub forecast: Forecast,
    /// The preference: what the window has beyond the forecast, in root mean squares of forecasts' errors.
    /// More keeps the link busier, less keeps the queue shorter; it may be negative.
    pub margin: f64,
}

impl Default for CausalConfig {
    fn default() -> Self {
        Self {
            forecast: Forecast::default(),
            margin: 1.0,
        }
    }
}

/// Memory of the slower means, in base RTTs (of [`Forecast::Packets`]: in windows).
const SLOW: f64 = 16.0;
/// Weight of the mean over packets in [`Forecast::Blend`].
const BLENDED: f64 = 0.35;
/// An error from which [`Forecast::Mix`] goes by no more than a quarter of the slower mean.
const UNSTEADY: f64 = 0.3;
/// Memory of errors, in base RTTs.
const ERRORS: f64 = 150.0;
/// No relative error counts for more: the end of an outage is no multiple of the forecast within it.
const LARGEST_ERROR: f64 = 3.0;
/// Looks at the link in a base RTT, at least.
const LOOKS: u64 = 16;
/// The longest and shortest times between looks: a millisecond, in which traces count, halved up to six times.
const LONGEST_STEP: Duration = Duration::from_millis(1);
const HALVINGS: u32 = 6;
/// Packets beyond forecast and margin: the flow never stops, and forecasts of less than a packet are no limit.
const LEAST_PACKETS: u64 = 2;

const STATES: &[State] = &[State::new("Forecast", StateKind::Steady)];

/// A sender's view of the link, and its window.
#[derive(Debug)]
pub(super) struct Causal {
    config: CausalConfig,
    link: Arc<Link>,
    /// From a departure from the link until the sender can know of it.
    lag: Duration,
    /// Part of the link that is its own.
    share: f64,
    packet: Bytes,
    step: Duration,
    rtt: Duration,
    /// Next look: the link up to here.
    next_look: Time,
    /// Service in a base RTT, bytes: exponential means over one base RTT and over [`SLOW`].
    fast: Weighted,
    slow: Weighted,
    /// Sum over bytes served of the service in the base RTT before each, and its weight.
    per_packet: Weighted,
    /// Sum over looks of the forecasts' relative errors, squared, and its weight.
    squared_error: Weighted,
    fades: Fades,
    /// The forecasts of one base RTT, by look.
    forecasts: Box<[f64]>,
    looks: u64,
    blend: Blend,
    window: Bytes,
}

/// An exponential mean whose first values weigh as much as later ones.
#[derive(Clone, Copy, Debug, Default)]
struct Weighted {
    sum: f64,
    weight: f64,
}

impl Weighted {
    fn add(&mut self, value: f64, weight: f64, fade: f64) {
        self.sum = self.sum * fade + value * weight;
        self.weight = self.weight * fade + weight;
    }

    /// `otherwise` before the first value.
    fn mean(self, otherwise: f64) -> f64 {
        if self.weight > 0.0 {
            self.sum / self.weight
        } else {
            otherwise
        }
    }
}

/// What a look leaves of the means over time. All looks are as long.
#[derive(Clone, Copy, Debug)]
struct Fades {
    fast: f64,
    slow: f64,
    errors: f64,
}

impl Fades {
    /// With so many looks in a base RTT.
    fn new(looks: f64) -> Self {
        Self {
            fast: libm::exp(-1.0 / looks),
            slow: libm::exp(-1.0 / (SLOW * looks)),
            errors: libm::exp(-1.0 / (ERRORS * looks)),
        }
    }
}

/// The weighted geometric mean of [`Forecast::Blend`].
#[derive(Clone, Copy, Debug, Default)]
struct Blend {
    /// The newest mean over time and its part: on a steady link the mean stays the same.
    fast: (f64, f64),
}

impl Blend {
    fn of(&mut self, fast: f64, per_packet: f64) -> f64 {
        if self.fast.0 != fast {
            self.fast = (fast, libm::pow(fast, 1.0 - BLENDED));
        }
        self.fast.1 * libm::pow(per_packet, BLENDED)
    }
}

/// Where a causal sender stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The flow's round-trip propagation delay.
    pub(super) base_rtt: Duration,
    /// The part of it between sender and link.
    pub(super) to_link: Duration,
    /// Part of the link that is its own, `0..=1`.
    pub(super) share: f64,
}

impl Causal {
    pub(super) fn new(config: CausalConfig, link: Arc<Link>, place: Place, cc: &Config) -> Self {
        let shortest = LONGEST_STEP.div(1 << HALVINGS);
        let mut step = LONGEST_STEP;
        while step > shortest && step > place.base_rtt.div(LOOKS) {
            step = step.div(2);
        }
        let per_rtt = (place.base_rtt.as_nanos() / step.as_nanos()).max(1);
        let rtt = step * per_rtt;
        let lag = place.base_rtt - place.to_link;
        // What a flow that starts late remembers of the time before.
        let memory = rtt.mul_f64(ERRORS);
        let from = (cc.now - lag - memory).as_nanos() / step.as_nanos();
        let mut causal = Self {
            config,
            link,
            lag,
            share: place.share,
            packet: cc.max_datagram,
            step,
            rtt,
            next_look: Time::ZERO + step * (from + 1),
            fast: Weighted::default(),
            slow: Weighted::default(),
            per_packet: Weighted::default(),
            squared_error: Weighted::default(),
            fades: Fades::new(per_rtt as f64),
            forecasts: vec![0.0; per_rtt as usize].into_boxed_slice(),
            looks: 0,
            blend: Blend::default(),
            window: cc.initial_window,
        };
        causal.look(cc.now);
        causal
    }

    /// Takes in what can be known by `now`.
    fn look(&mut self, now: Time) {
        while self.next_look + self.lag <= now {
            self.take(self.next_look);
            self.next_look += self.step;
        }
    }

    /// Takes in what the link could send in the step up to `at`.
    fn take(&mut self, at: Time) {
        let served = self.link.volume_between(at - self.step, at).as_f64();
        let last = self.link.volume_between(at - self.rtt, at).as_f64();
        let least = (self.packet * LEAST_PACKETS).as_f64();
        let steps = self.forecasts.len() as f64;
        self.fast.add(served * steps, 1.0, self.fades.fast);
        self.slow.add(served * steps, 1.0, self.fades.slow);
        if served > 0.0 {
            let window = self.per_packet.mean(last).max(least);
            let fade = libm::exp(-served / (SLOW * window));
            self.per_packet.add(last, served, fade);
        }
        let place = (self.looks % self.forecasts.len() as u64) as usize;
        if self.looks >= self.forecasts.len() as u64 {
            let made = self.forecasts[place];
            let error = ((last - made) / made.max(least)).min(LARGEST_ERROR);
            self.squared_error
                .add(error * error, 1.0, self.fades.errors);
        }
        self.looks += 1;
        let error = libm::sqrt(self.squared_error.mean(0.0));
        let forecast = self.forecast(last, error);
        self.forecasts[place] = forecast;
        let window = (forecast * (1.0 + self.config.margin * error)).max(0.0) * self.share;
        self.window = Bytes::new(window as u64) + self.packet * LEAST_PACKETS;
    }

    fn forecast(&mut self, last: f64, error: f64) -> f64 {
        match self.config.forecast {
            Forecast::Last => last,
            Forecast::Mix => {
                let slow = 0.25 + 0.75 * (1.0 - error / UNSTEADY).max(0.0);
                (1.0 - slow) * self.fast.mean(last) + slow * self.slow.mean(last)
            }
            Forecast::Packets => self.per_packet.mean(last),
            Forecast::Blend => {
                let per_packet = self.per_packet.mean(last);
                self.blend.of(self.fast.mean(last), per_packet)
            }
        }
    }
}

impl Controller for Causal {
    fn on_packet_sent(&mut self, _sent: &PacketSent) {}

    fn on_ack(&mut self, ack: &AckEvent<'_>) {
        self.look(ack.now);
    }

    fn on_loss(&mut self, _loss: &LossEvent<'_>) {}
    fn on_timeout(&mut self, _timeout: &TimeoutEvent) {}

    fn on_mtu_change(&mut self, max_datagram: Bytes) {
        self.packet = max_datagram;
    }

    fn on_wakeup(&mut self, now: Time) {
        self.look(now);
    }

    fn next_wakeup(&self) -> Option<Time> {
        Some(self.next_look + self.lag)
    }

    fn cwnd(&self) -> Bytes {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::MAX)
    }

    fn send_quantum(&self) -> Bytes {
        self.window
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: STATES[0].name,
            bandwidth: Some(Rate::from_volume(self.window, self.rtt)),
            ..Snapshot::default()
        }
    }

    fn phases(&self) -> &'static [State] {
        STATES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::link::{AfterLast, RateSchedule};

    fn at(us: u64) -> Time {
        Time::from_nanos(us * 1_000)
    }

    /// 12 Mbit/s, and another rate from 1 s on; 40 ms, of which 5 ms to the link.
    fn sender(forecast: Forecast, margin: f64, then: u64) -> Causal {
        let steps = vec![(Time::ZERO, 12), (at(1_000_000), then)];
        let steps = steps
            .into_iter()
            .map(|(at, mbps)| (at, Rate::from_mbps(mbps)));
        let link = RateSchedule::new(steps.collect(), AfterLast::Hold).unwrap();
        let place = Place {
            base_rtt: Duration::from_millis(40),
            to_link: Duration::from_millis(5),
            share: 1.0,
        };
        let config = CausalConfig { forecast, margin };
        let link = Arc::new(Link::Rates(link));
        Causal::new(config, link, place, &Config::for_datagram(Bytes::new(1500)))
    }

    const ALL: [Forecast; 4] = [
        Forecast::Last,
        Forecast::Mix,
        Forecast::Packets,
        Forecast::Blend,
    ];

    #[test]
    fn what_the_link_will_do_changes_nothing_until_it_could_have_been_acknowledged() {
        for forecast in ALL {
            let mut same = sender(forecast, 1.0, 12);
            let mut other = sender(forecast, 1.0, 48);
            let mut windows = |us: u64| {
                same.on_wakeup(at(us));
                other.on_wakeup(at(us));
                (same.cwnd(), other.cwnd())
            };
            // The links differ from 1 s on; a packet that left then is acknowledged 35 ms later, and the
            // first whole millisecond of the new rate is over at 1001 ms.
            for us in (0..1_036_000).step_by(500) {
                let (same, other) = windows(us);
                assert_eq!(same, other, "{forecast:?} at {us} us");
            }
            let (same, other) = windows(1_036_000);
            assert!(other > same, "{forecast:?}: {same} {other}");
        }
    }

    #[test]
    fn on_a_steady_link_the_window_is_what_it_serves_in_a_round_trip_and_two_packets() {
        for forecast in ALL {
            let mut sender = sender(forecast, 1.0, 12);
            sender.on_wakeup(at(30_000_000));
            // 40 ms of 1500 bytes each.
            let error = sender.cwnd().as_f64() / (42.0 * 1500.0) - 1.0;
            assert!(error.abs() < 0.02, "{forecast:?}: {error}");
        }
    }

    #[test]
    fn a_larger_margin_is_a_larger_window_and_never_one_below_two_packets() {
        let window = |margin| {
            let mut sender = sender(Forecast::Blend, margin, 3);
            sender.on_wakeup(at(1_200_000));
            sender.cwnd()
        };
        assert!(window(0.0) < window(1.0) && window(1.0) < window(2.0));
        assert_eq!(window(-1e9), Bytes::new(3000));
    }
}
