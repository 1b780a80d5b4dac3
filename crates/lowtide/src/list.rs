//! `lowtide list`.

use lowtide_lab::catalogue;
use lowtide_lab::contender::Contenders;

use crate::failure::Failure;
use crate::flags::JsonFlag;
use crate::{output, table};

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

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    let (listed, example) = match args.what {
        What::Controllers => (catalogue::controllers(contenders), "bbr:aggregation=false"),
        What::Queues => (catalogue::queues(), "codel:target=5ms"),
    };
    args.json.put(&listed)?;
    if args.json.is_printed() {
        return Ok(());
    }
    let mut text = String::new();
    for entry in listed {
        let about = [(entry.name, entry.summary), ("", entry.source)];
        text += &table::list(13, about.into_iter());
        let parameters = entry.parameters.into_iter().map(|p| {
            let (name, default, values) = (p.name, p.default, p.values);
            ("", format!("{name}={default}  {} ({values})", p.summary))
        });
        text += &table::list(15, parameters);
    }
    text += &format!("\nParameters are set as NAME:key=value,key=value, as in {example}\n");
    output::print(text.as_bytes())
}
