//! Settings that need no input.

use lowtide_cc::units::{Duration, Rate};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::source::SourceConfig;

use super::quantity::{BufferText, RateText, SourceText, SpanText, TimeText};
use super::sections::{FlowSection, LinkSection, PathSection, RunSection, Sections};
use super::{Resolver, Setting};

/// A setting that needs no input.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub summary: &'static str,
    sections: fn() -> Sections,
}

impl BuiltIn {
    /// What flags change.
    #[must_use]
    pub fn sections(&self) -> Sections {
        (self.sections)()
    }

    /// What is run when they change nothing.
    ///
    /// # Panics
    /// Never: a test resolves them all.
    #[must_use]
    pub fn setting(&self) -> Setting {
        let resolved = Resolver::default().setting(&self.sections());
        resolved.unwrap_or_else(|problem| panic!("{}: {problem:?}", self.name))
    }
}

/// A source over 5 Mbit/s for a minute, 100 ms RTT, 500 ms of queue.
fn on_5mbit(source: SourceConfig) -> Sections {
    Sections {
        link: LinkSection {
            rate: Some(RateText(Rate::from_mbps(5))),
            buffer: Some(BufferText(QueueLimit::Time(Duration::from_millis(500)))),
            ..LinkSection::default()
        },
        path: PathSection {
            rtt: Some(SpanText(Duration::from_millis(100))),
            ..PathSection::default()
        },
        run: RunSection {
            duration: Some(TimeText(Duration::from_secs(60))),
            ..RunSection::default()
        },
        flows: vec![FlowSection {
            source: Some(SourceText(source)),
            ..FlowSection::default()
        }],
        ..Sections::default()
    }
}

static BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "4g",
        summary: "one bulk flow on a 4G-like link whose rate changes every 10 ms, 40 ms RTT",
        sections: || Sections {
            link: LinkSection {
                name: Some("built-in 4G-like link".to_string()),
                model: Some("4g".to_string()),
                ..LinkSection::default()
            },
            flows: vec![FlowSection::default()],
            ..Sections::default()
        },
    },
    BuiltIn {
        name: "media",
        summary: "a 10 Mbit/s source over 5 Mbit/s, 100 ms RTT, 500 ms of queue",
        sections: || on_5mbit(SourceConfig::ConstantRate(Rate::from_mbps(10))),
    },
    BuiltIn {
        name: "video",
        summary: "a 2 Mbit/s video (30 frames/s) over 5 Mbit/s, 100 ms RTT, 500 ms of queue",
        sections: || {
            on_5mbit(SourceConfig::Video {
                rate: Rate::from_mbps(2),
                fps: 30,
                spread: 0.3,
            })
        },
    },
];

/// All built-in settings; the first is the default.
#[must_use]
pub fn built_in() -> &'static [BuiltIn] {
    BUILT_IN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_setting_can_be_run() {
        for built_in in built_in() {
            let config = built_in.setting().config(1).unwrap();
            assert_eq!(config.flows.len(), 1, "{}", built_in.name);
        }
    }
}
