//! The host keeps the core's contract, whatever the network does.

use std::time::Duration;

use lowtide_quic::Controllers;

use crate::peers::{bare_server, client, download, model, server};
use crate::recorder::recorded;

const SIZE: usize = 4_000_000;
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn what_the_controller_is_told_is_exact_under_loss_reordering_and_duplication() {
    for spec in ["newreno", "bbr"] {
        let model = model();
        model.set_drop_rate(0.01);
        model.set_retransmit_rate(0.01);
        model.set_network_jitter(Duration::from_millis(5));
        let (provider, notes) = recorded(spec);
        let download = download(model, SIZE, PATIENCE, server(provider), client);
        assert!(download.is_done(), "{}", download.error());
        assert_eq!(download.received(), SIZE as u64);
        let notes = notes.lock().unwrap();
        assert_eq!(notes.breaches, [""; 0], "{spec}");
        assert!(notes.lost_packets > 10, "{notes:?}");
        assert!(notes.acked_packets > 2_500, "{notes:?}");
    }
}

#[test]
fn without_the_other_parts_all_but_the_exact_packets_still_holds() {
    let model = model();
    model.set_drop_rate(0.01);
    let (provider, notes) = recorded("newreno");
    let download = download(
        model,
        SIZE,
        PATIENCE,
        bare_server(Controllers::from(provider)),
        client,
    );
    assert!(download.is_done());
    let notes = notes.lock().unwrap();
    // A packet that was taken for acknowledged in the place of a lost one shows in the losses.
    let inexact = notes.breaches.len() as f64 / notes.acked_packets as f64;
    assert!(inexact < 0.05, "{:?}", notes.breaches.first());
    assert!(notes.lost_packets > 10 && notes.acked_packets > 2_500);
}
