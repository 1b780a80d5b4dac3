//! What carries the flows of a run.

use std::fmt;

#[cfg(feature = "quic")]
use lowtide_sim::transport::{Pacing, TransportConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Problem, Setting};

/// What carries the flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// The simulator's own transports.
    #[default]
    Model,
    /// s2n-quic in virtual time, on the same links. Bounds, which are no controllers, stay with
    /// the model.
    #[cfg(feature = "quic")]
    Quic,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            #[cfg(feature = "quic")]
            Self::Quic => "quic",
        })
    }
}

impl Host {
    /// Whether it can carry a setting's flows.
    pub(crate) fn check(setting: &Setting) -> Result<(), Problem> {
        match setting.host {
            Self::Model => Ok(()),
            #[cfg(feature = "quic")]
            Self::Quic => check_quic(setting),
        }
    }

    /// The host of these groups: those with bounds stay with the model.
    pub(crate) fn of(setting: &Setting) -> Self {
        if setting.groups.iter().any(|g| g.contender.is_bound()) {
            Self::Model
        } else {
            setting.host
        }
    }
}

#[cfg(feature = "quic")]
fn check_quic(setting: &Setting) -> Result<(), Problem> {
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
    let most = lowtide_quic::virtual_time::MAX_FLOWS;
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
    let sizes = lowtide_quic::virtual_time::PACKET_SIZES;
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
