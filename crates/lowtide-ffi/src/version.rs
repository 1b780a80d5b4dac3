//! The library's version.

use core::ffi::{CStr, c_char};

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no zero byte inside"),
    };

/// The library's semantic version as in `"0.1.0"`: a static string. The ABI changes with the major
/// version, before 1.0 with the minor version.
#[unsafe(no_mangle)]
pub extern "C" fn lowtide_version() -> *const c_char {
    VERSION.as_ptr()
}

/// The library's semantic version as a number: major × 65536 + minor × 256 + patch.
#[unsafe(no_mangle)]
pub extern "C" fn lowtide_version_number() -> u32 {
    number(env!("CARGO_PKG_VERSION_MAJOR")) << 16
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 8
        | number(env!("CARGO_PKG_VERSION_PATCH"))
}

fn number(text: &str) -> u32 {
    text.bytes()
        .fold(0, |n, digit| n * 10 + u32::from(digit - b'0'))
}
