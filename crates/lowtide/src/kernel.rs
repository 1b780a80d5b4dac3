//! `lowtide kernel`: controllers for the kernel's TCP.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use lowtide_kernel::{Choice, Error, Flow, Status};
use serde::Serialize;

use crate::failure::Failure;
use crate::flags::JsonFlag;
use crate::interrupt;
use crate::output::{self, counted};
use crate::table::{Column, Look, table};

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Load a controller, for as long as this command runs or until it is unloaded
    Load {
        /// The controller: ebb, rtt-gain, bbr-acd or ebcc; ebb also as in ebb:idle=0.02
        #[arg(value_name = "NAME")]
        spec: String,

        /// Return at once; it stays until 'lowtide kernel unload' or the next boot
        #[arg(long)]
        pin: bool,

        /// Give it to all new TCP connections of a cgroup: its folder, as in
        /// /sys/fs/cgroup/system.slice/nginx.service. Repeat it for several
        #[arg(long, value_name = "DIR")]
        cgroup: Vec<PathBuf>,
    },
    /// Show the loaded controllers and the sockets that use them
    Status {
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Unload a controller that was loaded with --pin
    Unload {
        /// The controller
        name: String,
    },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.is_usage() {
            Self::input(error)
        } else {
            Self::run(error)
        }
    }
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Load { spec, pin, cgroup } => load(spec, *pin, cgroup),
        Command::Status { json } => {
            let all = lowtide_kernel::status()?;
            json.put(&all.iter().map(JsonStatus::of).collect::<Vec<_>>())?;
            if json.is_printed() {
                return Ok(());
            }
            output::print(text(&all).as_bytes())
        }
        Command::Unload { name } => {
            let known = lowtide_kernel::find(name)?;
            let unloaded = lowtide_kernel::unload(known)?;
            let left = match unloaded.flows {
                0 => String::new(),
                1 => "; 1 connection keeps it until it ends".to_owned(),
                n => format!("; {n} connections keep it until they end"),
            };
            let left = left + &orphans(unloaded.orphans);
            output::print(format!("unloaded '{}'{left}\n", known.name).as_bytes())
        }
    }
}

fn load(spec: &str, pin: bool, cgroups: &[PathBuf]) -> Result<(), Failure> {
    let choice = Choice::parse(spec)?;
    let known = choice.known;
    let loaded = lowtide_kernel::load(&choice, pin, cgroups)?;
    let these = match cgroups.len() {
        0 => "",
        1 => "; new connections of the cgroup have it",
        _ => "; new connections of the cgroups have it",
    };
    let until = if pin {
        format!("until 'lowtide kernel unload {}'", known.name)
    } else {
        "until Ctrl-C".to_owned()
    };
    output::print(
        format!(
            "loaded '{choice}' {until}{these}; sockets choose it by TCP_CONGESTION \"{}\", and all new ones \
             after 'sysctl -w net.ipv4.tcp_congestion_control={}'\n",
            known.kernel_name, known.kernel_name
        )
        .as_bytes(),
    )?;
    if pin {
        return Ok(());
    }
    // The process ends by the signal, and the kernel drops what it held.
    let held = &loaded;
    interrupt::with_farewell(
        || {},
        move || {
            let _held = held;
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
        },
    )
}

#[derive(Serialize)]
struct JsonStatus {
    name: &'static str,
    kernel_name: &'static str,
    spec: String,
    registered: bool,
    pinned: bool,
    cgroups: usize,
    flows: Vec<JsonFlow>,
}

#[derive(Serialize)]
struct JsonFlow {
    local: String,
    peer: String,
    cwnd_packets: u32,
    inflight_packets: u32,
    mss: u32,
    pacing_mbps: f64,
    bandwidth_mbps: f64,
    srtt_ms: f64,
    min_rtt_ms: Option<f64>,
    phase: &'static str,
    orphan: bool,
}

impl JsonStatus {
    fn of(status: &Status) -> Self {
        Self {
            name: status.choice.known.name,
            kernel_name: status.choice.known.kernel_name,
            spec: status.choice.to_string(),
            registered: status.registered,
            pinned: status.pinned,
            cgroups: status.cgroups,
            flows: status.flows.iter().map(JsonFlow::of).collect(),
        }
    }
}

fn mbps(bytes_per_second: u64) -> f64 {
    bytes_per_second as f64 * 8.0 / 1e6
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

impl JsonFlow {
    fn of(flow: &Flow) -> Self {
        Self {
            local: flow.local.to_string(),
            peer: flow.peer.to_string(),
            cwnd_packets: flow.cwnd,
            inflight_packets: flow.inflight,
            mss: flow.mss,
            pacing_mbps: mbps(flow.pacing_rate),
            bandwidth_mbps: mbps(flow.bandwidth),
            srtt_ms: ms(flow.srtt),
            min_rtt_ms: flow.min_rtt.map(ms),
            phase: flow.phase,
            orphan: flow.is_orphan,
        }
    }
}

/// What is to be said of sockets that no process has.
fn orphans(count: usize) -> String {
    match count {
        0 => String::new(),
        n => {
            format!(" ({n} of them without a process: the kernel ends it when it gives up sending)")
        }
    }
}

const COLUMNS: &[Column<'_>] = &[
    ("phase", 1),
    ("cwnd", 0),
    ("in flight", 3),
    ("pacing Mbit/s", 0),
    ("bandwidth Mbit/s", 2),
    ("RTT ms", 0),
    ("min RTT ms", 2),
];

fn text(all: &[Status]) -> String {
    if all.is_empty() {
        return "no controller is loaded\n".to_owned();
    }
    let mut text = String::new();
    for status in all {
        let how = match (status.registered, status.pinned) {
            (true, true) => "loaded, pinned",
            (true, false) => "loaded",
            (false, _) => "unloaded; connections that had it keep it",
        };
        let sockets = counted(status.flows.len(), "socket");
        let cgroups = match status.cgroups {
            0 => String::new(),
            n => format!(", {}", counted(n, "cgroup")),
        };
        let without = status.flows.iter().filter(|flow| flow.is_orphan).count();
        let sockets = sockets + &orphans(without);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}: {how}{cgroups}, {sockets}", status.choice);
        if !status.flows.is_empty() {
            let rows = status.flows.iter().map(row);
            text.push_str(&table("socket", COLUMNS, rows, Look::of_output(false)));
        }
    }
    text
}

fn row(flow: &Flow) -> (String, Vec<String>) {
    let values = vec![
        flow.phase.to_owned(),
        flow.cwnd.to_string(),
        flow.inflight.to_string(),
        format!("{:.2}", mbps(flow.pacing_rate)),
        format!("{:.2}", mbps(flow.bandwidth)),
        format!("{:.2}", ms(flow.srtt)),
        flow.min_rtt
            .map_or_else(|| "-".to_owned(), |rtt| format!("{:.2}", ms(rtt))),
    ];
    let orphan = if flow.is_orphan { " (orphan)" } else { "" };
    (format!("{} → {}{orphan}", flow.local, flow.peer), values)
}
