//! `lowtide merge`: results of many processes as one table.

use std::io::Write as _;
use std::path::PathBuf;

use lowtide_lab::store::{self, MergeError, Merged};

use crate::failure::Failure;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folders with results of 'lowtide sweep', 'lowtide score' or an earlier merge
    #[arg(required = true, value_name = "STORE")]
    stores: Vec<PathBuf>,

    /// Folder for the Parquet files, one of the stores or another; what is in it already stays
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let merged = store::merge(&args.stores, &args.output).map_err(|e| match e {
        MergeError::NoStore(problem) => Failure::input(problem),
        other => Failure::run(other),
    })?;
    let Merged {
        files,
        rows,
        scenarios,
        duplicates,
        damaged,
        simulators,
    } = merged;
    // A closed standard error is no reason to stop.
    let say = |text: String| drop(writeln!(std::io::stderr(), "{text}"));
    if damaged > 0 {
        say(format!(
            "warning: lines that were cut off or changed, and are not believed: {damaged}; the same sweep \
             makes what they had again"
        ));
    }
    if simulators > 1 {
        say(format!(
            "warning: {simulators} versions of the simulator made these results; the column 'simulator' \
             tells them apart"
        ));
    }
    let out = args.output.display();
    say(format!(
        "{rows} results of {scenarios} scenarios from {files} files are in {out}; there more than once: \
         {duplicates}"
    ));
    Ok(())
}
