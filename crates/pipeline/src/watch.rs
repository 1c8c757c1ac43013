//! Somebody who looks on while a capture is read.

/// Told how far reading is, and asked whether to go on; both from any thread, after each block
/// (some 256 KiB).
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use inorder_pipeline::Watch;
///
/// /// Ends the reading after so many bytes.
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
    /// `read` of `total` bytes of all files were read, as they lie in the files, compressed or
    /// not; `total` is `None` where it is not known, as for a pipe.
    fn progress(&self, _read: u64, _total: Option<u64>) {}

    /// True when reading is to end here. What was read is analysed nevertheless.
    fn stop(&self) -> bool {
        false
    }
}

/// Nobody looks on.
#[derive(Clone, Copy, Default, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {}
