//! What is wrong with one TCP flow, as a clause.

use inorder_detect::{Cause, FlowReport, Limit};
use inorder_report::number::{bytes, count, percent, plural, rate, time, time_u64};

use super::{of_packets, times, was};
use inorder_detect::{Gravity, Trouble};

/// Its gravest trouble.
pub fn wrong(flow: &FlowReport) -> String {
    match Gravity::of_flow(flow).worst() {
        Some(Trouble::Loss) => loss(flow),
        Some(Trouble::Refused) => refused(flow),
        Some(Trouble::Reordering) => reordering(flow),
        Some(Trouble::AckReordering) => misled(
            flow,
            Cause::AckReordering,
            "acknowledgements overtook each other, and the sender took data for lost that was not",
        ),
        Some(Trouble::DelayJump) => misled(
            flow,
            Cause::DelayJump,
            "the delay jumped or acknowledgements were lost, and a retransmission timer expired although \
             everything had arrived",
        ),
        Some(Trouble::TailProbe) => probes(flow),
        Some(Trouble::InAdvance) => in_advance(flow),
        Some(Trouble::Unanswered) => unanswered(flow),
        Some(Trouble::Handshake) => handshake(flow),
        Some(Trouble::Unexplained) => unexplained(flow),
        Some(Trouble::Unclear) => unclear(flow),
        // The others are troubles of streams.
        Some(Trouble::Copies | Trouble::Pauses | Trouble::Absent) | None => repeated(flow),
    }
}

/// What kept the flow from being faster, if that is neither loss nor reordering.
pub fn limit(flow: &FlowReport) -> String {
    /// Shorter flows end before anything but their start limits them.
    const MIN_PACKETS: u64 = 100;
    /// A window that was closed for longer is worth a word, whatever else limited the flow, nanoseconds.
    const MIN_CLOSED_NS: i64 = 200_000_000;
    let closed_ns = flow.cost.closed_ns;
    if flow.cost.limit == Limit::Receiver && closed_ns >= MIN_CLOSED_NS {
        return format!(
            "; the receiver's window was closed for {} of {}, since its application did not read",
            time(closed_ns),
            time(flow.last_ns.saturating_sub(flow.first_ns))
        );
    }
    if flow.data_packets < MIN_PACKETS {
        return String::new();
    }
    let busy = |bps| {
        format!(
            "; it came near the rate of the bottleneck, about {}",
            rate(bps)
        )
    };
    match flow.cost.limit {
        Limit::Application => {
            "; for much of the time the application had nothing to send".to_owned()
        }
        Limit::Receiver => "; the receiver's window was what limited it".to_owned(),
        Limit::Path => flow.cost.bottleneck_bps.map(busy).unwrap_or_default(),
        _ => String::new(),
    }
}

/// A share of the goodput for which an interval would say too much.
const SMALL: f64 = 0.01;

/// What the unnecessary reductions of its window cost.
fn cost(flow: &FlowReport) -> String {
    let Some(lost) = flow.cost.lost.filter(|lost| lost.high > 0.0) else {
        return String::new();
    };
    match lost.low > 0.0 && lost.high >= SMALL {
        true => format!(
            ", which cost about {} % of the goodput ({} % to {} %)",
            percent(lost.share),
            percent(lost.low),
            percent(lost.high)
        ),
        false => format!(
            ", which cost at most {} % of the goodput",
            percent(lost.high)
        ),
    }
}

/// The flow's main numbers.
pub fn gist(flow: &FlowReport) -> String {
    let order = &flow.reordering;
    let share = |n: u64, all: u64| percent(n as f64 / all.max(1) as f64);
    let speed = flow
        .goodput_bps()
        .map_or_else(String::new, |bps| format!(" at {}", rate(bps)));
    let mut said = vec![format!("{}{speed}", bytes(flow.data_bytes))];
    if flow.losses > 0 {
        said.push(format!("{} % lost", share(flow.losses, flow.data_packets)));
    }
    if order.reordered > 0 {
        said.push(format!("{} % late", share(order.reordered, order.received)));
    }
    if flow.refused > 0 {
        said.push(format!("{} refused", count(flow.refused)));
    }
    if flow.retransmissions.total > 0 {
        said.push(format!(
            "{}, {} spurious",
            plural(flow.retransmissions.total, "retransmission"),
            count(flow.retransmissions.spurious)
        ));
    }
    match flow.timeouts() {
        0 => {}
        n => said.push(plural(n, "time-out")),
    }
    said.join(" · ")
}

