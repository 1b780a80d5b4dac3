//! SVG as PNG and PDF.

use std::error::Error;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

use super::pdf::pdf;

/// Pixels of the PNG to one of the SVG.
const SCALE: f32 = 2.0;

/// Makes pictures of dots, with a font of our own, so that a figure looks the same on a machine with
/// other fonts or none.
pub(super) struct Raster(Arc<Database>);

impl Raster {
    pub(super) fn new() -> Self {
        let mut fonts = Database::new();
        fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
        fonts.set_sans_serif_family("Ubuntu");
        Self(Arc::new(fonts))
    }

    fn tree(&self, svg: &str) -> Result<Tree, Box<dyn Error>> {
        let options = Options {
            fontdb: self.0.clone(),
            font_family: "Ubuntu".to_string(),
            ..Options::default()
        };
        Ok(Tree::from_str(svg, &options)?)
    }

    /// The picture as PDF.
    pub(super) fn pdf(&self, svg: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        Ok(pdf(&self.tree(svg)?))
    }

    /// The picture as PNG.
    pub(super) fn png(&self, svg: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        let tree = self.tree(svg)?;
        let size = tree.size();
        let (width, height) = (size.width() * SCALE, size.height() * SCALE);
        let mut pixels =
            Pixmap::new(width as u32, height as u32).ok_or("a picture must have an area")?;
        resvg::render(
            &tree,
            Transform::from_scale(SCALE, SCALE),
            &mut pixels.as_mut(),
        );
        Ok(pixels.encode_png()?)
    }
}
