//! Runs long jobs so that Python's other threads go on and Ctrl-C ends them.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use inorder_pipeline::Watch;
use pyo3::prelude::*;

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Asks a job to end; every library looks at it often.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// For libraries that take a reference to a flag.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0
    }

    /// For libraries that keep the flag.
    pub(crate) fn shared(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Asks for the end.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// For libraries that ask.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Watch for Stop {
    fn stop(&self) -> bool {
        self.is_set()
    }
}

/// What a signal handler of Python raised, if one ran and did.
fn signal() -> Option<PyErr> {
    Python::attach(|py| -> PyResult<()> {
        py.check_signals()?;
        Ok(())
    })
    .err()
}

/// Runs `job` on a thread of its own without holding Python's lock, while this thread looks for signals, which Python
/// handles only on its main thread. If a handler raises, as that of Ctrl-C does, the job is asked to stop, its result
/// is dropped, and the exception is returned. An exception of the job itself comes second to that.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    job: impl FnOnce(&Stop) -> PyResult<T> + Send,
) -> PyResult<T> {
    let stop = Stop::default();
    py.detach(|| {
        thread::scope(|scope| {
            let (ends_with_the_job, end) = channel::<()>();
            let worker = scope.spawn(|| {
                let _ends_with_the_job = ends_with_the_job;
                job(&stop)
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = end.recv_timeout(LOOK) {
                if raised.is_none() {
                    raised = signal();
                    stop.0.store(raised.is_some(), Ordering::Relaxed);
                }
            }
            let result = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            raised.map_or(result, Err)
        })
    })
}
