//! Independent repetitions on all cores, with progress and Ctrl-C.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::error::CliError;
use crate::interrupt;
use crate::progress::Bar;

/// The results of the repetitions.
pub struct Repeated<T> {
    /// In the order of their numbers; an interrupted run has its result up to the interruption.
    pub outcomes: Vec<T>,
    /// True if Ctrl-C ended some repetitions early.
    pub interrupted: bool,
}

/// Runs repetitions 0 to `times`. `run` receives its number and a function that it calls now and then with the number
/// of packets done; the function returns whether to continue. Results do not depend on the number of cores.
pub fn repeat<T: Send>(
    times: u32,
    packets: u64,
    run: impl Fn(u64, &dyn Fn(u64) -> bool) -> Result<T, CliError> + Sync,
) -> Result<Repeated<T>, CliError> {
    if times == 0 {
        return Err(CliError::Usage(
            "repetitions: expected at least 1, found 0".to_owned(),
        ));
    }
    let stop = interrupt::flag();
    let stopped = || stop.load(Ordering::Relaxed);
    let bar = Bar::counting("", "packets");
    bar.at(0, Some(packets.saturating_mul(u64::from(times))));
    let next = AtomicU32::new(0);
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // The first repetition runs in any case, so that there is a result to print.
            if number >= times || number > 0 && stopped() {
                return;
            }
            let done = std::cell::Cell::new(0);
            let outcome = run(u64::from(number), &|packets| {
                bar.add(packets.saturating_sub(done.replace(packets)));
                !stopped()
            });
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push((number, outcome));
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        for _ in 0..workers.min(times as usize) {
            scope.spawn(work);
        }
    });
    drop(bar);
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(number, _)| *number);
    let outcomes: Result<Vec<T>, CliError> =
        outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    Ok(Repeated {
        outcomes: outcomes?,
        interrupted: stopped(),
    })
}
