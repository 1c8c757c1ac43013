//! Which sorter, with which settings; making one.

use std::ffi::{CStr, c_char, c_int};

use ::inorder_sort::{ConfigError, SORTERS, SorterConfig, Surroundings};

use crate::handle::{self, error, inorder_sorter};

/// Which sorter, and what surrounds it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct inorder_sort_config {
    /// Name of the sorter, and its settings if they are not at their defaults: "srpic",
    /// "srpic:block_size=8,literal=true". inorder_sort_names() lists the names. Only read by the
    /// calls that are given the configuration.
    pub sorter: *const c_char,
    /// Size of the receive ring in packets, 1 to 2^24: the most of a batch; 512 in the SRPIC paper.
    pub ring_size: u32,
    /// Flows followed at once, 1 to 2^24.
    pub flows: u32,
    /// Secret of the flow hash: any random number when senders may be hostile.
    pub hash_seed: u64,
}

/// A configuration in Rust's terms.
struct Wanted {
    sorter: SorterConfig,
    around: Surroundings,
}

impl Wanted {
    /// `None` when a pointer is NULL, there is no such sorter or a number is out of range.
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

/// Fills `config` with SRPIC and the paper's ring. Does nothing when it is NULL.
///
/// # Safety
/// `config` is NULL or points at a place for a configuration.
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
                hash_seed: around.hash_seed,
            });
        }
    }
}

/// Writes the names of all sorters into `out`, one a line, with a NUL at the end.
///
/// Bytes needed, the NUL included; when `room` is less, nothing is written.
///
/// # Safety
/// `out` is NULL or points at `room` bytes.
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
            // SAFETY: all names and their ends together are `needed` bytes, which there are.
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

/// Bytes of memory a sorter of this configuration takes, packets not counted; 0 when `config` is
/// NULL or wrong.
///
/// # Safety
/// `config` is NULL or points at a configuration, whose `sorter` is NULL or a string.
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

/// Makes a sorter and puts its handle into `*sorter`; all its memory is taken here.
///
/// 0; -EINVAL: a pointer is NULL, there is no such sorter, or a setting is out of range; -ENOMEM: not
/// so much memory. On error `*sorter` is left as it was.
///
/// # Safety
/// `config` and `sorter` are NULL or point at a configuration, whose `sorter` is NULL or a string,
/// and at a place for a pointer.
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
