//! Gives the shared library its soname. Before 1.0 each minor version may change the ABI, so that
//! it is part of the name.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        let part = |name: &str| env::var(format!("CARGO_PKG_VERSION_{name}")).unwrap_or_default();
        let abi = match part("MAJOR").as_str() {
            "0" => format!("0.{}", part("MINOR")),
            major => major.to_string(),
        };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblowtide.so.{abi}");
    }
}
