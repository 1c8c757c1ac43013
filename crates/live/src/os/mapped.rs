//! Memory shared with the kernel.

use std::io;
use std::os::fd::RawFd;

/// A mapped area of memory.
pub(super) struct Mapped {
    start: *mut u8,
    bytes: usize,
}

impl Mapped {
    /// Maps `bytes` of a file from `offset` on; without a file (-1), memory of our own.
    pub(super) fn new(bytes: usize, fd: RawFd, offset: i64) -> io::Result<Self> {
        let flags = if fd < 0 {
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS
        } else {
            libc::MAP_SHARED
        };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new area is requested; nothing that exists is replaced.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                access,
                flags | libc::MAP_POPULATE,
                fd,
                offset,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mapped {
            start: start.cast(),
            bytes,
        })
    }

    /// Its first byte.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Its length.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the area was mapped by `new` and is not used any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}
