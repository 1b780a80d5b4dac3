//! Runs the cells and prints the table.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use crate::cells::{self, Cell, PAIRS};
use crate::measured::{COLUMNS, Measured, Verdict, compare};
use crate::{kernel, simulator};

type Failure = Box<dyn Error + Send + Sync>;

/// Runs of the simulator, whose controllers draw phases by seed; where links lose by chance, those of the
/// kernel's seeds.
const SEEDS: u64 = 20;
/// Where chance decides, the kernel runs so many times more often.
const MORE_RUNS: u64 = 2;

pub(crate) struct Arguments {
    seconds: u64,
    runs: u64,
    jobs: usize,
    pairs: Vec<(String, String)>,
    only: Vec<String>,
    traces: Vec<PathBuf>,
}

impl Arguments {
    pub(crate) fn from_command_line() -> Result<Self, Failure> {
        let mut parsed = Self {
            seconds: 30,
            runs: 3,
            jobs: 8,
            pairs: Vec::new(),
            only: Vec::new(),
            traces: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            let mut number = || {
                let number = value().parse::<u64>();
                number.map_err(|_| format!("{argument} needs a number"))
            };
            match argument.as_str() {
                "--seconds" => parsed.seconds = number()?.max(1),
                "--runs" => parsed.runs = number()?.max(1),
                "--jobs" => parsed.jobs = number()?.max(1) as usize,
                "--only" => parsed.only.push(value()),
                "--pair" => {
                    let pair = value();
                    let (kernel, ours) = pair
                        .split_once('=')
                        .ok_or("--pair needs the kernel's controller and ours: bbr=bbr")?;
                    parsed.pairs.push((kernel.to_owned(), ours.to_owned()));
                }
                _ => parsed.traces.push(argument.into()),
            }
        }
        if parsed.pairs.is_empty() {
            let has = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
            let known = |name: &str| has.split_whitespace().any(|other| other == name);
            let pairs = PAIRS.iter().filter(|(kernel, _)| known(kernel));
            parsed.pairs = pairs
                .map(|(k, o)| ((*k).to_owned(), (*o).to_owned()))
                .collect();
        }
        Ok(parsed)
    }
}

fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("?").to_string()
}

/// A cell with one pair of controllers, and what was measured.
struct Comparison<'a> {
    cell: &'a Cell,
    kernel: &'a str,
    ours: &'a str,
    runs: u64,
    by_kernel: Mutex<Vec<Measured>>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let cells = cells::all(&arguments.traces)?;
    let mut comparisons = Vec::new();
    for cell in &cells {
        for (kernel, ours) in &arguments.pairs {
            let name = format!("{}, {kernel}", cell.name());
            let only = &arguments.only;
            if !only.is_empty() && !only.iter().any(|text| name.contains(text)) {
                continue;
            }
            comparisons.push(Comparison {
                cell,
                kernel,
                ours,
                runs: arguments.runs * if cell.is_random() { MORE_RUNS } else { 1 },
                by_kernel: Mutex::default(),
            });
        }
    }
    let jobs: Vec<_> = comparisons
        .iter()
        .flat_map(|c| (1..=c.runs).map(move |seed| (c, seed)))
        .collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let load_before = load();
    thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(|| {
                while let Some((comparison, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    match kernel::run(comparison.cell, comparison.kernel, arguments.seconds, *seed)
                    {
                        Ok(measured) => lock(&comparison.by_kernel).push(measured),
                        Err(e) => lock(&failures).push(e.to_string()),
                    }
                }
            });
        }
    });
    for failure in lock(&failures).iter() {
        eprintln!("warning: {failure}");
    }
    print(
        arguments,
        &comparisons,
        &format!("{load_before} to {}", load()),
    )
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn print(arguments: &Arguments, comparisons: &[Comparison<'_>], load: &str) -> Result<(), Failure> {
    let columns = COLUMNS
        .map(|c| format!("{}: kernel | ours | ", c.name))
        .join("| ");
    println!("| cell | controller | {columns} | verdict |");
    println!("|---|---|{}---|", "---|".repeat(COLUMNS.len()));
    let (mut met, mut all_met, mut counted) = ([0; COLUMNS.len()], 0, 0);
    let mut open = [0; COLUMNS.len()];
    for comparison in comparisons {
        let by_kernel = lock(&comparison.by_kernel);
        if by_kernel.is_empty() {
            println!(
                "| {} | {} | not run |",
                comparison.cell.name(),
                comparison.kernel
            );
            continue;
        }
        // Links that lose by chance lose the same packets on both sides until the flows part.
        let seeds = if comparison.cell.is_random() {
            comparison.runs
        } else {
            SEEDS
        };
        let simulated = (1..=seeds)
            .map(|seed| simulator::run(comparison.cell, comparison.ours, arguments.seconds, seed))
            .collect::<Result<Vec<_>, _>>()?;
        let results = COLUMNS
            .each_ref()
            .map(|column| compare(column, &by_kernel, &simulated));
        counted += 1;
        for (n, (_, verdict)) in results.iter().enumerate() {
            met[n] += u32::from(*verdict == Verdict::Met);
            open[n] += u32::from(*verdict == Verdict::Open);
        }
        let verdict = if results.iter().all(|(_, v)| *v == Verdict::Met) {
            all_met += 1;
            "met"
        } else if results.iter().any(|(_, v)| *v == Verdict::Missed) {
            "missed"
        } else {
            "open"
        };
        let row = results.map(|(row, _)| row).join(" | ");
        println!(
            "| {} | {} | {row} | {verdict} |",
            comparison.cell.name(),
            comparison.kernel
        );
    }
    println!(
        "\n{} s a run; kernel: {} runs, simulator: {SEEDS} seeds; where chance decides {} runs \
         of the same seeds each; mean ± standard \
         deviation; load average {load}.\n",
        arguments.seconds,
        arguments.runs,
        arguments.runs * MORE_RUNS,
    );
    println!("Cells with all columns met: {all_met} of {counted}.");
    for (n, column) in COLUMNS.iter().enumerate() {
        println!(
            "- {}: {} met, {} open, of {counted}",
            column.name, met[n], open[n]
        );
    }
    Ok(())
}
