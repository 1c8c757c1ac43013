//! The C interface of [`inorder_sort`]; see `include/inorder_sort.h`.
//!
//! Every function is thin: it checks its arguments, turns them into Rust's and calls the sorter.
#![allow(non_camel_case_types)] // The names are C's.

mod handle;
mod packet;

use std::ffi::{c_int, c_void};

use ::inorder_sort::srpic::{Config, ConfigError};

pub use handle::inorder_sorter;
pub use packet::{inorder_sort_packet, inorder_sort_set_v4, inorder_sort_set_v6};

use handle::{Sorter, enter, error, within};

/// Receives a packet in its turn: the packet, and what was given along as `user`. It must not call
/// back into the same handle (that is refused with -EBUSY) and must not unwind.
pub type inorder_sort_deliver =
    Option<unsafe extern "C" fn(packet: *mut c_void, user: *mut c_void)>;

/// Settings of a sorter.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct inorder_sort_config {
    /// Most packets of one flow sorted together, 1 to 2^24; 32 in the paper.
    pub block_size: u32,
    /// Size of the receive ring in packets, 1 to 2^24: most packets held; 512 in the paper.
    pub ring_size: u32,
    /// Flows followed at once, 1 to 2^24; never the limit at ring_size or above.
    pub flow_capacity: u32,
    /// The paper's listing to the letter, for reproduction.
    pub literal: bool,
    /// Secret of the flow hash: any random number when senders may be hostile.
    pub hash_seed: u64,
}

impl From<&inorder_sort_config> for Config {
    fn from(c: &inorder_sort_config) -> Config {
        Config {
            block_size: c.block_size as usize,
            ring_size: c.ring_size as usize,
            flow_capacity: c.flow_capacity as usize,
            literal: c.literal,
            hash_seed: c.hash_seed,
        }
    }
}

/// Fills `config` with the paper's settings. Does nothing when it is NULL.
///
/// # Safety
/// `config` is NULL or points at a place for a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_config_default(config: *mut inorder_sort_config) {
    let d = Config::default();
    if !config.is_null() {
        // SAFETY: not NULL, and the caller's promise.
        unsafe {
            config.write(inorder_sort_config {
                block_size: d.block_size as u32,
                ring_size: d.ring_size as u32,
                flow_capacity: d.flow_capacity as u32,
                literal: d.literal,
                hash_seed: d.hash_seed,
            });
        }
    }
}

/// Bytes of memory a sorter of this configuration takes, packets not counted; 0 when `config` is
/// NULL or out of range.
///
/// # Safety
/// `config` is NULL or points at a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_memory_footprint(
    config: *const inorder_sort_config,
) -> usize {
    // SAFETY: the caller's promise.
    let Some(config) = (unsafe { config.as_ref() }).map(Config::from) else {
        return 0;
    };
    config
        .check()
        .map_or(0, |()| Sorter::memory_footprint(&config) + handle::OVERHEAD)
}

/// Makes a sorter and puts its handle into `*sorter`; all its memory is taken here.
///
/// 0; -EINVAL: a pointer is NULL or a setting out of range; -ENOMEM: not so much memory. On error
/// `*sorter` is left as it was.
///
/// # Safety
/// `config` and `sorter` are NULL or point at a configuration and at a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_create(
    config: *const inorder_sort_config,
    sorter: *mut *mut inorder_sorter,
) -> c_int {
    // SAFETY: the caller's promise.
    let (Some(config), false) = (unsafe { config.as_ref() }, sorter.is_null()) else {
        return -error::EINVAL;
    };
    match Sorter::new(&config.into()) {
        Ok(made) => {
            // SAFETY: not NULL, and the caller's promise.
            unsafe { sorter.write(inorder_sorter::into_raw(made)) };
            0
        }
        Err(ConfigError::OutOfMemory) => -error::ENOMEM,
        Err(_) => -error::EINVAL,
    }
}

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

/// Packets held now, less than ring_size. -EINVAL: `sorter` is NULL; -EBUSY: called from within
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
/// time is fine too.
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
    deliver: inorder_sort_deliver,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    let Some(burst) = (unsafe { packet::burst(packets, count) }) else {
        return -error::EINVAL;
    };
    // SAFETY: the caller's promise.
    unsafe { enter(sorter, deliver, user, |s, out| packet::push(s, burst, out)) }
}

/// The batch ends: the ring is empty. Delivers everything held.
///
/// 0; -EINVAL: `sorter` or `deliver` is NULL; -EBUSY: called from within a delivery of the same
/// handle.
///
/// # Safety
/// `sorter` is NULL or a handle, `deliver` safe to call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_end_of_batch(
    sorter: *mut inorder_sorter,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { enter(sorter, deliver, user, |s, out| s.end_of_batch(out)) }
}

/// Delivers everything held although the batch goes on; for shutting down. Returns as
/// inorder_sort_end_of_batch().
///
/// # Safety
/// `sorter` is NULL or a handle, `deliver` safe to call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_flush(
    sorter: *mut inorder_sorter,
    deliver: inorder_sort_deliver,
    user: *mut c_void,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { enter(sorter, deliver, user, |s, out| s.flush(out)) }
}

/// A whole batch at once, quicker than by callbacks: `count` packets arrive and the batch ends.
/// Writes all of them, and what was held before, into `out` in order of delivery.
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
    out: *mut *mut c_void,
    room: usize,
) -> i64 {
    // SAFETY: the caller's promise.
    let arrays = unsafe { (packet::burst(packets, count), packet::places(out, room)) };
    let (Some(burst), Some(places)) = arrays else {
        return -i64::from(error::EINVAL);
    };
    let sort = |s: &mut Sorter| packet::sort_batch(s, burst, places).ok_or(error::ENOSPC);
    // SAFETY: the caller's promise.
    match unsafe { within(sorter, sort) } {
        Ok(Ok(written)) => written as i64,
        Ok(Err(errno)) | Err(errno) => -i64::from(errno),
    }
}
