//! A flow's qlog against the schema, and against what the simulator measures of the same run.

use std::collections::BTreeMap;
use std::sync::Arc;

use cddl_cat::validate_json_str;
use lowtide_cc::units::{Duration, Rate};
use lowtide_lab::contender::Contenders;
use lowtide_lab::metrics::Meter;
use lowtide_lab::setting::{Host, LinkSource, Setting};
use lowtide_lab::transfer::{Sample, SampledFlow};
use lowtide_report::qlog::{self, Version};
use lowtide_sim::Simulation;
use lowtide_sim::impairment::LossModel;
use lowtide_sim::link::Link;
use lowtide_sim::transport::TransportConfig;
use serde_json::Value;

const SCHEMA: &str = include_str!("qlog.cddl");

fn setting(spec: &str) -> Setting {
    let link = Link::constant(Rate::from_mbps(10)).unwrap();
    let setting = Setting {
        duration: Duration::from_secs(5),
        ..Setting::on_link("10 Mbit/s", LinkSource::Fixed(Arc::new(link)))
    };
    let setting = setting.with_loss(LossModel::Random(0.01));
    setting.run_by(&Contenders::default().parse(spec).unwrap())
}

/// The records of a run over a host.
fn log(host: Host, spec: &str, version: Version) -> Vec<String> {
    let setting = Setting {
        host,
        ..setting(spec)
    };
    let bytes = qlog::write(&setting, version, Vec::new()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let records = text.split('\u{1e}').skip(1);
    records
        .map(|record| record.strip_suffix('\n').unwrap().to_string())
        .collect()
}

fn fits(rule: &str, record: &str) {
    let checked = validate_json_str(rule, SCHEMA, record);
    checked.unwrap_or_else(|e| panic!("{record}: {e}"));
}

#[test]
fn every_record_fits_the_schema() {
    for spec in ["bbr", "cubic", "oracle"] {
        let records = log(Host::Model, spec, Version::Draft14);
        fits("header-record", &records[0]);
        records[1..]
            .iter()
            .for_each(|record| fits("event-record", record));
    }
    let misspelt = r#"{"time": 1.0, "name": "quic:packet_sent", "data": {"heder": {}}}"#;
    assert!(validate_json_str("event-record", SCHEMA, misspelt).is_err());
}

/// What qvis asks of a stream (its `TextSequenceJSONToQlog`, `QlogLoaderV2` and
/// `CongestionGraphD3Renderer`): a header with version, format and trace, and then the same run in
/// events named by category.
#[test]
fn version_0_3_tells_the_same_run_as_qvis_reads_it() {
    let current = log(Host::Model, "cubic", Version::Draft14);
    let older = log(Host::Model, "cubic", Version::V03);
    fits("header-record-03", &older[0]);
    assert_eq!(current.len(), older.len());
    let event = |record: &String| -> Value { serde_json::from_str(record).unwrap() };
    for (current, older) in current[1..].iter().zip(&older[1..]) {
        fits("event-record-03", older);
        let (current, older) = (event(current), event(older));
        assert_eq!(current["time"], older["time"]);
        assert_eq!(current["data"], older["data"]);
    }
    let header: Value = serde_json::from_str(&older[0]).unwrap();
    assert_eq!(header["qlog_version"], "0.3");
    assert_eq!(header["qlog_format"], "JSON-SEQ");
}

#[test]
fn the_log_tells_of_the_run_that_the_meter_saw() {
    let events: Vec<Value> = log(Host::Model, "cubic", Version::Draft14)[1..]
        .iter()
        .map(|record| serde_json::from_str(record).unwrap())
        .collect();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &events {
        *seen.entry(event["name"].as_str().unwrap()).or_default() += 1;
    }
    let times: Vec<f64> = events.iter().map(|e| e["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted());

    let config = setting("cubic").config(1).unwrap();
    let mut meter = Meter::new(&config);
    Simulation::new(config).unwrap().run(&mut meter);
    let measured = meter.finish().total;
    let sent = seen["quic:packet_sent"] as f64;
    let resent = measured["retransmitted_share"] * sent;
    assert!((resent - resent.round()).abs() < 1e-6, "of full packets");
    // What is lost is sent again, but for the last losses before the end.
    let lost = seen["quic:packet_lost"] as f64;
    assert!(lost > 5.0 && (0.0..=3.0).contains(&(lost - resent)));

    let acked: u64 = events
        .iter()
        .filter(|e| e["name"] == "quic:packet_received")
        .flat_map(|e| e["data"]["frames"][0]["acked_ranges"].as_array().unwrap())
        .map(|range| range[1].as_u64().unwrap() - range[0].as_u64().unwrap() + 1)
        .sum();
    let received = measured["throughput_mbps"] * 5.0 * 1e6 / 8.0 / 1500.0;
    let under_way = received - acked as f64;
    assert!((0.0..100.0).contains(&under_way), "{under_way}");
    let phases: Vec<&str> = events
        .iter()
        .filter(|e| e["name"] == "quic:congestion_state_updated")
        .map(|e| e["data"]["new"].as_str().unwrap())
        .collect();
    assert_eq!(phases[..2], ["SlowStart", "Recovery"]);
}

#[test]
fn several_flows_and_tcp_are_refused() {
    let refused = |setting: &Setting| {
        let written = qlog::write(setting, Version::Draft14, Vec::new());
        written.unwrap_err().to_string()
    };
    let two = setting("bbr").with_flows(2);
    assert_eq!(refused(&two), "qlog shows one flow, not 2");
    let tcp = setting("bbr").over(TransportConfig::tcp());
    assert!(refused(&tcp).contains("TCP"));
}

#[test]
fn what_s2n_quic_sends_fits_the_schema_and_is_not_the_models() {
    let records = log(Host::Quic, "bbr", Version::Draft14);
    assert!(records[0].contains("s2n-quic in virtual time"));
    let mut sent_at = Vec::new();
    for record in &records[1..] {
        fits("event-record", record);
        let event: Value = serde_json::from_str(record).unwrap();
        if event["name"] == "quic:packet_sent" {
            sent_at.push(event["time"].as_f64().unwrap());
        }
    }
    assert!(sent_at.len() > 1_000);
    // The model sends a window at once; a handshake begins with one packet and takes an RTT, 40 ms.
    let [first, second] = [sent_at[0], sent_at[1]];
    assert!(first == 0.0 && second >= 40.0, "{first} {second}");
}

/// 1 s of 10 Mbit/s in samples of 20 ms.
fn sampled() -> SampledFlow {
    let samples = (1..=50_u64).map(|n| Sample {
        at_us: n * 20_000,
        sent_packets: 20,
        sent_bytes: 25_000,
        acked_bytes: 25_000,
        lost_packets: u32::from(n == 50),
        rtts: 4,
        least_rtt_us: 30_000,
        largest_rtt_us: 50_000,
        rtt_sum_us: 160_000,
        phase: if n < 10 { "Startup" } else { "ProbeBW" }.to_string(),
        ..Sample::default()
    });
    SampledFlow {
        samples: samples.collect(),
    }
}

#[test]
fn a_transfers_qlog_has_metrics_and_phases_and_no_packets_that_nobody_saw() {
    let mut out = Vec::new();
    qlog::write_sampled("here", "bbr", &sampled(), Version::Draft14, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let names = |name: &str| text.matches(&format!("\"{name}\"")).count();
    assert_eq!(names("quic:congestion_state_updated"), 2);
    assert_eq!(names("quic:recovery_metrics_updated"), 50 * 4);
    assert_eq!(names("quic:packet_sent"), 0);
    assert_eq!(names("quic:packet_lost"), 0);
}
