//! The same functions on other systems: they refuse.

use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;

use super::LiveError;
use crate::probe::{Direction, Plan, Protocol};
use crate::reflector::{Limits, Reflected};

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
