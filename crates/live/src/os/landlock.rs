//! Leaves of the file system one folder alone (Landlock, landlock(7); Linux 5.13).

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The numbers of the calls, which are the same on all processors.
const CREATE_RULESET: libc::c_long = 444;
const ADD_RULE: libc::c_long = 445;
const RESTRICT_SELF: libc::c_long = 446;
/// Asks for the version of the interface.
const VERSION: u32 = 1;
const PATH_BENEATH: u32 = 1;

/// Everything that the first version can forbid, and what the third one adds.
const ALL: u64 = (1 << 13) - 1;
const TRUNCATE: u64 = 1 << 14;
/// Write, read, list, remove and make files.
const FILES: u64 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 8;

/// A rule: what is allowed beneath a folder.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    folder: i32,
}

/// From now on this thread, and those that it starts, read and write files beneath `folder` alone. False: this kernel cannot. Without root it takes a
/// thread that can gain no privileges (`PR_SET_NO_NEW_PRIVS`).
///
/// # Errors
/// If the kernel refuses although it can.
pub(super) fn leave_only(folder: &Path) -> io::Result<bool> {
    // SAFETY: with this flag, nothing is read.
    let version = unsafe { libc::syscall(CREATE_RULESET, std::ptr::null::<u64>(), 0, VERSION) };
    if version < 1 {
        return Ok(false);
    }
    let truncate = if version >= 3 { TRUNCATE } else { 0 };
    let handled = ALL | truncate;
    // SAFETY: `handled` is the first field of the structure, and all that the given length covers.
    let rules = unsafe { libc::syscall(CREATE_RULESET, &raw const handled, 8, 0) };
    let rules = owned(rules)?;
    let path = CString::new(folder.as_os_str().as_bytes())?;
    // SAFETY: `path` ends with a zero.
    let place = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
    let place = owned(libc::c_long::from(place))?;
    let rule = Beneath {
        allowed: FILES | truncate,
        folder: place.as_raw_fd(),
    };
    // SAFETY: `rule` is valid for the call.
    done(unsafe {
        libc::syscall(
            ADD_RULE,
            rules.as_raw_fd(),
            PATH_BENEATH,
            &raw const rule,
            0,
        )
    })?;
    // SAFETY: the call takes numbers.
    done(unsafe { libc::syscall(RESTRICT_SELF, rules.as_raw_fd(), 0) })?;
    Ok(true)
}

fn done(result: libc::c_long) -> io::Result<()> {
    match result {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    done(result)?;
    // SAFETY: the call has just made the descriptor, which belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(result as i32) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn one_folder_is_left() {
        let folder = std::env::temp_dir().join(format!("inorder-landlock-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let inside = folder.join("file");
        // A restriction is for ever, so it is that of a thread of its own.
        let found = std::thread::scope(|scope| {
            let tried = scope.spawn(|| {
                // SAFETY: the call takes numbers.
                done(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into()).unwrap();
                let can = leave_only(&folder).unwrap();
                let draft = fs::write(folder.join("draft"), "text");
                let kept = draft.and_then(|()| fs::rename(folder.join("draft"), &inside));
                (
                    can,
                    kept.is_ok(),
                    fs::read("/etc/passwd").is_ok(),
                    fs::read_dir("/").is_ok(),
                )
            });
            tried.join().unwrap()
        });
        fs::remove_dir_all(&folder).unwrap();
        if !found.0 {
            return eprintln!("skipped: this kernel has no Landlock");
        }
        assert_eq!(found, (true, true, false, false));
    }
}
