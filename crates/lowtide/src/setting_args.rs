//! The flags that make a setting.

use std::path::Path;

use lowtide_cc::units::quantity;
use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::contender::Contenders;
use lowtide_lab::setting::{
    BytesText, EcnUse, FlowSection, HostPacing, Problem, RateText, Resolver, RunSection, Sections,
    Setting, SourceText, SpanText, TimeText, Transport,
};
use lowtide_sim::source::{self, SourceConfig};
#[cfg(target_os = "linux")]
use lowtide_sim::transport::TransportConfig;

use crate::failure::Failure;
use crate::link_args::LinkArgs;
use crate::run_flags::HostArg;

#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum TransportArg {
    Quic,
    Tcp,
}

impl TransportArg {
    /// As its hosts usually have it.
    #[cfg(target_os = "linux")]
    pub(crate) fn config(self) -> TransportConfig {
        match self {
            Self::Quic => TransportConfig::quic(),
            Self::Tcp => TransportConfig::tcp(),
        }
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum EcnArg {
    Off,
    Classic,
    Accurate,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PacingArg {
    Rate,
    Off,
    AckCredit,
}

#[derive(clap::Args)]
pub(crate) struct SettingArgs {
    #[command(flatten)]
    link: LinkArgs,

    /// How many flows share the bottleneck
    #[arg(long, value_name = "N", help_heading = "Flows")]
    flows: Option<u64>,

    /// Time between the starts of two flows
    #[arg(long, value_name = "TIME", help_heading = "Flows", value_parser = quantity::duration_or_zero)]
    stagger: Option<Duration>,

    /// Flows the other way, from the receivers' side: an upload beside a download, with this controller.
    /// Their acknowledgments share the bottleneck; results are those of the others. Needs a limit of the
    /// way back: --reverse-trace or --reverse-rate
    #[arg(long, value_name = "NAME", help_heading = "Flows")]
    reverse_cc: Option<String>,

    /// How many flows go the other way [default: 1]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Flows",
        requires = "reverse_cc"
    )]
    reverse_flows: Option<u64>,

    /// Transport protocol
    #[arg(long, help_heading = "Flows")]
    transport: Option<TransportArg>,

    /// Packets that a QUIC receiver acknowledges at once [default: 2]
    #[arg(long, value_name = "N", help_heading = "Flows")]
    ack_every: Option<u32>,

    /// QUIC receivers report when packets arrived (draft-ietf-quic-receive-ts)
    #[arg(long, help_heading = "Flows")]
    timestamps: bool,

    /// Explicit congestion notification: off; as controllers want it, reported by TCP's ECN-Echo
    /// (classic) or by counts [default: accurate]
    #[arg(long, value_name = "HOW", help_heading = "Flows")]
    ecn: Option<EcnArg>,

    /// How hosts pace: at the controller's rate, not at all, or as mvfst did until July 2020
    /// [default: rate]
    #[arg(long, value_name = "HOW", help_heading = "Flows")]
    pacing: Option<PacingArg>,

    /// What each flow sends: bulk, 10MB (a volume), 10mbit (a constant rate), video:2mbit,
    /// onoff:10mbit:1s:500ms (rate, on, off), steps:0s:bulk,3s:off,9s:2mbit [default: bulk, or the scenario's]
    #[arg(long, help_heading = "Flows", value_parser = source::parse)]
    source: Option<SourceConfig>,

    /// Size of a full packet on the wire [default: 1500B]
    #[arg(long, value_name = "SIZE", help_heading = "Flows", value_parser = quantity::bytes)]
    packet_size: Option<Bytes>,

    /// Rate of each sender's access link
    #[arg(long, value_name = "RATE", help_heading = "Flows", value_parser = quantity::rate)]
    access_rate: Option<Rate>,

    #[command(flatten)]
    run: RunSectionArgs,
}

/// How long, how often, carried by what.
#[derive(clap::Args)]
pub(crate) struct RunSectionArgs {
    /// How long the simulation runs [default: 30s, or the scenario's, or the trace's up to 120s]
    #[arg(long, value_name = "TIME", help_heading = "Run", value_parser = quantity::duration)]
    duration: Option<Duration>,

