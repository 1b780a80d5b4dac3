//! How figures are drawn and in which formats they are written.

use std::ops::RangeInclusive;
use std::str::FromStr;

use lowtide_cc::registry::unknown;

use super::plot::SIZE;

/// The font size of [`Style::default`], pixels: of names; numbers at axes are a pixel smaller.
const FONT: u32 = 13;

/// Widths and heights that a figure may have, pixels, and font sizes.
const SIDES: RangeInclusive<u32> = 200..=10_000;
const FONTS: RangeInclusive<u32> = 6..=72;

/// A format of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable, with its texts as text.
    Svg,
    /// Pixels, two to one of the figure's size.
    Png,
    /// Scalable, with its texts as outlines: it looks the same without any font.
    Pdf,
}

impl Format {
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [Self::Svg, Self::Png, Self::Pdf];
        let found = known.into_iter().find(|format| format.ending() == text);
        found.ok_or_else(|| unknown("", text, &known.map(Self::ending)))
    }
}

/// How figures are drawn and in which formats they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    size: (u32, u32),
    font: u32,
    formats: Vec<Format>,
}

impl Default for Style {
    /// 960 × 400 pixels, at 96 to an inch, with a font of 13 pixels, as SVG and PNG.
    fn default() -> Self {
        Self {
            size: SIZE,
            font: FONT,
            formats: vec![Format::Svg, Format::Png],
        }
    }
}

impl Style {
    /// Sets the size of figures, as in `800x500`: width and height in pixels, at 96 to an inch.
    ///
    /// # Errors
    /// When the text is no size, or one that no figure can have.
    pub fn with_size(self, text: &str) -> Result<Self, String> {
        let sides = text.split_once('x');
        let sides = sides.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        let size = sides.filter(|(w, h)| SIDES.contains(w) && SIDES.contains(h));
        let size = size.ok_or_else(|| {
            let (least, most) = SIDES.into_inner();
            format!(
                "must be a width and a height in pixels, as in 800x500, each from {least} to {most}"
            )
        })?;
        Ok(Self { size, ..self })
    }

    /// Sets the size of the font of names, pixels; all other texts and lines follow.
    ///
    /// # Errors
    /// When nobody could read it, or nothing else had a place.
    pub fn with_font(self, font: u32) -> Result<Self, String> {
        if !FONTS.contains(&font) {
            let (least, most) = FONTS.into_inner();
            return Err(format!("must be from {least} to {most} pixels"));
        }
        Ok(Self { font, ..self })
    }

    /// Sets the formats of figures.
    #[must_use]
    pub fn with_formats(self, formats: Vec<Format>) -> Self {
        Self { formats, ..self }
    }

    pub(super) fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// The size in which a figure is drawn with the usual font, before [`Self::scaled`].
    pub(super) fn canvas(&self) -> (u32, u32) {
        let side = |side: u32| (side * FONT).div_ceil(self.font);
        (side(self.size.0), side(self.size.1))
    }

    /// A figure that is drawn on the canvas, in the size and with the font that are asked for.
    pub(super) fn scaled(&self, svg: String) -> String {
        if self.font == FONT {
            return svg;
        }
        let Some((_, view)) = svg.split_once("viewBox=\"0 0 ") else {
            return svg;
        };
        let sides: Vec<u32> = view
            .split(['"', ' '])
            .map_while(|side| side.parse().ok())
            .collect();
        let [width, height] = sides[..] else {
            return svg;
        };
        let canvas = self.canvas();
        // What fits the canvas has the size that is asked for, to the pixel.
        let scaled = |side: u32, canvas: u32, asked: u32| match side == canvas {
            true => asked,
            false => side * self.font / FONT,
        };
        let own = format!("width=\"{width}\" height=\"{height}\"");
        let new = format!(
            "width=\"{}\" height=\"{}\"",
            scaled(width, canvas.0, self.size.0),
            scaled(height, canvas.1, self.size.1),
        );
        svg.replacen(&own, &new, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_fonts_that_no_figure_can_have_are_refused() {
        for text in " 800 800x 800x500x2 0x0 800x99999 -800x500 8e2x500".split(' ') {
            assert!(Style::default().with_size(text).is_err(), "{text}");
        }
        let style = Style::default().with_size("800x500").unwrap();
        assert_eq!(style.canvas(), (800, 500));
        assert!(style.clone().with_font(5).is_err() && style.clone().with_font(73).is_err());
        assert_eq!(style.with_font(26).unwrap().canvas(), (400, 250));
        let error = "gif".parse::<Format>().unwrap_err();
        assert!(error.contains("svg, png, pdf"), "{error}");
    }

    #[test]
    fn a_larger_font_scales_what_is_drawn_on_a_smaller_canvas() {
        let style = Style::default().with_size("800x500").unwrap();
        let style = style.with_font(26).unwrap();
        let svg = r#"<svg width="400" height="300" viewBox="0 0 400 300"><rect width="400"/>"#;
        let twice = r#"<svg width="800" height="600" viewBox="0 0 400 300"><rect width="400"/>"#;
        assert_eq!(style.scaled(svg.to_string()), twice);
        assert_eq!(Style::default().scaled(svg.to_string()), svg);
    }
}
