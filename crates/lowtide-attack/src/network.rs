//! A network: numbers of a path and of what shares it, and how a scenario file says them.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// How a queue is managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Queue {
    /// Not at all.
    DropTail,
    /// RFC 8289.
    CoDel,
    /// RFC 8290.
    FqCoDel,
    /// RFC 8033.
    Pie,
}

impl Queue {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::DropTail, Self::CoDel, Self::FqCoDel, Self::Pie];

    const fn name(self) -> &'static str {
        match self {
            Self::DropTail => "droptail",
            Self::CoDel => "codel",
            Self::FqCoDel => "fq_codel",
            Self::Pie => "pie",
        }
    }
}

/// A rate and how long it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Step {
    /// kbit/s.
    pub kbit: u64,
    /// ms; of a single rate nothing.
    pub ms: u64,
}

/// Traffic that is there for a while and away for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OnOff {
    /// Its rate, percent of the link's first one.
    pub percent: u64,
    /// How long it is there, ms.
    pub on_ms: u64,
    /// How long it is away, ms.
    pub off_ms: u64,
}

/// A network and what its flows do. What is zero or `None` does not happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Network {
    /// Rates of the bottleneck, over and over where there are several; at least one.
    pub rates: Vec<Step>,
    /// Round-trip propagation delay, µs.
    pub rtt_us: u64,
    /// When the round-trip delay changes, ms, and to what, µs; in order.
    pub rtt_steps: Vec<(u64, u64)>,
    /// The queue, tenths of a BDP; `None`: no limit.
    pub buffer_tenths: Option<u64>,
    /// How it is managed.
    pub queue: Queue,
    /// A policer before it: percent of the first rate, and its burst in kB.
    pub policer: Option<(u64, u64)>,
    /// Random extra delay up to this, µs.
    pub jitter_us: u64,
    /// Whether it reorders.
    pub reorder: bool,
    /// Random loss, millionths.
    pub loss_ppm: u64,
    /// Packets lost in a row on average.
    pub burst: u64,
    /// When nothing passes, ms, and how long.
    pub outage: Option<(u64, u64)>,
    /// How far batches of acknowledgments are apart, µs.
    pub ack_batch_us: u64,
    /// Packets for each acknowledgment; 2 is usual.
    pub ack_every: u64,
    /// Lost acknowledgments, millionths.
    pub ack_loss_ppm: u64,
    /// What others send.
    pub cross: Option<OnOff>,
    /// What the application writes, instead of all that passes.
    pub source: Option<OnOff>,
    /// Over TCP instead of QUIC.
    pub tcp: bool,
}

/// Kinds of trouble, each a bit of [`Network::troubles`].
pub const TROUBLES: [&str; 8] = [
    "rate", "delay", "jitter", "loss", "queue", "acks", "cross", "pauses",
];

pub(crate) fn time_us(us: u64) -> String {
    if us.is_multiple_of(1000) {
        format!("{}ms", us / 1000)
    } else {
        format!("{us}us")
    }
}

fn rate(kbit: u64) -> String {
    if kbit.is_multiple_of(1000) {
        format!("{}mbit", kbit / 1000)
    } else {
        format!("{kbit}kbit")
    }
}

#[allow(clippy::cast_precision_loss)]
fn percent(ppm: u64) -> String {
    format!("{}%", ppm as f64 / 1e4)
}

impl Network {
    /// A calm one of this rate and round-trip delay, with a queue of 2 BDP.
    #[must_use]
    pub fn calm(kbit: u64, rtt_us: u64) -> Self {
        Self {
            rates: vec![Step { kbit, ms: 0 }],
            rtt_us,
            rtt_steps: Vec::new(),
            buffer_tenths: Some(20),
            queue: Queue::DropTail,
            policer: None,
            jitter_us: 0,
            reorder: false,
            loss_ppm: 0,
            burst: 1,
            outage: None,
            ack_batch_us: 0,
            ack_every: 2,
            ack_loss_ppm: 0,
            cross: None,
            source: None,
            tcp: false,
        }
    }

    /// Which kinds of trouble there are, a bit for each of [`TROUBLES`].
    #[must_use]
    pub fn troubles(&self) -> u8 {
        let kinds = [
            self.rates.len() > 1 || self.outage.is_some(),
            !self.rtt_steps.is_empty(),
            self.jitter_us > 0,
            self.loss_ppm > 0,
            self.policer.is_some() || self.queue != Queue::DropTail,
            self.ack_batch_us > 0 || self.ack_every != 2 || self.ack_loss_ppm > 0,
            self.cross.is_some(),
            self.source.is_some(),
        ];
        let bits = kinds.iter().enumerate();
        bits.fold(0, |all, (n, is)| all | (u8::from(*is) << n))
    }

