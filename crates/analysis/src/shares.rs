//! What held a flow back, as people speak of it: the limits of its life in few parts, and how much of the time late
//! packets may have cost.

use inorder_detect::limits::{Limit, LimitSet, Limits, Window};
use inorder_detect::{Cause, FlowReport, Vantage};

/// Parts with a smaller share of the life are not named.
const MIN_NAMED: f64 = 0.1;
/// Parts that make up this share of the life say enough.
const ENOUGH: f64 = 0.8;
/// The most parts that a sentence names.
const MAX_NAMED: usize = 3;
/// And the most limits of a part: more names say no more than the first one with its bounds.
const MAX_NAMES: usize = 3;
/// A share of the life that is lost by unnecessary reductions, recoveries and timers and that nobody would notice.
pub(crate) const UNNOTICED: f64 = 0.05;

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

/// The same as a share of the life, if it is worth a word.
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

/// The same, with what `name` calls the limits of each.
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

/// Parts that may have been a limit named beside them are its upper bound, if it is the only one of theirs that is named. Where they are
/// longer than it is, the limit is one of those that cannot be distinguished: what it alone explains is the smaller share.
fn without_what_bounds(parts: &[Part]) -> Vec<Part> {
    let proper: Vec<Part> = parts
        .iter()
        .copied()
        .filter(|p| p.limits.only().is_some() && p.share >= MIN_NAMED)
        .collect();
    let bounded = |part: &Part| {
        let within = |one: &&Part| one.limits.iter().all(|l| part.limits.contains(l));
        let mut named = proper.iter().filter(within);
        let one = named.next().copied();
        one.filter(|_| part.limits.only().is_none() && named.next().is_none())
    };
    let mut kept: Vec<Part> = Vec::new();
    for part in parts.iter().filter(|part| bounded(part).is_none()) {
        let perhaps: Vec<&Part> = parts
            .iter()
            .filter(|other| bounded(other).is_some_and(|one| one.limits == part.limits))
            .collect();
        kept.push(one_of(part, &perhaps));
    }
    kept.sort_by(|a, b| b.at_most.total_cmp(&a.at_most));
    kept
}

/// A limit with what it may have been besides, `perhaps`: itself, or where that is longer, one of all of them, if they are few.
fn one_of(part: &Part, perhaps: &[&Part]) -> Part {
    let open: f64 = perhaps.iter().map(|other| other.share).sum();
    let all = perhaps.iter().flat_map(|other| other.limits.iter());
    let limits = LimitSet::of(&all.collect::<Vec<Limit>>());
    if open <= part.share || limits.iter().count() > MAX_NAMES {
        return *part;
    }
    let share = part.share + open;
    Part {
        limits,
        share,
        at_most: share.max(part.at_most),
        ns: part.ns + perhaps.iter().map(|other| other.ns).sum::<i64>(),
    }
}

/// A buffer or the line, if no acknowledgement shows which: an application that writes at a pace of its own keeps as much in flight. Of 66
/// drawn transfers of which a sentence named only these two, 25 were an application's.
fn with_its_own_pace(set: LimitSet) -> LimitSet {
    const FULL: LimitSet = LimitSet::of(&[Limit::SendBuffer, Limit::Line]);
    match joined(set) {
        FULL => LimitSet::of(&[Limit::Application, Limit::SendBuffer, Limit::Line]),
        other => other,
    }
}

/// The parts worth a word in a sentence, in which what the capture leaves open twice, with a limit that both have in common, is named once: the rules
/// that kept them apart are no surer than those that left each of them open. `reserved` adds names to a part that its verdicts leave open.
pub(crate) fn told(limits: &Limits, reserved: impl Fn(&Part) -> LimitSet) -> Vec<Part> {
    let mut told = worth_a_word(&parts_as(limits, with_its_own_pace), limits);
    for part in &mut told {
        part.limits = reserved(part);
    }
    while let Some((first, second)) = in_common(&told) {
        let other = told.remove(second);
        if let Some(one) = told.get_mut(first) {
            one.share += other.share;
            one.at_most = one.share;
            one.ns = one.ns.saturating_add(other.ns);
            one.limits = union(one, &other);
        }
        told.sort_by(|a, b| b.at_most.total_cmp(&a.at_most));
    }
    told
}

fn union(one: &Part, other: &Part) -> LimitSet {
    LimitSet::of(
        &one.limits
            .iter()
            .chain(other.limits.iter())
            .collect::<Vec<Limit>>(),
    )
}

