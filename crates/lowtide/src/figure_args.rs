//! The flags that say how figures look.

use lowtide_report::figures::{Format, Style};

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct FigureArgs {
    /// Width and height of figures in pixels, at 96 to an inch [default: 960x400]
    #[arg(
        long,
        value_name = "WxH",
        requires = "figures",
        help_heading = "Output"
    )]
    figure_size: Option<String>,

    /// Formats of figures: svg, png, pdf
    #[arg(
        long,
        value_name = "FORMAT",
        value_delimiter = ',',
        requires = "figures",
        help_heading = "Output"
    )]
    figure_format: Vec<Format>,

    /// Font size of figures in pixels [default: 13]
    #[arg(
        long,
        value_name = "PIXELS",
        requires = "figures",
        help_heading = "Output"
    )]
    figure_font: Option<u32>,
}

impl FigureArgs {
    pub(crate) fn style(&self) -> Result<Style, Failure> {
        let mut style = Style::default();
        if let Some(size) = &self.figure_size {
            let sized = style.with_size(size);
            style = sized.map_err(|e| Failure::input(format!("--figure-size: {e}")))?;
        }
        if let Some(font) = self.figure_font {
            let with = style.with_font(font);
            style = with.map_err(|e| Failure::input(format!("--figure-font: {e}")))?;
        }
        if !self.figure_format.is_empty() {
            style = style.with_formats(self.figure_format.clone());
        }
        Ok(style)
    }
}
