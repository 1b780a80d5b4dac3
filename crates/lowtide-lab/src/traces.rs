//! Traces as files and back: what is read, what is written, what is generated.

use std::path::Path;
use std::sync::Arc;

use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY, MAX_TRACE_MS};
use lowtide_sim::trace::generate::{MAX_INTERVALS, Model};
use lowtide_sim::trace::import::{self, Choice, Imported};
use lowtide_sim::trace::{self, info, mahimahi, series};

use crate::files;
use crate::setting::{Problem, model};

/// What a trace is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One millisecond a line: an opportunity of so many bytes.
    Mahimahi(Bytes),
    /// `time_ms,rate_kbps`, a line for each such time.
    Series(Duration),
}

/// Reads a trace of one of our formats, or standard input where the path is `-`.
///
/// # Errors
/// When it cannot be read; the error names the file.
pub fn load(file: &Path, opportunity: Option<Bytes>) -> Result<Link, String> {
    let bytes = files::read_or_stdin(file, files::TRACE).map_err(|e| e.to_string())?;
    let opportunity = opportunity.unwrap_or(MAHIMAHI_OPPORTUNITY);
    trace::parse(files::name(file), &bytes, opportunity)
        .map_err(|e| format!("{}: {e}", file.display()))
}

/// Reads what others have recorded.
///
/// # Errors
/// As [`load`].
pub fn import(
    file: &Path,
    from: import::Format,
    choice: Choice,
    opportunity: Option<Bytes>,
) -> Result<Imported, String> {
    let bytes = files::read_or_stdin(file, files::TRACE).map_err(|e| e.to_string())?;
    let opportunity = opportunity.unwrap_or(MAHIMAHI_OPPORTUNITY);
    import::read(from, &bytes, choice, opportunity).map_err(|e| format!("{}: {e}", file.display()))
}

/// The first `length` of a link, as a file.
///
/// # Errors
/// When it is too long, or the interval too short.
pub fn write(link: &Arc<Link>, length: Duration, to: Format) -> Result<Vec<u8>, Problem> {
    let wrong = |at: &str, problem: &dyn ToString| Problem::new(at, problem.to_string());
    match to {
        Format::Series(interval) => {
            if interval < Duration::from_millis(1) {
                return Err(wrong("interval", &"at least 1ms"));
            }
            series::from_link(link, length, interval).map_err(|e| wrong("", &e))
        }
        Format::Mahimahi(size) => {
            let ms = u32::try_from(length.as_nanos() / 1_000_000).ok();
            let ms = ms.filter(|ms| *ms <= MAX_TRACE_MS);
            let ms = ms.ok_or_else(|| wrong("", &"a mahimahi trace is at most 4 hours long"))?;
            let trace = mahimahi::from_link(link, ms, size).map_err(|e| wrong("", &e))?;
            let mut text = Vec::new();
            mahimahi::write(&trace, &mut text).map_err(|e| wrong("", &e))?;
            Ok(text)
        }
    }
}

/// A link that a named model generates, and the model.
///
/// # Errors
/// When there is no such model, or it makes nothing of this length.
pub fn generate(
    name: &str,
    mean: Option<Rate>,
    length: Duration,
    seed: u64,
) -> Result<(Link, Model), Problem> {
    let model = model(name, mean).map_err(|e| Problem::new("model", e))?;
    let longest = model.interval() * MAX_INTERVALS;
    if length < model.interval() || length > longest {
        let (least, most) = (model.interval(), longest.as_secs_f64());
        let problem = format!("must lie between {least} and {most} s");
        return Err(Problem::new("duration", problem));
    }
    let rates = model.generate(length, seed);
    let rates = rates.map_err(|e| Problem::new("", e))?;
    Ok((Link::Rates(rates), model))
}

/// What a link is like over its whole length.
///
/// # Errors
/// When it has no length, or too much of it.
pub fn describe(link: &Link) -> Result<info::Info, info::InfoError> {
    let length = info::natural_length(link).ok_or(info::InfoError::NoLength)?;
    info::describe(link, length)
}
