//! `inorder live`: sorters between two interfaces, or between an interface and the kernel.

use super::af_xdp::Receiver;
use super::port::{Port, ethernet_index_of};
use super::tap::Tap;
use super::{LiveError, Running, between, clock, privileges};
use crate::lane::Nothing;
use crate::sorting::{Sorted, Sorting};

/// Forwards frames between the interfaces `names`, sorted in each direction as `forward` and `reverse` say. `report` is
/// called once a second with what was done.
///
/// # Errors
/// If an interface cannot be opened or used.
pub fn sort_between(
    names: [&str; 2],
    (forward, reverse): (Sorting, Sorting),
    mut running: Running<'_>,
    report: &mut dyn FnMut(i64, &[Sorted]),
) -> Result<Vec<Sorted>, LiveError> {
    clock::be_exact(running.realtime)?;
    let [mut a, mut b] = Port::pair(names, running.tell)?;
    let stop = privileges::give_up(&mut running)?;
    let mut lanes = (forward, reverse);
    let mut last = Vec::new();
    between::run(
        (&mut a, &mut b),
        &mut lanes,
        running.duration_ns,
        stop,
        &mut |now_ns, lanes| {
            last = vec![lanes.0.seen(), lanes.1.seen()];
            report(now_ns, &last);
        },
    )?;
    Ok(last)
}

/// Takes the TCP packets that the interface receives, before the kernel does, and hands them to the kernel sorted,
/// through a TAP device. Addresses, routes and everything that is sent stay as they are, so that nothing has to be put
/// back: when the process ends, for whatever reason, the kernel receives from the interface as before.
///
/// If the interface is removed, this ends: to take another one of that name needs the privileges that were given up. Then
/// the second result says so.
///
/// # Errors
/// If the interface cannot be used in this way.
pub fn sort_received(
    name: &str,
    sorting: Sorting,
    mut running: Running<'_>,
    report: &mut dyn FnMut(i64, &[Sorted]),
) -> Result<(Vec<Sorted>, Option<LiveError>), LiveError> {
    clock::be_exact(running.realtime)?;
    // An unknown name is reported as such, not by what the device lacks for it.
    ethernet_index_of(name)?;
    // The device is there before the first packet is taken.
    let mut tap = Tap::new(name)?;
    let mut receiver = Receiver::open(name, running.tell)?;
    let stop = privileges::give_up(&mut running)?;
    let mut lanes = (sorting, Nothing);
    let mut last = Vec::new();
    between::run(
        (&mut receiver, &mut tap),
        &mut lanes,
        running.duration_ns,
        stop,
        &mut |now_ns, lanes| {
            last = vec![lanes.0.seen()];
            report(now_ns, &last);
        },
    )?;
    let gone = receiver.is_gone().then(|| {
        LiveError::Refused(format!(
            "{name}: has gone; one of that name can be taken only with the privileges of the start: start anew"
        ))
    });
    Ok((last, gone))
}
