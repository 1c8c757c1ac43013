//! The handle: a sorter that refuses to be entered twice.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use ::inorder_sort::{AnySorter, FourTuple};

use crate::inorder_sort_deliver;

/// Error numbers, the same on every system this runs on.
pub(crate) mod error {
    use std::ffi::c_int;

    pub(crate) const ENOMEM: c_int = 12;
    pub(crate) const EBUSY: c_int = 16;
    pub(crate) const EINVAL: c_int = 22;
    pub(crate) const ENOSPC: c_int = 28;
}

/// A packet's pointer, always a written one; declared so that an array of C's, which need not
/// be, can take it.
pub(crate) type Pointer = MaybeUninit<*mut c_void>;

/// What is inside: flows by address, port and overlay, packets by pointer.
pub(crate) type Sorter = AnySorter<FourTuple, Pointer>;

/// Bytes a handle takes beyond its sorter.
pub(crate) const OVERHEAD: usize = size_of::<inorder_sorter>() - size_of::<Sorter>();

/// A sorter.
pub struct inorder_sorter {
    /// A call is under way: `sorter` is borrowed.
    busy: Cell<bool>,
    sorter: UnsafeCell<Sorter>,
}

impl inorder_sorter {
    /// A new handle, to be given to [`inorder_sorter::free`] once.
    pub(crate) fn into_raw(sorter: Sorter) -> *mut Self {
        Box::into_raw(Box::new(inorder_sorter {
            busy: Cell::new(false),
            sorter: UnsafeCell::new(sorter),
        }))
    }

    /// Frees a handle.
    ///
    /// # Safety
    /// `handle` comes from [`inorder_sorter::into_raw`], is not freed yet and nobody is inside.
    pub(crate) unsafe fn free(handle: *mut Self) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// Lets `work` at the sorter. An error number when there is none or somebody is inside already,
/// as when a delivery calls back.
///
/// # Safety
/// `handle` is NULL or a handle, used by this thread alone.
pub(crate) unsafe fn within<R>(
    handle: *const inorder_sorter,
    work: impl FnOnce(&mut Sorter) -> R,
) -> Result<R, c_int> {
    // SAFETY: the caller's promise; shared, so that one inside another is no harm.
    let handle = unsafe { handle.as_ref() }.ok_or(error::EINVAL)?;
    if handle.busy.replace(true) {
        return Err(error::EBUSY);
    }
    // SAFETY: `busy` was not set, so nobody else has borrowed the sorter.
    let result = work(unsafe { &mut *handle.sorter.get() });
    handle.busy.set(false);
    Ok(result)
}

/// Lets `work` at the sorter with a way to deliver; 0 or a negative error number.
///
/// # Safety
/// As [`within`], and `deliver` may be called with any packet held and `user`.
pub(crate) unsafe fn enter(
    handle: *mut inorder_sorter,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
    work: impl FnOnce(&mut Sorter, &mut dyn FnMut(Pointer)),
) -> c_int {
    let Some(deliver) = deliver else {
        return -error::EINVAL;
    };
    // SAFETY: every pointer was written when its packet was pushed; else the caller's promise.
    let mut out = |packet: Pointer| unsafe { deliver(packet.assume_init(), user) };
    // SAFETY: the caller's promise.
    match unsafe { within(handle, |s| work(s, &mut out)) } {
        Ok(()) => 0,
        Err(errno) => -errno,
    }
}
