//! What stands between a setting and a run over real packets.

use lowtide_sim::AccessConfig;
use lowtide_sim::source::SourceConfig;
use lowtide_sim::transport::{Pacing, TransportConfig};

use crate::contender::Contender;
use crate::setting::{Group, Setting};

/// The most programs of a run.
pub const MAX_PROGRAMS: usize = 64;

/// Why programs cannot run this setting over real packets, in a sentence; `None` where they can.
/// `stands_for` says which controllers besides the programs have somebody to stand for them there.
#[must_use]
pub fn obstacle(setting: &Setting, stands_for: impl Fn(&str) -> bool) -> Option<String> {
    if setting.flow_count() > MAX_PROGRAMS {
        return Some(format!("at most {MAX_PROGRAMS} programs run at a time"));
    }
    if setting.trigger.is_some() {
        return Some("only the simulator sees the phase that sets things off".to_string());
    }
    setting.groups.iter().find_map(|group| {
        let name = group.contender.name();
        if !matches!(group.contender, Contender::Program(_)) && !stands_for(name) {
            return Some(format!("{name} is in the simulator only"));
        }
        only_simulated(group).map(|what| format!("only the simulator has {what}"))
    })
}

/// What a group has that programs have not.
fn only_simulated(group: &Group) -> Option<&'static str> {
    let usual = [TransportConfig::quic(), TransportConfig::tcp()];
    [
        (group.web.is_some(), "web traffic as a share of the link"),
        (
            group.access != AccessConfig::default(),
            "access links, and flows that go the other way",
        ),
        (
            !matches!(group.source, SourceConfig::Bulk | SourceConfig::Sized(_)),
            "sources that are neither bulk nor of a size",
        ),
        (
            !usual.contains(&group.transport),
            "a say in how programs acknowledge and time out",
        ),
        (group.pacing != Pacing::Rate, "a say in how programs pace"),
    ]
    .into_iter()
    .find_map(|(has, what)| has.then_some(what))
}
