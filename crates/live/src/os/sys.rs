//! System calls in common.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The result of a system call that reports errors by a negative number.
pub(super) fn checked<N: PartialOrd + Default>(done: N) -> io::Result<N> {
    match done < N::default() {
        true => Err(io::Error::last_os_error()),
        false => Ok(done),
    }
}

/// A socket that belongs to us.
pub(super) fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let fd = checked(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets an option of a socket.
pub(super) fn set<T>(fd: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let (length, value) = (size_of::<T>() as libc::socklen_t, std::ptr::from_ref(value));
    // SAFETY: `value` is valid for `length` bytes.
    let done = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value.cast(), length) };
    checked(done).map(drop)
}

/// What the kernel fills in, for which all zeros and all that it writes are valid.
///
/// # Safety
/// Every pattern of bits is a value of the type.
pub(super) unsafe trait Filled: Copy {}

// SAFETY: numbers only.
unsafe impl Filled for i32 {}
// SAFETY: numbers only.
unsafe impl Filled for libc::tpacket_stats {}
// SAFETY: numbers only.
unsafe impl Filled for libc::tpacket_stats_v3 {}
// SAFETY: numbers only.
unsafe impl Filled for libc::xdp_statistics {}
// SAFETY: numbers only.
unsafe impl Filled for libc::xdp_mmap_offsets {}

/// An option of a socket.
pub(super) fn get<T: Filled>(fd: &impl AsRawFd, level: i32, name: i32) -> io::Result<T> {
    // SAFETY: all zeros are valid.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    let (fd, place) = (fd.as_raw_fd(), (&raw mut value).cast());
    // SAFETY: `value` is valid for `length` bytes.
    checked(unsafe { libc::getsockopt(fd, level, name, place, &raw mut length) })?;
    Ok(value)
}
