//! `inorder live`: sorters between two interfaces.

use std::sync::atomic::AtomicBool;

use super::port::Port;
use super::{LiveError, between, clock, privileges};
use crate::sorting::{Sorted, Sorting};

/// Forwards frames between the interfaces `names`, sorted in each direction as `forward` and `reverse` say, until
/// `stop` or for `duration_ns`. `report` is called once a second with what was done.
///
/// # Errors
/// If an interface cannot be opened or used.
pub fn sort_between(
    names: [&str; 2],
    (forward, reverse): (Sorting, Sorting),
    duration_ns: Option<i64>,
    stop: &AtomicBool,
    report: &mut dyn FnMut(&[Sorted]),
) -> Result<Vec<Sorted>, LiveError> {
    clock::wait_exactly();
    let (mut a, mut b) = (Port::open(names[0])?, Port::open(names[1])?);
    privileges::drop_all()?;
    let mut lanes = (forward, reverse);
    let mut last = Vec::new();
    between::run(
        (&mut a, &mut b),
        &mut lanes,
        duration_ns,
        stop,
        &mut |lanes| {
            last = vec![lanes.0.seen(), lanes.1.seen()];
            report(&last);
        },
    )?;
    Ok(last)
}
