//! Goals: what is bad, as a value between 0 and 1 that a scenario file's limit works out.

use std::fmt::Write as _;

use lowtide_cc::registry::unknown;
use lowtide_lab::metrics::Measured;
use toml::{Table, Value};

use crate::network::{Network, Step, text, time_us};

/// Whom others' flows are of in [`Goal::Share`].
pub const NEIGHBOURS: [&str; 3] = ["cubic", "bbr", "bbr3"];

/// What is bad of a controller on a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Goal {
    /// It carries less than the reference.
    Throughput,
    /// Its queueing delay is longer than the reference's.
    Delay,
    /// Throughput and queueing delay are worse, by the product of the two ratios.
    Both,
    /// For 5 s it uses less of the link than the reference does in its worst 5 s.
    Stall,
    /// One of three flows of its own starves for 10 s.
    Starvation,
    /// A flow that joins one of its own stays without a share.
    Latecomer,
    /// One of two flows of its own starves whose round trips differ by a factor of four.
    Rtt,
    /// Ten flows of its own carry less, or lose more, than as many of the reference.
    Crowd,
    /// CUBIC carries less beside it than beside CUBIC.
    Harm,
    /// It has less than half of the link beside one flow of this controller of [`NEIGHBOURS`].
    Share(usize),
    /// It loses more than the reference.
    Loss,
    /// After trouble has ended it carries less than the reference.
    Memory,
    /// It breaks what must hold of any controller, or of BBR's draft where its phases are the draft's.
    Invariants,
}

/// How long a run is, and what is looked at in it.
struct Form {
    seconds: u64,
    flows: Flows,
    /// What is measured besides metrics, as in a scenario file.
    measures: &'static str,
    metric: &'static str,
    value: &'static str,
    at_most: f64,
    reason: &'static str,
}

/// What most forms have.
const ALONE: Form = Form {
    seconds: 20,
    flows: Flows::Alone,
    measures: "",
    metric: "",
    value: "",
    at_most: 0.0,
    reason: "",
};

/// The least share of its fair share that one of its own flows has.
const OWN: &str = "own = { least = { window = '10s', from = '10s' } }";

/// What must hold, and how often it does not: of any controller, and the rules of BBR's draft but for that of `max_bw`,
/// which jitter breaks.
const INVARIANTS: [(&str, &str); 6] = [
    (
        "the window is below two packets, or one over TCP",
        "{ stretch = { value = 'cwnd / smss', at_most = LEAST, what = 'count' } }",
    ),
    (
        "the pacing rate is zero",
        "{ stretch = { value = 'pacing_rate', at_most = 0, what = 'count' } }",
    ),
    (
        "a phase of BBR's draft comes after one that may not lead to it",
        "{ invariant = { rules = ['transitions'] } }",
    ),
    (
        "the window is below four packets, against BBR's draft",
        "{ invariant = { rules = ['window'] } }",
    ),
    (
        "more is in flight than window and quantum allow by BBR's draft",
        "{ invariant = { rules = ['inflight'] } }",
    ),
    (
        "the pacing rate is not that of the phase in BBR's draft",
        "{ invariant = { rules = ['pacing'] } }",
    ),
];

/// The flows of a trial.
enum Flows {
    /// One flow, of the candidate and then of the reference.
    Alone,
    /// Ten, of the candidate and then of the reference.
    Ten,
    /// One of the candidate.
    One,
    /// Three of the candidate, a second apart.
    Three,
    /// Two of the candidate, the second with four times the round trip.
    Far,
    /// Two of the candidate, the second 8 s later.
    Later,
    /// One of the candidate and one of another, 100 ms later.
    Beside(&'static str),
    /// One of CUBIC beside the candidate, and beside CUBIC.
    Harm,
}

impl Goal {
    /// All of them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let shares = (0..NEIGHBOURS.len()).map(Self::Share);
        let before = [
            Self::Throughput,
            Self::Delay,
            Self::Both,
            Self::Stall,
            Self::Starvation,
            Self::Latecomer,
            Self::Rtt,
            Self::Crowd,
            Self::Harm,
        ];
        let after = [Self::Loss, Self::Memory, Self::Invariants];
        before.into_iter().chain(shares).chain(after).collect()
    }

    /// The one of this name.
    ///
    /// # Errors
    /// When there is none; the text has the names that there are.
    pub fn find(name: &str) -> Result<Self, String> {
        let found = Self::all().into_iter().find(|goal| goal.name() == name);
        found.ok_or_else(|| {
            let known: Vec<String> = Self::all().into_iter().map(Self::name).collect();
            unknown("goal ", name, &known)
        })
    }

