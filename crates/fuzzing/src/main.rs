//! `inorder-fuzz MINUTES [TARGET...]`: mutates the corpus of each target in turn, on all cores, and says what was found.
//!
//! Needs a build that keeps its checks (`tools/fuzz`). Exit code 1 if an input made a check fail or took too long; it is kept in
//! `fuzz/artifacts`.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use inorder_fuzzing::mutate::{Random, mutated};
use inorder_fuzzing::{Check, TARGETS, corpus, folder};

/// An input that takes longer is a failure: time on a processor, because others may use the machine, too.
const TOO_LONG: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let minutes: Option<f64> = words.next().and_then(|word| word.parse().ok());
    let chosen: Vec<String> = words.collect();
    let known = |name: &String| TARGETS.iter().any(|(target, _)| target == name);
    let (Some(minutes), true) = (minutes, chosen.iter().all(known)) else {
        eprintln!("inorder-fuzz: expected minutes, and names of targets or none");
        return ExitCode::from(2);
    };
    // One line for each failure is enough: the input is kept.
    std::panic::set_hook(Box::new(|_| ()));
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|word| word == name);
    let targets: Vec<_> = TARGETS.iter().filter(|(name, _)| is_chosen(name)).collect();
    let each = Duration::from_secs_f64(minutes.max(0.0) * 60.0 / targets.len().max(1) as f64);
    let mut found = 0;
    for (name, check) in targets {
        found += run(name, *check, each);
    }
    match found {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Time on the clock of the machine: this program stands at the edge.
#[expect(
    clippy::disallowed_methods,
    reason = "a time limit is a matter of the clock"
)]
fn now() -> Duration {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}

/// What a thread works on.
#[derive(Default)]
struct Work {
    /// Where the system says how long the thread has run (`/proc/PID/task/TID/schedstat`), if it says so.
    account: Option<PathBuf>,
    /// The number of the input: 0 before the first.
    number: u64,
    /// Empty between inputs.
    input: Vec<u8>,
}

impl Work {
    fn of_this_thread() -> Self {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        Self {
            account: thread.map(|thread| PathBuf::from("/proc").join(thread).join("schedstat")),
            ..Self::default()
        }
    }

    /// The time that the thread has run, or, where that is not known, that of the clock.
    fn spent(&self) -> Duration {
        let account = self.account.as_ref();
        account
            .and_then(|file| {
                let text = std::fs::read_to_string(file).ok()?;
                text.split(' ').next()?.parse().ok()
            })
            .map_or_else(now, Duration::from_nanos)
    }
}

/// Runs a target for a time; returns the number of failures.
fn run(name: &str, check: Check, each: Duration) -> u64 {
    let inputs = corpus(name);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (runs, failures) = (AtomicU64::new(0), AtomicU64::new(0));
    let end = now() + each;
    let seed = end.as_nanos() as u64;
    let current: Vec<_> = (0..threads).map(|_| Mutex::new(Work::default())).collect();
    std::thread::scope(|scope| {
        for (number, current) in (1..).zip(&current) {
            let (inputs, runs, failures) = (&inputs, &runs, &failures);
            scope.spawn(move || {
                let mut random = Random(seed.wrapping_mul(number));
                if let Ok(mut work) = current.lock() {
                    *work = Work::of_this_thread();
                }
                while now() < end {
                    let input = mutated(inputs, &mut random);
                    if let Ok(mut work) = current.lock() {
                        work.number += 1;
                        work.input.clone_from(&input);
                    }
                    if catch_unwind(AssertUnwindSafe(|| check(&input))).is_err() {
                        failures.fetch_add(1, Ordering::Relaxed);
                        keep(name, "failed", &input);
                    }
                    runs.fetch_add(1, Ordering::Relaxed);
                }
                if let Ok(mut work) = current.lock() {
                    work.input.clear();
                }
            });
        }
        watch(name, &current, end);
    });
    let (runs, failures) = (runs.into_inner(), failures.into_inner());
    let seconds = each.as_secs_f64();
    println!(
        "{name}: {runs} inputs of {} in {seconds:.0} s, {failures} failures",
        inputs.len()
    );
    failures
}

/// Ends the program if an input takes too long: nothing else can end it.
fn watch(name: &str, current: &[Mutex<Work>], end: Duration) {
    // The number of the input that each thread was last seen with, and what the thread had spent by then.
    let mut seen = vec![(0, Duration::ZERO); current.len()];
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let mut is_idle = true;
        for (place, seen) in current.iter().zip(&mut seen) {
            let Ok(work) = place.lock() else { continue };
            if now() < end || !work.input.is_empty() {
                is_idle = false;
            }
            let spent = work.spent();
            if seen.0 != work.number {
                *seen = (work.number, spent);
            } else if !work.input.is_empty() && spent.saturating_sub(seen.1) > TOO_LONG {
                keep(name, "slow", &work.input);
                std::process::exit(1);
            }
        }
        if is_idle {
            return;
        }
    }
}

/// Keeps an input, and says where.
fn keep(name: &str, what: &str, input: &[u8]) {
    let sum = input.iter().fold(0u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let folder: PathBuf = folder().join("artifacts").join(name);
    let file = folder.join(format!("{what}-{sum:016x}"));
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, input));
    let mut out = std::io::stdout();
    // If it cannot be written, there is nobody who reads it.
    let _ = match kept {
        Ok(()) => writeln!(out, "{name}: {what}: {}", file.display()),
        Err(error) => writeln!(out, "{name}: {what}: {input:?} ({error})"),
    };
}
