//! Links and comparisons that several tests need.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lowtide_cc::units::Rate;
use lowtide_lab::compare::{self, Comparison, Options};
use lowtide_lab::contender::{Contender, Contenders};
use lowtide_lab::metrics::Metrics;
use lowtide_lab::setting::{LinkSource, Seeds, Setting, built_in};
use lowtide_sim::link::{Link, MAHIMAHI_OPPORTUNITY};

/// A link of constant rate.
pub(crate) fn constant(mbps: u64) -> Setting {
    let link = Link::constant(Rate::from_mbps(mbps)).unwrap();
    Setting::on_link("constant", LinkSource::Fixed(Arc::new(link)))
}

/// One of the built-in settings.
pub(crate) fn named(name: &str) -> Setting {
    let built_in = built_in().iter().find(|b| b.name == name);
    built_in.unwrap().setting()
}

/// A recorded LTE link of 5.03 Mbit/s, where there is one; otherwise says that the test is skipped.
pub(crate) fn recorded() -> Option<Setting> {
    let traces = std::env::var_os("LOWTIDE_TRACES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
        PathBuf::from,
    );
    let trace = traces.join("mahimahi/Verizon-LTE-short.down");
    if !trace.exists() {
        println!(
            "skipped: no {}; set LOWTIDE_TRACES to the folder of traces",
            trace.display()
        );
        return None;
    }
    let link = {
        let bytes = lowtide_lab::files::read(&trace, lowtide_lab::files::TRACE).unwrap();
        lowtide_sim::trace::parse(Some(&trace), &bytes, MAHIMAHI_OPPORTUNITY).unwrap()
    };
    assert!((link.mean_rate().as_mbps() - 5.03).abs() < 0.02);
    let link = LinkSource::Fixed(Arc::new(link));
    Some(Setting::on_link("Verizon", link))
}

/// The controller of a spec.
pub(crate) fn contender(spec: &str) -> Contender {
    Contenders::default().parse(spec).unwrap()
}

/// Controllers side by side, one seed.
pub(crate) fn compare(setting: &Setting, names: &[&str]) -> Comparison {
    compare_seeds(setting, names, 1, 0)
}

/// Controllers side by side on this many threads; 0: one for each core.
pub(crate) fn compare_seeds(
    setting: &Setting,
    names: &[&str],
    seeds: u64,
    jobs: usize,
) -> Comparison {
    let contenders: Vec<Contender> = names.iter().map(|name| contender(name)).collect();
    let setting = Setting {
        seeds: Seeds {
            first: 1,
            count: seeds,
        },
        ..setting.clone()
    };
    let options = Options {
        jobs,
        timelines: false,
    };
    compare::compare(&setting, &contenders, options, &|| ()).unwrap()
}

/// A metric of the first controller over that of the second.
pub(crate) fn ratio(comparison: &Comparison, names: [&str; 2], metric: &str) -> f64 {
    let [own, base] = names.map(|name| of(comparison, name)[metric]);
    own / base
}

/// A controller's means.
pub(crate) fn of<'a>(comparison: &'a Comparison, name: &str) -> &'a Metrics {
    let entry = comparison.entries.iter().find(|e| e.name == name);
    &entry.unwrap().mean
}
