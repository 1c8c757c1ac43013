//! Ctrl-C, and the signals by which a service manager or a terminal that goes away ends a program (SIGTERM, SIGHUP): the first
//! one ends the reading, so that the results so far are still printed and what is temporary is removed; the second one ends
//! the program, and removes what is half written.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use inorder_capture::{Capture, CaptureError};
use inorder_pipeline::{Pipe, Watch};

use crate::error::{ExitCode, INTERRUPTED};
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

/// The exit code of a verb that a signal ended early, after a line that says of what its result is; nothing without such a signal.
pub(crate) fn ended(result: &str) -> Option<ExitCode> {
    flag().load(Ordering::Relaxed).then(|| {
        manners::complain(format_args!("interrupted: {result}"));
        ExitCode::from(INTERRUPTED)
    })
}

struct Flag(&'static AtomicBool);

impl Watch for Flag {
    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The standard input, which ends with the first Ctrl-C even where nothing comes.
pub(crate) fn stdin() -> Pipe {
    Pipe::stdin(Arc::new(Flag(flag())))
}

/// What comes out of a named pipe, which ends with the first Ctrl-C as well.
pub(crate) fn pipe(path: &Path) -> Pipe {
    Pipe::file(path, Arc::new(Flag(flag())))
}

/// Opens a capture, or the standard input as `-`. The first Ctrl-C ends the waiting for a pipe.
pub(crate) fn open(path: &Path) -> Result<Capture, CaptureError> {
    let watch: Arc<dyn Watch> = Arc::new(Flag(flag()));
    inorder_pipeline::open(path, &watch)
}
