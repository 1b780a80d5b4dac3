//! What every call across the boundary does: pointers become references, panics become a status,
//! texts fit into the caller's buffers.

use core::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use lowtide_cc::registry::{self, Spec};

use crate::LowtideStatus;

/// The inside of a call: refuses by `Err`.
pub(crate) type Outcome = Result<(), LowtideStatus>;

/// Runs the inside of a call; a panic becomes [`LowtideStatus::Panicked`].
pub(crate) fn guard(inside: impl FnOnce() -> Outcome) -> LowtideStatus {
    // What a panic may have left half done is never looked at again: handles remember it.
    match catch_unwind(AssertUnwindSafe(inside)) {
        Ok(Ok(())) => LowtideStatus::Ok,
        Ok(Err(status)) => status,
        Err(_) => LowtideStatus::Panicked,
    }
}

/// A reference to what the caller lent.
///
/// # Safety
/// `pointer` is null or valid for `'a`.
pub(crate) unsafe fn borrow<'a, T>(pointer: *const T) -> Result<&'a T, LowtideStatus> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or(LowtideStatus::NullPointer)
}

/// Borrows what a pointer from C names, to change it; see [`borrow`].
///
/// # Safety
/// `pointer` is null, or valid and not otherwise used for `'a`.
pub(crate) unsafe fn borrow_mut<'a, T>(pointer: *mut T) -> Result<&'a mut T, LowtideStatus> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_mut() }.ok_or(LowtideStatus::NullPointer)
}

/// A flag in the caller's memory, where a byte may be anything.
pub(crate) fn flag(byte: u8) -> Result<bool, LowtideStatus> {
    match byte {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(LowtideStatus::BadValue),
    }
}

/// Writes a result where the caller wants it; the place may be uninitialised.
///
/// # Safety
/// `place` is null or valid for writing.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) -> Outcome {
    if place.is_null() {
        return Err(LowtideStatus::NullPointer);
    }
    // SAFETY: not null, and valid by the caller's promise.
    unsafe { place.write(value) };
    Ok(())
}

/// A C string as text; `None` when it is not UTF-8.
///
/// # Safety
/// `text` is null or a string that ends with zero, valid for `'a`.
pub(crate) unsafe fn read_text<'a>(text: *const c_char) -> Result<Option<&'a str>, LowtideStatus> {
    if text.is_null() {
        return Err(LowtideStatus::NullPointer);
    }
    // SAFETY: not null, and ends with zero by the caller's promise.
    Ok(unsafe { CStr::from_ptr(text) }.to_str().ok())
}

/// The controller that a spec names; what is wrong with it goes into `message`.
///
/// # Safety
/// As [`write_text`] says of `message`.
pub(crate) unsafe fn parse_spec(
    spec: Option<&str>,
    message: *mut c_char,
    message_size: usize,
) -> Result<Spec, LowtideStatus> {
    spec.ok_or_else(|| "the spec is not UTF-8".to_string())
        .and_then(|spec| registry::parse(spec).map_err(|e| e.to_string()))
        .map_err(|why| {
            // SAFETY: the caller's promise.
            unsafe { write_text(&why, message, message_size) };
            LowtideStatus::BadSpec
        })
}

/// Destroys a handle; null does nothing.
///
/// # Safety
/// `handle` is null, or comes from `Box::into_raw` and is not used again.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    guard(|| {
        // SAFETY: not null, and given back once by the caller's promise.
        drop(unsafe { Box::from_raw(handle) });
        Ok(())
    });
}

/// Writes as much of `text` as fits, and a zero. Does nothing without a buffer.
///
/// # Safety
/// `buffer` is null or valid for writing `size` bytes.
pub(crate) unsafe fn write_text(text: &str, buffer: *mut c_char, size: usize) {
    if buffer.is_null() || size == 0 {
        return;
    }
    let length = fitting(text, size - 1);
    // SAFETY: `length` + 1 ≤ `size` bytes are the caller's to write; `text` is not inside of them.
    unsafe { buffer.copy_from_nonoverlapping(text.as_ptr().cast(), length) };
    // SAFETY: still inside.
    let end = unsafe { buffer.add(length) };
    // SAFETY: still inside.
    unsafe { end.write(0) };
}

/// `text` as a field of a C struct, cut where it does not fit.
pub(crate) fn field<const N: usize>(text: &str) -> [c_char; N] {
    let mut field = [0; N];
    let length = fitting(text, N - 1);
    for (to, from) in field.iter_mut().zip(&text.as_bytes()[..length]) {
        *to = *from as c_char;
    }
    field
}

/// The longest length up to `most` that cuts no character in two.
fn fitting(text: &str, most: usize) -> usize {
    let mut length = text.len().min(most);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    length
}
