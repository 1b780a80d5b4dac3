//! A flow: both of its ends, and when it starts.

use lowtide_cc::units::{Duration, Time};
use lowtide_cc::{Config, rbbr};

use super::config::{FlowConfig, SenderKind, SimConfig};
use crate::network::AccessConfig;
use crate::network::seed::Stream;
use crate::source::Source;
use crate::transport::receiver::Receiver;
use crate::transport::sender::{Driver, Sender, SenderSetup};

#[derive(Debug)]
pub(super) struct Flow {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) access: AccessConfig,
    pub(super) start: Time,
    /// Delay of its data behind the bottleneck.
    pub(super) from_link: Duration,
}

impl Flow {
    /// Flow number `index` of a simulation.
    pub(super) fn new(index: usize, flow: &FlowConfig, config: &SimConfig) -> Self {
        let seed = Stream::Flow(index).seed(config.seed);
        let (driver, estimator) = match &flow.sender {
            SenderKind::Oracle => (Driver::Oracle { next: None }, None),
            SenderKind::Controlled {
                controller,
                estimator,
            } => {
                let mut cc_config = Config::for_datagram(config.packet_size);
                cc_config.initial_window = flow.transport.initial_window(config.packet_size);
                cc_config.now = flow.start;
                cc_config.seed = seed;
                let estimator = estimator.as_ref().map(rbbr::Receiver::new);
                (Driver::Controller(controller(&cc_config)), estimator)
            }
        };
        let end = Time::ZERO + config.duration;
        Self {
            sender: Sender::new(SenderSetup {
                flow: index,
                transport: flow.transport,
                driver,
                source: Source::new(flow.source, flow.start, config.packet_size, seed),
                packet_size: config.packet_size,
                start: flow.start,
                stop: flow.stop.unwrap_or(Time::MAX).min(end),
            }),
            receiver: Receiver::new(&flow.transport, estimator),
            access: flow.access,
            start: flow.start,
            from_link: config.forward.delay + flow.access.receiver_delay,
        }
    }
}
