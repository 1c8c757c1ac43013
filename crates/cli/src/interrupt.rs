//! Ctrl-C: the first one ends reading, so that what was read is still reported; the second one
//! ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::INTERRUPTED;

static STOP: AtomicBool = AtomicBool::new(false);

/// A flag that becomes true with the first Ctrl-C. Without a handler (the system may refuse
/// one) Ctrl-C ends the program at once, as ever.
pub fn flag() -> &'static AtomicBool {
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
    &STOP
}
