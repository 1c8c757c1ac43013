//! What held a flow back, as people speak of it: the limits of its life in few parts, and how much of the time late
//! packets may have cost.

mod lost;
mod path;
mod told;

pub(crate) use lost::{UNNOTICED, main_cause, reductions, repeated_in_vain, taken_by_late};
pub(crate) use path::{full_line_bps, line_bps, path_bytes, reads_slowly, round_trip_ns};
pub(crate) use told::told;

use inorder_detect::FlowReport;
use inorder_limits::{Limit, LimitSet, Limits};

/// Parts with a smaller share of the life are not named.
const MIN_NAMED: f64 = 0.1;

/// A part of a flow's life.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Part {
    /// What held the flow, or the limits among which the capture cannot decide. A recovery counts as the window that it leaves.
    pub limits: LimitSet,
    /// Share of the life, at least.
    pub share: f64,
    /// And at most: with the time in which it may also have been another limit.
    pub at_most: f64,
    /// Nanoseconds.
    pub ns: i64,
}

/// A recovery is a part of the time that the window is reduced: the words for both are the same.
fn joined(set: LimitSet) -> LimitSet {
    let all: Vec<Limit> = set
        .iter()
        .map(|limit| match limit {
            Limit::RecoveryNeeded => Limit::WindowNeeded,
            Limit::RecoveryUnneeded => Limit::WindowUnneeded,
            other => other,
        })
        .collect();
    LimitSet::of(&all)
}

/// Time at the end during which nothing was left to send, nanoseconds: it limits nothing.
pub(crate) fn end_ns(limits: &Limits) -> i64 {
    let idle = limits.share_of(Limit::Application.into()) * limits.life_ns() as f64;
    limits.at_end_ns.clamp(0, idle as i64)
}

/// The idle time at the end, nanoseconds and as a share of the life, if it is worth a word.
pub(crate) fn idle_end(limits: &Limits) -> Option<(i64, f64)> {
    let ns = end_ns(limits);
    let share = ns as f64 / limits.life_ns().max(1) as f64;
    (share >= MIN_NAMED).then_some((ns, share))
}

/// For most of the time in which the application had nothing to send, before the end, it waited for data of the other end.
pub(crate) fn awaits(flow: &FlowReport) -> bool {
    let limits = &flow.limits;
    let idle = parts(limits).into_iter();
    let idle = idle.filter(|part| part.limits.only() == Some(Limit::Application));
    let idle_ns = idle.map(|part| part.ns).sum::<i64>();
    idle_ns > 0 && limits.awaited_ns >= idle_ns / 2
}

/// The ends of its answers waited for acknowledgements (Nagle's algorithm) often, for a good part of its life: how often, and how
/// long beyond the round trips that even an acknowledgement without delay takes, nanoseconds.
pub(crate) fn held_short(flow: &FlowReport) -> Option<(u64, i64)> {
    /// Fewer are no habit.
    const MIN_TIMES: u64 = 3;
    let held = flow.limits.held_short;
    let round_ns = round_trip_ns(flow)?;
    let times = i64::try_from(held.times).ok()?;
    let beyond_ns = held.ns.saturating_sub(times.saturating_mul(round_ns));
    let share = held.ns as f64 / flow.limits.life_ns().max(1) as f64;
    (held.times >= MIN_TIMES && share >= MIN_NAMED).then_some((held.times, beyond_ns.max(0)))
}

/// All parts, the longest first, without the end; empty if nothing is known.
pub(crate) fn parts(limits: &Limits) -> Vec<Part> {
    parts_as(limits, joined)
}

/// All parts, the longest first; `name` may replace the limits of each by others.
fn parts_as(limits: &Limits, name: impl Fn(LimitSet) -> LimitSet) -> Vec<Part> {
    let life = limits.life_ns();
    let mut parts: Vec<Part> = Vec::new();
    if life == 0 {
        return parts;
    }
    for share in &limits.shares {
        let set = name(share.limits);
        match parts.iter_mut().find(|part| part.limits == set) {
            Some(part) => part.ns = part.ns.saturating_add(share.ns),
            None => parts.push(Part {
                limits: set,
                share: 0.0,
                at_most: 0.0,
                ns: share.ns,
            }),
        }
    }
    let idle = |part: &&mut Part| part.limits.only() == Some(Limit::Application);
    if let Some(application) = parts.iter_mut().find(idle) {
        application.ns = application.ns.saturating_sub(end_ns(limits)).max(0);
    }
    for part in &mut parts {
        part.share = part.ns as f64 / life as f64;
        part.at_most = part.share;
    }
    bound(&mut parts);
    parts.sort_by_key(|part| std::cmp::Reverse(part.ns));
    parts
}

