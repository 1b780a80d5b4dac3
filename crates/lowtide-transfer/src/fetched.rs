//! What a transfer leaves behind: its figures, qlogs of its senders and a report.

use std::io;
use std::path::Path;

use lowtide_cc::units::Duration;
use lowtide_lab::files::Draft;
use lowtide_lab::transfer::{self, SampledFlow};
use lowtide_report::{qlog, report};

use crate::Error;
use crate::report::{Outcome, Summary};

/// A transfer that came to an end, whichever.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// What was measured.
    pub summary: Summary,
    /// How it ended.
    pub outcome: Outcome,
    /// What each connection's sender saw, where that was to be recorded.
    pub flows: Vec<SampledFlow>,
}

impl Fetched {
    /// Writes a qlog of each connection's sender into a folder: `connection-1.sqlog` and so on.
    ///
    /// # Errors
    /// When that fails.
    pub fn write_qlogs(&self, folder: &Path, version: qlog::Version) -> Result<(), Error> {
        let (title, controller) = self.title();
        let failed = |e: io::Error| Error::Failed(format!("{}: {e}", folder.display()));
        for (index, connection) in self.flows.iter().enumerate() {
            let path = folder.join(format!("connection-{}.sqlog", index + 1));
            let mut draft = Draft::of(&path).map_err(failed)?;
            qlog::write_sampled(&title, controller, connection, version, &mut draft)
                .map_err(failed)?;
            draft.keep().map_err(failed)?;
        }
        Ok(())
    }

    /// Writes a report of the senders, one HTML file that needs nothing else.
    ///
    /// # Errors
    /// When that fails.
    pub fn write_report(&self, path: &Path) -> Result<(), Error> {
        let (title, controller) = self.title();
        let duration = Duration::from_millis((self.summary.duration_s * 1e3).ceil() as u64);
        let run = transfer::comparison(&title, controller, &self.flows, duration)
            .map_err(|e| Error::Failed(e.to_string()))?;
        report::write(&[run], path).map_err(|e| Error::Failed(format!("{}: {e}", path.display())))
    }

    /// The transfer's title and controller.
    fn title(&self) -> (String, &str) {
        let Summary {
            direction,
            address,
            controller,
            ..
        } = &self.summary;
        let controller = controller.as_deref().unwrap_or("unknown");
        (format!("{direction} {address}"), controller)
    }
}
