//! The generated LTE link beside recorded ones.

use std::path::{Path, PathBuf};

use lowtide_cc::units::Duration;
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};
use lowtide_sim::trace::info::{self, Info};
use lowtide_sim::trace::{self, generate};

/// The recorded downlinks that the model was fitted to.
const RECORDED: [&str; 6] = [
    "mahimahi/ATT-LTE-driving-2016.down",
    "mahimahi/TMobile-LTE-short.down",
    "mahimahi/Verizon-LTE-short.down",
    "nyc/trace-2768760-taxi3",
    "nyc/trace-3201711-timessquare",
    "nyc/trace-3204803-timessquare",
];

/// About their length, which finite samples' statistics depend on.
const LENGTH: Duration = Duration::from_secs(140);

const NAMES: [&str; 10] = [
    "variation over 10 ms",
    "variation over 100 ms",
    "variation over 1 s",
    "autocorrelation at 10 ms",
    "autocorrelation at 100 ms",
    "autocorrelation at 1 s",
    "autocorrelation at 10 s",
    "empty bins",
    "outages a minute",
    "length of an outage, ms",
];

fn statistics(info: &Info) -> [f64; 10] {
    let [wide, wider] = info.variation_of_wider.map(Option::unwrap);
    let [ms10, ms100, s1, s10] = info.autocorrelation.map(Option::unwrap);
    let a_minute = 60.0 * info.outages as f64 / info.length.as_secs_f64();
    let (variation, outage) = (info.variation, info.outage_length.as_millis_f64());
    let empty = info.empty_share;
    [
        variation, wide, wider, ms10, ms100, s1, s10, empty, a_minute, outage,
    ]
}

/// Means over ten links of a model.
fn generated(name: &str) -> [f64; 10] {
    let model = generate::named()
        .iter()
        .find(|n| n.name == name)
        .unwrap()
        .model();
    let of_seed = |seed| {
        let link = Link::Rates(model.generate(LENGTH, seed).unwrap());
        statistics(&info::describe(&link, LENGTH).unwrap())
    };
    let all: Vec<[f64; 10]> = (1..=10).map(of_seed).collect();
    std::array::from_fn(|n| all.iter().map(|s| s[n]).sum::<f64>() / all.len() as f64)
}

#[test]
fn the_statistics_lie_in_their_documented_bounds() {
    // docs/simulator/traces.md.
    let bounds = [
        (0.90, 1.15),
        (0.65, 0.85),
        (0.52, 0.72),
        (0.50, 0.65),
        (0.36, 0.50),
        (0.19, 0.36),
        (-0.08, 0.10),
        (0.14, 0.20),
        (2.5, 5.0),
        (370.0, 530.0),
    ];
    for ((value, (least, greatest)), name) in generated("lte").iter().zip(bounds).zip(NAMES) {
        println!("{name}: {value:.3}");
        assert!((least..=greatest).contains(value), "{name}: {value}");
    }
}

#[test]
fn each_statistic_is_near_the_median_of_the_recorded_links() {
    let traces = std::env::var_os("LOWTIDE_TRACES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
        PathBuf::from,
    );
    let recorded = RECORDED.map(|name| traces.join(name));
    if let Some(missing) = recorded.iter().find(|file| !file.exists()) {
        println!(
            "skipped: no {}; set LOWTIDE_TRACES to the folder of traces",
            missing.display()
        );
        return;
    }
    let recorded = recorded.map(|file| {
        let bytes = std::fs::read(&file).unwrap();
        let link = trace::parse(Some(&file), &bytes, MAHIMAHI_OPPORTUNITY).unwrap();
        let length = info::natural_length(&link).unwrap();
        statistics(&info::describe(&link, length).unwrap())
    });
    let (lte, before) = (generated("lte"), generated("4g"));
    let mut far = Vec::new();
    for (n, name) in NAMES.iter().enumerate() {
        let mut all = recorded.map(|s| s[n]);
        all.sort_by(f64::total_cmp);
        let (least, greatest, median) = (all[0], all[5], (all[2] + all[3]) / 2.0);
        println!(
            "{name}: {least:.2} to {greatest:.2}, median {median:.2}; lte {:.2}, 4g {:.2}",
            lte[n], before[n]
        );
        // Of six links no median is known better than that.
        if (lte[n] - median).abs() > (greatest - least) / 3.0 {
            far.push(name);
        }
    }
    assert!(far.is_empty(), "{far:?}");
}
