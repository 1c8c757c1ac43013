//! `inorder emulate`: two interfaces and the path between them.

use inorder_path::Path;

use super::port::Port;
use super::{LiveError, Running, between, clock, privileges};
use crate::emulator::{Emulated, Seen};
use crate::frame::Frame;

/// Forwards frames between the interfaces `names` over the paths, in which time begins with 0. `report` is called
/// once a second with what happened.
///
/// # Errors
/// If an interface cannot be opened or used.
pub fn emulate(
    names: [&str; 2],
    (forward, reverse): (Path<Frame>, Path<Frame>),
    mut running: Running<'_>,
    report: &mut dyn FnMut(i64, &[Seen; 2]),
) -> Result<[Seen; 2], LiveError> {
    clock::be_exact(running.realtime)?;
    let [mut a, mut b] = Port::pair(names, running.tell)?;
    let stop = privileges::give_up(&mut running)?;
    let mut lanes = (
        Emulated::new("forward", forward),
        Emulated::new("reverse", reverse),
    );
    let seen = |lanes: &(Emulated, Emulated)| [lanes.0.seen(), lanes.1.seen()];
    between::run(
        (&mut a, &mut b),
        &mut lanes,
        running.duration_ns,
        stop,
        &mut |now_ns, lanes| report(now_ns, &seen(lanes)),
    )?;
    Ok(seen(&lanes))
}
