//! The committed headers are those that the code makes.

use std::path::Path;

use cbindgen::{Builder, Config};

/// Compares a header with what some files of the code make.
fn check(name: &str, config: Config, files: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("include").join(name);
    let sources = files
        .iter()
        .map(|f| root.join("src").join(f).with_extension("rs"));
    let builder = sources.fold(Builder::new(), Builder::with_src);
    let bindings = builder.with_config(config).generate();
    let mut made = Vec::new();
    bindings.expect("the code can be read").write(&mut made);
    if std::env::var_os("LOWTIDE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let committed = std::fs::read(&path).unwrap_or_default();
    assert!(
        committed == made,
        "include/{name} is not what the code makes; run: \
         LOWTIDE_WRITE_HEADER=1 cargo test -p lowtide-ffi --test header"
    );
}

#[test]
fn the_committed_headers_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = Config::from_file(root.join("cbindgen.toml")).expect("its settings");
    let mut extra = config.clone();
    check(
        "lowtide.h",
        config,
        &["status", "create", "flow", "control"],
    );
    extra.header = Some(
        "/* What some hosts of Lowtide's controllers want besides lowtide.h, whose rules hold here, too.\n \
         * Made by cbindgen from crates/lowtide-ffi; do not edit. */"
            .to_string(),
    );
    extra.include_guard = Some("LOWTIDE_EXTRA_H".to_string());
    extra.includes = vec!["lowtide.h".to_string()];
    extra.export.include.clear();
    check(
        "lowtide_extra.h",
        extra,
        &["text", "snapshot", "extra", "receiver"],
    );
}

#[test]
fn twelve_functions_are_all_that_a_host_needs() {
    let header = include_str!("../include/lowtide.h");
    let functions = header.matches("\nenum LowtideStatus lowtide_").count();
    assert_eq!(functions + header.matches("\nvoid lowtide_").count(), 12);
}
