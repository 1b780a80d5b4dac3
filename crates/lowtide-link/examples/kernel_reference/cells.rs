//! The cells of the grid.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::units::{Duration, Rate};
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::queue::QueueLimit;
use lowtide_sim::{PipeConfig, trace};

type Failure = Box<dyn Error + Send + Sync>;

/// Kernel controller, ours; unless others are asked for.
pub(crate) const PAIRS: [(&str, &str); 3] =
    [("bbr", "bbr"), ("cubic", "cubic"), ("reno", "newreno")];

const RTTS_MS: [u64; 5] = [10, 40, 100, 200, 300];
const LINK_MBPS: u64 = 10;

/// An application that writes for a while and is silent for a while.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pauses {
    pub(crate) on: Duration,
    pub(crate) off: Duration,
    pub(crate) rate: Rate,
}

/// 400 ms of each 2 s, at a rate that makes a queue.
const PAUSES: Pauses = Pauses {
    on: Duration::from_millis(400),
    off: Duration::from_millis(1600),
    rate: Rate::from_mbps(15),
};

/// What is wrong with a path.
#[derive(Clone, Copy, Debug)]
struct Variant {
    name: &'static str,
    loss: f64,
    ack_loss: f64,
    pauses: Option<Pauses>,
    buffer: QueueLimit,
}

const CLEAN: Variant = Variant {
    name: "2 BDP",
    loss: 0.0,
    ack_loss: 0.0,
    pauses: None,
    buffer: QueueLimit::Bdp(2.0),
};

const VARIANTS: [Variant; 6] = [
    CLEAN,
    Variant {
        name: "0.1 % lost",
        loss: 0.001,
        ..CLEAN
    },
    Variant {
        name: "1 % lost",
        loss: 0.01,
        ..CLEAN
    },
    Variant {
        name: "pauses",
        pauses: Some(PAUSES),
        ..CLEAN
    },
    Variant {
        name: "2 % of ACKs lost",
        ack_loss: 0.02,
        ..CLEAN
    },
    Variant {
        name: "no limit",
        buffer: QueueLimit::Unlimited,
        ..CLEAN
    },
];

/// Buffers before traces, at 40 ms.
const TRACE_RTT_MS: u64 = 40;
const TRACE_VARIANTS: [Variant; 2] = [
    Variant {
        name: "200 packets",
        buffer: QueueLimit::Packets(200),
        ..CLEAN
    },
    Variant {
        name: "no limit",
        buffer: QueueLimit::Unlimited,
        ..CLEAN
    },
];

/// A path, and what is sent over it.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) link_name: String,
    link: Arc<Link>,
    pub(crate) rtt: Duration,
    variant: Variant,
}

impl Cell {
    pub(crate) fn name(&self) -> String {
        let rtt = self.rtt.as_millis_f64();
        format!("{}, {rtt} ms, {}", self.link_name, self.variant.name)
    }

    pub(crate) fn pauses(&self) -> Option<Pauses> {
        self.variant.pauses
    }

    /// Whether chance decides, so that it takes more runs.
    pub(crate) fn is_random(&self) -> bool {
        self.variant.loss > 0.0 || self.variant.ack_loss > 0.0
    }

    pub(crate) fn forward(&self) -> PipeConfig {
        let (link, buffer) = (self.link.clone(), self.variant.buffer);
        let mut pipe = PipeConfig::link_with_delay(link, buffer, self.rtt.div(2));
        pipe.loss = loss(self.variant.loss);
        pipe
    }

    pub(crate) fn reverse(&self) -> PipeConfig {
        let mut pipe = PipeConfig::delay_only(self.back());
        pipe.loss = loss(self.variant.ack_loss);
        pipe
    }

    /// The delay of the way back.
    pub(crate) fn back(&self) -> Duration {
        self.rtt - self.rtt.div(2)
    }
}

fn loss(share: f64) -> LossModel {
    if share > 0.0 {
        LossModel::Random(share)
    } else {
        LossModel::None
    }
}

fn read(file: &Path) -> Result<Arc<Link>, Failure> {
    let bytes = fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    Ok(Arc::new(trace::parse(
        Some(file),
        &bytes,
        MAHIMAHI_OPPORTUNITY,
    )?))
}

/// All cells: those of the constant link, then those of each trace.
pub(crate) fn all(traces: &[PathBuf]) -> Result<Vec<Cell>, Failure> {
    let constant = Arc::new(Link::constant(Rate::from_mbps(LINK_MBPS))?);
    let mut cells = Vec::new();
    for ms in RTTS_MS {
        cells.extend(VARIANTS.map(|variant| Cell {
            link_name: format!("{LINK_MBPS} Mbit/s"),
            link: constant.clone(),
            rtt: Duration::from_millis(ms),
            variant,
        }));
    }
    for file in traces {
        let link = read(file)?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        cells.extend(TRACE_VARIANTS.map(|variant| Cell {
            link_name: name.to_string(),
            link: link.clone(),
            rtt: Duration::from_millis(TRACE_RTT_MS),
            variant,
        }));
    }
    Ok(cells)
}
