//! The flag that chooses a version of qlog.

use lowtide_report::qlog::Version;

#[derive(clap::Args)]
pub(crate) struct QlogVersionArg {
    /// Which qlog: that of main-schema-14 and quic-events-13, or 0.3, which qvis opens
    #[arg(
        long = "qlog-version",
        value_name = "VERSION",
        value_enum,
        default_value = "draft-14",
        requires = "qlog",
        help_heading = "Output"
    )]
    version: Name,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    #[value(name = "draft-14")]
    Draft14,
    #[value(name = "0.3")]
    V03,
}

impl QlogVersionArg {
    pub(crate) fn get(&self) -> Version {
        match self.version {
            Name::Draft14 => Version::Draft14,
            Name::V03 => Version::V03,
        }
    }
}
