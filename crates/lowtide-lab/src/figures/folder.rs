//! Figures as files.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use super::plot::Plot;
use super::raster::Raster;
use crate::files;

/// A folder of figures, each as `.svg` and `.png`; the first one makes it.
pub(super) struct Folder<'a> {
    path: &'a Path,
    raster: Raster,
}

impl<'a> Folder<'a> {
    pub(super) fn new(path: &'a Path) -> Self {
        let raster = Raster::new();
        Self { path, raster }
    }

    /// Draws a plot under its name.
    pub(super) fn put(&self, plot: &Plot) -> io::Result<()> {
        self.put_svg(&plot.name, &plot.svg().map_err(not_drawn)?)
    }

    /// Writes a figure that is drawn.
    pub(super) fn put_svg(&self, name: &str, svg: &str) -> io::Result<()> {
        let png = self.raster.png(svg).map_err(not_drawn)?;
        files::write(&self.path.join(format!("{name}.svg")), svg.as_bytes())?;
        files::write(&self.path.join(format!("{name}.png")), &png)
    }
}

/// The folder of the n-th of several links; of a single one the folder itself.
#[must_use]
pub fn folder_of(dir: &Path, n: usize, links: usize) -> PathBuf {
    match links {
        1 => dir.to_path_buf(),
        _ => dir.join((n + 1).to_string()),
    }
}

/// A figure that cannot be drawn.
pub(super) fn not_drawn(e: Box<dyn Error>) -> io::Error {
    io::Error::other(e.to_string())
}
