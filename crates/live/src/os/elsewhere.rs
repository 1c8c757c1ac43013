//! The same functions on other systems: they refuse.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use inorder_path::Path;

use super::{LiveError, Running};
use crate::emulator::Seen;
use crate::frame::Frame;
use crate::probe::{Direction, Plan, Protocol};
use crate::reflector::{Limits, Reflected};
use crate::sorting::{Sorted, Sorting};

/// Probes a peer; needs Linux.
pub fn probe(
    _: SocketAddr,
    _: Protocol,
    _: &Plan,
    _: &AtomicBool,
) -> Result<Vec<Direction>, LiveError> {
    Err(LiveError::NotLinux)
}

/// Answers probes; needs Linux.
pub fn reflect(
    _: SocketAddr,
    _: Limits,
    _: &AtomicBool,
    _: &mut dyn FnMut(SocketAddr),
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
) -> Result<Vec<Sorted>, LiveError> {
    Err(LiveError::NotLinux)
}

/// An interface that is watched; needs Linux.
pub struct Ring(std::convert::Infallible);

impl Ring {
    /// Needs Linux.
    pub fn open(_: &str, _: u32, _: usize) -> Result<Self, LiveError> {
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

/// Gives up privileges; needs Linux.
pub fn drop_privileges() -> Result<(), LiveError> {
    Err(LiveError::NotLinux)
}
