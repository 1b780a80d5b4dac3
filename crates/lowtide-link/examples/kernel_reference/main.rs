//! The Linux kernel's own controllers over the emulated link, beside ours in the simulator: a grid of cells.
//!
//! `cargo run --release -p lowtide-link --example kernel_reference -- [--seconds N] [--runs N] [--jobs N]
//! [--pair KERNEL=OURS]... [--only TEXT]... [TRACE]...`, as root on Linux with the kernel's controllers: `tcp_bbr`, or with
//! `--pair ebb=ebb` what `lowtide kernel load` has loaded. `cells.rs` lists the cells; each trace adds some.
//! One TCP flow each. `docs/fidelity-kernel.md` says what is compared.

#[cfg(target_os = "linux")]
mod cells;
#[cfg(target_os = "linux")]
mod grid;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod measured;
#[cfg(target_os = "linux")]
mod simulator;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    grid::run(&grid::Arguments::from_command_line()?)
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the emulated link needs Linux");
}
