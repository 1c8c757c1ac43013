//! What flows that come the same way share: a new flow starts with what others there have shown.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

use super::learnt::Learnt;

/// A path that nobody used for this time gives its place to another, nanoseconds.
const IDLE_NS: i64 = 10_000_000_000;

struct Path {
    hash: u64,
    used_ns: i64,
    learnt: Learnt,
}

/// Paths, each at the place its hash says. Two that meet there share it while both are in use,
/// which is no worse than knowing less.
pub(super) struct Paths {
    paths: Vec<Path>,
}

/// Number of flows for each path.
const FLOWS_EACH: usize = 16;

fn places(flows: usize) -> usize {
    (flows / FLOWS_EACH).clamp(1, 1024).next_power_of_two()
}

impl Paths {
    pub(super) fn new(flows: usize) -> Result<Self, TryReserveError> {
        let mut paths = Vec::new();
        paths.try_reserve_exact(places(flows))?;
        paths.resize_with(places(flows), || Path {
            hash: 0,
            used_ns: i64::MIN,
            learnt: Learnt::new(),
        });
        Ok(Paths { paths })
    }

    /// Bytes beside itself.
    pub(super) fn footprint(flows: usize) -> usize {
        places(flows) * size_of::<Path>()
    }

    /// The place of the path with this hash, for a flow that begins now.
    pub(super) fn place(&mut self, hash: u64, now_ns: i64) -> u32 {
        let at = (hash >> 32) as usize & (self.paths.len() - 1);
        if let Some(path) = self.paths.get_mut(at) {
            if path.hash != hash && path.used_ns.saturating_add(IDLE_NS) < now_ns {
                path.learnt = Learnt::new();
                path.hash = hash;
            }
            path.used_ns = now_ns;
        }
        at as u32
    }

    /// What was learnt of a path, to look at.
    pub(super) fn look(&self, at: u32) -> Option<&Learnt> {
        Some(&self.paths.get(at as usize)?.learnt)
    }

    /// What was learnt of a path.
    pub(super) fn learnt(&mut self, at: u32) -> Option<&mut Learnt> {
        Some(&mut self.paths.get_mut(at as usize)?.learnt)
    }
}
