//! The state by the draft's names, for those who hold it against the draft.

use super::Bbr3;
use crate::units::{Bytes, Duration, Rate, Time};

impl Bbr3 {
    /// Visits the variables, for [`Controller::variables`](crate::Controller::variables).
    pub(super) fn tell_variables(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let model = &self.model;
        visit("max_bw", rate(model.max_bandwidth));
        visit("bw", rate(model.bandwidth));
        visit("bw_shortterm", rate(self.short_term.bandwidth));
        visit("inflight_shortterm", volume(self.short_term.inflight));
        visit("inflight_latest", volume(self.short_term.inflight_latest));
        visit("inflight_longterm", volume(self.long_term.inflight));
        let with_headroom = self.long_term.with_headroom(model);
        visit("inflight_with_headroom", volume(with_headroom));
        if model.min_rtt != Duration::MAX {
            visit("min_rtt", model.min_rtt.as_secs_f64());
            visit("bdp", volume(model.bdp(model.bandwidth, 1.0)));
        }
        let drained = model.drained_inflight(model.bandwidth);
        visit("drained_inflight", volume(drained));
        if let Some((recent, seen_at)) = self.min_rtt.recent() {
            visit("probe_rtt_min_delay", recent.as_secs_f64());
            visit("probe_rtt_min_stamp", moment(seen_at));
        }
        let extra = self.aggregation.extra_acked();
        visit("extra_acked", volume(extra));
        visit("full_bw", rate(self.full_bandwidth.baseline));
        visit(
            "full_bw_count",
            self.full_bandwidth.rounds_without_growth.into(),
        );
        visit("full_bw_now", flag(self.full_bandwidth.is_reached));
        visit("full_bw_reached", flag(model.full_pipe));
        visit("prev_probe_too_high", flag(self.cycle.too_high));
        visit("idle_restart", flag(self.idle_restart));
        visit("bw_probe_wait", self.probe_wait.wait.as_secs_f64());
        visit("round_count", model.rounds.count() as f64);
        visit("prior_cwnd", volume(self.window.prior));
        let undo = self.undo.saved;
        visit("undo_bw_shortterm", rate(undo.bandwidth_shortterm));
        visit("undo_inflight_shortterm", volume(undo.inflight_shortterm));
        visit("undo_inflight_longterm", volume(undo.inflight_longterm));
    }
}

fn rate(rate: Rate) -> f64 {
    if rate == Rate::MAX {
        f64::INFINITY
    } else {
        rate.as_f64()
    }
}

fn volume(volume: Bytes) -> f64 {
    if volume == Bytes::MAX {
        f64::INFINITY
    } else {
        volume.as_f64()
    }
}

fn moment(at: Time) -> f64 {
    at.since(Time::ZERO).as_secs_f64()
}

fn flag(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}

#[cfg(test)]
mod tests {
    use crate::controllers::bbr3::{Bbr3, Options};
    use crate::units::Bytes;
    use crate::{Config, Controller};

    #[test]
    fn a_bound_that_is_not_set_is_infinite_and_what_is_not_known_is_left_out() {
        let config = Config::for_datagram(Bytes::new(1200));
        let fresh = Bbr3::new(&config, Options::DEFAULT);
        let mut told = std::collections::BTreeMap::new();
        fresh.variables(&mut |name, value| assert!(told.insert(name, value).is_none()));
        assert_eq!(told["inflight_longterm"], f64::INFINITY);
        assert_eq!(told["full_bw_reached"], 0.0);
        assert!(!told.contains_key("min_rtt") && told.values().all(|v| !v.is_nan()));
    }
}
