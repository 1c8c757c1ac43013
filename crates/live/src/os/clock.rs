//! The clocks of the machine. No other module reads them.

use super::sys::checked;
use crate::stamp::ErrorEstimate;

/// Nanoseconds on a clock that never runs backwards.
pub(super) fn monotonic_ns() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since the Unix epoch.
pub(super) fn unix_ns() -> i64 {
    read(libc::CLOCK_REALTIME)
}

/// A time of day of the last moments on [`monotonic_ns`], whose time is `now_ns`; the clock says `unix_ns` now. If it was
/// set in between, the moment is unknown, and taken for now.
pub(super) fn on_monotonic(at_ns: i64, unix_ns: i64, now_ns: i64) -> i64 {
    let age_ns = unix_ns.saturating_sub(at_ns);
    match (0..RECENT_NS).contains(&age_ns) {
        true => now_ns - age_ns,
        false => now_ns,
    }
}

/// The longest time that a frame is believed to wait until it is taken, nanoseconds.
const RECENT_NS: i64 = 100_000_000;

fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for the call, which cannot fail for these clocks.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec
        .saturating_mul(1_000_000_000)
        .saturating_add(time.tv_nsec)
}

/// What the kernel knows about the error of the clock: nothing, unless a daemon synchronises it.
pub(super) fn error_estimate() -> ErrorEstimate {
    // SAFETY: all zeros are a valid `timex`, which with no mode set is only read.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: `timex` is valid for the call.
    let state = unsafe { libc::adjtimex(&mut timex) };
    match state {
        0..libc::TIME_ERROR => {
            let error_us = u64::try_from(timex.maxerror).unwrap_or(0);
            ErrorEstimate::synchronised(error_us.saturating_mul(1_000))
        }
        _ => ErrorEstimate::default(),
    }
}

/// Makes waits end as exactly as the kernel can, which by default adds up to 50 us to save power; with `realtime` this
/// process has precedence over others, too.
///
/// # Errors
/// If the system refuses the precedence.
pub(super) fn be_exact(realtime: bool) -> Result<(), super::LiveError> {
    // SAFETY: this option takes a number of nanoseconds and no pointer.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
    match realtime {
        true => take_precedence(),
        false => Ok(()),
    }
}

/// Waits until one of `fds` is readable or `wait_ns` have passed; `None` waits without end. A signal ends the wait, too.
pub(super) fn wait(fds: &mut [libc::pollfd], wait_ns: Option<i64>) {
    let time = wait_ns.map(|ns| libc::timespec {
        tv_sec: ns.max(0) / 1_000_000_000,
        tv_nsec: ns.max(0) % 1_000_000_000,
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `fds` is a slice of valid entries, and `time` is null or valid for the call.
    unsafe {
        libc::ppoll(
            fds.as_mut_ptr(),
            fds.len() as libc::nfds_t,
            time,
            std::ptr::null(),
        )
    };
}

/// An entry for [`wait`].
pub(super) fn readable(fd: &impl std::os::fd::AsRawFd) -> libc::pollfd {
    libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    }
}

/// Gives this process precedence over all ordinary ones, and keeps its memory in place.
fn take_precedence() -> Result<(), super::LiveError> {
    let what = "cannot take precedence (this needs root or the capability CAP_SYS_NICE)";
    // The kernel's own structure has the priority only; musl has another one, and a function that always refuses.
    let priority: libc::c_int = 10;
    // SAFETY: `priority` is valid for the call; pid 0 is this process.
    let done = unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            0,
            libc::SCHED_FIFO,
            &raw const priority,
        )
    };
    checked(done).map_err(super::LiveError::system(what))?;
    let unlimited = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // Without the capabilities, which are given up later, memory beyond this limit could not be locked, and MCL_FUTURE
    // would make it impossible to get any.
    // SAFETY: `unlimited` is valid for the call.
    let is_unlimited = unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &unlimited) } == 0;
    let future = if is_unlimited { libc::MCL_FUTURE } else { 0 };
    // Memory is locked when it is first used: an allocator reserves far more than it uses.
    // SAFETY: the call takes flags only. If it fails, memory may be swapped out, which costs time only.
    unsafe { libc::mlockall(libc::MCL_CURRENT | future | libc::MCL_ONFAULT) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;
    const MINUTE: i64 = 60_000 * MS;

    /// A frame that came at the time of day `CAME` is taken 3 ms later, when the steady clock says `NOW`.
    const CAME: i64 = 1_700_000_000_000 * MS;
    const NOW: i64 = 5_000 * MS;

    #[test]
    fn a_frame_is_as_old_as_the_time_of_day_says() {
        assert_eq!(on_monotonic(CAME, CAME + 3 * MS, NOW), NOW - 3 * MS);
        assert_eq!(on_monotonic(CAME, CAME, NOW), NOW);
    }

    /// A delay is counted from when the frame came. With the difference between the two clocks read once, at the start, a frame
    /// after a step back of a minute came a minute early, and each delay was over at once.
    #[test]
    fn a_clock_that_was_set_earlier_changes_no_age() {
        for step in [-MINUTE, -80 * MS, 80 * MS, MINUTE] {
            let came = CAME + step;
            assert_eq!(
                on_monotonic(came, came + 3 * MS, NOW),
                NOW - 3 * MS,
                "{step}"
            );
        }
    }

    #[test]
    fn a_frame_between_whose_coming_and_taking_the_clock_was_set_came_now() {
        for step in [-MINUTE, -80 * MS, MINUTE] {
            assert_eq!(on_monotonic(CAME, CAME + 3 * MS + step, NOW), NOW, "{step}");
        }
        for (came, unix_ns) in [(i64::MIN, i64::MAX), (i64::MAX, i64::MIN)] {
            assert_eq!(on_monotonic(came, unix_ns, NOW), NOW);
        }
    }
}
