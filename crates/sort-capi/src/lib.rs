//! The C interface of [`inorder_sort`]; see `include/inorder_sort.h`.
//!
//! Every function is thin: it checks its arguments, turns them into Rust's and calls the sorter.
#![allow(non_camel_case_types)] // The names are C's.

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

/// Receives a packet in its turn: the packet, and what was given along as `user`. It must not call
/// back into the same handle (that is refused with -EBUSY) and must not unwind.
pub type inorder_sort_deliver =
    Option<unsafe extern "C" fn(packet: *mut c_void, user: *mut c_void)>;

/// Frees a sorter; NULL is none and fine.
///
/// 0; -EBUSY: it still holds packets (call inorder_sort_flush() first), or a call on it is under
/// way; then it is left as it was.
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
            // SAFETY: the caller's promise; nobody is inside, as `within` has seen.
            unsafe { inorder_sorter::free(sorter) };
            0
        }
        Ok(_) => -error::EBUSY,
        Err(errno) => -errno,
    }
}

/// Packets held now. -EINVAL: `sorter` is NULL; -EBUSY: called from within
/// a delivery of the same handle.
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

/// `count` packets arrive, in this order; what is due is delivered, in this call. One packet at a
/// time is fine too. `now_ns`: nanoseconds on any clock that never runs backwards, the same one in
/// all calls; a sorter without deadlines does not look at it.
///
/// 0; -EINVAL: `sorter` or `deliver` is NULL, or `packets` is with a count; -EBUSY: called from
/// within a delivery of the same handle. On error no packet is taken.
///
/// # Safety
/// `sorter` is NULL or a handle, `packets` NULL or an array of `count`, `deliver` safe to call.
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

/// The batch ends: the ring is empty. Delivers what is not to be held any longer; a sorter without
/// deadlines holds nothing after it.
///
/// 0; -EINVAL: `sorter` or `deliver` is NULL; -EBUSY: called from within a delivery of the same
/// handle.
///
/// # Safety
/// `sorter` is NULL or a handle, `deliver` safe to call.
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

/// Writes into `*deadline_ns` when inorder_sort_on_deadline() must be called although nothing
/// arrives. To be asked after each call that may change it: any that takes or delivers packets.
///
/// 1: written; 0: there is no deadline, nothing is written; -EINVAL: a pointer is NULL; -EBUSY: called
/// from within a delivery of the same handle.
///
/// # Safety
/// `sorter` is NULL or a handle, `deadline_ns` NULL or points at a place for a number.
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

/// The deadline has come: delivers what has waited long enough. Returns as
/// inorder_sort_end_of_batch(); called too early it does nothing.
///
/// # Safety
/// `sorter` is NULL or a handle, `deliver` safe to call.
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

/// Delivers everything held although the batch goes on; for shutting down. Returns as
/// inorder_sort_end_of_batch().
///
/// # Safety
/// `sorter` is NULL or a handle, `deliver` safe to call.
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

/// A whole batch at once, quicker than by callbacks: `count` packets arrive and the batch ends.
/// Writes into `out`, in order of delivery, what is not held any longer: of a sorter without deadlines
/// all of them and what was held before.
///
/// Number of packets written; -EINVAL: `sorter` is NULL, or an array is NULL that has a length;
/// -ENOSPC: `out` has room for fewer than inorder_sort_held() + count; -EBUSY: called from within
/// a delivery of the same handle. On error no packet is taken.
///
/// # Safety
/// `sorter` is NULL or a handle, `packets` NULL or an array of `count`, `out` NULL or an array of
/// `room` pointers that does not overlap `packets`.
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
