//! What the library says of itself: statuses, controllers, its version.

use core::ffi::{CStr, c_char};

use lowtide_cc::registry;

use crate::boundary::write_text;

/// A status in words: a static string, never null. Takes any number.
#[unsafe(no_mangle)]
pub extern "C" fn lowtide_status_text(status: i32) -> *const c_char {
    text(status).as_ptr()
}

fn text(status: i32) -> &'static CStr {
    match status {
        0 => c"done",
        1 => c"a pointer that must not be null is null",
        2 => c"the spec names no controller, or a parameter does not fit",
        3 => c"a value is outside of its range",
        4 => c"the event is not possible after those before it",
        5 => c"the event is earlier than the one before it",
        6 => c"the host broke the contract of controllers",
        7 => c"the controller panicked",
        _ => c"unknown status",
    }
}

/// Writes the names of all controllers, one a line, into `buffer` of `size` bytes, cut where they
/// do not fit. `buffer` may be null.
///
/// Returns the size that holds all of them and the final zero.
///
/// # Safety
/// As the header of the library says of pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lowtide_names(buffer: *mut c_char, size: usize) -> usize {
    let mut names = String::new();
    for entry in registry::all() {
        names.push_str(entry.name);
        names.push('\n');
    }
    // SAFETY: null or valid by the library's rule.
    unsafe { write_text(&names, buffer, size) };
    names.len() + 1
}

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
