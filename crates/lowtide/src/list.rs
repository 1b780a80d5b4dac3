//! `lowtide list`.

use std::fmt::Write;

use lowtide_cc::registry::Parameter;
use lowtide_lab::contender::{BOUNDS, Contenders};
use serde::Serialize;

use crate::failure::Failure;
use crate::json_flag::JsonFlag;
use crate::output;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    json: JsonFlag,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    parameters: Vec<ListedParameter>,
}

#[derive(Serialize)]
struct ListedParameter {
    name: &'static str,
    summary: &'static str,
    default: String,
    values: String,
}

fn parameters(all: &[Parameter]) -> Vec<ListedParameter> {
    let listed = |p: &Parameter| ListedParameter {
        name: p.name,
        summary: p.summary,
        default: p.default.to_string(),
        values: p.domain.to_string(),
    };
    all.iter().map(listed).collect()
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let entries = contenders.registry().entries().iter();
    let mut listed: Vec<Listed> = entries
        .map(|entry| Listed {
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            parameters: parameters(entry.parameters),
        })
        .collect();
    listed.extend(BOUNDS.iter().map(|bound| Listed {
        name: bound.name,
        summary: bound.summary,
        source: "Lowtide; only in the simulator",
        parameters: parameters(bound.parameters),
    }));
    args.json.put(&listed)?;
    if args.json.is_printed() {
        return Ok(());
    }
    let mut text = String::new();
    for entry in listed {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<10} {}", entry.name, entry.summary);
        let _ = writeln!(text, "{:<10} {}", "", entry.source);
        for p in entry.parameters {
            let _ = writeln!(
                text,
                "{:<12} {}={}  {} ({})",
                "", p.name, p.default, p.summary, p.values
            );
        }
    }
    text.push_str(
        "\nParameters are set as NAME:key=value,key=value, as in bbr:aggregation=false\n",
    );
    output::print(text.as_bytes())
}
