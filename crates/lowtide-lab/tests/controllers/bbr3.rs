//! What BBRv3 promises against BBR v1 (draft-ietf-ccwg-bbr-06 §3.1): full throughput with losses of
//! up to 1 % on average, and little loss of its own in shallow buffers.

use lowtide_cc::units::Duration;
use lowtide_lab::metrics::Metrics;
use lowtide_lab::setting::Setting;
use lowtide_sim::impairment::LossModel;
use lowtide_sim::queue::QueueLimit;

use crate::setting::{compare_seeds, constant, of};

fn setting(buffer_bdp: f64) -> Setting {
    let setting = Setting {
        duration: Duration::from_secs(40),
        ..constant(20)
    };
    setting.with_buffer(QueueLimit::Bdp(buffer_bdp))
}

fn measure<const N: usize>(setting: &Setting, names: [&str; N]) -> [Metrics; N] {
    let result = compare_seeds(setting, &names, 2, 0);
    names.map(|name| *of(&result, name))
}

#[test]
fn in_a_shallow_buffer_it_loses_a_fraction_of_what_v1_does_and_keeps_the_link_busy() {
    let [v1, v3] = measure(&setting(0.1), ["bbr", "bbr3"]);
    assert!(v1["loss_share"] > 0.03, "{v1:?}");
    assert!(v3["loss_share"] < 0.005, "{v3:?}");
    assert!(v3["utilisation"] > 0.88, "{v3:?}");
}

#[test]
fn one_percent_of_random_loss_costs_it_a_fifth_and_cubic_four_fifths() {
    let lossy = setting(2.0).with_loss(LossModel::Random(0.01));
    let [v3, cubic] = measure(&lossy, ["bbr3", "cubic"]);
    assert!((0.75..0.9).contains(&v3["utilisation"]), "{v3:?}");
    assert!(cubic["utilisation"] < 0.3, "{cubic:?}");
}

#[test]
fn several_flows_share_a_link_and_their_standing_queue_stays_below_the_window_gain() {
    let shared = setting(4.0).with_flows(3);
    let [v3] = measure(&shared, ["bbr3"]);
    assert!(v3["utilisation"] > 0.95, "{v3:?}");
    assert!(v3["jain"] > 0.85, "{v3:?}");
    assert!(v3["rtt_ms.p95"] < 40.0 * 3.2, "{v3:?}");
}
