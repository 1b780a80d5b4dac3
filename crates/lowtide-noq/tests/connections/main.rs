//! Whole noq connections in virtual time over the simulator's links.

mod contract;
mod feedback;
mod network;
