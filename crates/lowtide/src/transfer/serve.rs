//! `lowtide serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lowtide_lab::contender::Contenders;
use lowtide_transfer::{
    CONNECTIONS, CONNECTIONS_OF_ADDRESS, DEFAULT_CONTROLLER, Event, PORT, Server, ServerConfig,
};

use super::printer::Printer;
use super::text;
use crate::failure::Failure;
use crate::interrupt;
use crate::record::answer::AnswerArgs;

/// How long the last lines may take to be printed.
const LAST_LINES: Duration = Duration::from_secs(1);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to listen; port 0: any free one, which is printed
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::from(([0, 0, 0, 0], PORT)))]
    listen: SocketAddr,

    /// Controller of what is sent, as in bbr or ebb:idle=0.05
    #[arg(long, value_name = "NAME", default_value = DEFAULT_CONTROLLER)]
    cc: String,

    /// Let clients ask for these controllers with 'fetch --cc', as in bbr,cubic, or for any
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    allow_cc: Vec<String>,

    /// Connections at a time
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,

    /// Connections of one address (IPv6: of one /64) at a time
    #[arg(long, value_name = "N", default_value_t = CONNECTIONS_OF_ADDRESS,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections_per_address: u32,

    /// Certificate (chain), PEM [default: a self-signed one]
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,

    /// Private key of the certificate, PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// End after the first client's transfer
    #[arg(long, short = '1')]
    one_off: bool,

    /// Print one JSON object a line instead of text
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    record: AnswerArgs,
}

impl Args {
    fn config(&self) -> ServerConfig {
        let certificate = self.cert.clone().zip(self.key.clone());
        ServerConfig {
            listen: self.listen,
            controller: self.cc.clone(),
            choices: self.allow_cc.clone(),
            connections: self.max_connections,
            connections_of_address: self.max_connections_per_address,
            certificate: certificate.map(|(certificate, key)| [certificate, key]),
            is_one_off: self.one_off,
        }
    }
}

pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<(), Failure> {
    if args.record.is_all() {
        return args.record.run();
    }
    let server = Server::new(args.config(), contenders.registry())?;
    let json = args.json;
    let printer = Arc::new(Printer::new(if json { missing_json } else { missing })?);
    let recorders = args.record.start()?;
    let printed = printer.clone();
    let tell = move |event: &Event<'_>| {
        printed.line(match serde_json::to_string(event) {
            Ok(line) if json => line,
            _ => text::event(event),
        });
    };
    let (done, _) = interrupt::stopping(interrupt::END, |stop| server.run(stop, tell))?;
    if let Some(recorders) = recorders {
        recorders.end();
    }
    // Nobody else has it any more.
    if let Some(printer) = Arc::into_inner(printer) {
        printer.finish(LAST_LINES);
    }
    Ok(done?)
}

fn missing(lines: u64) -> String {
    format!("{lines} lines are missing here: standard output was not read")
}

fn missing_json(lines: u64) -> String {
    format!(r#"{{"event":"missing","lines":{lines}}}"#)
}
