//! Hand-made packet scenarios against the live kernel's TCP: what it sends, and when.
//!
//! `cargo run --release -p lowtide-link --example kernel_script -- [--into FOLDER] [--info] [NAME]...`, as root on Linux.
//! The kernel sends from a real socket into a TUN device. The program plays the network and the receiver there: by the
//! scenario's table it loses, delays and acknowledges segments, and notes all that passes.
//! `--into` writes a record per scenario; the simulator's tests play these records against its own sender
//! (`crates/lowtide-sim/src/transport/tcp/kernel.rs`). `--info` adds what `ss` says of the socket at each write.

#[cfg(target_os = "linux")]
mod play;
#[cfg(target_os = "linux")]
mod receiver;
#[cfg(target_os = "linux")]
mod scenario;
#[cfg(target_os = "linux")]
mod segment;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (mut folder, mut info, mut names) = (None, false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--into" => folder = arguments.next().map(std::path::PathBuf::from),
            "--info" => info = true,
            _ => names.push(argument),
        }
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| name.contains(n.as_str()));
    for scenario in scenario::ALL.iter().filter(|s| wanted(s.name)) {
        let record = play::play(scenario, info)?;
        match &folder {
            Some(folder) => std::fs::write(folder.join(format!("{}.txt", scenario.name)), record)?,
            None => println!("{record}"),
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the kernel's TCP is Linux's");
}
