//! What is claimed of one TCP flow: what held it back, and what went wrong.

use inorder_detect::{Cause, FlowReport, Gravity, Host, Limit, Lost, NotSeen, Trouble, Vantage};
use inorder_report::number::{bytes, count, percent, plural, rate};

use super::claim::Claim;
use super::held::Held;
use super::sure;
use crate::shares;

/// Without the handshake, the fastest of fewer packets that follow an acknowledgement may have waited for its application, as those of a chat do.
const MIN_ANSWERS: u64 = 4;

/// What it carried, at what rate, over which path.
pub(super) fn moved(flow: &FlowReport) -> Claim {
    let answers = flow.vantage.vantage == Vantage::Sender
        || flow.endpoints.syn_seen
        || flow.originals.packets >= MIN_ANSWERS;
    let known = flow.limits.life_ns() > 0 && answers && !flow.blind.has(NotSeen::Times);
    let refused = flow.endpoints.closing.reset_by.is_some() && flow.was_cut_off();
    // Beside the sender: no acknowledgement of any of it was captured, though its receiver was heard.
    let unheard = flow.vantage.vantage == Vantage::Sender
        && flow.originals.undecided == flow.originals.packets
        && !flow.blind.any();
    let in_vain = refused || unheard || flow.recoveries.of(Cause::Unanswered).recoveries > 0;
    let rtt_ns = shares::round_trip_ns(flow).filter(|&ns| ns > 0);
    Claim::Moved {
        flow: flow.flow,
        bytes: flow.originals.bytes,
        bps: flow.goodput_bps().filter(|_| !in_vain),
        line_bps: shares::full_line_bps(flow),
        // Frames without times, or of one time, show none.
        rtt_ns: rtt_ns.filter(|_| known),
        handshake_ns: rtt_ns.and_then(|rtt_ns| slow_handshake(flow, rtt_ns)),
        largest: false,
        in_vain,
    }
}

/// How long the answer to the SYN took, if that was much longer than the round trips of data.
fn slow_handshake(flow: &FlowReport, rtt_ns: i64) -> Option<i64> {
    /// Round trips that it took at least, and how much longer than one, nanoseconds: hosts answer SYNs a little later than data.
    const MIN_ROUND_TRIPS: i64 = 4;
    const MIN_LONGER_NS: i64 = 5_000_000;
    let handshake = &flow.endpoints.handshake;
    let answered_ns = handshake
        .answered_ns
        .filter(|_| handshake.syns_again == 0)?;
    let least_ns = rtt_ns
        .saturating_mul(MIN_ROUND_TRIPS)
        .max(rtt_ns + MIN_LONGER_NS);
    Some(answered_ns).filter(|&ns| ns >= least_ns)
}

/// What held it back; empty where that is not known. Without the receiver's packets neither windows nor round trips are seen.
pub(super) fn held(flow: &FlowReport) -> Vec<Claim> {
    if flow.blind.has(NotSeen::OneWay) || flow.blind.has(NotSeen::Times) {
        return Vec::new();
    }
    let short = shares::too_short(flow);
    let held: Vec<Claim> = match short {
        Some((opening, start)) => vec![Claim::Short {
            bytes: flow.originals.bytes,
            opening,
            start,
            start_at_most: flow
                .limits
                .share_where(|set| set.contains(inorder_limits::Limit::Start)),
        }],
        None => parts(flow).into_iter().map(Claim::Held).collect(),
    };
    let end = shares::idle_end(&flow.limits);
    // Of a start that took less than the end, the end is what a reader sees.
    let end =
        end.filter(|(_, share)| short.is_none_or(|(opening, start)| *share > opening + start));
    let at_sender = flow.vantage.vantage == Vantage::Sender;
    let ended = |(ns, share)| Claim::Ended {
        ns,
        share,
        at_sender,
    };
    held.into_iter().chain(end.map(ended)).collect()
}

/// The parts of its life that a sentence names, the longest first; what is uncertain stands together.
pub(crate) fn parts(flow: &FlowReport) -> Vec<Held> {
    let parts = shares::told(&flow.limits, |part| sure::reserved(part, flow));
    let told = parts.iter().map(|part| Held::of(flow, *part, parts.len()));
    let mut told: Vec<Held> = told.collect();
    if let Some(first) = told.iter().position(|held| !held.sure) {
        told.get_mut(first..)
            .into_iter()
            .for_each(|rest| rest.sort_by_key(|held| held.sure));
    }
    told
}

