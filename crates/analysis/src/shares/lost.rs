//! The time that a flow lost because something was sent again or slowed down without need.

use inorder_detect::{Cause, FlowReport, NotSeen};
use inorder_limits::{Limit, Limits};

/// A share of the life that is lost by unnecessary reductions, recoveries and timers and that nobody would notice.
pub(crate) const UNNOTICED: f64 = 0.05;

/// The share of its life during which the flow cannot have lost time by anything that was taken for lost and was not.
fn innocent(limits: &Limits) -> f64 {
    let innocent = |limit| {
        matches!(
            limit,
            Limit::Handshake
                | Limit::Application
                | Limit::SendBuffer
                | Limit::ReceiverWindow
                | Limit::Line
                | Limit::PathDead
        )
    };
    limits.share_where(|set| set.iter().all(innocent))
}

/// The share of a flow's life that late packets took, because something was sent again or slowed down for them: no less
/// than the first number and no more than the second. `None` where nothing is known of its limits: without acknowledgements
/// none shows, though the pauses of the data do.
pub(crate) fn taken_by_late(flow: &FlowReport) -> Option<(f64, f64)> {
    let limits = &flow.limits;
    let life = limits.life_ns();
    if life == 0 || flow.blind.has(NotSeen::OneWay) || flow.blind.has(NotSeen::Times) {
        return None;
    }
    let most = (1.0 - innocent(limits)).max(0.0);
    if flow.blind.any() {
        return Some((0.0, most));
    }
    let of_late = |cause| match cause {
        Cause::Reordering | Cause::Unknown => true,
        Cause::Refused => flow.originals.too_old() > 0,
        _ => false,
    };
    let unneeded = |limit: Limit| limit.is_unneeded();
    let sum = |of: &dyn Fn(Cause) -> bool| {
        let named = limits.unnecessary.iter().filter(|(cause, _)| of(*cause));
        named.map(|(_, ns)| *ns).sum::<i64>() as f64 / life as f64
    };
    let surely = sum(&|cause| of_late(cause) && cause != Cause::Unknown);
    let others = sum(&|cause| !of_late(cause));
    // Without a recovery for late packets no timer was theirs, whether it was needed or the path dead.
    let any_late = flow.recoveries.by_cause.iter().any(|c| of_late(c.cause));
    let perhaps = limits.share_where(|set| {
        let theirs = any_late || !set.contains(Limit::PathDead);
        set.contains(Limit::Unknown) || theirs && set.iter().any(unneeded)
    });
    // What was called necessary may not have been, as far as the recoveries behind it are undecided, or repeated what had
    // arrived beside what was lost.
    let of = |part: u64, all: u64| (part as f64 / all.max(1) as f64).min(1.0);
    let again = flow.retransmissions;
    let mixed = match flow.late() + flow.reordering.ambiguous {
        0 => 0.0,
        _ => of(repeated_in_vain(flow) + again.ambiguous, again.total),
    };
    let undecided = of(flow.recoveries.ambiguous, flow.recoveries.total).max(mixed);
    let reduced = limits.share_where(|set| {
        let needed = [
            Limit::WindowNeeded,
            Limit::RecoveryNeeded,
            Limit::TimerNeeded,
        ];
        set.iter().any(|limit| needed.contains(&limit)) && !set.iter().any(unneeded)
    });
    let high = (perhaps - others).max(surely) + undecided * reduced;
    Some((surely.min(most), high.min(most)))
}

/// Retransmissions of what had arrived: the spurious ones, and those of late packets that the receiver discarded.
pub(crate) fn repeated_in_vain(flow: &FlowReport) -> u64 {
    let discarded = flow.originals.too_old();
    let again = flow.retransmissions;
    again.total.min(again.spurious.saturating_add(discarded))
}

/// What most of the unnecessary time goes back to.
pub(crate) fn main_cause(flow: &FlowReport) -> Option<Cause> {
    let timed = flow.limits.unnecessary.iter().max_by_key(|(_, ns)| *ns);
    if let Some((cause, _)) = timed {
        return Some(*cause);
    }
    let spurious = |cause: Cause| !cause.is_loss() && cause.reduces();
    let counted = flow.recoveries.by_cause.iter();
    let counted = counted
        .filter(|c| spurious(c.cause))
        .max_by_key(|c| c.recoveries);
    counted.map(|c| c.cause)
}

/// Recoveries for losses, and reductions of the window although nothing was lost.
pub(crate) fn reductions(flow: &FlowReport) -> (u64, u64) {
    let causes = flow.recoveries.by_cause.iter();
    let of_loss = causes.filter(|c| c.cause.is_loss() && c.cause.reduces());
    let needed = of_loss.map(|c| c.recoveries).sum();
    (needed, flow.cost.unnecessary)
}
