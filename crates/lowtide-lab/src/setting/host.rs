//! What carries the flows of a run.

use std::fmt;

use lowtide_cc::registry;
use lowtide_host::Stock;
use lowtide_sim::stack;
use lowtide_sim::transport::{Pacing, TransportConfig};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Problem, Setting};
use crate::contender::{Contender, Contenders};

/// What carries the flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// The simulator's own transports.
    #[default]
    Model,
    /// s2n-quic in virtual time, on the same links. Bounds, which are no controllers, stay with
    /// the model.
    #[cfg(feature = "quic")]
    Quic,
    /// noq, likewise.
    #[cfg(feature = "stacks")]
    Noq,
    /// quinn, likewise.
    #[cfg(feature = "stacks")]
    Quinn,
}

/// What is known of a host.
struct About {
    host: Host,
    name: &'static str,
    /// The QUIC stack that it is.
    stack: Option<&'static str>,
    /// The metrics that nobody sees over it: stacks do not tell of timers that fire, and quinn's own
    /// controllers of no estimate.
    unseen: &'static [&'static str],
    /// The controllers that it brings along.
    stock: &'static [Stock],
}

/// The hosts of this build, in the order of the type.
const HOSTS: &[About] = &[
    About {
        host: Host::Model,
        name: "model",
        stack: None,
        unseen: &[],
        stock: &[],
    },
    #[cfg(feature = "quic")]
    About {
        host: Host::Quic,
        name: "quic",
        stack: Some("s2n-quic"),
        unseen: &["timeouts"],
        stock: lowtide_quic::virtual_time::STOCK,
    },
    #[cfg(feature = "stacks")]
    About {
        host: Host::Noq,
        name: "noq",
        stack: Some("noq"),
        unseen: &["timeouts"],
        stock: lowtide_stacks::noq::STOCK,
    },
    #[cfg(feature = "stacks")]
    About {
        host: Host::Quinn,
        name: "quinn",
        stack: Some("quinn"),
        unseen: &["timeouts", "estimate_mbps"],
        stock: lowtide_stacks::quinn::STOCK,
    },
];

impl std::str::FromStr for Host {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = HOSTS.iter().find(|about| about.name == name);
        known.map(|about| about.host).ok_or_else(|| {
            if STACKS.contains(&name) {
                return format!(
                    "'{name}' is not in this build; build it with --features stacks, as in cargo install --path \
                     crates/lowtide --features stacks"
                );
            }
            let known: Vec<&str> = HOSTS.iter().map(|about| about.name).collect();
            registry::unknown("", name, &known)
        })
    }
}

/// The stacks of a build that has them all.
const STACKS: [&str; 3] = ["quic", "noq", "quinn"];

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map_err(D::Error::custom)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.about().name)
    }
}