/// Recoveries of one cause.
fn recoveries(flow: &FlowReport, cause: Cause) -> u64 {
    let causes = flow.recoveries.by_cause.iter();
    causes
        .filter(|c| c.cause == cause)
        .map(|c| c.recoveries)
        .sum()
}

/// What ICMP says of lost packets, and of how many.
fn by_icmp(flow: &FlowReport) -> Vec<(u64, String)> {
    let icmp = &flow.icmp;
    let mtu = icmp
        .mtu
        .map_or_else(String::new, |mtu| format!(": {} bytes", count(mtu.into())));
    let all = [
        (
            icmp.too_large,
            format!("too large for the path (ICMP says so{mtu})"),
        ),
        (
            icmp.unreachable,
            "undeliverable (ICMP says that the other host cannot be reached)".to_owned(),
        ),
        (
            icmp.time_exceeded,
            "passed on by routers in a loop (ICMP says so: time exceeded)".to_owned(),
        ),
    ];
    all.into_iter().filter(|(n, _)| *n > 0).collect()
}

fn loss(flow: &FlowReport) -> String {
    let explained = by_icmp(flow);
    if let [(n, why)] = &explained[..]
        && *n == flow.losses
    {
        let all = of_packets(*n, flow.data_packets.max(*n));
        return format!("{all} {} {why}{}", was(*n), recovered(flow));
    }
    let explained: Vec<String> = explained
        .iter()
        .map(|(n, why)| format!(", {} of them {why}", count(*n)))
        .collect();
    let lost = match flow.losses {
        // The sender repeated data that was needed, but which packet was lost is undecided.
        0 => format!(
            "packets were lost ({} needed)",
            plural(flow.retransmissions.needed, "retransmission")
        ),
        n => format!(
            "{} {} lost",
            of_packets(n, flow.data_packets.max(n)),
            was(n)
        ),
    };
    let (queue, random, unknown) = (
        recoveries(flow, Cause::QueueLoss),
        recoveries(flow, Cause::RandomLoss),
        recoveries(flow, Cause::Loss),
    );
    let place = match (queue, random, unknown) {
        (0, 0, 0) => String::new(),
        (_, 0, 0) => " at a full queue (the round-trip time was near its longest)".to_owned(),
        (0, _, 0) => " although no queue was full (the round-trip time was short)".to_owned(),
        (0, 0, _) => " (whether at a full queue cannot be told)".to_owned(),
        (q, r, u) => {
            let parts = [
                (q, "while a queue was full"),
                (r, "while no queue was full"),
            ];
            let told = parts.iter().filter(|(n, _)| *n > 0);
            let told: Vec<String> = told
                .map(|(n, when)| format!("{} came {when}", count(*n)))
                .collect();
            format!(
                " (of {}, {})",
                plural(q + r + u, "recovery phase"),
                told.join(", ")
            )
        }
    };
    format!("{lost}{place}{}{}", explained.concat(), recovered(flow))
}

/// How often the sender recovered from losses.
fn recovered(flow: &FlowReport) -> String {
    let of_loss = || {
        flow.recoveries
            .by_cause
            .iter()
            // A sender that learns the size cuts its data anew and reduces no window (RFC 1191 section 6.4).
            .filter(|c| c.cause.is_loss() && c.cause != Cause::TooLarge)
    };
    let all: u64 = of_loss().map(|c| c.recoveries).sum();
    let after = match of_loss().map(|c| c.timeouts).sum::<u64>() {
        0 => String::new(),
        n if n == all && n > 1 => ", each time after a time-out".to_owned(),
        n if n == all => " after a time-out".to_owned(),
        n => format!(", {} after a time-out", times(n)),
    };
    match all {
        0 => String::new(),
        n => format!("; the sender went into recovery {}{after}", times(n)),
    }
}

fn refused(flow: &FlowReport) -> String {
    format!(
        "{} arrived, but the receiver discarded {} although it lacked the data (timestamp too old, or outside its \
         window)",
        of_packets(flow.refused, flow.data_packets.max(flow.refused)),
        if flow.refused == 1 { "it" } else { "them" },
    )
}

