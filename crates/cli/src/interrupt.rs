//! Ctrl-C, and the signals by which a service manager or a terminal that goes away ends a program (SIGTERM, SIGHUP): the first
//! one ends the reading, so that the results so far are still printed and what is temporary is removed; the second one ends
//! the program, and removes what is half written.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use inorder_pipeline::{Stdin, Watch};

use crate::error::INTERRUPTED;
use crate::{manners, outputs};

static STOP: AtomicBool = AtomicBool::new(false);

/// A flag that becomes true with the first Ctrl-C or other signal to end. If the system refuses the handler, Ctrl-C ends the program at
/// once, as it does by default.
pub(crate) fn flag() -> &'static AtomicBool {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        inorder_live::os::keeping_ignored_hangup(|| {
            let _ = ctrlc::set_handler(|| {
                if STOP.swap(true, Ordering::Relaxed) {
                    outputs::remove_drafts();
                    std::process::exit(i32::from(INTERRUPTED));
                }
            });
        });
    });
    &STOP
}

/// The same flag, for what runs until Ctrl-C: `notice` says that it runs. By then the signal is handled, for who reads the notice may send
/// it at once.
pub(crate) fn flag_before(notice: &str) -> &'static AtomicBool {
    let stop = flag();
    manners::notice(notice);
    stop
}

/// The standard input, which ends with the first Ctrl-C even where nothing comes.
pub(crate) fn stdin() -> Stdin {
    struct Flag(&'static AtomicBool);
    impl Watch for Flag {
        fn stop(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
    Stdin::new(Arc::new(Flag(flag())))
}
