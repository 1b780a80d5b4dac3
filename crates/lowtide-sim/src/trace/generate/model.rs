//! Models by name.

use lowtide_cc::units::{Duration, Rate};

use super::{Blockage, Cellular, Lte};
use crate::link::{LinkError, RateSchedule};

/// A model with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Model {
    /// 4G-like. What is generated has the model's mean on average, not in each realisation.
    Cellular(Cellular),
    /// 4G-like; what is generated is scaled so that its mean is just the model's.
    CellularOfMean(Cellular),
    /// LTE, scaled likewise.
    LteOfMean(Lte),
    /// mmWave-like, scaled likewise.
    BlockageOfMean(Blockage),
}

impl Model {
    /// The model's mean rate.
    #[must_use]
    pub const fn mean(&self) -> Rate {
        match self {
            Self::Cellular(model) | Self::CellularOfMean(model) => model.mean,
            Self::LteOfMean(model) => model.mean,
            Self::BlockageOfMean(model) => model.mean,
        }
    }

    /// Returns this model with another mean rate.
    #[must_use]
    pub const fn with_mean(mut self, mean: Rate) -> Self {
        match &mut self {
            Self::Cellular(model) | Self::CellularOfMean(model) => model.mean = mean,
            Self::LteOfMean(model) => model.mean = mean,
            Self::BlockageOfMean(model) => model.mean = mean,
        }
        self
    }

    /// Time between two changes of the rate.
    #[must_use]
    pub const fn interval(&self) -> Duration {
        match self {
            Self::Cellular(model) | Self::CellularOfMean(model) => model.interval,
            Self::LteOfMean(model) => model.interval,
            Self::BlockageOfMean(model) => model.interval,
        }
    }

    /// A schedule of `length`, at least one interval, which then repeats.
    ///
    /// # Errors
    /// When the length holds too many intervals, or nothing would ever leave.
    pub fn generate(&self, length: Duration, seed: u64) -> Result<RateSchedule, LinkError> {
        let length = length.max(self.interval());
        match self {
            Self::Cellular(model) => model.generate(length, seed),
            Self::CellularOfMean(model) => model.generate(length, seed)?.scaled_to(model.mean),
            Self::LteOfMean(model) => model.generate(length, seed)?.scaled_to(model.mean),
            Self::BlockageOfMean(model) => model.generate(length, seed)?.scaled_to(model.mean),
        }
    }
}

/// A model that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The model's name.
    pub name: &'static str,
    /// What the model is like.
    pub summary: &'static str,
    make: fn() -> Model,
}

impl Named {
    /// The model with its default mean rate.
    #[must_use]
    pub fn model(&self) -> Model {
        (self.make)()
    }
}

/// All named models; the first is the default.
///
/// The LTE and 4G parameters come from the statistics of 10 ms rates of recorded LTE links
/// (`docs/simulator/traces.md`), never from what a controller makes of them. Those of mmWave are
/// assumptions: LoS/NLoS switching with sharp drops, at the 250 ms of the traces of RBBR's Fig. 7
/// or, for WiGig, at 10 ms.
#[must_use]
pub fn named() -> &'static [Named] {
    NAMED
}

static NAMED: &[Named] = &[
    Named {
        name: "lte",
        summary: "a moving user's LTE downlink, with the statistics of recorded ones",
        make: || Model::LteOfMean(Lte::default()),
    },
    Named {
        name: "4g",
        summary: "an earlier model of it: 12 Mbit/s outside fades, forgets sooner than recorded links",
        make: || Model::Cellular(Cellular::default()),
    },
    Named {
        name: "4g-static",
        summary: "a phone that stays where it is: half the variation of a moving one's, no fades",
        make: || {
            Model::CellularOfMean(Cellular {
                slow_sigma: 0.18,
                slow_time: Duration::from_secs(2),
                fast_sigma: 0.28,
                fast_time: Duration::from_millis(60),
                fade_every: Duration::from_secs(3600),
                fade_length: Duration::from_millis(10),
                idle_share: 0.05,
                ..Cellular::default()
            })
        },
    },
    Named {
        name: "4g-mobility",
        summary: "a walking user: the same bursts, a mean that moves, deep fades",
        make: || {
            Model::CellularOfMean(Cellular {
                slow_sigma: 0.6,
                fade_length: Duration::from_millis(400),
                idle_share: 0.15,
                ..Cellular::default()
            })
        },
    },
    Named {
        name: "mmwave-static",
        summary: "line of sight all the time, a new rate every 250 ms",
        make: || Model::BlockageOfMean(MMWAVE),
    },
    Named {
        name: "mmwave-mobility",
        summary: "people and walls in the way: a tenth of the rate for a second, every 5 s",
        make: || {
            Model::BlockageOfMean(Blockage {
                sigma: 0.3,
                los: Duration::from_secs(5),
                nlos: Duration::from_secs(1),
                ..MMWAVE
            })
        },
    },
    Named {
        name: "wigig",
        summary: "60 GHz: sharp drops to a tenth between LoS and NLoS, a new rate every 10 ms",
        make: || {
            Model::BlockageOfMean(Blockage {
                interval: Duration::from_millis(10),
                sigma: 0.2,
                time: Duration::from_millis(100),
                los: Duration::from_secs(8),
                nlos: Duration::from_secs(2),
                ..MMWAVE
            })
        },
    },
];

