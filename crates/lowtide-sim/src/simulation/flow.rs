//! A flow: both of its ends, and when it starts.

use lowtide_cc::controllers::rbbr;
use lowtide_cc::units::{Duration, Time};
use lowtide_cc::{Config, Controller};

use super::abc::Abc;
use super::causal::{self, Causal};
use super::config::{FlowConfig, SenderKind, SimConfig};
use crate::network::AccessConfig;
use crate::network::seed::Stream;
use crate::source::Source;
use crate::transport::receiver::Receiver;
use crate::transport::sender::{Sender, SenderSetup};

#[derive(Debug)]
pub(super) struct Flow {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) is_oracle: bool,
    pub(super) access: AccessConfig,
    pub(super) start: Time,
    /// Least delay of its data behind the bottleneck.
    pub(super) from_link: Duration,
}

impl Flow {
    /// Flow number `index` of a simulation.
    pub(super) fn new(index: usize, flow: &FlowConfig, config: &SimConfig) -> Self {
        let seed = Stream::Flow(index).seed(config.seed);
        let mut cc_config = Config::for_datagram(config.packet_size);
        cc_config.initial_window = flow.transport.initial_window(config.packet_size);
        cc_config.now = flow.start;
        cc_config.seed = seed;
        cc_config.transport = flow.transport.protocol();
        let (controller, estimator) = match &flow.sender {
            // A stack's own controller is refused before.
            SenderKind::Oracle | SenderKind::Stock(_) => (None, None),
            SenderKind::Causal(causal) => {
                let way = flow.access.direction;
                let same_way = |other: &&FlowConfig| other.access.direction == way;
                let rivals = config.flows.iter().filter(same_way).count();
                let place = causal::Place {
                    base_rtt: config.base_rtt(&flow.access),
                    to_link: flow.access.sender_delay,
                    share: 1.0 / rivals as f64,
                };
                let link = config.pipe(flow.access.direction).link.clone();
                let causal = Causal::new(*causal, link, place, &cc_config);
                (Some(Box::new(causal) as Box<dyn Controller>), None)
            }
            SenderKind::Abc => {
                let abc = Box::new(Abc::new(&cc_config)) as Box<dyn Controller>;
                (Some(abc), None)
            }
            SenderKind::Controlled {
                controller,
                estimator,
            } => {
                let estimator = estimator.as_ref().map(rbbr::Receiver::new);
                (Some(controller(&cc_config)), estimator)
            }
        };
        let end = Time::ZERO + config.duration;
        Self {
            sender: Sender::new(SenderSetup {
                flow: index,
                transport: flow.transport,
                ecn: flow.ecn,
                pacing: flow.pacing,
                controller,
                source: Source::new(flow.source, flow.start, config.packet_size, seed),
                packet_size: config.packet_size,
                start: flow.start,
                stop: flow.stop.unwrap_or(Time::MAX).min(end),
            }),
            receiver: Receiver::new(&flow.transport, flow.ecn, estimator).lying(flow.lie),
            is_oracle: matches!(flow.sender, SenderKind::Oracle),
            access: flow.access,
            start: flow.start,
            from_link: config.from_link(&flow.access),
        }
    }
}
