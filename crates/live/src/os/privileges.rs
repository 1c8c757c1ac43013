//! Gives up the privileges that were needed to open interfaces and sockets.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::confine::{self, Confinement, Needs};
use super::{LiveError, Running, landlock};

/// The user and the group that own nothing (`nobody`, `nogroup`), on every Linux.
const NOBODY: u32 = 65_534;

/// As [`confine`], for what runs between interfaces; returns the flag that ends the run.
pub(super) fn give_up<'a>(running: &mut Running<'a>) -> Result<&'a AtomicBool, LiveError> {
    confine(running.confinement, &Needs::default(), running.start)
}

/// The one confinement of everything that runs on live interfaces, once all files and sockets are open: another user than
/// root, no capabilities and no way to gain any, and only the system calls that are needed. `start` is called in between,
/// and is where threads begin; what it returns is returned.
///
/// # Errors
/// If the kernel refuses.
pub fn confine<T>(
    how: Confinement,
    needs: &Needs<'_>,
    start: &mut dyn FnMut() -> T,
) -> Result<T, LiveError> {
    drop_bounds()?;
    if how != Confinement::Thread {
        become_other(needs.folder)?;
    }
    drop_capabilities()?;
    if let (Some(folder), Confinement::Refuse | Confinement::Log) = (needs.folder, how) {
        let what = format!("cannot confine the process to {}", folder.display());
        // An older kernel leaves what the rights of the folder's owner allow.
        landlock::leave_only(folder).map_err(LiveError::system(what))?;
    }
    let started = start();
    confine::confine(how, needs)?;
    Ok(started)
}

fn failed(what: &str) -> LiveError {
    LiveError::system(what)(io::Error::last_os_error())
}

/// No way to gain capabilities remains.
fn drop_bounds() -> Result<(), LiveError> {
    // SAFETY: this option takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } < 0 {
        return Err(failed("cannot drop the privileges"));
    }
    // The bounding set can be changed only with CAP_SETPCAP; without it there is nothing to drop.
    for capability in 0..64 {
        // SAFETY: as above; an unknown capability is refused.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    Ok(())
}

/// Drops all capabilities of this thread. Must be called before other threads are started, unless they are to keep theirs.
fn drop_capabilities() -> Result<(), LiveError> {
    /// Version 3 of the interface of capset(2).
    const VERSION: u32 = 0x2008_0522;
    let mut header = [VERSION, 0];
    let data = [0u32; 6];
    // SAFETY: version 3 reads two structures of three words from `data`; pid 0 is this thread.
    let done = unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), data.as_ptr()) };
    match done {
        0.. => Ok(()),
        _ => Err(failed("cannot drop the privileges")),
    }
}

/// Without capabilities, root still owns the files of the machine: so the process becomes the owner of the folder in which
/// it will write, or nobody. A user other than root stays.
fn become_other(folder: Option<&Path>) -> Result<(), LiveError> {
    // SAFETY: the call takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        return Ok(());
    }
    let (user, group) = match folder {
        None => (NOBODY, NOBODY),
        Some(folder) => owner(folder)?,
    };
    const WHAT: &str = "cannot become another user than root (this needs the capabilities CAP_SETUID and CAP_SETGID, or a \
                        start as another user)";
    // SAFETY: the calls take numbers only, and no group is read from the null pointer.
    unsafe {
        let groups = libc::setgroups(0, std::ptr::null());
        if libc::setresgid(group, group, group) < 0 {
            let error = io::Error::last_os_error();
            // In a user namespace without other users, this one is not the root of the machine.
            return match error.raw_os_error() {
                Some(libc::EINVAL) => Ok(()),
                _ => Err(LiveError::system(WHAT)(error)),
            };
        }
        if groups < 0 || libc::setresuid(user, user, user) < 0 {
            return Err(failed(WHAT));
        }
    }
    Ok(())
}

/// The owner of a folder. One that root owns and that is empty is given to nobody first.
fn owner(folder: &Path) -> Result<(u32, u32), LiveError> {
    let what = || format!("cannot use the folder {}", folder.display());
    let found = std::fs::metadata(folder).map_err(LiveError::system(what()))?;
    if found.uid() != 0 {
        return Ok((found.uid(), found.gid()));
    }
    let is_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if !is_empty {
        return Err(LiveError::Refused(format!(
            "{}: this folder belongs to root, whose rights are given up; expected one of another user, an empty or a new one",
            folder.display()
        )));
    }
    std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY))
        .map_err(LiveError::system(what()))?;
    Ok((NOBODY, NOBODY))
}
