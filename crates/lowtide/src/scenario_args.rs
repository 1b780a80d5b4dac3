//! The flags that make a scenario.

use lowtide_cc::units::{Bytes, Duration, Rate};
use lowtide_lab::scenario::Scenario;
use lowtide_sim::source;
use lowtide_sim::trace::quantity;
use lowtide_sim::transport::TransportConfig;

use crate::failure::Failure;
use crate::link_args::LinkArgs;

/// Flows beyond which a comparison would not fit into the memory of a laptop.
const MAX_FLOWS: u64 = 10_000;

#[derive(Clone, Copy, clap::ValueEnum)]
enum Transport {
    Quic,
    Tcp,
}

#[derive(clap::Args)]
pub(crate) struct ScenarioArgs {
    #[command(flatten)]
    link: LinkArgs,

    /// How many flows share the bottleneck
    #[arg(long, value_name = "N", help_heading = "Flows", value_parser = clap::value_parser!(u64).range(1..=MAX_FLOWS))]
    flows: Option<u64>,

    /// Time between the starts of two flows
    #[arg(long, value_name = "TIME", help_heading = "Flows", value_parser = quantity::duration_or_zero)]
    stagger: Option<Duration>,

    /// Transport protocol
    #[arg(long, help_heading = "Flows")]
    transport: Option<Transport>,

    /// Packets that a QUIC receiver acknowledges at once [default: 2]
    #[arg(long, value_name = "N", help_heading = "Flows", value_parser = clap::value_parser!(u32).range(1..=1000))]
    ack_every: Option<u32>,

    /// Hosts do not pace: they send all that the window allows at once
    #[arg(long, help_heading = "Flows")]
    no_pacing: bool,

    /// What each flow sends: bulk, 10MB (a volume), 10mbit (a constant rate), video:2mbit,
    /// onoff:10mbit:1s:500ms (rate, on, off) [default: bulk, or the scenario's]
    #[arg(long, help_heading = "Flows")]
    source: Option<String>,

    /// Size of a full packet on the wire [default: 1500B]
    #[arg(long, value_name = "SIZE", help_heading = "Flows", value_parser = quantity::bytes)]
    packet_size: Option<Bytes>,

    /// Rate of each sender's access link
    #[arg(long, value_name = "RATE", help_heading = "Flows", value_parser = quantity::rate)]
    access_rate: Option<Rate>,

    /// How long the simulation runs [default: 30s, or the scenario's, or the trace's up to 120s]
    #[arg(long, value_name = "TIME", help_heading = "Run", value_parser = quantity::duration)]
    duration: Option<Duration>,
}

/// The longest duration that a run may have.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);
/// The largest packet: what IP can carry.
const MAX_PACKET: Bytes = Bytes::new(65_535);

impl ScenarioArgs {
    /// The scenarios that the flags describe: one, or one for each trace.
    pub(crate) fn scenarios(&self) -> Result<Vec<Scenario>, Failure> {
        let links = self.link.scenarios()?;
        links.into_iter().map(|s| self.apply(s)).collect()
    }

    fn apply(&self, mut s: Scenario) -> Result<Scenario, Failure> {
        s.duration = self.duration.unwrap_or(s.duration);
        s.stagger = self.stagger.unwrap_or(s.stagger);
        s.packet_size = self.packet_size.unwrap_or(s.packet_size);
        s.flows = self.flows.map_or(s.flows, |n| n as usize);
        if s.packet_size > MAX_PACKET {
            return Err(Failure::input(format!(
                "--packet-size: the most is {MAX_PACKET}"
            )));
        }
        if s.duration > MAX_DURATION {
            return Err(Failure::input(
                "--duration: the longest is 24 hours (86400s)",
            ));
        }
        let last_start = s.stagger * (s.flows as u64).saturating_sub(1);
        if last_start >= s.duration {
            return Err(Failure::input(format!(
                "--stagger: the last flow would start at {} s, when the run of {} s is over; \
                 shorten it or lengthen --duration",
                last_start.as_secs_f64(),
                s.duration.as_secs_f64()
            )));
        }
        if let Some(transport) = self.transport {
            s.transport = match transport {
                Transport::Quic => TransportConfig::quic(),
                Transport::Tcp => TransportConfig::tcp(),
            };
        }
        s.pacing &= !self.no_pacing;
        if let Some(every) = self.ack_every {
            match &mut s.transport {
                TransportConfig::Quic { ack_every, .. } => *ack_every = every,
                TransportConfig::Tcp { .. } => {
                    return Err(Failure::input("--ack-every is for --transport quic only"));
                }
            }
        }
        if let Some(text) = &self.source {
            s.source = source::parse(text).map_err(|e| Failure::input(format!("--source: {e}")))?;
        }
        s.access.sender_rate = self.access_rate.or(s.access.sender_rate);
        Ok(s)
    }
}
