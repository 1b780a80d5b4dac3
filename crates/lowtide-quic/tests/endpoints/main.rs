//! Whole endpoints on s2n-quic's own network model in virtual time: good peers, plain peers and
//! hostile ones.

mod contract;
mod ecn;
mod failing;
mod host;
mod hostile;
mod peers;
mod recorder;
mod timestamps;
