//! The committed header is the one that the code makes.

use std::path::Path;

#[test]
fn the_committed_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("include/lowtide.h");
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("its settings");
    let bindings = cbindgen::generate_with_config(root, config).expect("the code can be read");
    let mut made = Vec::new();
    bindings.write(&mut made);
    if std::env::var_os("LOWTIDE_WRITE_HEADER").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let committed = std::fs::read(&path).unwrap_or_default();
    assert!(
        committed == made,
        "include/lowtide.h is not what the code makes; run: \
         LOWTIDE_WRITE_HEADER=1 cargo test -p lowtide-ffi --test header"
    );
}
