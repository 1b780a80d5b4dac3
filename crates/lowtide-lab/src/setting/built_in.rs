//! Settings that need no input.

use toml::Table;

use super::problem::Problem;
use super::sections::Sections;
use super::{Resolver, Setting};

/// A setting that needs no input.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows.
    pub summary: &'static str,
    /// Its sections.
    toml: &'static str,
}

impl BuiltIn {
    /// The one of a name.
    pub(super) fn of_name(name: &str) -> Result<&'static Self, Problem> {
        let all = built_in();
        all.iter().find(|b| b.name == name).ok_or_else(|| {
            let known = all.iter().map(|b| format!("{} ({})", b.name, b.summary));
            let known: Vec<String> = known.collect();
            let name = name.escape_debug();
            let known = known.join("; ");
            Problem::new(
                "scenario",
                format!("there is no '{name}'; known are {known}"),
            )
        })
    }

    /// What flags change.
    ///
    /// # Panics
    /// Never: a test resolves them all.
    #[must_use]
    pub fn sections(&self) -> Sections {
        let sections = Sections::of_values(&self.table());
        sections.unwrap_or_else(|problem| panic!("{}: {problem:?}", self.name))
    }

    /// The built-in setting as a table.
    ///
    /// # Panics
    /// Never, likewise.
    #[must_use]
    pub fn table(&self) -> Table {
        let table = self.toml.parse();
        table.unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    /// What is run when they change nothing.
    ///
    /// # Panics
    /// Never, likewise.
    #[must_use]
    pub fn setting(&self) -> Setting {
        let resolved = Resolver::default().setting(&self.sections());
        resolved.unwrap_or_else(|problem| panic!("{}: {problem:?}", self.name))
    }
}

static BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: "4g",
        summary: "one bulk flow on an LTE-like link whose rate changes every 10 ms, 40 ms RTT, 1200 kB of queue",
        toml: r#"
            link = { name = "built-in 4G-like link", model = "lte" }
            flows = [{}]
        "#,
    },
    BuiltIn {
        name: "media",
        summary: "a 10 Mbit/s source over 5 Mbit/s, 100 ms RTT, 500 ms of queue",
        toml: r#"
            link = { rate = "5mbit", buffer = "500ms" }
            path = { rtt = "100ms" }
            run = { duration = "60s" }
            flows = [{ source = "10mbit" }]
        "#,
    },
    BuiltIn {
        name: "video",
        summary: "a 2 Mbit/s video (30 frames/s) over 5 Mbit/s, 100 ms RTT, 500 ms of queue",
        toml: r#"
            link = { rate = "5mbit", buffer = "500ms" }
            path = { rtt = "100ms" }
            run = { duration = "60s" }
            flows = [{ source = "video:2mbit" }]
        "#,
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
