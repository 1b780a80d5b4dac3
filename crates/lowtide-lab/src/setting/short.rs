//! Short names: single keys of sections by names that need no section, as flags and keyword arguments have them.

/// Short names and the keys that they fill; a key of `flows` is filled in every group.
pub const SHORT: &[(&str, &str)] = &[
    ("opportunity", "link.opportunity"),
    ("rate", "link.rate"),
    ("burst", "link.burst"),
    ("schedule", "link.schedule"),
    ("queue", "link.queue"),
    ("buffer", "link.buffer"),
    ("policer", "link.policer"),
    ("cross", "link.cross"),
    ("reverse_trace", "reverse.trace"),
    ("reverse_rate", "reverse.rate"),
    ("reverse_queue", "reverse.queue"),
    ("reverse_buffer", "reverse.buffer"),
    ("reverse_cross", "reverse.cross"),
    ("rtt", "path.rtt"),
    ("rtt_steps", "path.rtt_steps"),
    ("delay_trace", "path.delay_trace"),
    ("mangle_ecn", "path.ecn"),
    ("loss", "path.loss"),
    ("burst_loss", "path.burst_loss"),
    ("scripted_loss", "path.scripted_loss"),
    ("ack_loss", "path.ack_loss"),
    ("jitter", "path.jitter"),
    ("reorder", "path.reorder"),
    ("ack_aggregation", "path.ack_aggregation"),
    ("packet_size", "path.packet_size"),
    ("flows", "flows.count"),
    ("stagger", "flows.every"),
    ("transport", "flows.transport"),
    ("ack_every", "flows.ack_every"),
    ("timestamps", "flows.timestamps"),
    ("ecn", "flows.ecn"),
    ("pacing", "flows.pacing"),
    ("source", "flows.source"),
    ("access_rate", "flows.access.sender_rate"),
    ("duration", "run.duration"),
    ("seeds", "run.seeds"),
    ("seed", "run.first_seed"),
    ("host", "run.host"),
    ("measure_from", "run.measure_from"),
];

/// The flags that stand for more than one key, and what they are.
pub const SHORT_FOR_MORE: &[(&str, &str)] = &[
    (
        "scenario",
        "A built-in setting to start from: `4g`, `media` or `video`.",
    ),
    (
        "trace",
        "Recorded links: mahimahi's opportunities, or a rate series if named `.csv`. Several make a setting each.",
    ),
    (
        "traces",
        "A folder of recorded links: each makes a setting. Other files in it are left out and named.",
    ),
    (
        "reverse_cc",
        "The controller of flows the other way, from the receivers' side, which send all they can from the beginning: \
         uploads beside downloads. Their acknowledgments share the bottleneck; results are those of the others. Needs a \
         limit of the way back.",
    ),
    (
        "reverse_flows",
        "How many flows `reverse_cc` has (default 1).",
    ),
];

/// The names of the sections that make a simulation.
pub(crate) const SECTIONS: &[&str] = &[
    "link", "reverse", "path", "run", "flows", "trigger", "measures",
];

/// A key without the numbers of its groups.
pub(super) fn plain(key: &str) -> String {
    let parts = key.split('.').filter(|part| part.parse::<u64>().is_err());
    parts.collect::<Vec<_>>().join(".")
}

/// The short name of a key, or of the key that it lies within.
#[must_use]
pub fn short_name(key: &str) -> Option<&'static str> {
    let key = plain(key);
    let is_within = |long: &str| {
        let rest = key.strip_prefix(long);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut all = SHORT.iter();
    all.find(|(_, long)| is_within(long))
        .map(|(short, _)| *short)
}
