//! What was found, as a case of a suite that people read and `lowtide score` runs.

use std::fmt::Write as _;

use toml::{Table, Value};

use crate::network::Network;
use crate::search::Found;
use crate::trial::{SEEDS, Subject, Tried};

/// A finding: a small network on which a controller is bad.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The controller.
    pub controller: String,
    /// The goal's name.
    pub goal: String,
    /// The goal's title for people.
    pub title: &'static str,
    /// The network.
    pub network: Network,
    /// How bad the controller is on it, by the mean of [`SEEDS`] seeds.
    pub score: f64,
    /// Why, where the score is of a run that broke off, or of what must hold.
    pub reason: String,
    /// The score of the network before it was made small, by one seed.
    pub before: f64,
}

/// Sections in the order in which a file has them: the network first.
const ORDER: [&str; 8] = [
    "link", "path", "flows", "sweep", "cases", "run", "measures", "limits",
];

impl Finding {
    /// A finding of a network that a search found and [`minimised`](crate::minimise::minimised) made small.
    #[must_use]
    pub fn new(subject: &Subject, found: &Found, (network, tried): (Network, Tried)) -> Self {
        Self {
            controller: subject.candidate.name().to_string(),
            goal: subject.goal.name(),
            title: subject.goal.title(),
            network,
            score: tried.score,
            reason: tried.reason,
            before: found.score,
        }
    }

    /// The name of the finding's file, without its ending; `n` tells findings of one controller and goal apart.
    #[must_use]
    pub fn id(&self, n: usize) -> String {
        let plain = |text: &str| -> String {
            let chars = text.chars();
            let chars = chars.map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
            chars.collect()
        };
        format!("{}-{}-{n}", plain(&self.controller), plain(&self.goal))
    }

    /// The finding as a scenario file.
    #[must_use]
    pub fn text(&self, subject: &Subject, n: usize) -> String {
        let mut table = subject.goal.case(&self.network, &subject.reference, SEEDS);
        if let Some(host) = subject.host {
            let run = table.get_mut("run").and_then(Value::as_table_mut);
            run.map(|run| run.insert("host".to_string(), Value::String(host.to_string())));
        }
        let mut about = format!(
            "Found for {}: {} is {:.2} there. Trouble: {}.",
            self.controller,
            self.goal,
            self.score,
            self.network.named_troubles()
        );
        if !self.reason.is_empty() {
            about += &format!(" Broken: {}.", self.reason);
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "about = {}\n", Value::String(about));
        if let Some(Value::Table(case)) = table.get_mut("case") {
            case.insert("id".to_string(), Value::String(self.id(n)));
            let flags = subject.goal.fitted(self.network.clone()).flags();
            let source = format!("found by search: lowtide compare {flags}");
            case.insert("source".to_string(), Value::String(source));
            let _ = writeln!(text, "[case]\n{case}");
        }
        for name in ORDER {
            if let Some(section) = table.remove(name) {
                let one = Table::from_iter([(name.to_string(), section)]);
                let _ = writeln!(text, "{one}");
            }
        }
        text
    }

    /// Lines that say the network: those of `link` and `path`, and what flows have besides their controllers.
    #[must_use]
    pub fn lines(&self) -> usize {
        let (link, path) = self.network.sections();
        link.len() + path.len() + self.network.of_flow().len()
    }
}