    /// Its kinds of trouble by name.
    #[must_use]
    pub fn named_troubles(&self) -> String {
        let bits = self.troubles();
        let names = TROUBLES.iter().enumerate();
        let names = names.filter(|(n, _)| bits & (1 << n) != 0);
        let names: Vec<&str> = names.map(|(_, name)| *name).collect();
        if names.is_empty() {
            "none".to_string()
        } else {
            names.join(", ")
        }
    }

    /// The sections `link` and `path` of a scenario file.
    #[must_use]
    pub fn sections(&self) -> (Table, Table) {
        (self.link(), self.path())
    }

    /// What each flow has besides its controller.
    #[must_use]
    pub fn of_flow(&self) -> Table {
        let mut flow = Table::new();
        if self.tcp {
            flow.insert("transport".to_string(), text("tcp"));
        } else if self.ack_every != 2 {
            let every = i64::try_from(self.ack_every).unwrap_or(1);
            flow.insert("ack_every".to_string(), Value::Integer(every));
        }
        if let Some(source) = self.source {
            flow.insert("source".to_string(), self.on_off(source));
        }
        flow
    }

    /// The network as the flags of `lowtide compare` say it.
    #[must_use]
    pub fn flags(&self) -> String {
        let (link, path) = self.sections();
        let sections = link.into_iter().chain(path).chain(self.of_flow());
        let flags = sections.map(|(key, value)| {
            let key = key.replace('_', "-");
            match value {
                Value::String(value) => format!("--{key} {value}"),
                Value::Boolean(_) => format!("--{key}"),
                Value::Array(values) => {
                    let values = values.iter().filter_map(Value::as_str);
                    let flags = values.map(|value| format!("--{key} {value}"));
                    flags.collect::<Vec<_>>().join(" ")
                }
                other => format!("--{key} {other}"),
            }
        });
        flags.collect::<Vec<_>>().join(" ")
    }

    fn link(&self) -> Table {
        let mut link = Table::new();
        if let [only] = self.rates[..] {
            link.insert("rate".to_string(), text(rate(only.kbit)));
        } else {
            let mut schedule = String::new();
            let mut at = 0;
            for step in &self.rates {
                // Writing to a string cannot fail.
                let _ = write!(schedule, "{at}ms:{},", rate(step.kbit));
                at += step.ms.max(1);
            }
            let _ = write!(schedule, "{at}ms:repeat");
            link.insert("schedule".to_string(), text(schedule));
        }
        let buffer = match self.buffer_tenths {
            None => "inf".to_string(),
            Some(tenths) if tenths.is_multiple_of(10) => format!("{}bdp", tenths / 10),
            Some(tenths) => format!("{}.{}bdp", tenths / 10, tenths % 10),
        };
        link.insert("buffer".to_string(), text(buffer));
        if self.queue != Queue::DropTail {
            link.insert("queue".to_string(), text(self.queue.name()));
        }
        if let Some((share, burst)) = self.policer {
            let policer = format!("{}:{burst}kB", rate(self.share_of_rate(share)));
            link.insert("policer".to_string(), text(policer));
        }
        if let Some(cross) = self.cross {
            link.insert("cross".to_string(), Value::Array(vec![self.on_off(cross)]));
        }
        link
    }

    fn path(&self) -> Table {
        let mut path = Table::new();
        let mut say = |key: &str, value: String| path.insert(key.to_string(), text(value));
        say("rtt", time_us(self.rtt_us));
        if !self.rtt_steps.is_empty() {
            let steps = self.rtt_steps.iter();
            let steps = steps.map(|(at, us)| format!("{at}ms:{}", time_us(*us)));
            say("rtt_steps", steps.collect::<Vec<_>>().join(","));
        }
        if self.jitter_us > 0 {
            say("jitter", time_us(self.jitter_us));
        }
        if self.loss_ppm > 0 && self.burst > 1 {
            say(
                "burst_loss",
                format!("{}:{}", percent(self.loss_ppm), self.burst),
            );
        } else if self.loss_ppm > 0 {
            say("loss", percent(self.loss_ppm));
        }
        if let Some((at, ms)) = self.outage {
            say("scripted_loss", format!("{at}ms:{ms}ms:1/1"));
        }
        if self.ack_batch_us > 0 {
            say("ack_aggregation", time_us(self.ack_batch_us));
        }
        if self.ack_loss_ppm > 0 {
            say("ack_loss", percent(self.ack_loss_ppm));
        }
        if self.jitter_us > 0 && self.reorder {
            path.insert("reorder".to_string(), Value::Boolean(true));
        }
        path
    }

    fn share_of_rate(&self, percent: u64) -> u64 {
        (self.rates[0].kbit * percent / 100).max(1)
    }

    fn on_off(&self, traffic: OnOff) -> Value {
        let rate = rate(self.share_of_rate(traffic.percent));
        text(format!(
            "onoff:{rate}:{}ms:{}ms",
            traffic.on_ms, traffic.off_ms
        ))
    }
}

pub(crate) fn text(value: impl Into<String>) -> Value {
    Value::String(value.into())
}
