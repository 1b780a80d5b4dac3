//! Attacks on `lowtide serve` and `lowtide fetch`, through their command lines and sockets.
#![cfg(all(feature = "quic", target_os = "linux"))]

mod on_fetch;
mod on_serve;
mod peers;
mod programs;
