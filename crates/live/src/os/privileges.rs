//! Gives up the privileges that were needed to open interfaces.

use std::io;
use std::sync::atomic::AtomicBool;

use super::confine::confine;
use super::{LiveError, Running};

/// Gives up all privileges, has threads started, and confines them; returns the flag that ends the run.
///
/// # Errors
/// If the kernel refuses.
pub(super) fn give_up<'a>(running: &mut Running<'a>) -> Result<&'a AtomicBool, LiveError> {
    drop_all()?;
    let stop = (running.start)();
    confine(running.confinement)?;
    Ok(stop)
}

/// Drops all capabilities of this thread for good, and every way to gain them: the open sockets are all that remains.
/// Must be called before other threads are started, unless they are to keep theirs.
///
/// # Errors
/// If the kernel refuses.
pub fn drop_all() -> Result<(), LiveError> {
    let failed = || LiveError::system("cannot drop the privileges")(io::Error::last_os_error());
    // SAFETY: this option takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } < 0 {
        return Err(failed());
    }
    // The bounding set can be changed only with CAP_SETPCAP; without it there is nothing to drop.
    for capability in 0..64 {
        // SAFETY: as above; an unknown capability is refused.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    /// Version 3 of the interface of capset(2).
    const VERSION: u32 = 0x2008_0522;
    let mut header = [VERSION, 0];
    let data = [0u32; 6];
    // SAFETY: version 3 reads two structures of three words from `data`; pid 0 is this thread.
    let done = unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), data.as_ptr()) };
    if done < 0 { Err(failed()) } else { Ok(()) }
}
