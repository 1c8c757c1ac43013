//! The C interface of [`inorder_sort`]; see `include/inorder_sort.h`.
//!
//! Every function checks its arguments, converts them to Rust types and calls the sorter.
#![allow(non_camel_case_types)] // The names follow C conventions.

mod config;
mod handle;
mod packet;

use std::ffi::{c_int, c_void};

use ::inorder_sort::Sorter;

pub use config::{
    inorder_sort_config, inorder_sort_config_default, inorder_sort_create,
    inorder_sort_memory_footprint, inorder_sort_names,
};
pub use handle::inorder_sorter;
pub use packet::{
    INORDER_SORT_ACK, INORDER_SORT_CLOSE, INORDER_SORT_DATA, INORDER_SORT_OPEN, INORDER_SORT_OTHER,
    inorder_sort_packet, inorder_sort_set_tcp, inorder_sort_set_v4, inorder_sort_set_v6,
};

use handle::{enter, error, within};

/// Receives each packet in its turn, together with the `user` pointer of the call. It must not call back into the
/// same handle (such a call returns -EBUSY) and must not unwind.
pub type inorder_sort_deliver =
    Option<unsafe extern "C" fn(packet: *mut c_void, user: *mut c_void)>;

/// Frees a sorter. Does nothing when `sorter` is NULL.
///
/// Returns 0; -EBUSY when the sorter still holds packets (call inorder_sort_flush() first) or a call on it is under
/// way. On error the sorter is unchanged.
///
/// # Safety
/// `sorter` is NULL or a handle from inorder_sort_create() that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_destroy(sorter: *mut inorder_sorter) -> c_int {
    if sorter.is_null() {
        return 0;
    }
    // SAFETY: the caller's promise.
    match unsafe { within(sorter, |s| s.held()) } {
        Ok(0) => {
            // SAFETY: the caller's promise; `within` has checked that no call is under way.
            unsafe { inorder_sorter::free(sorter) };
            0
        }
        Ok(_) => -error::EBUSY,
        Err(errno) => -errno,
    }
}

/// Returns the number of packets held now; -EINVAL when `sorter` is NULL; -EBUSY when called from within a delivery
/// of the same handle.
///
/// # Safety
/// `sorter` is NULL or a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_held(sorter: *const inorder_sorter) -> i64 {
    // SAFETY: the caller's promise.
    match unsafe { within(sorter, |s| s.held()) } {
        Ok(held) => held as i64,
        Err(errno) => -i64::from(errno),
    }
}

/// Takes `count` packets in the order they arrived, and delivers those that are due before it returns. A single
/// packet is a valid batch. `now_ns` is nanoseconds on a clock that never runs backwards, the same clock in all
/// calls; a sorter without deadlines ignores it.
///
/// Returns 0; -EINVAL when `sorter` or `deliver` is NULL, or `packets` is NULL and `count` is not 0; -EBUSY when
/// called from within a delivery of the same handle. On error no packet is taken.
///
/// # Safety
/// `sorter` is NULL or a handle, `packets` NULL or an array of `count`, and `deliver` may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_push(
    sorter: *mut inorder_sorter,
    packets: *const inorder_sort_packet,
    count: usize,
    now_ns: i64,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    let Some(burst) = (unsafe { packet::burst(packets, count) }) else {
        return -error::EINVAL;
    };
    // SAFETY: the caller's promise.
    unsafe {
        enter(sorter, deliver, user, |s, out| {
            packet::push(s, burst, now_ns, out);
        })
    }
}

/// Marks the end of a batch: the ring is empty. Delivers the packets that need not be held any longer; a sorter
/// without deadlines then holds none.
///
/// Returns 0; -EINVAL when `sorter` or `deliver` is NULL; -EBUSY when called from within a delivery of the same
/// handle.
///
/// # Safety
/// `sorter` is NULL or a handle, and `deliver` may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_end_of_batch(
    sorter: *mut inorder_sorter,
    now_ns: i64,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { enter(sorter, deliver, user, |s, out| s.end_of_batch(now_ns, out)) }
}

/// Writes to `*deadline_ns` the time at which inorder_sort_on_deadline() must be called even if no packet arrives.
/// Ask again after each call that takes or delivers packets, because the deadline may have changed.
///
/// Returns 1 when the deadline was written; 0 when there is none, and nothing is written; -EINVAL when a pointer is
/// NULL; -EBUSY when called from within a delivery of the same handle.
///
/// # Safety
/// `sorter` is NULL or a handle, `deadline_ns` NULL or a pointer to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_next_deadline_ns(
    sorter: *const inorder_sorter,
    deadline_ns: *mut i64,
) -> c_int {
    if deadline_ns.is_null() {
        return -error::EINVAL;
    }
    // SAFETY: the caller's promise.
    match unsafe { within(sorter, |s| s.next_deadline_ns()) } {
        Ok(None) => 0,
        Ok(Some(at_ns)) => {
            // SAFETY: not NULL, and the caller's promise.
            unsafe { deadline_ns.write(at_ns) };
            1
        }
        Err(errno) => -errno,
    }
}

/// Delivers the packets whose deadline has passed. Does nothing when called too early. Returns the same values as
/// inorder_sort_end_of_batch().
///
/// # Safety
/// `sorter` is NULL or a handle, and `deliver` may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_on_deadline(
    sorter: *mut inorder_sorter,
    now_ns: i64,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { enter(sorter, deliver, user, |s, out| s.on_deadline(now_ns, out)) }
}

/// Delivers all held packets in the middle of a batch; use it at shutdown. Returns the same values as
/// inorder_sort_end_of_batch().
///
/// # Safety
/// `sorter` is NULL or a handle, and `deliver` may be called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_flush(
    sorter: *mut inorder_sorter,
    now_ns: i64,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { enter(sorter, deliver, user, |s, out| s.flush(now_ns, out)) }
}

/// Takes a whole batch of `count` packets and ends it; faster than delivery through callbacks. Writes to `out`, in
/// order of delivery, the packets that need not be held any longer. For a sorter without deadlines these are all
/// packets of the batch and all packets held before.
///
/// Returns the number of packets written; -EINVAL when `sorter` is NULL, or an array is NULL and its length is not 0;
/// -ENOSPC when `room` is less than inorder_sort_held() + count; -EBUSY when called from within a delivery of the
/// same handle. On error no packet is taken.
///
/// # Safety
/// `sorter` is NULL or a handle, `packets` NULL or an array of `count`, `out` NULL or an array of `room` pointers
/// that does not overlap `packets`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_sort_batch(
    sorter: *mut inorder_sorter,
    packets: *const inorder_sort_packet,
    count: usize,
    now_ns: i64,
    out: *mut *mut c_void,
    room: usize,
) -> i64 {
    // SAFETY: the caller's promise.
    let arrays = unsafe { (packet::burst(packets, count), packet::places(out, room)) };
    let (Some(burst), Some(places)) = arrays else {
        return -i64::from(error::EINVAL);
    };
    // SAFETY: the caller's promise.
    match unsafe { within(sorter, |s| packet::sort_batch(s, burst, now_ns, places)) } {
        Ok(Some(written)) => written as i64,
        Ok(None) => -i64::from(error::ENOSPC),
        Err(errno) => -i64::from(errno),
    }
}