/// The first two parts that are open and share a limit, if a sentence can name all of theirs.
fn in_common(told: &[Part]) -> Option<(usize, usize)> {
    let open = |part: &Part| part.limits.only().is_none();
    let shared = |one: &Part, other: &Part| {
        let both = one.limits.iter().any(|limit| other.limits.contains(limit));
        both && open(one) && open(other) && union(one, other).iter().count() <= MAX_NAMES
    };
    let pairs = told.iter().enumerate().flat_map(|(i, one)| {
        let behind = told.iter().enumerate().skip(i + 1);
        behind.map(move |(k, other)| (i, k, one, other))
    });
    let found = pairs
        .into_iter()
        .find(|(_, _, one, other)| shared(one, other));
    found.map(|(first, second, ..)| (first, second))
}

/// The parts worth a word: the longest, until most of the life is explained.
fn worth_a_word(parts: &[Part], limits: &Limits) -> Vec<Part> {
    let mut explained = end_ns(limits) as f64 / limits.life_ns().max(1) as f64;
    let mut named = Vec::new();
    for part in without_what_bounds(parts) {
        if part.share < MIN_NAMED || explained >= ENOUGH || named.len() == MAX_NAMED {
            continue;
        }
        explained += part.at_most;
        named.push(part);
    }
    named
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
    let short = start > 0.0 && most && opened && !reduced;
    short.then_some((opening, start))
}

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
/// than the first number and no more than the second. `None` where nothing is known of its limits.
pub(crate) fn taken_by_late(flow: &FlowReport) -> Option<(f64, f64)> {
    let limits = &flow.limits;
    let life = limits.life_ns();
    if life == 0 {
        return None;
    }
    let most = (1.0 - innocent(limits)).max(0.0);
    if flow.blind.any() {
        return Some((0.0, most));
    }
    let of_late = |cause| matches!(cause, Cause::Reordering | Cause::Refused | Cause::Unknown);
    let unneeded = |limit: Limit| limit.is_unneeded();
    let sum = |of: &dyn Fn(Cause) -> bool| {
        let named = limits.unnecessary.iter().filter(|(cause, _)| of(*cause));
        named.map(|(_, ns)| *ns).sum::<i64>() as f64 / life as f64
    };
    let surely = sum(&|cause| of_late(cause) && cause != Cause::Unknown);
    let others = sum(&|cause| !of_late(cause));
    let perhaps =
        limits.share_where(|set| set.iter().any(unneeded) || set.contains(Limit::Unknown));
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
    let discarded = flow
        .originals
        .refused
        .saturating_sub(flow.originals.outside_window);
    let again = flow.retransmissions;
    again.total.min(again.spurious.saturating_add(discarded))
}

/// The rate of the line as payload, bits per second, where it can be believed: the line was full for a part of the time, or
/// is far faster than the flow, so that no bundle of packets which a window or late packets made was taken for it.
pub(crate) fn line_bps(flow: &FlowReport) -> Option<u64> {
    const FAR_ABOVE: u64 = 4;
    let line = flow.limits.line_bps?;
    let far = line / FAR_ABOVE >= flow.goodput_bps()?;
    (far || full_line_bps(flow).is_some()).then_some(line)
}

/// The same, if the line was full for a part of the time: of rates that are far above the flow's, trains of packets alone tell, and
/// one in seven is wrong. Where it was full for a short time, the trains must agree: of 912 rates of drawn transfers 281 are of such
/// times, of these trains contradict 81, and of these 14 are wrong, of the others 11.
pub(crate) fn full_line_bps(flow: &FlowReport) -> Option<u64> {
    /// For less of the life a line is full for a short time.
    const MIN_LONG: f64 = 0.3;
    /// They agree if the rate over theirs lies within this.
    const RATE_OVER_TRAINS: std::ops::RangeInclusive<f64> = 0.9..=1.03;
    let full = flow.limits.share_of(Limit::Line.into());
    let line = flow.limits.line_bps.filter(|_| full >= MIN_NAMED)?;
    let trains = flow
        .cost
        .bottleneck_bps
        .map(|trains| line as f64 / trains as f64);
    (full >= MIN_LONG || trains.is_some_and(|of| RATE_OVER_TRAINS.contains(&of))).then_some(line)
}

/// Bytes that fill the path: the line's rate times the round trip.
pub(crate) fn path_bytes(flow: &FlowReport) -> Option<u64> {
    let bps = line_bps(flow)? as f64;
    Some((bps / 8e9 * round_trip_ns(flow)? as f64) as u64)
}

/// The round trip between sender and receiver at its shortest, nanoseconds.
pub(crate) fn round_trip_ns(flow: &FlowReport) -> Option<i64> {
    let at = &flow.vantage;
    match at.vantage {
        Vantage::Middle => Some(at.to_receiver_ns?.saturating_add(at.to_sender_ns?)),
        Vantage::Sender | Vantage::Receiver => flow.min_rtt_ns,
    }
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

/// A part of its life that a reader would notice may have been a wait for a timer, after losses that left no trace here.
pub(crate) fn may_hide_a_timer(flow: &FlowReport) -> bool {
    let perhaps = |set: LimitSet| set.only().is_none() && set.contains(Limit::TimerNeeded);
    flow.limits.share_where(perhaps) >= UNNOTICED
}

/// Nobody would remove it: every transfer has it, or it makes full use of the path.
pub(crate) fn harmless(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::Handshake | Limit::Start | Limit::Application | Limit::Line
    )
}

