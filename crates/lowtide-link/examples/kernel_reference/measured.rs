//! What is measured of a run, and when two sides agree.

/// What is measured at the link, the same in the kernel and in the simulator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Bytes of IP packets that left the link, over the whole time.
    pub(crate) mbps: f64,
    /// Mean over these packets of the time in queue, link and propagation, plus that of the way
    /// back.
    pub(crate) rtt_ms: f64,
    /// The same of the 95th percentile.
    pub(crate) p95_ms: f64,
    /// Share of the data segments sent that were sent again, percent.
    pub(crate) again: f64,
}

/// A column of the table.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    of: fn(&Measured) -> f64,
    digits: usize,
    /// Relative difference that is allowed …
    bound: f64,
    /// … or absolute.
    slack: f64,
}

/// The bounds, and what is below the resolution: 0.1 percentage points of repeated segments are some 10 of a run.
pub(crate) const COLUMNS: [Column; 4] = [
    Column {
        name: "Mbit/s",
        of: |m| m.mbps,
        digits: 2,
        bound: 0.03,
        slack: 0.0,
    },
    Column {
        name: "mean RTT, ms",
        of: |m| m.rtt_ms,
        digits: 1,
        bound: 0.05,
        slack: 0.0,
    },
    Column {
        name: "p95 RTT, ms",
        of: |m| m.p95_ms,
        digits: 1,
        bound: 0.10,
        slack: 0.0,
    },
    Column {
        name: "sent again, %",
        of: |m| m.again,
        digits: 2,
        bound: 0.15,
        slack: 0.1,
    },
];

/// One side's runs in a column.
struct Side {
    mean: f64,
    /// Standard deviation of the runs.
    spread: f64,
    runs: f64,
}

impl Side {
    fn of(runs: &[Measured], column: &Column) -> Self {
        let values: Vec<f64> = runs.iter().map(column.of).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        let spread = (squares / (n - 1.0).max(1.0)).sqrt();
        Self {
            mean,
            spread,
            runs: n,
        }
    }

    /// Variance of the mean.
    fn error(&self) -> f64 {
        self.spread * self.spread / self.runs
    }
}

/// What a column says of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    /// The means are further apart than the bound, but no further than two standard errors beyond it: more runs would tell.
    Open,
    Missed,
}

/// Both sides of a column: the cells of the table, and the verdict.
pub(crate) fn compare(
    column: &Column,
    kernel: &[Measured],
    ours: &[Measured],
) -> (String, Verdict) {
    let (k, o) = (Side::of(kernel, column), Side::of(ours, column));
    let allowed = (k.mean * column.bound).max(column.slack);
    let apart = (o.mean - k.mean).abs();
    let verdict = if apart <= allowed {
        Verdict::Met
    } else if apart <= allowed + 2.0 * (k.error() + o.error()).sqrt() {
        Verdict::Open
    } else {
        Verdict::Missed
    };
    let mark = match verdict {
        Verdict::Met => "",
        Verdict::Open => " ?",
        Verdict::Missed => " ✗",
    };
    let digits = column.digits;
    let value = |side: &Side| format!("{:.digits$} ± {:.digits$}", side.mean, side.spread);
    let change = if column.slack > 0.0 {
        format!("{:+.digits$}", o.mean - k.mean)
    } else {
        format!("{:+.1} %", (o.mean / k.mean - 1.0) * 100.0)
    };
    let text = format!("{} / {} ({change}){mark}", value(&k), value(&o));
    (text, verdict)
}
