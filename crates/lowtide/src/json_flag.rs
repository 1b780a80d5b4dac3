//! `--json[=FILE]`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::failure::Failure;
use crate::output;

/// Where JSON goes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct JsonFlag {
    /// Print JSON instead; with =FILE write it there besides
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "-", help_heading = "Output")]
    json: Option<PathBuf>,
}

impl JsonFlag {
    /// Whether standard output is JSON, and so has room for nothing else.
    pub(crate) fn is_printed(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// The file that it is written to.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.json.as_deref().filter(|_| !self.is_printed())
    }

    /// Prints or writes the value, if that is wanted.
    pub(crate) fn put(&self, value: &impl Serialize) -> Result<(), Failure> {
        match &self.json {
            None => Ok(()),
            Some(_) if self.is_printed() => output::print_json(value),
            Some(file) => output::write_json(value, file),
        }
    }
}
