//! Watching a run.

use super::bound::Bound;
use super::handle::{PlaceId, TransitionId};

/// Sees what happens in a run. The methods do nothing unless overridden; `()` watches nothing and costs nothing.
pub trait Observer<T> {
    /// A typed token came into a place, or left the net at a sink.
    fn deposited(&mut self, now: u64, place: PlaceId, token: &T) {
        let _ = (now, place, token);
    }

    /// A firing ended; its outputs are about to be deposited.
    fn fired(&mut self, transition: TransitionId, bound: &Bound<'_, T>) {
        let _ = (transition, bound);
    }

    /// Whether the run should stop here; asked whenever nothing more happens at the present time.
    fn is_done(&self) -> bool {
        false
    }
}

impl<T> Observer<T> for () {}
