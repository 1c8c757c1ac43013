//! Independent repetitions on all cores, with progress and Ctrl-C.

use std::sync::atomic::Ordering;

use inorder_netproc::Repetitions;

use crate::error::{CliError, ExitCode, INTERRUPTED, usage};
use crate::progress::Bar;
use crate::{interrupt, manners};

/// The results of the repetitions.
pub(super) struct Repeated<T> {
    /// In the order of their numbers; an interrupted run has its result up to the interruption.
    pub outcomes: Vec<T>,
    /// True if Ctrl-C ended some repetitions early.
    pub interrupted: bool,
}

impl<T> Repeated<T> {
    /// The exit code, after a word about Ctrl-C: what was printed looks like whole results.
    pub(super) fn exit_code(&self) -> ExitCode {
        if !self.interrupted {
            return ExitCode::SUCCESS;
        }
        manners::complain("interrupted: the results are partial");
        ExitCode::from(INTERRUPTED)
    }
}

/// Runs repetitions 0 to `times` of `packets` each.
pub(super) fn repeat<T: Send>(
    times: u32,
    packets: u64,
    run: impl Fn(u64, &dyn Fn(u64) -> bool) -> Result<T, CliError> + Sync,
) -> Result<Repeated<T>, CliError> {
    if times == 0 {
        return usage!("repetitions: expected at least 1, found 0");
    }
    let stop = interrupt::flag();
    let bar = Bar::counting("", "packets");
    bar.at(0, Some(packets.saturating_mul(u64::from(times))));
    let how = Repetitions {
        times,
        threads: 0,
        progress: &|packets| bar.add(packets),
        stop,
    };
    let outcomes = inorder_netproc::repeat(&how, run)?;
    Ok(Repeated {
        outcomes,
        interrupted: stop.load(Ordering::Relaxed),
    })
}
