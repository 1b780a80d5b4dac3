//! What a resolver reads: traces, delays and the packets of others, each file once.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::units::Bytes;
use lowtide_sim::impairment::MovingDelay;
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::network::Arrivals;
use lowtide_sim::trace;

use super::{Problem, Resolver, wrong};
use crate::files;
use crate::key::Key;

/// The most bytes of all traces that one resolver reads; as links they take up to six times as much.
const MAX_TRACE_BYTES: usize = 256 << 20;

impl Resolver {
    /// The link of a trace, which is read from standard input where the path is `-`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn trace(&mut self, path: &Path, opportunity: Option<Bytes>) -> Result<Arc<Link>, Problem> {
        if let Some(link) = self.links.get(path) {
            if opportunity.is_some() {
                let problem = "goes with a file in mahimahi's format: this link is read already";
                return wrong("link.opportunity", problem);
            }
            return Ok(link.clone());
        }
        let opportunity = opportunity.unwrap_or(MAHIMAHI_OPPORTUNITY);
        let cached = (self.file(path), opportunity);
        if let Some(link) = self.traces.get(&cached) {
            return Ok(link.clone());
        }
        let name = files::name(&cached.0);
        let parse = |bytes: &[u8]| trace::parse(name, bytes, opportunity);
        let link = Arc::new(self.parsed(&cached.0, "link.trace", parse)?);
        self.traces.insert(cached, link.clone());
        Ok(link)
    }

    pub(super) fn schedule(&mut self, text: &str) -> Result<Arc<Link>, Problem> {
        if let Some(link) = self.schedules.get(text) {
            return Ok(link.clone());
        }
        let schedule = trace::schedule::parse(text).or_else(|e| wrong("link.schedule", e))?;
        let link = Arc::new(Link::Rates(schedule));
        self.schedules.insert(text.to_string(), link.clone());
        Ok(link)
    }

    /// The delays of a file.
    pub(super) fn delay_trace(&mut self, path: &Path) -> Result<Arc<MovingDelay>, Problem> {
        let file = self.file(path);
        if let Some(delay) = self.delays.get(&file) {
            return Ok(delay.clone());
        }
        let delay = self.parsed(&file, "path.delay_trace", trace::delay::parse)?;
        let delay = Arc::new(delay);
        self.delays.insert(file, delay.clone());
        Ok(delay)
    }

    /// The packets of a file.
    pub(super) fn arrivals(&mut self, path: &Path, key: &str) -> Result<Arrivals, Problem> {
        let file = self.file(path);
        if let Some(arrivals) = self.arrivals.get(&file) {
            return Ok(arrivals.clone());
        }
        let arrivals = self.parsed(&file, key, trace::arrivals::parse)?;
        self.arrivals.insert(file, arrivals.clone());
        Ok(arrivals)
    }

    /// What a file holds that a key names.
    fn parsed<T, E: Display>(
        &mut self,
        file: &Path,
        key: &str,
        parse: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Result<T, Problem> {
        let bytes = self.read(file).or_else(|e| wrong(key, e))?;
        parse(&bytes).or_else(|e| wrong(key, format!("{}: {e}", file.display())))
    }

    /// Where a trace is; `-`, standard input, is everywhere.
    fn file(&self, path: &Path) -> PathBuf {
        match files::name(path) {
            Some(path) => self.folder.join(path),
            None => path.to_path_buf(),
        }
    }

    /// Reads a file, and notes its key.
    fn read(&mut self, file: &Path) -> Result<Vec<u8>, String> {
        let bytes = match self.brought.get(file) {
            Some(bytes) => bytes.clone(),
            None => files::read_or_stdin(file, files::TRACE).map_err(|e| e.to_string())?,
        };
        self.read += bytes.len();
        if self.read > MAX_TRACE_BYTES {
            return Err(format!(
                "{}: all traces together are larger than {} MiB: take fewer at a time",
                file.display(),
                MAX_TRACE_BYTES >> 20
            ));
        }
        self.keys.insert(file.to_path_buf(), Key::of(&[&bytes]));
        Ok(bytes)
    }
}
