//! What a comparison says, in a sentence or two for people.

use lowtide_lab::compare::{Comparison, Entry, Role};
use lowtide_lab::setting::Setting;

/// How much throughput a calmer controller may cost to be named.
const AFFORDABLE: f64 = 0.1;

/// Sentence on which controller has the most throughput, at what delay, and what less of that would
/// cost; empty where nothing is compared.
pub(super) fn sentence(setting: &Setting, comparison: &Comparison) -> String {
    let entries = comparison.entries.iter();
    let must = entries.clone().find(|e| e.role == Role::Limit).map(delay);
    let must = must
        .filter(|delay| delay.is_finite())
        .unwrap_or_else(|| setting.base_rtt().as_millis_f64());
    let contenders: Vec<&Entry> = entries
        .filter(|e| e.role == Role::Contender && rate(e) > 0.0 && delay(e).is_finite())
        .collect();
    // Flows of different controllers are what is compared there, and rivals, too.
    if contenders.iter().any(|e| !e.lives.is_empty()) || must <= 0.0 {
        return String::new();
    }
    let fastest = contenders.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let Some(fastest) = fastest else {
        return String::new();
    };
    let near = contenders
        .iter()
        .filter(|e| rate(e) >= (1.0 - AFFORDABLE) * rate(fastest));
    let calm = near
        .min_by(|a, b| delay(a).total_cmp(&delay(b)))
        .unwrap_or(fastest);
    let times = |entry: &Entry| times(delay(entry) / must);
    let waits = format!(
        "one packet in twenty takes {} times as long there and back as it must ({:.0} instead of {must:.0} ms)",
        times(fastest),
        delay(fastest),
    );
    let name = &fastest.name;
    if contenders.len() == 1 {
        return format!("{name} carries {:.3} Mbit/s, and {waits}.", rate(fastest));
    }
    if calm.name == fastest.name {
        return format!(
            "{name} has the most throughput and, of those within 10 % of it, the least delay: {waits}."
        );
    }
    let cost = 100.0 * (1.0 - rate(calm) / rate(fastest));
    let cost = if cost < 1.0 {
        "less than 1 %".to_string()
    } else {
        format!("{cost:.0} %")
    };
    format!(
        "{name} has the most throughput, and {waits}. {} costs {cost} of that throughput, and they take {} times as long.",
        calm.name,
        times(calm),
    )
}

fn rate(entry: &Entry) -> f64 {
    entry.mean["throughput_mbps"]
}

fn delay(entry: &Entry) -> f64 {
    entry.mean["rtt_ms.p95"]
}

/// How many times, as people say it: 1.4, 12.
fn times(ratio: f64) -> String {
    if ratio < 9.95 {
        format!("{ratio:.1}")
    } else {
        format!("{ratio:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lowtide_lab::compare::{Options, compare};
    use lowtide_lab::contender::Contenders;

    #[test]
    fn a_person_is_told_who_is_fast_and_what_less_delay_costs() {
        let contenders = Contenders::default();
        let setting = lowtide_lab::setting::built_in()[0].setting();
        let said = |controllers: &str| {
            let asked = contenders.parse_all(controllers).unwrap();
            let done = compare(&setting, &asked, Options::default(), &|| {}).unwrap();
            sentence(&setting, &done)
        };
        let most = "bbr has the most throughput, and one packet in twenty takes ";
        let less = " % of that throughput, and they take ";
        for (who, begin, part) in [("bbr,ebb", most, less), ("ebb", "ebb carries ", " ms).")] {
            let text = said(who);
            assert!(text.starts_with(begin) && text.contains(part), "{text}");
        }
    }
}
