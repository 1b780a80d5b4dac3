//! Transfers over QUIC between two machines: `serve` and `fetch`.

pub(crate) mod fetch;
mod printer;
pub(crate) mod serve;
mod text;
