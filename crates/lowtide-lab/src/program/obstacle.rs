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
        (group.lie.is_some(), "receivers that lie"),
    ]
    .into_iter()
    .find_map(|(has, what)| has.then_some(what))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::contender::Contenders;
    use crate::scenario_file::ScenarioFile;

    #[test]
    fn what_programs_cannot_be_asked_for_is_said() {
        let said = |flow: &str| {
            let text = format!(
                "[link]\nrate = '8mbit'\n[run]\nduration = '5s'\n[[flows]]\ncontroller = 'mine'\n{flow}\n"
            );
            let file = ScenarioFile::parse(Path::new("test.toml"), text).unwrap();
            let contenders = Contenders::default().with_program("mine");
            let cells = file.cells(&contenders).unwrap();
            obstacle(&cells[0].setting, |name| name == "cubic")
        };
        for runs in [
            "",
            "source = '1MB'",
            "count = 3\nevery = '1s'",
            "transport = 'tcp'",
            "[[flows]]\ncontroller = 'cubic'\nstart = '1s'\nstop = '3s'",
        ] {
            assert_eq!(said(runs), None, "{runs}");
        }
        let reverse = "direction = 'reverse'\n[reverse]\nrate = '1mbit'";
        let rival = "[[flows]]\ncontroller = 'ebb'";
        for (flow, problem) in [
            ("count = 65", "at most 64"),
            ("source = 'video:1mbit'", "neither bulk nor of a size"),
            (reverse, "go the other way"),
            ("ack_every = 10", "acknowledge"),
            ("pacing = 'off'", "pace"),
            (rival, "ebb is in the simulator only"),
        ] {
            let found = said(flow).unwrap_or_default();
            assert!(found.contains(problem), "{flow}: {found}");
        }
    }
}
