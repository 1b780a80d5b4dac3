//! Figures on disk.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;
use std::sync::Arc;

use lowtide_cc::units::{Duration, Rate};
use lowtide_lab::compare::{Options, compare};
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::setting::{LinkSource, Seeds, Setting};
use lowtide_report::figures::{self, Style};
use lowtide_sim::link::Link;
use lowtide_sim::queue::QueueLimit;

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = |entry: io::Result<DirEntry>| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read(entry.path()).unwrap())
    };
    fs::read_dir(folder).unwrap().map(file).collect()
}

#[test]
fn names_and_bytes_are_stable_and_hostile_names_stay_text() {
    let link = Link::constant(Rate::from_mbps(10)).unwrap();
    let setting = Setting {
        duration: Duration::from_secs(5),
        seeds: Seeds { first: 1, count: 2 },
        ..Setting::on_link("10 Mbit/s", LinkSource::Fixed(Arc::new(link)))
    };
    let setting = setting.with_buffer(QueueLimit::Packets(60));
    let setting = setting.with_flows(2);
    let cubic = Contenders::default().parse("cubic").unwrap();
    let hostile = Contender::Controller {
        name: "<b>&\"bold\"</b>".to_string(),
        identity: String::new(),
        sender: cubic.sender(),
        needs_timestamps: false,
        surroundings: None,
    };
    let contenders = [Contenders::default().parse("bbr").unwrap(), hostile];
    let options = Options {
        jobs: 1,
        timelines: true,
    };
    let comparison = compare(&setting, &contenders, options, &|| {}).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let drawn = |name: &str| {
        let folder = dir.path().join(name);
        figures::write(&setting, &comparison, &folder, &Style::default()).unwrap();
        files(&folder)
    };
    let first = drawn("first");
    let plots =
        "jain phases plane queue queueing-delay queueing-delay-cdf rate rtt rtt-cdf shares window";
    let files = |plot| ["png", "svg"].map(|ending| format!("{plot}.{ending}"));
    let mut names: Vec<String> = plots.split(' ').flat_map(files).collect();
    names.sort();
    assert!(first.keys().eq(&names), "{:?}", first.keys());
    assert_eq!(first, drawn("again"), "same runs, same bytes");
    for (name, bytes) in &first {
        if name.ends_with("png") {
            assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
            // A blank picture of this size takes less than 4 kB.
            assert!(bytes.len() > 8_000, "{name} has {} bytes", bytes.len());
        } else {
            let text = std::str::from_utf8(bytes).unwrap();
            assert!(!text.contains("<b>"), "{name}");
        }
    }
    let rate = std::str::from_utf8(&first["rate.svg"]).unwrap();
    assert!(rate.contains("&lt;b&gt;") && rate.contains("bbr"));
    let phases = std::str::from_utf8(&first["phases.svg"]).unwrap();
    for state in ["Startup", "Drain", "SlowStart"] {
        assert!(phases.contains(state), "{state}");
    }
    // Startup's colour; CUBIC and BBR begin in it.
    assert!(phases.matches("#E69F00").count() > 2, "{phases:.2000}");
}
