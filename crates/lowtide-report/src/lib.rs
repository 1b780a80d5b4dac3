//! What the lab found out, for people: [`report`]s in HTML, [`figures`], [`qlog`], pages of scorecards ([`score`]) and of
//! the papers ([`reproduce`]).
//!
//! The lab does not know of it, so that whoever only runs builds neither fonts nor templates.

mod colours;
pub mod figures;
pub mod qlog;
pub mod report;
pub mod reproduce;
pub mod score;