fn reordering(flow: &FlowReport) -> String {
    let order = &flow.reordering;
    let late = format!(
        "{} arrived out of order{}",
        of_packets(order.reordered, order.received.max(order.reordered)),
        match order.late_ns.max() {
            None | Some(0) => String::new(),
            Some(ns) => format!(", late by up to {}", time_u64(ns)),
        }
    );
    let unnecessary = recoveries(flow, Cause::Reordering);
    if unnecessary == 0 {
        return format!("{late}; no reduction of the window goes back to that");
    }
    let repeated = flow.retransmissions;
    // How many each recovery mistook is not counted, but it repeats what it takes for lost.
    let taken = match (order.reordered, flow.retransmissions.spurious) {
        (1, _) => "it",
        (late, spurious) if spurious >= late => "them",
        _ => "some of them",
    };
    format!(
        "{late}, and the sender took {taken} for lost: {} of {} of its window and {} of {} {} unnecessary{}",
        count(unnecessary),
        plural(flow.recoveries.total, "reduction"),
        count(repeated.spurious),
        plural(repeated.total, "retransmission"),
        was(unnecessary + repeated.spurious),
        cost(flow),
    )
}

/// What one cause made the sender do without need.
fn misled(flow: &FlowReport, cause: Cause, what: &str) -> String {
    let reductions = match (recoveries(flow, cause), flow.recoveries.total) {
        (1, 1) => "the only reduction of its window was unnecessary".to_owned(),
        (n, all) => format!(
            "{} of {} of its window {} unnecessary for this reason",
            count(n),
            plural(all, "reduction"),
            was(n)
        ),
    };
    format!("{what}; {reductions}{}", cost(flow))
}

fn probes(flow: &FlowReport) -> String {
    let causes = flow.recoveries.by_cause.iter();
    let probes = causes.filter(|c| c.cause == Cause::TailProbe);
    let sent = probes.map(|c| c.retransmissions).sum();
    let said = match (sent, flow.retransmissions.ambiguous) {
        (1, 0) => "1 tail loss probe repeated a packet that had arrived".to_owned(),
        (1, _) => "1 tail loss probe was sent, and whether its packet had arrived cannot be told"
            .to_owned(),
        (n, 0) => format!(
            "{} tail loss probes repeated packets that had arrived",
            count(n)
        ),
        (n, _) => format!(
            "{} tail loss probes were sent, and whether their packets had arrived cannot be told of all",
            count(n)
        ),
    };
    format!("{said}; that costs nothing but the copies")
}

/// Retransmissions of one cause.
fn repeated_for(flow: &FlowReport, cause: Cause) -> u64 {
    let causes = flow.recoveries.by_cause.iter();
    let of_it = causes.filter(|c| c.cause == cause);
    of_it.map(|c| c.retransmissions).sum()
}

fn in_advance(flow: &FlowReport) -> String {
    let (sent, they) = match repeated_for(flow, Cause::InAdvance) {
        1 => ("1 packet".to_owned(), "it was"),
        n => (plural(n, "packet"), "they were"),
    };
    format!(
        "the sender repeated {sent} in advance, before an acknowledgement or a timer can have said that {they} \
         missing; that costs nothing but the copies"
    )
}

fn unanswered(flow: &FlowReport) -> String {
    let timeouts = match flow.timeouts() {
        0 => "",
        _ => " by its timer",
    };
    let never = match flow.losses {
        0 | 1 => "1 packet was never acknowledged, although the sender repeated it".to_owned(),
        n => format!(
            "{} were never acknowledged, although the sender repeated them",
            plural(n, "packet")
        ),
    };
    format!(
        "{never} {}{timeouts}: for what it carried, the path or the receiver was dead",
        times(repeated_for(flow, Cause::Unanswered))
    )
}

fn handshake(flow: &FlowReport) -> String {
    let opening = &flow.handshake;
    format!(
        "{} {} sent again until the connection was opened, and {} went by",
        plural(opening.syns_again, "SYN"),
        was(opening.syns_again),
        time(opening.waited_ns)
    )
}

fn unexplained(flow: &FlowReport) -> String {
    let n = recoveries(flow, Cause::Unknown);
    let stopped = match flow.timeouts() {
        0 => String::new(),
        1 if n == 1 => " after a time-out".to_owned(),
        n => format!(", {} after a time-out", times(n)),
    };
    format!(
        "it sent {} again in {}{stopped}, and the capture does not show why",
        plural(flow.retransmissions.total, "packet"),
        plural(n, "recovery phase"),
    )
}

fn unclear(flow: &FlowReport) -> String {
    format!(
        "for {} it cannot be told whether they were late, lost or neither",
        plural(flow.reordering.ambiguous, "packet")
    )
}

fn repeated(flow: &FlowReport) -> String {
    let r = flow.retransmissions;
    format!(
        "{}, {} needed and {} undecided",
        plural(r.total, "retransmission"),
        count(r.needed),
        count(r.ambiguous)
    )
}
