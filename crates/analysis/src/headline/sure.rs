//! How sure a clause on what held a flow back is.
//!
//! By what the analysis itself shows of a clause it has a chance to be false: a logistic regression over the clauses of 1,300 drawn
//! transfers from three places each (`testdata/lab/confidence`). What the round trips show beside that (queues, plateaus, pacing, their
//! number, packets, late packets) foretold no more. A clause with a larger chance than a bound says that it is uncertain.

use inorder_detect::FlowReport;
use inorder_detect::limits::{Limit, LimitSet};

use crate::shares::{self, Part};

/// A clause is uncertain if the logarithm of its odds to be false is larger: more than one in seven like it is false. Of those clauses one
/// in four is false, of the others one in 20, and they tell 6 % of the time.
const MAX_LOG_ODDS: f64 = -1.79;

/// Logarithm of the odds to be false that all clauses have, and what is added to it by the names of the limits.
const ALL: f64 = -2.57;
const BY_NAMES: [(LimitSet, f64); 17] = [
    (LimitSet::of(&[Limit::Handshake]), -0.34),
    (LimitSet::of(&[Limit::Start]), -0.67),
    (LimitSet::of(&[Limit::Application]), 0.51),
    (LimitSet::of(&[Limit::Application, Limit::Line]), 0.90),
    (LimitSet::of(&[Limit::Application, Limit::SendBuffer]), 0.37),
    (
        LimitSet::of(&[Limit::Application, Limit::SendBuffer, Limit::Line]),
        -0.27,
    ),
    (
        LimitSet::of(&[Limit::Application, Limit::TimerNeeded]),
        0.42,
    ),
    (LimitSet::of(&[Limit::SendBuffer]), 0.41),
    (LimitSet::of(&[Limit::ReceiverWindow]), -0.46),
    (LimitSet::of(&[Limit::Line]), -1.55),
    (LimitSet::of(&[Limit::Line, Limit::WindowNeeded]), 1.16),
    (LimitSet::of(&[Limit::WindowNeeded]), -0.66),
    (LimitSet::of(&[Limit::WindowUnneeded]), 0.43),
    (
        LimitSet::of(&[Limit::WindowNeeded, Limit::WindowUnneeded]),
        -0.00,
    ),
    (LimitSet::of(&[Limit::TimerNeeded]), -0.12),
    (LimitSet::of(&[Limit::TimerNeeded, Limit::PathDead]), -0.18),
    (
        LimitSet::of(&[Limit::TimerUnneeded, Limit::PathDead]),
        -0.80,
    ),
];
/// By other names, of which fewer than 40 clauses were drawn each.
const BY_OTHER_NAMES: f64 = 0.85;
/// By the number of clauses on the flow: one, two, three.
const BY_CLAUSES: [f64; 3] = [-0.66, 0.25, 0.41];
/// The capture leaves open what held the flow for a part of its life, and for another part does not, of this share each.
const MIN_MIXED: f64 = 0.2;
const BY_MIXED: f64 = 0.49;
/// It speaks of a reduced window or of a timer, and there is this number of recoveries at least, whose verdicts agree by more than chance.
const MIN_AGREEING_RECOVERIES: u64 = 10;
const BY_MANY: f64 = -0.74;
/// Or it speaks of lost or discarded packets, of no more than there were recoveries, which are not many, and some are after time-outs, as
/// also a delay that jumps makes them. Of such clauses two in five are false.
const BY_TIMEOUTS: f64 = 1.72;

/// True if clauses like the one on `part`, of `clauses` on `flow`, are seldom false.
pub(super) fn is_sure(part: &Part, clauses: usize, flow: &FlowReport) -> bool {
    let open = flow.limits.share_where(shares::is_open);
    let mixed = open.min(1.0 - open) >= MIN_MIXED;
    let names = BY_NAMES.iter().find(|(names, _)| *names == part.limits);
    let odds = ALL
        + names.map_or(BY_OTHER_NAMES, |(_, points)| *points)
        + by_clauses(clauses)
        + if mixed { BY_MIXED } else { 0.0 }
        + by_recoveries(part.limits, flow);
    odds <= MAX_LOG_ODDS
}

/// What the verdicts on recoveries add, if these are the names.
fn by_recoveries(names: LimitSet, flow: &FlowReport) -> f64 {
    let needed = [Limit::WindowNeeded, Limit::TimerNeeded];
    let needed = needed.iter().any(|limit| names.contains(*limit));
    let unneeded = names.iter().any(Limit::is_unneeded);
    let missed = flow.originals.lost.saturating_add(flow.originals.refused);
    match flow.recoveries.total {
        MIN_AGREEING_RECOVERIES.. if needed || unneeded => BY_MANY,
        few if needed && !unneeded && missed <= few && flow.timeouts() > 0 => BY_TIMEOUTS,
        _ => 0.0,
    }
}

/// What their number adds.
fn by_clauses(clauses: usize) -> f64 {
    let points = BY_CLAUSES.get(clauses.saturating_sub(1));
    points.or(BY_CLAUSES.last()).copied().unwrap_or(0.0)
}
