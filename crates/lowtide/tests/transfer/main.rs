//! `lowtide serve` and `lowtide fetch`, and attacks on them, through their command lines and sockets.
#![cfg(all(feature = "quic", target_os = "linux"))]

mod loopback;
mod on_fetch;
mod on_serve;
mod peers;
mod programs;
