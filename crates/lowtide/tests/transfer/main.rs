//! `lowtide serve` and `lowtide fetch`, and attacks on them, through their command lines and sockets.
#![cfg(target_os = "linux")]

mod loopback;
mod on_fetch;
mod on_serve;
mod peers;
#[path = "../program/mod.rs"]
#[allow(dead_code, reason = "no test here has input of its own, or a shell")]
mod program;
mod programs;
