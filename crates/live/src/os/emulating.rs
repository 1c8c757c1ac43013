//! `inorder emulate`: two interfaces and the path between them.

use std::sync::atomic::AtomicBool;

use inorder_path::Path;

use super::port::Port;
use super::{LiveError, between, clock};
use crate::emulator::{Emulated, Seen};
use crate::frame::Frame;

/// Forwards frames between the interfaces `names` over the paths, until `stop` or for `duration_ns`. Time in the paths
/// begins with 0. With `realtime` the process has precedence over others.
///
/// # Errors
/// If an interface cannot be opened or used.
pub fn emulate(
    names: [&str; 2],
    forward: Path<Frame>,
    reverse: Path<Frame>,
    duration_ns: Option<i64>,
    realtime: bool,
    stop: &AtomicBool,
) -> Result<[Seen; 2], LiveError> {
    clock::wait_exactly();
    if realtime {
        clock::take_precedence()?;
    }
    let (mut a, mut b) = (Port::open(names[0])?, Port::open(names[1])?);
    let mut lanes = (
        Emulated::new("forward", forward),
        Emulated::new("reverse", reverse),
    );
    between::run((&mut a, &mut b), &mut lanes, duration_ns, stop, &mut |_| ())?;
    Ok([lanes.0.seen(), lanes.1.seen()])
}
