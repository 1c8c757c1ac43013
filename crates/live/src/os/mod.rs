//! Everything that touches the machine. It needs Linux; elsewhere the functions return [`LiveError::NotLinux`].

#![allow(unsafe_code)] // System calls, and memory shared with the kernel.

use std::io;
use std::sync::atomic::AtomicBool;

#[cfg(target_os = "linux")]
mod af_xdp;
#[cfg(target_os = "linux")]
mod between;
#[cfg(target_os = "linux")]
mod bpf;
#[cfg(target_os = "linux")]
mod clock;
mod confine;
#[cfg(target_os = "linux")]
mod datagram;
#[cfg(target_os = "linux")]
mod emulating;
#[cfg(target_os = "linux")]
mod hangup;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
mod mapped;
#[cfg(target_os = "linux")]
mod packet_mmap;
#[cfg(target_os = "linux")]
mod port;
#[cfg(target_os = "linux")]
mod privileges;
#[cfg(target_os = "linux")]
mod probing;
#[cfg(target_os = "linux")]
mod reflecting;
#[cfg(target_os = "linux")]
mod sorting;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod tap;

#[cfg(not(target_os = "linux"))]
mod elsewhere;

pub use confine::{Confinement, Needs};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
#[cfg(target_os = "linux")]
pub use emulating::emulate;
#[cfg(target_os = "linux")]
pub use hangup::keeping_ignored_hangup;
#[cfg(target_os = "linux")]
pub use packet_mmap::Ring;
#[cfg(target_os = "linux")]
pub use privileges::confine;
#[cfg(target_os = "linux")]
pub use probing::probe;
#[cfg(target_os = "linux")]
pub use reflecting::reflect;
#[cfg(target_os = "linux")]
pub use sorting::{sort_between, sort_received};

/// How something runs between its interfaces.
pub struct Running<'a> {
    /// When it ends by itself.
    pub duration_ns: Option<i64>,
    /// It has precedence over all ordinary processes of the machine.
    pub realtime: bool,
    /// What happens to system calls that it does not need.
    pub confinement: Confinement,
    /// Told what becomes of the interfaces while it runs: they go down, and come back.
    pub tell: fn(&str),
    /// Called when the interfaces are open and the privileges are given up, before system calls are confined: threads are
    /// to be started here, and here alone. Returns the flag that ends the run.
    pub start: &'a mut dyn FnMut() -> &'a AtomicBool,
}

/// A random number that nobody else can know: the key of a hash.
pub fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds its hash maps from the system's generator.
    std::hash::RandomState::new().build_hasher().finish()
}

/// Why something on a live interface failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveError {
    /// The system is not Linux.
    #[error("live interfaces need Linux; this system is another one")]
    NotLinux,
    /// The system refused a call.
    #[error("{what}: {source}")]
    System {
        /// What was to be done, and what is needed for it.
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The peer refuses the packets.
    #[error("{0}")]
    Refused(String),
}

#[cfg(target_os = "linux")]
impl LiveError {
    /// Adds what was to be done to an error of the system.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> LiveError {
        let what = what.into();
        move |source| LiveError::System { what, source }
    }
}
