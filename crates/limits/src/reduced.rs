//! Which reductions of the congestion window are in force.

use inorder_cost::{Episodes, RecoveryVerdict, restored};

use super::Life;
use super::held::Held;
use super::rounds::Row;
use super::state::{Course, State};

/// Which reductions of the window are in force.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Reduced {
    #[default]
    Not,
    Needed,
    Unneeded,
    Either,
    /// None that shows, but a pause may have been the wait for a timer, which reduces it.
    Perhaps,
}

/// Reductions of the window in their order: from when on, and of which kind.
pub(super) fn reductions(life: &Life<'_>, episodes: &Episodes) -> Vec<(i64, Reduced)> {
    let mss = i64::from(life.mss.max(1));
    let reducing = life.recoveries.iter().filter(|r| r.cause.reduces());
    let real = reducing.filter(|r| {
        let episode = episodes.of(r.start_ns);
        !episode.is_some_and(|e| restored(e, mss))
    });
    real.map(|r| (r.start_ns, kind(r.verdict))).collect()
}

fn kind(verdict: RecoveryVerdict) -> Reduced {
    match verdict {
        RecoveryVerdict::Loss => Reduced::Needed,
        RecoveryVerdict::Spurious => Reduced::Unneeded,
        RecoveryVerdict::Ambiguous => Reduced::Either,
    }
}

impl Course<'_> {
    /// Behind a pause that may hide a timer it is open whether the window was reduced (RFC 5681 section 3.1: to one segment).
    pub(super) fn note_hidden_timers(&self, states: &mut [State]) {
        let hides = |row: &&Row| row.part(Held::Unseen) > 0;
        let first = self.rows.iter().position(|row| hides(&row));
        let behind = states
            .iter_mut()
            .skip(first.map_or(self.rows.len(), |at| at + 1));
        for state in behind.filter(|state| state.reduced == Reduced::Not) {
            state.reduced = Reduced::Perhaps;
        }
    }
}