    /// The goals of these names, where `all` alone means all of them.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub fn find_all<S: AsRef<str>>(names: &[S]) -> Result<Vec<Self>, String> {
        match names {
            [all] if all.as_ref() == "all" => Ok(Self::all()),
            named => named.iter().map(|name| Self::find(name.as_ref())).collect(),
        }
    }

    /// Its name, as in `share:bbr`.
    #[must_use]
    pub fn name(self) -> String {
        let name = match self {
            Self::Throughput => "throughput",
            Self::Delay => "delay",
            Self::Both => "both",
            Self::Stall => "stall",
            Self::Starvation => "starvation",
            Self::Latecomer => "latecomer",
            Self::Rtt => "rtt",
            Self::Crowd => "crowd",
            Self::Harm => "harm",
            Self::Share(n) => return format!("share:{}", NEIGHBOURS[n]),
            Self::Loss => "loss",
            Self::Memory => "memory",
            Self::Invariants => "invariants",
        };
        name.to_string()
    }

    /// What it is called for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Throughput => "Carries less",
            Self::Delay => "Keeps a longer queue",
            Self::Both => "Is worse in throughput and delay",
            Self::Stall => "Stalls",
            Self::Starvation => "Starves a flow of its own",
            Self::Latecomer => "Lets no newcomer in",
            Self::Rtt => "Starves the shorter or the longer of two paths",
            Self::Crowd => "Carries less or loses more with ten flows",
            Self::Harm => "Harms CUBIC",
            Self::Share(0) => "Gives way to CUBIC",
            Self::Share(1) => "Gives way to BBR",
            Self::Share(_) => "Gives way to BBRv3",
            Self::Loss => "Loses packets",
            Self::Memory => "Does not forget",
            Self::Invariants => "Breaks an invariant",
        }
    }

    /// Whether it holds the candidate against the reference.
    #[must_use]
    pub fn has_reference(self) -> bool {
        matches!(self.form().flows, Flows::Alone | Flows::Ten)
    }

    /// The length of its runs, ms.
    #[must_use]
    pub fn run_ms(self) -> u64 {
        self.form().seconds * 1000
    }

    /// The value from which on a network is a finding.
    #[must_use]
    pub fn limit(self) -> f64 {
        self.form().at_most
    }

    /// The most that its value can be after this run of the candidate, whatever the reference does: that uses all of
    /// the link, without a queue or a loss. `None` where it takes more to say.
    #[must_use]
    pub fn bound(self, run: &Measured) -> Option<f64> {
        let total = &run.total;
        let missing = || Some(1.0 - total.get("utilisation")?.min(1.0));
        let longer = || Some(1.0 - 20.0 / (total.get("queue_delay_ms.p95")? + 20.0));
        match self {
            Self::Throughput => missing(),
            Self::Crowd => Some(missing()?.max(total.get("loss_share")?)),
            Self::Delay => longer(),
            Self::Both => Some(1.0 - (1.0 - missing()?) * (1.0 - longer()?)),
            Self::Loss => total.get("loss_share"),
            _ => None,
        }
    }

    #[allow(clippy::too_many_lines)]
    fn form(self) -> Form {
        // 20 ms of delay more or less are nobody's trouble: they keep the ratio of two short queues from being a finding.
        match self {
            Self::Throughput => Form {
                metric: "share of the reference's throughput that is missing",
                value: "1 - throughput_mbps('candidate') / max(throughput_mbps('REFERENCE'), 0.001)",
                at_most: 0.2,
                reason: "a fifth is what forecasting costs at a round trip's notice",
                ..ALONE
            },
            Self::Delay => Form {
                metric: "1 - (the reference's p95 queueing delay + 20 ms) / (its own + 20 ms)",
                value: "1 - (queue_delay_ms.p95('REFERENCE') + 20) / (queue_delay_ms.p95('candidate') + 20)",
                at_most: 0.8,
                reason: "a queue five times as long as the path asks for",
                ..ALONE
            },
            Self::Both => Form {
                metric: "1 - throughput over the reference's, times (its p95 queueing delay + 20 ms) over (its own + 20 ms)",
                value: "1 - min(1, throughput_mbps('candidate') / max(throughput_mbps('REFERENCE'), 0.001)) * min(1, (queue_delay_ms.p95('REFERENCE') + 20) / (queue_delay_ms.p95('candidate') + 20))",
                at_most: 0.8,
                reason: "a fifth of what the path allows",
                ..ALONE
            },
            Self::Stall => Form {
                measures: "worst = { least = { window = '5s', from = '3s' } }",
                metric: "share of what the reference uses in its worst 5 s that is missing in its own",
                value: "max(0, worst('REFERENCE') - worst('candidate')) / max(worst('REFERENCE'), 0.2)",
                at_most: 0.9,
                reason: "a tenth of the link for 5 s is a stall",
                ..ALONE
            },
            Self::Starvation => Form {
                seconds: 40,
                flows: Flows::Three,
                measures: OWN,
                metric: "1 - the least share of its fair share that a flow has in any 10 s",
                value: "1 - own",
                at_most: 0.9,
                reason: "with a tenth for 10 s a call or a page is dead",
            },
            Self::Rtt => Form {
                flows: Flows::Far,
                ..Self::Starvation.form()
            },
            Self::Crowd => Form {
                flows: Flows::Ten,
                metric: "share of the reference's throughput that is missing, or of packets lost beyond the reference's: the greater",
                value: "max(1 - throughput_mbps('candidate') / max(throughput_mbps('REFERENCE'), 0.001), loss_share('candidate') - loss_share('REFERENCE'))",
                at_most: 0.2,
                reason: "as of one flow; ten in a short queue may use all of a link and lose most of what they send",
                ..ALONE
            },
            Self::Latecomer => Form {
                seconds: 30,
                flows: Flows::Later,
                measures: "late = { least = { group = 1, window = '10s', from = '15s' } }",
                metric: "1 - the newcomer's least share of its fair share in any 10 s, 7 s after it came",
                value: "1 - late",
                at_most: 0.9,
                reason: "with a tenth for 10 s a call or a page is dead",
            },
            Self::Harm => Form {
                seconds: 30,
                flows: Flows::Harm,
                metric: "share of CUBIC's goodput beside CUBIC that is missing beside it",
                value: "1 - flows.1.goodput_mbps('candidate beside cubic') / max(flows.1.goodput_mbps('cubic beside cubic'), 0.001)",
                at_most: 0.5,
                reason: "half of what CUBIC leaves to CUBIC",
                ..ALONE
            },
            Self::Share(n) => Form {
                seconds: 30,
                flows: Flows::Beside(NEIGHBOURS[n]),
                metric: "share of half of the throughput that is missing",
                value: "1 - min(1, 2 * flows.0.throughput_mbps / max(flows.0.throughput_mbps + flows.1.throughput_mbps, 0.001))",
                at_most: 0.9,
                reason: "who has a twentieth beside what is there will not be deployed",
                ..ALONE
            },
            Self::Loss => Form {
                metric: "share of packets lost beyond the reference's",
                value: "loss_share('candidate') - loss_share('REFERENCE')",
                at_most: 0.1,
                reason: "a tenth of all packets, sent again over somebody's radio",
                ..ALONE
            },
            Self::Memory => Form {
                seconds: 40,
                measures: "after = { span = { metric = 'throughput_mbps', from = '30s', to = '40s' } }",
                metric: "share of the reference's throughput that is missing 10 s after the trouble has ended",
                value: "max(0, after('REFERENCE') - after('candidate')) / max(after('REFERENCE'), 0.001)",
                at_most: 0.2,
                reason: "ten seconds later nothing but memory speaks against four fifths",
                ..ALONE
            },
            Self::Invariants => Form {
                flows: Flows::One,
                reason: "the contract of controllers, RFC 9002 section 7.2, draft-ietf-ccwg-bbr",
                ..ALONE
            },
        }
    }

    /// The network with what this goal asks for: of [`Self::Memory`] trouble ends after 20 s.
    #[must_use]
    pub fn fitted(self, network: Network) -> Network {
        if self != Self::Memory {
            return network;
        }
        let calm = Network::calm(network.rates[0].kbit, network.rtt_us);
        let mut rates = network.rates;
        if rates.len() > 1 {
            // Played once, and the first rate again to the end.
            let mut at = 0;
            rates.retain_mut(|step| {
                step.ms = step.ms.min(20_000_u64.saturating_sub(at));
                at += step.ms;
                step.ms > 0
            });
            let first = rates[0].kbit;
            rates.push(Step {
                kbit: first,
                ms: 40_000,
            });
        }
        let mut rtt_steps = network.rtt_steps;
        if !rtt_steps.is_empty() {
            for (at, _) in &mut rtt_steps {
                *at = (*at).min(15_000);
            }
            rtt_steps.push((20_000, calm.rtt_us));
        }
        Network {
            rates,
            outage: network.outage.map(|(at, ms)| (at.min(15_000), ms)),
            buffer_tenths: network.buffer_tenths,
            queue: network.queue,
            tcp: network.tcp,
            rtt_steps,
            ..calm
        }
    }

    /// The case of a suite that this goal makes of a network, run with so many seeds.
    #[must_use]
    pub fn case(self, network: &Network, reference: &str, seeds: u32) -> Table {
        let form = self.form();
        let with_reference = |expression: &str| expression.replace("REFERENCE", reference);
        let network = &self.fitted(network.clone());
        let (link, path) = network.sections();
        let mut case = Table::new();
        case.insert(
            "run".to_string(),
            table([
                ("duration", text(format!("{}s", form.seconds))),
                ("seeds", Value::Integer(seeds.into())),
            ]),
        );
        case.insert("link".to_string(), Value::Table(link));
        case.insert("path".to_string(), Value::Table(path));
        let flow = |controller: &str, more: &[(&str, Value)]| {
            let mut flow = network.of_flow();
            flow.insert("controller".to_string(), text(controller));
            for (key, value) in more {
                flow.insert((*key).to_string(), value.clone());
            }
            Value::Table(flow)
        };
        let set_first = |name: &str, controller: &str| {
            table([
                ("name", text(name)),
                ("set", table([("flows.0.controller", text(controller))])),
            ])
        };
        let flows = match form.flows {
            Flows::Alone | Flows::Ten => {
                let both = Value::Array(vec![text("candidate"), text(reference)]);
                let sweep = table([("flows.0.controller", both)]);
                case.insert("sweep".to_string(), sweep);
                let ten = [("count", Value::Integer(10)), ("every", text("100ms"))];
                let is_ten = matches!(form.flows, Flows::Ten);
                vec![flow("candidate", if is_ten { &ten } else { &[] })]
            }
            Flows::One => vec![flow("candidate", &[])],
            Flows::Far => {
                // There and back: three more round trips.
                let delay = text(time_us(network.rtt_us * 3 / 2));
                let access = table([("sender_delay", delay)]);
                vec![
                    flow("candidate", &[]),
                    flow("candidate", &[("start", text("1s")), ("access", access)]),
                ]
            }
            Flows::Three => {
                let more = [("count", Value::Integer(3)), ("every", text("1s"))];
                vec![flow("candidate", &more)]
            }
            Flows::Later => vec![
                flow("candidate", &[]),
                flow("candidate", &[("start", text("8s"))]),
            ],
            Flows::Beside(other) => vec![
                flow("candidate", &[]),
                flow(other, &[("start", text("100ms"))]),
            ],
            Flows::Harm => {
                let cases = vec![
                    set_first("candidate beside cubic", "candidate"),
                    set_first("cubic beside cubic", "cubic"),
                ];
                case.insert("cases".to_string(), Value::Array(cases));
                vec![
                    flow("candidate", &[]),
                    flow("cubic", &[("start", text("100ms"))]),
                ]
            }
        };
        case.insert("flows".to_string(), Value::Array(flows));
        let limit = |metric: &str, value: &str| {
            Table::from_iter([
                ("metric".to_string(), text(metric)),
                ("value".to_string(), text(with_reference(value))),
                ("at_most".to_string(), Value::Float(form.at_most)),
                ("reason".to_string(), text(form.reason)),
                ("source".to_string(), text("Lowtide")),
            ])
        };
        let (mut measures, mut limits) = (form.measures.to_string(), Vec::new());
        if self == Self::Invariants {
            // After a timeout TCP's window is one packet (RFC 5681, section 3.1), QUIC's never below two.
            let least = if network.tcp { "0.99" } else { "1.99" };
            for (n, (metric, measure)) in INVARIANTS.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = writeln!(measures, "rule_{n} = {}", measure.replace("LEAST", least));
                let mut limit = limit(metric, &format!("min(1, or(rule_{n}, 0))"));
                limit.insert("seeds".to_string(), text("each"));
                if measure.contains("invariant") {
                    limit.insert("needs".to_string(), Value::Array(vec![text("bbr")]));
                }
                limits.push(Value::Table(limit));
            }
        } else {
            limits.push(Value::Table(limit(form.metric, form.value)));
        }
        if !measures.is_empty() {
            let measures: Table =
                toml::from_str(&measures).unwrap_or_else(|e| unreachable!("{measures}: {e}"));
            case.insert("measures".to_string(), Value::Table(measures));
        }
        case.insert("limits".to_string(), Value::Array(limits));
        let about = table([
            ("id", text(self.name().replace(':', "-"))),
            ("title", text(self.title())),
            ("source", text("found by search")),
        ]);
        case.insert("case".to_string(), about);
        case
    }
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (key.to_string(), value));
    Value::Table(entries.collect())
}
