//! Arrival times that have not been passed to the NICs yet.

/// Times that wait at most: enough to make the telling cheap, few enough to stay in the
/// first-level cache for many flows.
const MAX_TIMES_WAITING: usize = 32;

/// Times of suitable originals that came in order.
#[derive(Debug)]
#[repr(C)] // First what every arrival needs: see `SortingReceivers`.
pub(crate) struct Pending {
    len: u32,
    limit: u32,
    times: [i64; MAX_TIMES_WAITING],
}

impl Default for Pending {
    fn default() -> Self {
        Pending {
            times: [0; MAX_TIMES_WAITING],
            len: 0,
            limit: 0,
        }
    }
}

impl Pending {
    /// Notes an arrival at `now`; false when there is no room for it.
    #[inline]
    pub(crate) fn push(&mut self, now: i64) -> bool {
        if self.len >= self.limit {
            return false;
        }
        let Some(place) = self.times.get_mut(self.len as usize) else {
            return false;
        };
        *place = now;
        self.len += 1;
        true
    }

    /// Sets the maximum number of times that may wait.
    #[inline]
    pub(crate) fn limit(&mut self, limit: u32) {
        self.limit = limit.min(MAX_TIMES_WAITING as u32);
    }

    /// In the order of arrival.
    #[inline]
    pub(crate) fn times(&self) -> &[i64] {
        self.times.get(..self.len as usize).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }
}
