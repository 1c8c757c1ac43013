//! The signal of a terminal that goes away, which `nohup` has ignored.

/// Runs `install`, which sets handlers of signals; a hangup that was ignored stays so.
pub fn keeping_ignored_hangup(install: impl FnOnce()) {
    // SAFETY: all zeros are a valid action.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: the call only reads the present action.
    let known = unsafe { libc::sigaction(libc::SIGHUP, std::ptr::null(), &mut before) } == 0;
    install();
    if known && before.sa_sigaction == libc::SIG_IGN {
        // SAFETY: `before` was given by the kernel.
        unsafe { libc::sigaction(libc::SIGHUP, &before, std::ptr::null_mut()) };
    }
}
