//! Independent repetitions of a run on all cores. The results do not depend on the number of threads.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// How to repeat a run.
pub struct Repetitions<'a> {
    /// Number of repetitions, at least 1.
    pub times: u32,
    /// Number of threads; 0 for one per processor.
    pub threads: usize,
    /// Receives the number of packets that were done since it was called last.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// As soon as this is true, no further repetition begins, and those that run end early with what they have.
    pub stop: &'a AtomicBool,
}

/// Runs repetitions 0, 1, ... and returns their results in this order. `run` receives its number and a function that it
/// calls now and then with the number of packets done; the function returns whether to continue. The first repetition runs in
/// any case, so that there is a result.
///
/// # Errors
/// The first error of `run`.
pub fn repeat<T: Send, E: Send>(
    how: &Repetitions<'_>,
    run: impl Fn(u64, &dyn Fn(u64) -> bool) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let stopped = || how.stop.load(Ordering::Relaxed);
    let next = AtomicU32::new(0);
    let outcomes = Mutex::new(Vec::new());
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= how.times || number > 0 && stopped() {
                return;
            }
            let done = std::cell::Cell::new(0);
            let outcome = run(u64::from(number), &|packets| {
                (how.progress)(packets.saturating_sub(done.replace(packets)));
                !stopped()
            });
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.push((number, outcome));
            }
        }
    };
    let threads = match how.threads {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        given => given,
    };
    thread::scope(|scope| {
        for _ in 0..threads.min(how.times as usize) {
            scope.spawn(work);
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_their_order_and_the_first_always() {
        let how = |stop| Repetitions {
            times: 9,
            threads: 3,
            progress: &|_| {},
            stop,
        };
        let number = |number, go_on: &dyn Fn(u64) -> bool| Ok::<_, ()>((number, go_on(1)));
        let (go, end) = (AtomicBool::new(false), AtomicBool::new(true));
        let all: Vec<_> = (0..9).map(|number| (number, true)).collect();
        assert_eq!(repeat(&how(&go), number), Ok(all));
        assert_eq!(repeat(&how(&end), number), Ok(vec![(0, false)]));
        let wrong =
            |number, _: &dyn Fn(u64) -> bool| if number == 4 { Err("four") } else { Ok(()) };
        assert_eq!(repeat(&how(&go), wrong), Err("four"));
    }
}
