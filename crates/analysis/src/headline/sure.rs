//! How sure a clause on what held a flow back is.
//!
//! By what the analysis itself shows of a clause it has a chance to be false: a logistic regression over the clauses of 1,300 drawn
//! transfers from three places each (`testdata/lab/confidence`). What the round trips show beside that (queues, plateaus, pacing, their
//! number, packets, late packets) foretold no more. A clause with a larger chance than a bound says that it is uncertain.

use inorder_detect::FlowReport;
use inorder_detect::limits::{Limit, LimitSet};

use crate::shares::{self, Part};

/// A clause is uncertain if the logarithm of its odds to be false is larger: more than one in seven like it is false. Of those clauses one
/// in four is false, of the others one in 24, and they tell 8 % of the time.
const MOST: f64 = -1.79;

/// Logarithm of the odds to be false that all clauses have, and what is added to it by the names of the limits.
const ALL: f64 = -3.23;
const BY_NAMES: [(LimitSet, f64); 17] = [
    (LimitSet::of(&[Limit::Handshake]), -0.28),
    (LimitSet::of(&[Limit::Start]), -0.56),
    (LimitSet::of(&[Limit::Application]), 0.53),
    (LimitSet::of(&[Limit::Application, Limit::Line]), 0.93),
    (LimitSet::of(&[Limit::Application, Limit::SendBuffer]), 0.50),
    (
        LimitSet::of(&[Limit::Application, Limit::SendBuffer, Limit::Line]),
        -0.36,
    ),
    (
        LimitSet::of(&[Limit::Application, Limit::TimerNeeded]),
        0.45,
    ),
    (LimitSet::of(&[Limit::SendBuffer]), 0.44),
    (LimitSet::of(&[Limit::ReceiverWindow]), -0.46),
    (LimitSet::of(&[Limit::Line]), -1.61),
    (LimitSet::of(&[Limit::Line, Limit::WindowNeeded]), 1.07),
    (LimitSet::of(&[Limit::WindowNeeded]), -0.69),
    (LimitSet::of(&[Limit::WindowUnneeded]), 0.40),
    (
        LimitSet::of(&[Limit::WindowNeeded, Limit::WindowUnneeded]),
        -0.06,
    ),
    (LimitSet::of(&[Limit::TimerNeeded]), -0.14),
    (LimitSet::of(&[Limit::TimerNeeded, Limit::PathDead]), -0.19),
    (
        LimitSet::of(&[Limit::TimerUnneeded, Limit::PathDead]),
        -0.78,
    ),
];
/// By other names, of which fewer than 40 clauses were drawn each.
const BY_OTHER_NAMES: f64 = 0.80;
/// By the number of clauses on the flow: one, two, three.
const BY_CLAUSES: [f64; 3] = [-0.51, 0.11, 0.40];
/// By the share of the life that the clause tells: below the first bound, below the second one, above.
const SHARES: [f64; 2] = [0.3, 0.9];
const BY_SHARE: [f64; 3] = [-0.16, 0.33, -0.17];
/// The life has several parts, of this share at least.
const MIN_PART: f64 = 0.05;
const BY_PARTS: f64 = 0.65;
/// The capture leaves open what held the flow for a part of its life, and for another part does not, of this share each.
const MIN_MIXED: f64 = 0.2;
const BY_MIXED: f64 = 0.42;
/// It speaks of a reduced window or of a timer, and so many recoveries have a verdict that they agree by more than chance.
const MANY: u64 = 10;
const BY_MANY: f64 = -0.70;
/// Or it speaks of lost or discarded packets, of no more than there were recoveries, which are not many, and some are after time-outs, as
/// also a delay that jumps makes them. Of such clauses two in five are false.
const BY_TIMEOUTS: f64 = 1.71;

/// True if clauses like the one on `part`, of `clauses` on `flow`, are seldom false.
pub(super) fn is_sure(part: &Part, clauses: usize, flow: &FlowReport) -> bool {
    let parts = shares::parts(&flow.limits);
    let open = parts.iter().filter(|part| part.limits.only().is_none());
    let open: f64 = open.map(|part| part.share).sum();
    let many = parts.iter().filter(|part| part.share >= MIN_PART).count() > 1;
    let mixed = open.min(1.0 - open) >= MIN_MIXED;
    let names = BY_NAMES.iter().find(|(names, _)| *names == part.limits);
    let level = SHARES.iter().filter(|end| part.share >= **end).count();
    let points = |holds: bool, points| if holds { points } else { 0.0 };
    let odds = ALL
        + names.map_or(BY_OTHER_NAMES, |(_, points)| *points)
        + of(&BY_CLAUSES, clauses.saturating_sub(1))
        + of(&BY_SHARE, level)
        + points(many, BY_PARTS)
        + points(mixed, BY_MIXED)
        + by_recoveries(part.limits, flow);
    odds <= MOST
}

/// What the verdicts on recoveries add, if these are the names.
fn by_recoveries(names: LimitSet, flow: &FlowReport) -> f64 {
    let needed = [Limit::WindowNeeded, Limit::TimerNeeded];
    let needed = needed.iter().any(|limit| names.contains(*limit));
    let unneeded = names.iter().any(Limit::is_unneeded);
    let missed = flow.originals.lost.saturating_add(flow.originals.refused);
    match flow.recoveries.total {
        MANY.. if needed || unneeded => BY_MANY,
        few if needed && !unneeded && missed <= few && flow.timeouts() > 0 => BY_TIMEOUTS,
        _ => 0.0,
    }
}

/// The points of a class, or of the last one.
fn of(points: &[f64; 3], class: usize) -> f64 {
    points.get(class).or(points.last()).copied().unwrap_or(0.0)
}