const MMWAVE: Blockage = Blockage {
    mean: Rate::from_mbps(150),
    interval: Duration::from_millis(250),
    sigma: 0.1,
    time: Duration::from_secs(1),
    los: Duration::from_secs(3600),
    nlos: Duration::ZERO,
    depth: 0.1,
};

#[cfg(test)]
mod tests {
    use lowtide_cc::units::Time;

    use super::*;
    use crate::link::Link;
    use crate::trace::info;

    #[test]
    fn every_named_model_repeats_itself_by_seed_and_has_its_mean() {
        let length = Duration::from_secs(60);
        for named in named() {
            let model = named.model().with_mean(Rate::from_mbps(20));
            let link = model.generate(length, 3).unwrap();
            assert_eq!(link, model.generate(length, 3).unwrap(), "{}", named.name);
            assert_ne!(link, model.generate(length, 4).unwrap(), "{}", named.name);
            let mean = Link::Rates(link).mean_rate().as_mbps();
            if !matches!(model, Model::Cellular(_)) {
                assert!((mean - 20.0).abs() < 0.01, "{}: {mean}", named.name);
            }
        }
    }

    #[test]
    fn blockage_drops_sharply_and_for_as_long_as_it_says() {
        let model = Blockage {
            sigma: 0.0,
            los: Duration::from_secs(5),
            nlos: Duration::from_secs(1),
            ..MMWAVE
        };
        let schedule = model.generate(Duration::from_secs(2000), 1).unwrap();
        let link = Link::Rates(schedule);
        let second = |n: u64| {
            let at = |n| Time::ZERO + model.interval * n;
            link.volume_between(at(n), at(n + 1)).as_f64() * 4.0 * 8.0 / 1e6
        };
        let rates: Vec<f64> = (0..8000).map(second).collect();
        assert!(
            rates
                .iter()
                .all(|r| (r - 150.0).abs() < 0.1 || (r - 15.0).abs() < 0.1)
        );
        let blocked = rates.iter().filter(|r| **r < 20.0).count() as f64 / 8000.0;
        // One second of six, about 330 stays: standard deviation 0.01.
        assert!((blocked - 1.0 / 6.0).abs() < 0.03, "{blocked}");
    }

    fn statistics(name: &str, seed: u64) -> info::Info {
        let model = named().iter().find(|n| n.name == name).unwrap().model();
        let length = Duration::from_secs(140);
        let link = Link::Rates(model.generate(length, seed).unwrap());
        info::describe(&link, length).unwrap()
    }

    // The ranges are those of recorded links, docs/simulator/traces.md.

    #[test]
    fn four_g_models_have_the_statistics_of_recorded_links() {
        let info = statistics("4g-mobility", 1);
        assert!((0.75..=1.3).contains(&info.variation), "{}", info.variation);
        let empty = info.empty_share;
        assert!((0.14..=0.28).contains(&empty), "{empty}");
        let at_100ms = info.autocorrelation[1].unwrap();
        assert!((0.19..=0.61).contains(&at_100ms), "{at_100ms}");
    }

    #[test]
    fn the_static_4g_model_lies_between_two_phones_recorded_at_home() {
        let infos = [1, 2, 3].map(|seed| statistics("4g-static", seed));
        let mean = |of: &dyn Fn(&info::Info) -> f64| infos.iter().map(of).sum::<f64>() / 3.0;
        let within = |what, value: f64, least, greatest| {
            assert!((least..=greatest).contains(&value), "{what}: {value}");
        };
        within("variation", mean(&|i| i.variation), 0.27, 0.6);
        within("empty", mean(&|i| i.empty_share), 0.005, 0.059);
        let at = |lag: usize| mean(&|i| i.autocorrelation[lag].unwrap());
        within("10 ms", at(0), 0.39, 0.66);
        within("100 ms", at(1), 0.21, 0.28);
        within("1 s", at(2), 0.07, 0.13);
    }
}
