//! Runs the tasks of a study on the threads of this process.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::open::Open;
use crate::study::Study;
use crate::tally::Tally;

/// Receives the progress of a study.
pub trait Progress: Sync {
    /// `done` of `all` tasks are done, those of earlier calls included.
    fn at(&self, done: usize, all: usize);
}

/// Ignores the progress.
impl Progress for () {
    fn at(&self, _done: usize, _all: usize) {}
}

impl Study {
    /// Runs all tasks that are not done, on `threads` threads; 0 for one per processor. When `stop` becomes true, the tasks
    /// in flight are given up and none begins.
    ///
    /// # Errors
    /// If a task cannot run, or its results cannot be written: the first such error, after which no task begins.
    pub fn run(
        &self,
        threads: usize,
        open: &dyn Open,
        progress: &dyn Progress,
        stop: &Arc<AtomicBool>,
    ) -> Result<Tally, Error> {
        let todo = self.todo();
        let all = self.plan().tasks.len();
        let done = AtomicUsize::new(all - todo.len());
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let first: Mutex<Option<Error>> = Mutex::new(None);
        progress.at(done.load(Ordering::Relaxed), all);
        let work = || {
            while !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
                let Some(&task) = todo.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    return;
                };
                match self.run_task(task, open, stop) {
                    Ok(_) => progress.at(done.fetch_add(1, Ordering::Relaxed) + 1, all),
                    Err(Error::Stopped) => return,
                    Err(error) => {
                        failed.store(true, Ordering::Relaxed);
                        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                        first.get_or_insert(error);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            let wanted = match threads {
                0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
                wanted => wanted,
            };
            let others: Vec<_> = (1..wanted.min(todo.len()))
                .map(|_| scope.spawn(work))
                .collect();
            work();
            drop(others);
        });
        let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
        match first {
            Some(error) => Err(error),
            None => Ok(self.tally()),
        }
    }
}
