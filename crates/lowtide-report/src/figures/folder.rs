//! Figures as files.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use lowtide_lab::files;

use super::plot::Plot;
use super::raster::Raster;
use super::style::{Format, Style};

/// A folder of figures, each in the formats of a style; the first one makes it.
pub(super) struct Folder<'a> {
    path: &'a Path,
    style: &'a Style,
    raster: Raster,
}

impl<'a> Folder<'a> {
    pub(super) fn new(path: &'a Path, style: &'a Style) -> Self {
        let raster = Raster::new();
        Self {
            path,
            style,
            raster,
        }
    }

    /// Draws a plot under its name.
    pub(super) fn put(&self, plot: &Plot) -> io::Result<()> {
        let svg = plot.svg_on(self.style.canvas()).map_err(not_drawn)?;
        self.put_svg(&plot.name, svg)
    }

    /// Writes a figure that is drawn on the style's canvas.
    pub(super) fn put_svg(&self, name: &str, svg: String) -> io::Result<()> {
        let svg = self.style.scaled(svg);
        for format in self.style.formats() {
            let bytes = match format {
                Format::Svg => Ok(svg.clone().into_bytes()),
                Format::Png => self.raster.png(&svg),
                Format::Pdf => self.raster.pdf(&svg),
            };
            let file = self.path.join(format!("{name}.{}", format.ending()));
            files::write(&file, &bytes.map_err(not_drawn)?)?;
        }
        Ok(())
    }

    pub(super) fn style(&self) -> &Style {
        self.style
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
