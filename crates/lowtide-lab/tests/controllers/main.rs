//! Controllers on whole links: what users and papers expect of them.

mod bbr;
mod bbr3;
mod delivery;
mod low_latency_family;
mod own;
mod rivals;
mod setting;
mod user_cases;
