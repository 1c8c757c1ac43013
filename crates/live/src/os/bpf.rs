//! The calls of bpf(2) that attach the program of [`crate::xdp_program`] to an interface.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::LiveError;
use super::sys::checked;
use crate::xdp_program;

const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const PROG_LOAD: i32 = 5;
const LINK_CREATE: i32 = 28;

const MAP_OF_SOCKETS: u32 = 17;
const PROGRAM_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
/// The driver runs the program before it builds a packet buffer. The generic mode, behind GRO, is refused: there,
/// super-packets would be dropped.
const DRIVER_MODE: u32 = 1 << 2;

/// The arguments of a call: the kernel's `union bpf_attr`, zero where nothing is set.
#[repr(C, align(8))]
struct Attributes([u8; 128]);

impl Attributes {
    fn new() -> Self {
        Attributes([0; 128])
    }

    fn number(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    fn pointer<T>(mut self, at: usize, value: *const T) -> Self {
        self.0[at..at + 8].copy_from_slice(&(value.addr() as u64).to_ne_bytes());
        self
    }

    fn call(mut self, command: i32) -> io::Result<i32> {
        // SAFETY: the attributes are valid for their length, and the pointers in them for this call.
        let done =
            unsafe { libc::syscall(libc::SYS_bpf, command, self.0.as_mut_ptr(), self.0.len()) };
        checked(done).map(|done| done as i32)
    }

    fn call_for_fd(self, command: i32) -> io::Result<OwnedFd> {
        // SAFETY: these commands return a new descriptor that belongs to nobody else.
        self.call(command)
            .map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// The attached program. When the last descriptor is closed, also because the process died, the kernel detaches it.
pub(super) struct Attached {
    _link: OwnedFd,
    _program: OwnedFd,
    map: OwnedFd,
}

impl Attached {
    /// Attaches the program to the interface with this number and `queues` receive queues. Until a socket is set,
    /// everything goes to the kernel as before.
    pub(super) fn new(name: &str, index: u32, queues: u32) -> Result<Self, LiveError> {
        let needs = "this needs the capabilities CAP_BPF and CAP_NET_ADMIN";
        let map = Attributes::new()
            .number(0, MAP_OF_SOCKETS)
            .number(4, 4)
            .number(8, 4)
            .number(12, queues);
        let map = map
            .call_for_fd(MAP_CREATE)
            .map_err(LiveError::system(format!(
                "cannot make a map of sockets ({needs})"
            )))?;
        let code = xdp_program::program(map.as_raw_fd());
        let program = Attributes::new()
            .number(0, PROGRAM_XDP)
            .number(4, code.len() as u32)
            .pointer(8, code.as_ptr())
            .pointer(16, c"Apache-2.0".as_ptr())
            .number(68, ATTACH_XDP);
        let program = program
            .call_for_fd(PROG_LOAD)
            .map_err(LiveError::system(format!(
                "cannot load the XDP program ({needs})"
            )))?;
        let link = Attributes::new()
            .number(0, program.as_raw_fd() as u32)
            .number(4, index)
            .number(8, ATTACH_XDP)
            .number(12, DRIVER_MODE);
        let what = format!(
            "cannot attach to {name} (its driver must support XDP, with this MTU, and no other program be attached)"
        );
        let link = link
            .call_for_fd(LINK_CREATE)
            .map_err(LiveError::system(what))?;
        Ok(Attached {
            _link: link,
            _program: program,
            map,
        })
    }

    /// From now on, TCP of this queue goes to the socket.
    pub(super) fn set(&self, queue: u32, socket: &impl AsRawFd) -> Result<(), LiveError> {
        let value = socket.as_raw_fd() as u32;
        let entry = Attributes::new().number(0, self.map.as_raw_fd() as u32);
        let entry = entry
            .pointer(8, &raw const queue)
            .pointer(16, &raw const value);
        let done = entry.call(MAP_UPDATE).map(|_| ());
        done.map_err(LiveError::system(format!("cannot take queue {queue}")))
    }
}