/// Its worst trouble.
pub(super) fn wrong(flow: &FlowReport) -> Vec<Claim> {
    match leading(flow) {
        Some(Trouble::Loss) => vec![loss(flow)],
        Some(Trouble::Refused | Trouble::Reordering) => late(flow),
        Some(Trouble::AckReordering) => vec![misled(flow, Cause::AckReordering)],
        Some(Trouble::DelayJump) => vec![misled(flow, Cause::DelayJump)],
        Some(Trouble::TailProbe) => vec![Claim::Probes {
            sent: flow.recoveries.of(Cause::TailProbe).retransmissions,
            undecided: flow.retransmissions.ambiguous > 0,
        }],
        Some(Trouble::InAdvance) => vec![Claim::InAdvance {
            packets: flow.recoveries.of(Cause::InAdvance).retransmissions,
        }],
        Some(Trouble::Unanswered) => vec![Claim::Unanswered {
            packets: flow.originals.lost.max(1),
            repeated: flow.recoveries.of(Cause::Unanswered).retransmissions,
            timer: flow.timeouts() > 0,
            beside: is_beside_receiver(flow),
        }],
        Some(Trouble::Handshake) => vec![Claim::Opening {
            syns: flow.endpoints.handshake.syns_again,
            waited_ns: flow.endpoints.handshake.waited_ns,
        }],
        Some(Trouble::Reset) => reset(flow).into_iter().collect(),
        Some(Trouble::Silence) => silence(flow).into_iter().collect(),
        Some(Trouble::Closing) => vec![Claim::Closing {
            fins: flow.endpoints.closing.fins_again,
            waited_ns: flow.endpoints.closing.waited_ns,
            acknowledged: flow.endpoints.closing.acknowledged,
        }],
        Some(Trouble::Unexplained) => vec![unexplained(flow)],
        Some(Trouble::Unclear) => vec![Claim::Unclear {
            packets: flow.reordering.ambiguous,
        }],
        None if flow.retransmissions.total > 0 => vec![Claim::Repeated {
            total: flow.retransmissions.total,
            needed: flow.retransmissions.needed,
            undecided: flow.retransmissions.ambiguous,
        }],
        None if flow.originals.unfilled == 0
            && flow.upstream.as_ref().is_none_or(|u| u.reordered == 0) =>
        {
            vec![Claim::Clean]
        }
        // The others are troubles of streams.
        _ => Vec::new(),
    }
}

/// The worst trouble besides what held the flow back.
pub(super) fn leading(flow: &FlowReport) -> Option<Trouble> {
    let gravity = Gravity::of_flow(flow);
    gravity.all().find(|trouble| *trouble != Trouble::HeldBack)
}

/// What kept the flow from being faster, where its limits are not known.
pub(super) fn coarse_limit(flow: &FlowReport) -> Option<Claim> {
    /// Shorter flows end before anything but their start limits them.
    const MIN_PACKETS: u64 = 100;
    /// A window that was closed for longer is worth a word, whatever else limited the flow, nanoseconds.
    const MIN_CLOSED_NS: i64 = 200_000_000;
    let claim = |closed_ns| Claim::Coarse {
        limit: flow.cost.limit,
        closed_ns,
        lasted_ns: flow.last_ns.saturating_sub(flow.first_ns),
    };
    let long = flow.originals.packets >= MIN_PACKETS;
    let clean = flow.originals.lost + flow.retransmissions.total == 0;
    match flow.cost.limit {
        _ if flow.limits.life_ns() > 0 => None,
        _ if flow.cost.closed_ns >= MIN_CLOSED_NS => Some(claim(flow.cost.closed_ns)),
        Limit::Application if long && clean => Some(claim(0)),
        Limit::Receiver if long => Some(claim(0)),
        _ => None,
    }
}

/// What the unnecessary reductions of its window cost.
fn cost(flow: &FlowReport) -> Option<Lost> {
    flow.cost.lost.filter(|lost| lost.high > 0.0)
}

/// The flow's main numbers.
pub(super) fn gist(flow: &FlowReport) -> String {
    let share = |n: u64, all: u64| percent(n as f64 / all.max(1) as f64);
    let speed = flow
        .goodput_bps()
        .filter(|&bps| bps > 0)
        .map_or_else(String::new, |bps| format!(" at {}", rate(bps)));
    let mut said = vec![format!("{}{speed}", bytes(flow.originals.bytes))];
    if flow.originals.lost > 0 {
        said.push(format!(
            "{} % lost",
            share(flow.originals.lost, flow.originals.packets)
        ));
    }
    if flow.late() > 0 {
        let late = share(flow.late(), flow.came());
        said.push(format!("{late} % of arrivals late"));
    }
    if flow.retransmissions.total > 0 {
        said.push(format!(
            "{}, {} spurious",
            plural(flow.retransmissions.total, "retransmission"),
            count(flow.retransmissions.spurious)
        ));
    }
    match flow.expiries() {
        0 => {}
        n => said.push(plural(n, "time-out")),
    }
    said.join(" · ")
}

/// The recoveries that have no other cause.
fn unexplained(flow: &FlowReport) -> Claim {
    let unknown = flow.recoveries.of(Cause::Unknown);
    Claim::Unexplained {
        packets: unknown.retransmissions,
        recoveries: unknown.recoveries,
        timeouts: unknown.timeouts,
        in_vain: all_in_vain(flow),
    }
}