impl Host {
    const fn about(self) -> &'static About {
        &HOSTS[self as usize]
    }

    /// What stands for a yardstick of suites over a host whose pacer would not do it justice: its own
    /// controller of that name.
    pub(crate) fn own(self, name: &str) -> Option<String> {
        let own = format!("{self}/{name}");
        let has = self.stock().iter().any(|stock| stock.name == own);
        (!self.paces() && has).then_some(own)
    }

    /// The QUIC stack that it is; `None`: it is the simulator.
    #[must_use]
    pub const fn stack(self) -> Option<&'static str> {
        self.about().stack
    }

    /// The metrics that nobody sees over it, whatever the controller.
    #[must_use]
    pub const fn unseen(self) -> &'static [&'static str] {
        self.about().unseen
    }

    /// The controllers that it brings along.
    #[must_use]
    pub fn stock(self) -> &'static [Stock] {
        self.about().stock
    }

    /// Whether packets leave at a controller's rate. quinn's trait for controllers has a window only;
    /// packets leave at 1.25 windows a round trip.
    const fn paces(self) -> bool {
        match self {
            #[cfg(feature = "stacks")]
            Self::Quinn => false,
            _ => true,
        }
    }

    /// The controllers that are compared over it when nobody names any: its own, and those of
    /// [`Contenders::usual`].
    #[must_use]
    pub fn usual(self, contenders: &Contenders) -> Vec<Contender> {
        let own = self.stock().iter().map(Contender::Stock);
        own.chain(contenders.usual()).collect()
    }

    /// Whether it can carry a setting's flows, whoever their controllers are.
    pub(crate) fn check(setting: &Setting) -> Result<(), Problem> {
        match setting.host.stack() {
            None => Ok(()),
            Some(_) => check_stack(setting),
        }
    }

    /// The host over which alone this one runs: a stack's own controller over its stack.
    #[must_use]
    pub fn home_of(contender: &Contender) -> Option<Self> {
        let Contender::Stock(stock) = contender else {
            return None;
        };
        let home = HOSTS.iter().find(|about| about.stock.contains(stock));
        home.map(|about| about.host)
    }

    /// Whether the setting's host can carry its controllers.
    ///
    /// # Errors
    /// When a stack's own controller is to run elsewhere.
    pub fn check_senders(setting: &Setting) -> Result<(), Problem> {
        let host = setting.host;
        for (n, group) in setting.groups.iter().enumerate() {
            let contender = &group.contender;
            let name = contender.name();
            let sentence = match contender {
                Contender::Stock(stock) if !host.stock().contains(stock) => {
                    let home = Self::home_of(contender).unwrap_or_default();
                    let stack = home.stack().unwrap_or_default();
                    format!(
                        "{name} is part of {stack} and runs only there: use --host {home}, or host = \"{home}\" \
                         under [run]"
                    )
                }
                _ => continue,
            };
            let at = match group.web {
                Some(_) => "link.cross".to_string(),
                None => format!("flows.{n}.controller"),
            };
            return Err(Problem::new(at, sentence));
        }
        Ok(())
    }

    /// The host of these groups: those with bounds stay with the model.
    #[must_use]
    pub fn of(setting: &Setting) -> Self {
        if setting.groups.iter().any(|g| g.contender.is_bound()) {
            Self::Model
        } else {
            setting.host
        }
    }
}

fn check_stack(setting: &Setting) -> Result<(), Problem> {
    let problem = |key: String, problem: &str| Err(Problem::new(key, problem).see("run.host"));
    for (n, group) in setting.groups.iter().enumerate() {
        if !matches!(group.transport, TransportConfig::Quic { .. }) {
            return problem(format!("flows.{n}.transport"), "the QUIC host has no TCP");
        }
        if group.pacing != Pacing::Rate {
            let key = format!("flows.{n}.pacing");
            return problem(key, "the QUIC host paces at the controller's rate");
        }
        if group.lie.is_some() {
            return problem(
                format!("flows.{n}.lie"),
                "receivers of the QUIC host are honest",
            );
        }
        let others = setting.groups.len() > 1;
        if others && group.contender.is_bound() {
            let key = format!("flows.{n}.controller");
            let name = group.contender.name();
            let text =
                format!("{name}, which is no controller, cannot share a link over the QUIC host");
            return problem(key, &text);
        }
    }
    let most = stack::MAX_FLOWS;
    if setting.flow_count() > most {
        let groups = setting.groups.iter().enumerate();
        let largest = groups.max_by_key(|(_, group)| group.count);
        let key = match largest {
            Some((_, group)) if group.web.is_some() => "link.cross".to_string(),
            other => format!("flows.{}.count", other.map_or(0, |(n, _)| n)),
        };
        let text = format!("the QUIC host carries at most {most} flows");
        return problem(key, &text);
    }
    let sizes = stack::PACKET_SIZES;
    if !sizes.contains(&setting.packet_size.get()) {
        let text = format!(
            "packets of the QUIC host are {} B to {} B",
            sizes.start(),
            sizes.end()
        );
        return problem("path.packet_size".to_string(), &text);
    }
    Ok(())
}
