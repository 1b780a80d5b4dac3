//! Adversarial search: the networks on which a congestion controller is worst.
//!
//! A [`Network`](network::Network) is a path and what shares it, as numbers within the bounds of a
//! [`World`](world::World). A [`Goal`](goal::Goal) says what is bad, as a limit of a
//! [scenario file](lowtide_lab::scenario_file). Together they are a case of a suite, which the lab runs and judges: its value
//! is the score. [`search`] tries networks, [`minimise`] makes a bad one small while it stays bad, and [`survey`]
//! tries what was found for one controller on the others. [`json`] is what others read of it.

pub mod budget;
pub mod found;
pub mod genome;
pub mod goal;
pub mod hunt;
pub mod json;
pub mod minimise;
pub mod network;
pub mod search;
pub mod survey;
pub mod trial;
pub mod world;