/// All that was sent again had arrived.
pub(super) fn all_in_vain(flow: &FlowReport) -> bool {
    flow.retransmissions.spurious == flow.retransmissions.total
}

fn loss(flow: &FlowReport) -> Claim {
    // A sender that learns the size cuts its data anew and reduces no window (RFC 1191 section 6.4).
    let causes = flow.recoveries.by_cause.iter();
    let of_loss = causes.filter(|c| c.cause.is_loss() && c.cause != Cause::TooLarge);
    let recovered = of_loss.fold((0, 0), |(all, timed), c| {
        (all + c.recoveries, timed + c.timeouts)
    });
    Claim::Lost {
        packets: flow.originals.lost,
        at_most: most_lost(flow),
        of: flow.originals.packets.max(flow.originals.lost),
        needed: flow.retransmissions.needed,
        queue: [Cause::QueueLoss, Cause::RandomLoss, Cause::Loss]
            .map(|c| flow.recoveries.of(c).recoveries),
        icmp: flow.path.icmp,
        recoveries: recovered,
    }
}

/// The most packets that may have been lost; `None` if there is no bound.
fn most_lost(flow: &FlowReport) -> Option<u64> {
    /// Fewer undecided events, as a share of the losses, change no conclusion.
    const MIN_UNDECIDED: f64 = 0.2;
    /// Where at least this share of the packets is lost, some retransmissions are lost, too. A capture away from the sender does not
    /// show those that were lost before it.
    const MIN_LOSSY_SHARE: f64 = 0.02;
    // Lost before the capture point, with nothing behind them, they left no hole.
    let lossy = flow.originals.lost as f64 >= MIN_LOSSY_SHARE * flow.originals.packets as f64;
    let silent = flow.timeouts() > 0 || shares::may_hide_a_timer(flow);
    let unseen = flow.vantage.vantage != Vantage::Sender && (lossy || silent);
    let undecided = flow.reordering.ambiguous;
    let many = undecided as f64 > MIN_UNDECIDED * flow.originals.lost as f64;
    match (unseen, many) {
        (true, _) => None,
        (false, true) => Some(flow.originals.lost + undecided),
        (false, false) => Some(flow.originals.lost),
    }
}

/// Late packets, what the sender made of them, and what the receiver discarded for other reasons.
fn late(flow: &FlowReport) -> Vec<Claim> {
    let mut all = Vec::new();
    let late = flow.late();
    let unnecessary = flow.recoveries.of(Cause::Reordering).recoveries;
    let for_them = unnecessary + flow.recoveries.of(Cause::Refused).recoveries;
    if late > 0 || unnecessary > 0 {
        all.push(Claim::Late {
            packets: late,
            at_most: (!flow.rough).then_some(late),
            of: flow.came().max(late),
            most_ns: flow.reordering.late_ns.max().unwrap_or(0),
            discarded: flow.originals.too_old(),
            recoveries: for_them,
            harmless: for_them + flow.retransmissions.spurious == 0,
        });
    }
    if unnecessary > 0 {
        all.push(Claim::Mistaken {
            late,
            reductions: (unnecessary, flow.recoveries.total),
            retransmissions: (flow.retransmissions.spurious, flow.retransmissions.total),
            cost: cost(flow),
        });
    }
    if flow.originals.outside_window > 0 {
        all.push(Claim::Outside {
            packets: flow.originals.outside_window,
            of: flow.came().max(flow.originals.outside_window),
        });
    }
    if flow.originals.reneged > 0 {
        all.push(Claim::Reneged {
            packets: flow.originals.reneged,
            of: flow.came().max(flow.originals.reneged),
        });
    }
    all
}

/// The connection was reset before all was acknowledged.
pub(super) fn reset(flow: &FlowReport) -> Option<Claim> {
    let closing = &flow.endpoints.closing;
    let by = closing.reset_by.filter(|_| flow.was_cut_off())?;
    Some(Claim::Reset {
        by,
        packets: flow.cut_off(),
        closed_before: closing.closed_before,
        ttls: closing.reset_ttls,
    })
}

fn silence(flow: &FlowReport) -> Option<Claim> {
    flow.endpoints
        .closing
        .silence
        .map(|silence| Claim::Silence {
            keep_alives: silence.keep_alives,
            ns: silence.ns,
            beside: silence.by == Host::Sender && is_beside_receiver(flow),
        })
}

/// What the sender of the data sends has reached its receiver, or as good as that.
fn is_beside_receiver(flow: &FlowReport) -> bool {
    flow.vantage.vantage == Vantage::Receiver && !flow.blind.has(NotSeen::Vantage)
}

fn misled(flow: &FlowReport, cause: Cause) -> Claim {
    Claim::Misled {
        cause,
        reductions: (flow.recoveries.of(cause).recoveries, flow.recoveries.total),
        cost: cost(flow),
    }
}
