//! What a transfer leaves behind: qlogs and the report.

use std::io::Write as _;
use std::path::Path;

use lowtide_cc::units::Duration;
use lowtide_lab::files::Draft;
use lowtide_lab::recording::{self, Recording};
use lowtide_lab::{qlog, report};

use super::report::Summary;
use crate::failure::Failure;

/// Writes what was asked for and says where, on standard error, so that it does not mix with JSON.
pub(super) fn write(
    qlog: Option<(&Path, qlog::Version)>,
    report: Option<&Path>,
    summary: &Summary<'_>,
    recordings: &[Recording],
) -> Result<(), Failure> {
    let controller = summary.sending_controller().unwrap_or("unknown");
    let title = format!("{} {}", summary.direction, summary.address);
    if let Some((folder, version)) = qlog {
        let failed = |e: std::io::Error| Failure::run(format!("{}: {e}", folder.display()));
        for (index, connection) in recordings.iter().enumerate() {
            let path = folder.join(format!("connection-{}.sqlog", index + 1));
            let mut draft = Draft::of(&path).map_err(failed)?;
            recording::write_qlog(&title, controller, connection, version, &mut draft)
                .map_err(failed)?;
            draft.keep().map_err(failed)?;
        }
        let _ = writeln!(std::io::stderr(), "qlog: {}", folder.display());
    }
    if let Some(folder) = report {
        let path = folder.join("index.html");
        let duration = Duration::from_millis((summary.duration_s * 1e3).ceil() as u64);
        let run = recording::comparison(&title, controller, recordings, duration)
            .map_err(|e| Failure::run(e.to_string()))?;
        report::write(&[run], &path)
            .map_err(|e| Failure::run(format!("{}: {e}", path.display())))?;
        let _ = writeln!(std::io::stderr(), "report: {}", path.display());
    }
    Ok(())
}
