//! Progress and cancellation while a capture is read.

/// Is informed of the progress and asked whether to continue; both happen on any thread, after each block (about 256
/// KiB).
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use inorder_pipeline::Watch;
///
/// /// Ends the reading after a number of bytes.
/// struct Budget(AtomicU64);
///
/// impl Watch for Budget {
///     fn progress(&self, read: u64, _total: Option<u64>) {
///         self.0.store(read, Ordering::Relaxed);
///     }
///     fn stop(&self) -> bool {
///         self.0.load(Ordering::Relaxed) > 1 << 30
///     }
/// }
/// ```
pub trait Watch: Send + Sync {
    /// `read` of `total` bytes of all files have been read. Both count bytes as stored in the files, compressed or
    /// not. `total` is `None` if it is unknown, as for a pipe.
    fn progress(&self, _read: u64, _total: Option<u64>) {}

    /// True to end the reading here. The frames read so far are still analysed.
    fn stop(&self) -> bool {
        false
    }
}

/// Ignores the progress and never stops.
#[derive(Clone, Copy, Default, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {}
