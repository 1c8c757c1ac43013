//! The same functions on other systems: they refuse.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use inorder_path::Path;

use super::{Confinement, LiveError, Needs, Running};
use crate::emulator::Seen;
use crate::frame::Frame;
use crate::probe::{Answers, Plan, Protocol};
use crate::reflector::{Limits, Reflected};
use crate::sorting::{Sorted, Sorting};

/// Probes a peer; needs Linux.
pub fn probe(
    _: SocketAddr,
    _: Protocol,
    _: &Plan,
    _: Confinement,
    _: &mut dyn FnMut() -> &'static AtomicBool,
) -> Result<Answers, LiveError> {
    Err(LiveError::NotLinux)
}

/// Answers probes; needs Linux.
pub fn reflect(
    _: SocketAddr,
    _: Limits,
    _: Confinement,
    _: &mut dyn FnMut(SocketAddr) -> &'static AtomicBool,
) -> Result<Reflected, LiveError> {
    Err(LiveError::NotLinux)
}

/// Forwards frames between two interfaces; needs Linux.
pub fn emulate(
    _: [&str; 2],
    _: (Path<Frame>, Path<Frame>),
    _: Running<'_>,
    _: &mut dyn FnMut(i64, &[Seen; 2]),
) -> Result<[Seen; 2], LiveError> {
    Err(LiveError::NotLinux)
}

/// Sorts between two interfaces; needs Linux.
pub fn sort_between(
    _: [&str; 2],
    _: (Sorting, Sorting),
    _: Running<'_>,
    _: &mut dyn FnMut(i64, &[Sorted]),
) -> Result<Vec<Sorted>, LiveError> {
    Err(LiveError::NotLinux)
}

/// Sorts what an interface receives; needs Linux.
pub fn sort_received(
    _: &str,
    _: Sorting,
    _: Running<'_>,
    _: &mut dyn FnMut(i64, &[Sorted]),
) -> Result<(Vec<Sorted>, Option<LiveError>), LiveError> {
    Err(LiveError::NotLinux)
}

/// An interface that is watched; needs Linux.
pub struct Ring(std::convert::Infallible);

impl Ring {
    /// Needs Linux.
    pub fn open(_: &str, _: u32, _: usize, _: fn(&str)) -> Result<Self, LiveError> {
        Err(LiveError::NotLinux)
    }

    /// Never called.
    pub fn capture(&self, _: i64, _: &'static AtomicBool) -> impl std::io::Read + Send + 'static {
        std::io::empty()
    }

    /// Never called.
    pub fn missed(&self) -> u64 {
        0
    }
}

/// Confines the process; needs Linux.
pub fn confine<T>(_: Confinement, _: &Needs<'_>, _: &mut dyn FnMut() -> T) -> Result<T, LiveError> {
    Err(LiveError::NotLinux)
}

/// Runs `install`. Only Linux is asked whether the signal was ignored before.
pub fn keeping_ignored_hangup(install: impl FnOnce()) {
    install();
}
