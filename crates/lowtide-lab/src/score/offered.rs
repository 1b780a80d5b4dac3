//! What applications have to send: a link that nobody wants to fill is not used badly.

use lowtide_cc::units::{Bytes, Duration, Rate, Time};
use lowtide_sim::SimConfig;
use lowtide_sim::source::{SourceConfig, Step};

use crate::timeline::Timeline;

/// What all flows together have to send in a bin, Mbit/s: infinite while one has data all the time.
pub(super) fn offered(config: &SimConfig, timeline: &Timeline, bin: usize) -> f64 {
    let now = Time::ZERO + timeline.bin() * bin as u64;
    let flows = config.flows.iter().enumerate();
    let own = flows.filter(|(_, flow)| !flow.background);
    own.map(|(n, flow)| {
        let is_stopped = flow.stop.is_some_and(|stop| now >= stop);
        let kept = timeline.flows().get(n);
        let is_over = kept.is_some_and(|kept| kept.end.is_some_and(|end| now >= end));
        if now < flow.start || is_stopped || is_over {
            return 0.0;
        }
        match flow.source {
            // When a flow ends that is not kept is not known.
            SourceConfig::Sized(_) if kept.is_none() => 0.0,
            source => rate(source, now.since(flow.start)),
        }
    })
    .sum()
}

/// What an application writes at a time after its start, Mbit/s.
fn rate(source: SourceConfig, after: Duration) -> f64 {
    let mbps = |rate: Rate| rate.as_mbps();
    match source {
        SourceConfig::Bulk | SourceConfig::Sized(_) => f64::INFINITY,
        SourceConfig::ConstantRate(rate)
        | SourceConfig::Video { rate, .. }
        | SourceConfig::Live(rate) => mbps(rate),
        SourceConfig::OnOff { on, off, rate } => {
            let period = (on + off).as_nanos().max(1);
            let is_on = after.as_nanos() % period < on.as_nanos();
            if is_on { mbps(rate) } else { 0.0 }
        }
        SourceConfig::Frames {
            fps,
            bytes,
            key,
            group,
        } => {
            let of_group = bytes * u64::from(group.saturating_sub(1)) + key;
            mbps_of(of_group) * f64::from(fps) / f64::from(group.max(1))
        }
        SourceConfig::Steps(steps) => {
            let begun = steps.list().iter().rev().find(|(at, _)| *at <= after);
            match begun {
                Some((_, Step::Bulk)) => f64::INFINITY,
                Some((_, Step::Rate(rate))) => mbps(*rate),
                // How long it takes is not known.
                Some((_, Step::Volume(_))) | None => 0.0,
            }
        }
    }
}

/// A volume each second.
fn mbps_of(volume: Bytes) -> f64 {
    volume.as_f64() * 8.0 / 1e6
}
