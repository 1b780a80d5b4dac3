//! The constant window.

use alloc::boxed::Box;

use super::ConstantWindow;
use crate::registry::{Domain, Entry, Parameter, Value};

pub(crate) static WINDOW: Entry = Entry {
    name: "window",
    summary: "a constant window: the floor that any controller must beat",
    source: "Lowtide",
    parameters: &[Parameter {
        name: "packets",
        summary: "the window, packets",
        default: Value::Whole(20),
        domain: Domain::Whole {
            min: 1,
            max: 100_000_000,
        },
    }],
    make: |values, config| Box::new(ConstantWindow::new(config, values.whole("packets"))),
    receiver: None,
};
