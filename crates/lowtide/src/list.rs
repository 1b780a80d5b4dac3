//! `lowtide list`.

use std::fmt::Write;

use lowtide_lab::contender::Contenders;
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

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let entries = contenders.registry().entries().iter();
    let mut listed: Vec<Listed> = entries
        .map(|entry| Listed {
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            parameters: entry
                .parameters
                .iter()
                .map(|p| ListedParameter {
                    name: p.name,
                    summary: p.summary,
                    default: p.default.to_string(),
                    values: p.domain.to_string(),
                })
                .collect(),
        })
        .collect();
    listed.push(Listed {
        name: lowtide_lab::contender::ORACLE,
        summary: "the physical limit: knows the link's future, keeps it busy with an empty queue",
        source: "Lowtide; only in the simulator",
        parameters: Vec::new(),
    });
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
