//! The handle: a sorter that refuses calls from within its own deliveries.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use ::inorder_sort::{AnySorter, FourTuple};

use crate::inorder_sort_deliver;

/// Error numbers; they have these values on every supported system.
pub(crate) mod error {
    use std::ffi::c_int;

    pub(crate) const ENOMEM: c_int = 12;
    pub(crate) const EBUSY: c_int = 16;
    pub(crate) const EINVAL: c_int = 22;
    pub(crate) const ENOSPC: c_int = 28;
}

/// The pointer of a packet. It is always initialised here; `MaybeUninit` lets an array from C, which need not be
/// initialised, hold it.
pub(crate) type Pointer = MaybeUninit<*mut c_void>;

/// The sorter inside: flows are addresses, ports and overlay identifier, packets are pointers.
pub(crate) type Sorter = AnySorter<FourTuple, Pointer>;

/// Bytes a handle takes in addition to its sorter.
pub(crate) const OVERHEAD: usize = size_of::<inorder_sorter>() - size_of::<Sorter>();

/// A sorter.
pub struct inorder_sorter {
    /// True while a call has borrowed `sorter`.
    busy: Cell<bool>,
    sorter: UnsafeCell<Sorter>,
}

impl inorder_sorter {
    /// Makes a new handle, to be passed to [`inorder_sorter::free`] once.
    pub(crate) fn into_raw(sorter: Sorter) -> *mut Self {
        Box::into_raw(Box::new(inorder_sorter {
            busy: Cell::new(false),
            sorter: UnsafeCell::new(sorter),
        }))
    }

    /// Frees a handle.
    ///
    /// # Safety
    /// `handle` comes from [`inorder_sorter::into_raw`], has not been freed, and no call on it is under way.
    pub(crate) unsafe fn free(handle: *mut Self) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(handle) });
    }
}

/// Runs `work` on the sorter. Returns an error number when the handle is NULL or a call is already under way, for
/// example when a delivery calls back.
///
/// # Safety
/// `handle` is NULL or a handle, used by this thread only.
pub(crate) unsafe fn within<R>(
    handle: *const inorder_sorter,
    work: impl FnOnce(&mut Sorter) -> R,
) -> Result<R, c_int> {
    // SAFETY: the caller's promise; the reference is shared, so a nested call may have one too.
    let handle = unsafe { handle.as_ref() }.ok_or(error::EINVAL)?;
    if handle.busy.replace(true) {
        return Err(error::EBUSY);
    }
    // SAFETY: `busy` was not set, so no other call has borrowed the sorter.
    let result = work(unsafe { &mut *handle.sorter.get() });
    handle.busy.set(false);
    Ok(result)
}

/// Runs `work` on the sorter with a function that delivers; returns 0 or a negative error number.
///
/// # Safety
/// As for [`within`]; and `deliver` may be called with any packet held and `user`.
pub(crate) unsafe fn enter(
    handle: *mut inorder_sorter,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
    work: impl FnOnce(&mut Sorter, &mut dyn FnMut(Pointer)),
) -> c_int {
    let Some(deliver) = deliver else {
        return -error::EINVAL;
    };
    // SAFETY: every pointer was initialised when its packet was pushed; the rest is the caller's promise.
    let mut out = |packet: Pointer| unsafe { deliver(packet.assume_init(), user) };
    // SAFETY: the caller's promise.
    match unsafe { within(handle, |s| work(s, &mut out)) } {
        Ok(()) => 0,
        Err(errno) => -errno,
    }
}
