//! What a transfer leaves behind: qlogs and the report.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use lowtide_cc::units::Duration;
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
        let failed = |e: &dyn std::fmt::Display| Failure::run(format!("{}: {e}", folder.display()));
        fs::create_dir_all(folder).map_err(|e| failed(&e))?;
        for (index, connection) in recordings.iter().enumerate() {
            let path = folder.join(format!("connection-{}.sqlog", index + 1));
            let file = fs::File::create(path).map_err(|e| failed(&e))?;
            let out = BufWriter::new(file);
            recording::write_qlog(&title, controller, connection, version, out)
                .map_err(|e| failed(&e))?;
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