/// The receiver's application reads too slowly: its window was closed, or mostly far below the largest that it offered.
pub(crate) fn reads_slowly(flow: &FlowReport) -> bool {
    /// A window closed for less of the time that it limits the flow may have filled by chance.
    const MIN_CLOSED: f64 = 0.05;
    let Some(window) = flow.limits.window else {
        return flow.cost.closed_ns > 0;
    };
    let full = flow.limits.shares.iter();
    let full = full.filter(|share| share.limits.only() == Some(Limit::ReceiverWindow));
    let full: i64 = full.map(|share| share.ns).sum();
    let closed = window.closed_ns > 0 && window.closed_ns as f64 >= MIN_CLOSED * full as f64;
    closed || far_below_its_largest(flow, window, full)
}

/// While the window held the flow for `full` nanoseconds it passed far less than its largest size would have.
fn far_below_its_largest(flow: &FlowReport, window: Window, full: i64) -> bool {
    /// Rate that the largest window allows over the one that passed. Of 245 drawn transfers that a window held, where readers
    /// were slow it was 1.3 to 190 and in 8 less, where the window was small 1.3 at most.
    const FAR_BELOW: f64 = 1.3;
    /// Of smaller windows, acknowledgements that wait for a second segment, and updates that wait for room for one, take more
    /// time than the reader does: there the rate of small windows was up to 25 times below what their size allows.
    const MIN_SEGMENTS: u64 = 6;
    let segments = window.largest_bytes / u64::from(flow.endpoints.mss.max(1));
    let rtt_ns = round_trip_ns(flow).filter(|ns| *ns > 0);
    let (Some(rtt_ns), Some(bps)) = (rtt_ns, flow.goodput_bps()) else {
        return false;
    };
    // As if all had passed while the window held it, so that other times do not count as slow reading.
    let passed = bps as f64 * flow.limits.life_ns() as f64 / full.max(1) as f64;
    let allowed = 8e9 * window.largest_bytes as f64 / rtt_ns as f64;
    segments >= MIN_SEGMENTS && allowed > FAR_BELOW * passed
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

#[cfg(test)]
mod tests {
    use super::*;

    fn part(limits: &[Limit], share: f64) -> Part {
        Part {
            limits: LimitSet::of(limits),
            share,
            at_most: share,
            ns: 0,
        }
    }

    #[test]
    fn what_a_capture_leaves_open_bounds_the_limit_that_is_named() {
        let either = [Limit::Application, Limit::SendBuffer];
        let mut parts = vec![part(&[Limit::Application], 0.5), part(&either, 0.4)];
        bound(&mut parts);
        let kept = without_what_bounds(&parts);
        assert_eq!((kept.len(), kept[0].limits), (1, Limit::Application.into()));
        assert!((kept[0].at_most - 0.9).abs() < 1e-9);
        // Where more is open than it is known to be, it is one of those that cannot be distinguished.
        let mut parts = vec![part(&either, 0.7), part(&[Limit::Application], 0.2)];
        bound(&mut parts);
        let kept = without_what_bounds(&parts);
        assert_eq!((kept.len(), kept[0].limits), (1, LimitSet::of(&either)));
        assert!((kept[0].share - 0.9).abs() < 1e-9);
    }

    #[test]
    fn what_is_left_open_twice_with_one_limit_in_common_is_told_once() {
        let mut limits = Limits::default();
        limits.ended_ns = 100;
        let share = |limits: &[Limit], ns| inorder_detect::limits::Share {
            limits: LimitSet::of(limits),
            ns,
            confidence: inorder_detect::Confidence::Likely,
        };
        limits.shares = vec![
            share(&[Limit::Application, Limit::Line], 45),
            share(&[Limit::Application, Limit::SendBuffer], 40),
            share(&[Limit::Start], 15),
        ];
        let all = LimitSet::of(&[Limit::Application, Limit::SendBuffer, Limit::Line]);
        let told = told(&limits, |part| part.limits);
        assert_eq!((told.len(), told[0].limits, told[0].ns), (1, all, 85));
        // A buffer that looks like the line may be the pace of an application.
        limits.shares = vec![share(&[Limit::SendBuffer, Limit::Line], 85)];
        assert_eq!(super::told(&limits, |part| part.limits)[0].limits, all);
        // Four names are too many for a sentence.
        limits.shares = vec![
            share(&[Limit::Application, Limit::Line], 45),
            share(
                &[Limit::Line, Limit::WindowNeeded, Limit::WindowUnneeded],
                40,
            ),
        ];
        assert_eq!(super::told(&limits, |part| part.limits).len(), 2);
    }
}
