//! `lowtide merge`: results of many processes as one table.

use std::path::PathBuf;

use lowtide_lab::store::{self, MergeError, Merged};

use crate::failure::Failure;
use crate::output::{self, counted};

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
        left_out,
        simulators,
    } = merged;
    let left_out = left_out.warning();
    if !left_out.is_empty() {
        output::say(format_args!(
            "warning: {left_out}; the same sweep makes what they had again"
        ));
    }
    if simulators > 1 {
        output::say(format_args!(
            "warning: {simulators} versions of the simulator made these results; the column 'simulator' \
             tells them apart"
        ));
    }
    let out = args.output.display();
    let again = match duplicates {
        0 => String::new(),
        1 => "; 1 result was there more than once".to_string(),
        n => format!("; {n} results were there more than once"),
    };
    let [rows, scenarios, files] = [
        counted(rows, "result"),
        counted(scenarios, "scenario"),
        counted(files, "file"),
    ];
    output::say(format_args!(
        "merged {rows} of {scenarios} from {files} into {out}{again}"
    ));
    Ok(())
}
