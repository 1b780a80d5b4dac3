//! The C code in a process of its own (`tests/native/driver.c`), and the calls that it takes.

use std::io::{BufReader, BufWriter, Read, Write};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// How many random numbers a stream brings along.
pub(crate) const RANDOMS: usize = 4096;

/// A binary in its folder.
const NAME: &str = "binary";

/// Which of the kernel's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A flow begins.
    Init,
    /// `cong_control`.
    Ack,
    /// `set_state`, to this state.
    State(u32),
    /// `undo_cwnd`.
    Undo,
    /// `cwnd_event` of the first packet after silence.
    Restart,
}

/// What the kernel's structures hold at a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kernel {
    pub(crate) tcp_mstamp: u64,
    pub(crate) first_tx_mstamp: u64,
    pub(crate) interval_us: i64,
    pub(crate) rtt_us: i64,
    pub(crate) mss_cache: u32,
    pub(crate) snd_cwnd: u32,
    pub(crate) packets_out: u32,
    pub(crate) sacked_out: u32,
    pub(crate) lost_out: u32,
    pub(crate) retrans_out: u32,
    pub(crate) lost: u32,
    pub(crate) delivered: u32,
    pub(crate) app_limited: u32,
    pub(crate) prior_delivered: u32,
    pub(crate) rs_delivered: i32,
    pub(crate) losses: i32,
    pub(crate) acked_sacked: u32,
    pub(crate) prior_in_flight: u32,
    pub(crate) is_app_limited: bool,
}

impl Kernel {
    /// Packets in flight, by the kernel's count.
    pub(crate) fn inflight(&self) -> u32 {
        self.packets_out - (self.sacked_out + self.lost_out) + self.retrans_out
    }
}

/// What a controller wants after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Bytes.
    pub(crate) window: u64,
    /// Bytes a second.
    pub(crate) rate: u64,
}

/// What the C code made of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    /// What its controller wants.
    pub(crate) wants: Answer,
    /// The socket's window, packets.
    pub(crate) snd_cwnd: u32,
}

/// `struct record`.
fn record(call: Call, k: &Kernel, to: &mut Vec<u8>) {
    let (number, state) = match call {
        Call::Init => (0, 0),
        Call::Ack => (1, 0),
        Call::State(state) => (2, state),
        Call::Undo => (3, 0),
        Call::Restart => (4, 0),
    };
    to.extend([number, state].map(u32::to_ne_bytes).as_flattened());
    let times = [k.tcp_mstamp, k.first_tx_mstamp];
    to.extend(times.map(u64::to_ne_bytes).as_flattened());
    let samples = [k.interval_us, k.rtt_us];
    to.extend(samples.map(i64::to_ne_bytes).as_flattened());
    #[rustfmt::skip]
    let counts = [
        k.mss_cache, k.snd_cwnd, k.packets_out, k.sacked_out, k.lost_out, k.retrans_out, k.lost,
        k.delivered, k.app_limited, k.prior_delivered, k.rs_delivered as u32, k.losses as u32,
        k.acked_sacked, k.prior_in_flight, u32::from(k.is_app_limited), 0,
    ];
    to.extend(counts.map(u32::to_ne_bytes).as_flattened());
}

/// A controller's C code, compiled for this machine.
#[derive(Debug)]
pub(crate) struct Binary {
    folder: TempDir,
}

impl Binary {
    /// Compiles a source of `tests/native` for `header`, with a definition besides; `None`, and a word about
    /// it, where there is no C compiler.
    pub(crate) fn of(source: &str, header: &str, definition: Option<&str>) -> Option<Self> {
        let compiler = ["cc", "gcc", "clang"].into_iter().find(|name| {
            let version = Command::new(name).arg("--version").output();
            version.is_ok_and(|output| output.status.success())
        });
        let Some(compiler) = compiler else {
            eprintln!("skipped: there is no C compiler");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let output = Command::new(compiler)
            .args(["-O2", "-Wall", "-Werror", "-Ibpf"])
            .arg(format!("-DCONTROLLER=\"{header}\""))
            .args(definition.map(|definition| format!("-D{definition}")))
            .arg(format!("tests/native/{source}.c"))
            .arg("-o")
            .arg(folder.path().join(NAME))
            .output()
            .expect("the compiler has just run");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        Some(Self { folder })
    }

    fn command(&self) -> Command {
        Command::new(self.folder.path().join(NAME))
    }

    /// The numbers that it prints for these.
    pub(crate) fn numbers(&self, arguments: &[u64]) -> Vec<u64> {
        let output = self
            .command()
            .args(arguments.iter().map(u64::to_string))
            .output()
            .expect("it has just been compiled");
        assert!(output.status.success(), "{arguments:?}: {}", output.status);
        let text = String::from_utf8(output.stdout).expect("numbers");
        let numbers = text.split_whitespace().map(str::parse);
        numbers.collect::<Result<_, _>>().expect("numbers")
    }

    /// What it answers to each call of a stream. The first call is an [`Call::Init`].
    pub(crate) fn answers(
        &self,
        calls: &[(Call, Kernel)],
        randoms: &[u32; RANDOMS],
    ) -> Vec<Applied> {
        let mut child = self
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it has just been compiled");
        let input = child.stdin.take().expect("asked for");
        let output = child.stdout.take().expect("asked for");
        let answers = std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut input = BufWriter::new(input);
                let mut bytes = Vec::new();
                for (call, kernel) in calls {
                    bytes.clear();
                    record(*call, kernel, &mut bytes);
                    if *call == Call::Init {
                        for random in randoms {
                            bytes.extend(random.to_ne_bytes());
                        }
                    }
                    // A process that has died answers too little.
                    if input.write_all(&bytes).is_err() {
                        return;
                    }
                }
            });
            let mut output = BufReader::new(output);
            let mut answers = Vec::with_capacity(calls.len());
            let mut bytes = [0; 24];
            while output.read_exact(&mut bytes).is_ok() {
                let number = |at: usize| {
                    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
                };
                answers.push(Applied {
                    wants: Answer {
                        window: number(0),
                        rate: number(8),
                    },
                    snd_cwnd: u32::from_ne_bytes(bytes[16..20].try_into().expect("four bytes")),
                });
            }
            answers
        });
        child.wait().expect("it was started");
        answers
    }
}
