//! The configuration of a sorter, and creating one from it.

use std::ffi::{CStr, c_char, c_int};
use std::hash::{BuildHasher, Hasher, RandomState};

use ::inorder_sort::{ConfigError, SORTERS, SorterConfig, Surroundings};

use crate::handle::{self, error, inorder_sorter};

/// The name of a sorter and the sizes it works with.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct inorder_sort_config {
    /// Name of the sorter, with the settings that differ from their defaults: "srpic",
    /// "srpic:block_size=8,literal=true". inorder_sort_names() lists the names. Read only during the call that is
    /// given the configuration.
    pub sorter: *const c_char,
    /// Size of the receive ring in packets, 1 to 2^24; the largest batch. The SRPIC paper uses 512.
    pub ring_size: u32,
    /// Number of flows followed at once, 1 to 2^24.
    pub flows: u32,
    /// Secret key of the flow hash: a random number, so that senders cannot choose flows that collide.
    pub hash_seed: u64,
}

/// The configuration as the Rust crate takes it.
struct Wanted {
    sorter: SorterConfig,
    around: Surroundings,
}

impl Wanted {
    /// `None` when a pointer is NULL, the sorter does not exist or a number is out of range.
    ///
    /// # Safety
    /// `config` is NULL or points at a configuration, whose `sorter` is NULL or a string.
    unsafe fn read(config: *const inorder_sort_config) -> Option<Self> {
        // SAFETY: the caller's promise.
        let config = unsafe { config.as_ref() }.filter(|c| !c.sorter.is_null())?;
        // SAFETY: not NULL, and the caller's promise.
        let sorter = unsafe { CStr::from_ptr(config.sorter) }.to_str().ok()?;
        let fits = |n: u32| (1..=1 << 24).contains(&n).then_some(n as usize);
        Some(Wanted {
            sorter: sorter.parse().ok()?,
            around: Surroundings {
                ring_packets: fits(config.ring_size)?,
                flows: fits(config.flows)?,
                hash_seed: config.hash_seed,
            },
        })
    }
}

/// Fills `config` with SRPIC, the ring size of the paper and a random key of the hash. Does nothing when `config` is NULL.
///
/// # Safety
/// `config` is NULL or points to memory for a configuration.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_config_default(config: *mut inorder_sort_config) {
    let around = Surroundings::default();
    if !config.is_null() {
        // SAFETY: not NULL, and the caller's promise.
        unsafe {
            config.write(inorder_sort_config {
                sorter: c"srpic".as_ptr(),
                ring_size: around.ring_packets as u32,
                flows: around.flows as u32,
                hash_seed: RandomState::new().build_hasher().finish(),
            });
        }
    }
}

/// Writes the names of all sorters into `out`, one per line, with a NUL at the end.
///
/// Returns the number of bytes needed, including the NUL. When `room` is less, nothing is written.
///
/// # Safety
/// `out` is NULL or points to `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_names(out: *mut c_char, room: usize) -> usize {
    let needed = SORTERS
        .iter()
        .map(|entry| entry.name.len() + 1)
        .sum::<usize>();
    if !out.is_null() && room >= needed {
        let mut at = out.cast::<u8>();
        for (n, entry) in (1..).zip(SORTERS) {
            let end = if n == SORTERS.len() { 0 } else { b'\n' };
            // SAFETY: the names with their terminators take `needed` bytes, and `out` has that many.
            unsafe {
                at.copy_from_nonoverlapping(entry.name.as_ptr(), entry.name.len());
                at = at.add(entry.name.len());
                at.write(end);
                at = at.add(1);
            }
        }
    }
    needed
}

/// Returns the bytes of memory a sorter of this configuration takes, without the packets; 0 when `config` is NULL or
/// invalid.
///
/// # Safety
/// `config` is NULL or points to a configuration whose `sorter` is NULL or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_memory_footprint(
    config: *const inorder_sort_config,
) -> usize {
    // SAFETY: the caller's promise.
    let Some(wanted) = (unsafe { Wanted::read(config) }) else {
        return 0;
    };
    handle::Sorter::footprint(&wanted.sorter, &wanted.around) + handle::OVERHEAD
}

/// Creates a sorter and stores its handle in `*sorter`. All its memory is allocated here.
///
/// Returns 0; -EINVAL when a pointer is NULL, the sorter does not exist or a setting is out of range; -ENOMEM when
/// there is not enough memory. On error `*sorter` is unchanged.
///
/// # Safety
/// `config` is NULL or points to a configuration whose `sorter` is NULL or a string; `sorter` is NULL or points to
/// memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inorder_sort_create(
    config: *const inorder_sort_config,
    sorter: *mut *mut inorder_sorter,
) -> c_int {
    // SAFETY: the caller's promise.
    let (Some(wanted), false) = (unsafe { Wanted::read(config) }, sorter.is_null()) else {
        return -error::EINVAL;
    };
    match wanted.sorter.build(&wanted.around) {
        Ok(made) => {
            // SAFETY: not NULL, and the caller's promise.
            unsafe { sorter.write(inorder_sorter::into_raw(made)) };
            0
        }
        Err(ConfigError::OutOfMemory) => -error::ENOMEM,
        Err(_) => -error::EINVAL,
    }
}
