//! `lowtide list`.

use std::fmt::Write;

use lowtide_cc::registry::Parameter;
use lowtide_lab::contender::{BOUNDS, Contenders, stock};
use lowtide_sim::queue::{QUEUES, QueueEntry};
use serde::Serialize;

use crate::failure::Failure;
use crate::json_flag::JsonFlag;
use crate::output;

/// What there is to list.
#[derive(Clone, Copy, clap::ValueEnum)]
enum What {
    /// Controllers, bounds and what QUIC stacks bring along, for --cc
    Controllers,
    /// Queue disciplines, for --queue
    Queues,
}

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to list
    #[arg(default_value = "controllers")]
    what: What,

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

fn queues() -> Vec<Listed> {
    let listed = |queue: &QueueEntry| Listed {
        name: queue.name,
        summary: queue.summary,
        source: queue.source,
        parameters: parameters(queue.parameters),
    };
    QUEUES.iter().map(listed).collect()
}

fn controllers(contenders: &Contenders) -> Vec<Listed> {
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
    listed.extend(stock().map(|stock| Listed {
        name: stock.name,
        summary: stock.summary,
        source: stock.source,
        parameters: Vec::new(),
    }));
    listed
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let (listed, example) = match args.what {
        What::Controllers => (controllers(contenders), "bbr:aggregation=false"),
        What::Queues => (queues(), "codel:target=5ms"),
    };
    args.json.put(&listed)?;
    if args.json.is_printed() {
        return Ok(());
    }
    let mut text = String::new();
    for entry in listed {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:<13} {}", entry.name, entry.summary);
        let _ = writeln!(text, "{:<13} {}", "", entry.source);
        for p in entry.parameters {
            let _ = writeln!(
                text,
                "{:<15} {}={}  {} ({})",
                "", p.name, p.default, p.summary, p.values
            );
        }
    }
    let _ = writeln!(
        text,
        "\nParameters are set as NAME:key=value,key=value, as in {example}"
    );
    output::print(text.as_bytes())
}
