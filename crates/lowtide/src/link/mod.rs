//! `lowtide link`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use lowtide_cc::units::Duration;
use lowtide_cc::units::quantity;
use lowtide_lab::contender::Contenders;

use crate::failure::Failure;
use crate::flags::JsonFlag;
use crate::knobs::{self, Knobs};

#[cfg(target_os = "linux")]
mod comparison;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod session;

/// Which way has the link with its trace, queue, loss and jitter. The other way is as fast as the
/// machine; it has its half of the RTT, `--ack-loss` and `--ack-aggregation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Limited {
    /// Towards the command, or the clients of the UDP service
    Down,
    /// From the command, or from the clients
    Up,
    /// Each way one of its own
    Both,
}

/// What carries the controllers of a comparison.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum TransportArg {
    Quic,
    Tcp,
}

#[cfg(target_os = "linux")]
impl TransportArg {
    /// The transport as its hosts usually have it.
    pub(crate) fn config(self) -> lowtide_sim::transport::TransportConfig {
        match self {
            Self::Quic => lowtide_sim::transport::TransportConfig::quic(),
            Self::Tcp => lowtide_sim::transport::TransportConfig::tcp(),
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = "\
The command sees its own address as $LOWTIDE_LINK_LOCAL and the other end's as $LOWTIDE_LINK_PEER.

Examples:
  lowtide link --trace lte.down --rtt 40ms -- curl http://198.18.0.1:8000/file
  lowtide link --rate 20mbit --peer 'iperf3 -s -1' -- sh -c 'iperf3 -c $LOWTIDE_LINK_PEER -R'
  lowtide link --rate 5mbit --udp 127.0.0.1:5000,127.0.0.1:4455
  lowtide link --trace lte.down --report out -- curl -O http://198.18.0.1:8000/file")]
pub(crate) struct Args {
    #[command(flatten)]
    link: Knobs<knobs::OfLink>,

    /// Which way the link is
    #[arg(
        long,
        value_name = "WAY",
        default_value = "down",
        help_heading = "Link"
    )]
    limited: Limited,

    /// Seed of loss, jitter and generated links
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Link")]
    seed: u64,

    /// Largest IP packet of the devices in both namespaces
    #[arg(long, value_name = "BYTES", default_value_t = 1500, help_heading = "Link",
          value_parser = clap::value_parser!(u16).range(68..), conflicts_with = "udp")]
    mtu: u16,

    /// Be a relay instead, from one UDP address to another; needs no privileges
    #[arg(long, value_name = "LISTEN,TARGET", value_parser = udp, conflicts_with_all = ["peer", "command"])]
    udp: Option<(SocketAddr, SocketAddr)>,

    /// How long to relay [default: until Ctrl-C]
    #[arg(long, value_name = "TIME", requires = "udp", conflicts_with_all = ["peer", "command"],
          value_parser = quantity::duration)]
    duration: Option<Duration>,

    /// Run this at the other end, with sh, in a namespace of its own; it is ended with the command
    /// [default: the other end is this machine, as far as permissions allow]
    #[arg(long, value_name = "COMMAND")]
    peer: Option<OsString>,

    /// Write a report into this folder: what the program did with the link, beside what controllers
    /// would have done on it in the same time
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,

    /// Compare the program with this controller; repeat it for several
    /// [default with --report: ebb, rbbr, bbr-s, copa, bbr, bbr3 and cubic]
    #[arg(long = "cc", value_name = "NAME")]
    controllers: Vec<String>,

    /// What carries those controllers: tcp beside a program over the kernel's TCP [default: quic]
    #[arg(long, value_name = "NAME")]
    transport: Option<TransportArg>,

    #[command(flatten)]
    json: JsonFlag,

    /// Say nothing but errors, and --json
    #[arg(long)]
    quiet: bool,

    /// The command and its arguments [default: a shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// `LISTEN,TARGET`.
fn udp(text: &str) -> Result<(SocketAddr, SocketAddr), String> {
    let (listen, target) = text
        .split_once(',')
        .ok_or("must be LISTEN,TARGET as in 127.0.0.1:5000,127.0.0.1:4455")?;
    let address = |text: &str| {
        text.trim().parse::<SocketAddr>().map_err(|_| {
            format!(
                "'{}' is no address with a port, as in 127.0.0.1:5000 or [::1]:5000",
                text.escape_debug()
            )
        })
    };
    Ok((address(listen)?, address(target)?))
}

/// Runs the command; its exit code is that of the command.
#[cfg(target_os = "linux")]
pub(crate) fn run(args: &Args, contenders: &Contenders) -> Result<u8, Failure> {
    session::run(args, contenders)
}

/// There is no other system with what this needs.
#[cfg(not(target_os = "linux"))]
pub(crate) fn run(_: &Args, _: &Contenders) -> Result<u8, Failure> {
    Err(Failure::run(
        "lowtide link needs Linux: its network namespaces, TUN devices and precise waiting",
    ))
}