    /// Repeat each run with so many seeds; mean and 95 % interval are shown [default: 1]
    #[arg(long, value_name = "N", help_heading = "Run")]
    seeds: Option<u64>,

    /// The first seed [default: 1]
    #[arg(long, value_name = "N", help_heading = "Run")]
    seed: Option<u64>,

    /// What carries the flows: the simulator's own transports, or s2n-quic (quic), noq or quinn in
    /// virtual time on the same links [default: model]
    #[arg(long, value_name = "HOST", help_heading = "Run")]
    host: Option<HostArg>,
}

impl RunSectionArgs {
    pub(crate) fn apply(&self, run: &mut RunSection) {
        run.duration = self.duration.map(TimeText).or(run.duration);
        run.seeds = self.seeds.or(run.seeds);
        run.first_seed = self.seed.or(run.first_seed);
        run.host = self.host.map(HostArg::host).or(run.host);
    }
}

impl SettingArgs {
    /// The settings that the flags describe: one, or one for each trace.
    pub(crate) fn settings(&self, contenders: &Contenders) -> Result<Vec<Setting>, Failure> {
        let mut resolver = Resolver::new(contenders, Path::new(""));
        let mut all = self.link.sections(&mut resolver)?;
        let mut settings = Vec::with_capacity(all.len());
        for sections in &mut all {
            self.apply(sections);
            let setting = resolver.setting(sections);
            let setting = setting.map_err(|mut problem| {
                if self.reverse_cc.is_some() {
                    name_reverse_flows(&mut problem, sections);
                }
                self.link.failure(&problem)
            })?;
            settings.push(setting.with_mean_in_name().map_err(Failure::input)?);
        }
        Ok(settings)
    }

    fn apply(&self, sections: &mut Sections) {
        let path = &mut sections.path;
        path.packet_size = self.packet_size.map(BytesText).or(path.packet_size);
        self.run.apply(&mut sections.run);
        for flows in &mut sections.flows {
            self.apply_to_flows(flows);
        }
        if let Some(controller) = &self.reverse_cc {
            sections.add_reverse_flows(controller, self.reverse_flows);
        }
    }

    fn apply_to_flows(&self, flows: &mut FlowSection) {
        flows.count = self.flows.or(flows.count);
        flows.every = self.stagger.map(SpanText).or(flows.every);
        let transport = self.transport.map(|transport| match transport {
            TransportArg::Quic => Transport::Quic,
            TransportArg::Tcp => Transport::Tcp,
        });
        flows.transport = transport.or(flows.transport);
        let pacing = self.pacing.map(|pacing| match pacing {
            PacingArg::Rate => HostPacing::Rate,
            PacingArg::Off => HostPacing::Off,
            PacingArg::AckCredit => HostPacing::AckCredit,
        });
        flows.pacing = pacing.or(flows.pacing);
        let ecn = self.ecn.map(|ecn| match ecn {
            EcnArg::Off => EcnUse::Off,
            EcnArg::Classic => EcnUse::Classic,
            EcnArg::Accurate => EcnUse::Accurate,
        });
        flows.ecn = ecn.or(flows.ecn);
        flows.ack_every = self.ack_every.or(flows.ack_every);
        flows.timestamps = self.timestamps.then_some(true).or(flows.timestamps);
        flows.source = self.source.map(SourceText).or(flows.source);
        let access = &mut flows.access;
        access.sender_rate = self.access_rate.map(RateText).or(access.sender_rate);
    }
}

/// What is wrong with the flows that `--reverse-cc` has added, the last ones, is wrong with its flags.
fn name_reverse_flows(problem: &mut Problem, sections: &Sections) {
    let last = format!("flows.{}.", sections.flows.len().saturating_sub(1));
    let key = match problem.at.strip_prefix(&last) {
        Some("controller" | "parameters") => "reverse.cc",
        Some("count") => "reverse.flows",
        _ => return,
    };
    problem.at = key.to_string();
}
