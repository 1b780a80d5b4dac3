//! How much a hunt may try.

use std::str::FromStr;
use std::time::Duration;

use lowtide_cc::units::quantity;

/// Networks, or time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// The number of networks for each subject.
    Networks(u64),
    /// The time for all subjects together. Results then depend on the machine, too.
    Time(Duration),
}

impl Budget {
    /// What each of so many subjects has of it.
    #[must_use]
    pub fn of_each(self, subjects: usize) -> Self {
        match self {
            Self::Networks(networks) => Self::Networks(networks),
            Self::Time(time) => {
                Self::Time(time / u32::try_from(subjects.max(1)).unwrap_or(u32::MAX))
            }
        }
    }

    /// How many there are of what progress counts, by [`Self::unit`].
    #[must_use]
    pub fn size(self) -> u64 {
        match self {
            Self::Networks(networks) => networks,
            Self::Time(time) => time.as_secs().max(1),
        }
    }

    /// What progress counts: networks, or seconds.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Networks(_) => "networks",
            Self::Time(_) => "seconds",
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let budget = match (text.parse(), text.strip_suffix('m').map(str::parse::<u64>)) {
            (Ok(networks), _) => Some(Self::Networks(networks)),
            (_, Some(Ok(minutes))) => {
                Some(Self::Time(Duration::from_secs(minutes.saturating_mul(60))))
            }
            _ => {
                let time = quantity::duration(text).ok();
                time.map(|time| Self::Time(Duration::from_nanos(time.as_nanos())))
            }
        };
        let nothing = [Self::Networks(0), Self::Time(Duration::ZERO)];
        budget
            .filter(|budget| !nothing.contains(budget))
            .ok_or_else(|| {
                "a number of networks, as in 2000, or a time, as in 10m or 90s".to_string()
            })
    }
}
