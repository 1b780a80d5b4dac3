//! The constant window.

use alloc::boxed::Box;

use super::ConstantWindow;
use crate::registry::{Entry, Parameter};

pub(crate) static WINDOW: Entry = Entry {
    name: "window",
    summary: "a constant window: the floor that any controller must beat",
    source: "Lowtide",
    parameters: &[Parameter::whole("packets", 20, 1..=100_000_000).about("the window, packets")],
    make: |values, config| Box::new(ConstantWindow::new(config, values.whole("packets"))),
    receiver: None,
};
