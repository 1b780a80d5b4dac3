//! BBRx: the correction of the estimate by the RTT.

use lowtide_cc::Config;
use lowtide_cc::controllers::bbr::{BandwidthEstimator, Model};
use lowtide_cc::controllers::bbrx::CorrectedMax;
use lowtide_cc::units::Rate;

use super::events::{ack, at, ms, packet, rate_sample};
use super::host::MSS;

#[test]
fn the_estimate_is_raised_without_a_queue_and_lowered_by_a_long_one() {
    let mut model = Model::new(&Config::for_datagram(MSS));
    model.min_rtt = ms(40);
    for (rtt, expected) in [
        (40, 1_050_000), // 1 + 0.2 · (1.25 · 40 − 40)/40
        (50, 1_000_000),
        (100, 900_000),
        (4_000, 802_500),
    ] {
        model.rtt = ms(rtt);
        let mut estimator = CorrectedMax::new(0.2, 1.25);
        let acked = [packet(1, at(0))];
        let mut event = ack(at(rtt), ms(rtt), &acked);
        event.rate_sample = Some(rate_sample(Rate::from_bytes_per_sec(1_000_000)));
        estimator.on_ack(&event, &model);
        assert_eq!(
            estimator.bandwidth().as_bytes_per_sec(),
            expected,
            "{rtt} ms"
        );
    }
}
