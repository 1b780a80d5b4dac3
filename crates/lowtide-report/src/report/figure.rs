//! A figure within the page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

/// A figure that is drawn before the page is.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FigureData {
    title: String,
    /// SVG in Base64, so that nothing in it can end the page's own text.
    svg: String,
}

impl FigureData {
    pub(super) fn new(title: String, svg: &str) -> Self {
        let svg = STANDARD.encode(svg);
        Self { title, svg }
    }
}
