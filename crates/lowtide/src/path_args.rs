//! The flags that impair a path.

use lowtide_cc::units::Duration;
use lowtide_cc::units::quantity;
use lowtide_lab::setting::{BurstText, EcnTreatmentText, PathSection, ShareText, TimeText};
use lowtide_sim::impairment::{self, EcnTreatment, LossModel};

#[derive(clap::Args)]
#[command(next_help_heading = "Link")]
pub(crate) struct PathArgs {
    /// Round-trip propagation delays that follow, as in 15s:60ms,30s:40ms
    #[arg(long, value_name = "TIME:RTT,...")]
    rtt_steps: Option<String>,

    /// What becomes of ECN bits behind the bottleneck: kept, bleached, downgraded (ECT(1) to ECT(0)),
    /// unmarked (CE to ECT(0)) or marked (all) [default: kept]
    #[arg(long, value_name = "WHAT", value_parser = EcnTreatment::parse)]
    mangle_ecn: Option<EcnTreatment>,

    /// Random loss behind the bottleneck, as in 0.1%
    #[arg(long, value_name = "SHARE", value_parser = quantity::probability)]
    loss: Option<f64>,

    /// Bursty loss behind the bottleneck: mean share and mean burst in packets, as in 1%:10
    #[arg(long, value_name = "SHARE:PACKETS", conflicts_with = "loss",
          value_parser = impairment::parse_burst_loss)]
    burst_loss: Option<LossModel>,

    /// Random loss of acknowledgments
    #[arg(long, value_name = "SHARE", value_parser = quantity::probability)]
    ack_loss: Option<f64>,

    /// Random extra delay behind the bottleneck, up to this
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    jitter: Option<Duration>,

    /// Let jitter reorder packets
    #[arg(long, requires = "jitter")]
    reorder: bool,

    /// Acknowledgments arrive in batches, this far apart
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    ack_aggregation: Option<Duration>,
}

impl PathArgs {
    pub(crate) fn apply(&self, path: &mut PathSection) {
        path.rtt_steps = self.rtt_steps.clone().or(path.rtt_steps.take());
        path.ecn = self.mangle_ecn.map(EcnTreatmentText).or(path.ecn);
        path.loss = self.loss.map(ShareText).or(path.loss);
        path.burst_loss = self.burst_loss.map(BurstText).or(path.burst_loss);
        path.ack_loss = self.ack_loss.map(ShareText).or(path.ack_loss);
        path.jitter = self.jitter.map(TimeText).or(path.jitter);
        path.reorder |= self.reorder;
        path.ack_aggregation = self.ack_aggregation.map(TimeText).or(path.ack_aggregation);
    }
}