/// Bounds of the shares of limits that other parts may have been, too.
fn bound(parts: &mut [Part]) {
    let open: Vec<Part> = parts
        .iter()
        .copied()
        .filter(|p| p.limits.only().is_none())
        .collect();
    for part in parts {
        let Some(limit) = part.limits.only() else {
            continue;
        };
        let perhaps = open.iter().filter(|other| other.limits.contains(limit));
        part.at_most = part.share + perhaps.map(|other| other.share).sum::<f64>();
    }
}

/// Shares of the life that went to opening the connection and to the growth of the window from its start, if the flow was
/// too short for anything else to limit it: one that went into recovery has left slow start (RFC 5681 section 3.1).
pub(crate) fn too_short(flow: &FlowReport) -> Option<(f64, f64)> {
    let limits = &flow.limits;
    let of = |limit: Limit| limits.share_of(limit.into());
    let (opening, start) = (of(Limit::Handshake), of(Limit::Start));
    let end = end_ns(limits) as f64 / limits.life_ns().max(1) as f64;
    let most = opening + start >= 0.5 * (1.0 - end) && opening + start >= MIN_NAMED;
    // What a lost SYN took says nothing of how much there was to send.
    let opened = flow.endpoints.handshake.syns_again == 0;
    let reduced = flow.recoveries.total + flow.ecn_reductions > 0;
    // Without the SYN the window may have grown before, and more may have been sent.
    let whole = flow.endpoints.syn_seen;
    let short = start > 0.0 && most && opened && whole && !reduced;
    short.then_some((opening, start))
}

/// A flow whose limits are harmless for this share of its life has no problem: less than all, for a time-out at the end of a
/// download is none.
const MIN_HARMLESS: f64 = 0.9;

/// True if nothing but the application, the line or its own shortness limited the flow.
pub(crate) fn nothing_holds_it(flow: &FlowReport) -> bool {
    /// Of flows with fewer packets that show no limit nothing but the start can have been one.
    const MIN_PACKETS: u64 = 100;
    match flow.limits.life_ns() {
        0 => {
            let idle = flow.cost.limit == inorder_detect::Limit::Application;
            idle || flow.originals.packets < MIN_PACKETS
        }
        _ if waits_for_acks(flow) => false,
        _ => flow.limits.share_where(|set| set.iter().all(harmless)) >= MIN_HARMLESS,
    }
}

/// Ends of its answers wait for delayed acknowledgements for a part of its life that is worth a word.
fn waits_for_acks(flow: &FlowReport) -> bool {
    let life_ns = flow.limits.life_ns().max(1) as f64;
    held_short(flow).is_some_and(|(_, beyond_ns)| beyond_ns as f64 >= MIN_NAMED * life_ns)
}

/// True if nothing but these need have limited it, as far as the capture shows: what looks like a pause of the application may
/// hide a timer.
pub(crate) fn perhaps_nothing_holds_it(flow: &FlowReport) -> bool {
    let may_hide = |limit| harmless(limit) || limit == Limit::TimerNeeded;
    let perhaps = |set: LimitSet| set.iter().any(harmless) && set.iter().all(may_hide);
    let open = !waits_for_acks(flow) && flow.limits.share_where(perhaps) >= MIN_HARMLESS;
    nothing_holds_it(flow) || open
}

/// A part of its life that a reader would notice may have been a wait for a timer, or a dead path, with losses that left no trace here.
pub(crate) fn may_hide_a_timer(flow: &FlowReport) -> bool {
    let lossy = |limit| matches!(limit, Limit::TimerNeeded | Limit::PathDead);
    let perhaps = |set: LimitSet| set.only().is_none() && set.iter().any(lossy);
    flow.limits.share_where(perhaps) >= UNNOTICED
}

/// Nobody would remove it: every transfer has it, or it makes full use of the path.
pub(crate) fn harmless(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::Handshake | Limit::Start | Limit::Application | Limit::Line
    )
}
