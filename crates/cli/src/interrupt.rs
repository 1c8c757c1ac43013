//! Ctrl-C: the first one ends the reading, so that the results so far are still printed; the second one ends the
//! program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::INTERRUPTED;

static STOP: AtomicBool = AtomicBool::new(false);

/// A flag that becomes true with the first Ctrl-C. If the system refuses the handler, Ctrl-C ends the program at
/// once, as it does by default.
pub fn flag() -> &'static AtomicBool {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    &STOP
}
