//! The words for a claim: one clause each.

use inorder_detect::columns::name;
use inorder_detect::{Cause, FlowId, Icmp, Limit, Lost};
use inorder_report::number::{bytes, count, percent, plural, rate, time, time_u64};

use super::super::{of_packets, share, times, was};
use super::{Claim, Counted, Nothing};

impl Claim {
    /// The clause, without a full stop.
    pub fn text(&self) -> String {
        match self {
            Claim::Moved {
                flow,
                bytes: n,
                bps,
                line_bps,
                rtt_ns,
                largest,
            } => {
                let largest = if *largest { "the largest, " } else { "" };
                let moved = moved(flow, *n, *bps, (*line_bps, *rtt_ns));
                format!("{largest}{moved}")
            }
            Claim::Coarse {
                limit,
                closed_ns,
                lasted_ns,
            } => coarse(*limit, *closed_ns, *lasted_ns),
            Claim::Held(held) => held.text(),
            Claim::Short {
                bytes: n,
                opening,
                start,
            } => format!(
                "{} were too little to leave slow start: {} of its time went to opening the connection and {} to \
                 the first growth of the window",
                bytes(*n),
                share(*opening),
                share(*start)
            ),
            Claim::Ended { ns, share: part } => format!(
                "all data had been sent {} before the end ({} of the time)",
                time(*ns),
                share(*part)
            ),
            Claim::Lost {
                packets,
                at_most,
                of,
                needed,
                queue,
                icmp,
                recoveries,
            } => lost(
                (*packets, *at_most, *of),
                *needed,
                *queue,
                icmp,
                *recoveries,
            ),
            Claim::Late {
                packets,
                of,
                most_ns,
                discarded,
                harmless,
                ..
            } => late((*packets, *of), *most_ns, *discarded, *harmless),
            Claim::Mistaken {
                late,
                reductions,
                retransmissions,
                cost,
            } => mistaken(*late, *reductions, *retransmissions, cost.as_ref()),
            Claim::Outside { packets, of } => format!(
                "{} arrived outside the receiver's window, and the receiver discarded {}",
                of_packets(*packets, *of),
                it(*packets)
            ),
            Claim::Misled {
                cause,
                reductions,
                cost,
            } => {
                let what = match cause {
                    Cause::AckReordering => {
                        "acknowledgements overtook each other, and the sender took data for lost that was not"
                    }
                    _ => {
                        "the delay jumped or acknowledgements were lost, and a retransmission timer expired although \
                         everything had arrived"
                    }
                };
                misled(what, *reductions, cost.as_ref())
            }
            Claim::Probes { sent, undecided } => probes(*sent, *undecided),
            Claim::InAdvance { packets } => {
                let they = if *packets == 1 { "it was" } else { "they were" };
                format!(
                    "the sender repeated {} in advance, before an acknowledgement or a timer can have shown that {they} \
                     missing; this costs only the bandwidth of the duplicates",
                    plural(*packets, "packet")
                )
            }
            Claim::Unanswered {
                packets,
                repeated,
                timer,
            } => unanswered(*packets, *repeated, *timer),
            Claim::Opening { syns, waited_ns } => format!(
                "{} {} sent again until the connection was opened, which took {}",
                plural(*syns, "SYN"),
                was(*syns),
                time(*waited_ns)
            ),
            Claim::Unexplained {
                packets,
                recoveries,
                timeouts,
            } => unexplained(*packets, *recoveries, *timeouts),
            Claim::Unclear { packets } => format!(
                "for {} it is undecided whether {} late, lost or neither",
                plural(*packets, "packet"),
                if *packets == 1 { "it was" } else { "they were" }
            ),
            Claim::Repeated {
                total,
                needed,
                undecided,
            } => format!(
                "{}, {} needed and {} undecided",
                plural(*total, "retransmission"),
                count(*needed),
                count(*undecided)
            ),
            Claim::Clean => "no packet of it was lost, late or sent again".to_owned(),
            Claim::NotReordering {
                late,
                of,
                of_all,
                at_most,
            } => not_reordering(*late, *of, *of_all, *at_most),
            Claim::PartReordering {
                late,
                retransmissions,
                recoveries,
                at_least,
            } => part_reordering(*late, *retransmissions, *recoveries, *at_least),
            Claim::OpenReordering { late, undecided } => open_reordering(*late, *undecided),
            Claim::LateElsewhere {
                late,
                flows,
                of_two,
            } => {
                let who = match (*of_two, *flows) {
                    (true, _) => "the other flow had".to_owned(),
                    (_, 1) => "1 other flow had".to_owned(),
                    (_, n) => format!("{} other flows had", count(n)),
                };
                let packets = plural(*late, "late packet");
                format!("reordering is not the problem: {who} {packets}, which started no recovery")
            }
            Claim::Also { counts } => also(counts),
            Claim::Nothing {
                how,
                flows,
                streams,
                refused_syns,
            } => nothing(*how, (*flows, *streams), *refused_syns),
            Claim::Other { text, .. } => text.clone(),
        }
    }
}

/// `A->B moved 31.0 MB at 24.0 Mbit/s (line 50.0 Mbit/s, round trip 42.1 ms)`.
fn moved(flow: &FlowId, n: u64, bps: Option<u64>, path: (Option<u64>, Option<i64>)) -> String {
    let name = name(flow);
    let at = bps.map_or_else(String::new, |bps| format!(" at {}", rate(bps)));
    let path = match path {
        (Some(line), Some(rtt)) => format!(" (line {}, round trip {})", rate(line), time(rtt)),
        (None, Some(rtt)) => format!(" (round trip {})", time(rtt)),
        (Some(line), None) => format!(" (line {})", rate(line)),
        (None, None) => String::new(),
    };
    match n {
        0 => format!("{name} moved no data"),
        n => format!("{name} moved {}{at}{path}", bytes(n)),
    }
}

fn coarse(limit: Limit, closed_ns: i64, lasted_ns: i64) -> String {
    match (closed_ns, limit) {
        (0, Limit::Application) => {
            "for much of the time the application had nothing to send".to_owned()
        }
        (0, _) => "the receiver's window was what limited it".to_owned(),
        (closed, _) => format!(
            "the receiver's window was closed for {} of {}, since its application did not read",
            time(closed),
            time(lasted_ns)
        ),
    }
}

fn it(n: u64) -> &'static str {
    if n == 1 { "it" } else { "them" }
}

/// What ICMP says of lost packets, and of how many.
fn by_icmp(icmp: &Icmp) -> Vec<(u64, String)> {
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
            "caught in a routing loop (ICMP says so: time exceeded)".to_owned(),
        ),
    ];
    all.into_iter().filter(|(n, _)| *n > 0).collect()
}

fn lost(
    (packets, at_most, of): (u64, Option<u64>, u64),
    needed: u64,
    queue: [u64; 3],
    icmp: &Icmp,
    recoveries: (u64, u64),
) -> String {
    let explained = by_icmp(icmp);
    if let [(n, why)] = &explained[..]
        && *n == packets
    {
        let all = of_packets(*n, of);
        return format!("{all} {} {why}{}", was(*n), recovered(recoveries));
    }
    let explained: Vec<String> = explained
        .iter()
        .map(|(n, why)| format!(", {} of them {why}", count(*n)))
        .collect();
    let lost = match packets {
        // The sender repeated data that was needed, but which packet was lost is undecided.
        0 => format!(
            "packets were lost ({} needed)",
            plural(needed, "retransmission")
        ),
        n => match at_most {
            Some(most) if most > n => format!(
                "{} {} lost, and perhaps {} more",
                of_packets(n, of),
                was(n),
                count(most - n)
            ),
            Some(_) => format!("{} {} lost", of_packets(n, of), was(n)),
            None => format!("at least {} {} lost", of_packets(n, of), was(n)),
        },
    };
    let place = place(queue);
    format!(
        "{lost}{place}{}{}",
        explained.concat(),
        recovered(recoveries)
    )
}

/// Where packets were lost, as far as the round trip shows it.
fn place([queue, random, unknown]: [u64; 3]) -> String {
    match (queue, random, unknown) {
        (0, 0, 0) => String::new(),
        (_, 0, 0) => " at a full queue (the round-trip time was near its longest)".to_owned(),
        (0, _, 0) => " although no queue was full (the round-trip time was short)".to_owned(),
        (0, 0, _) => ", whether at a full queue is unknown".to_owned(),
        (q, r, u) => {
            let parts = [
                (q, "while a queue was full"),
                (r, "while no queue was full"),
            ];
            let parts = parts.iter().filter(|(n, _)| *n > 0);
            let parts: Vec<String> = parts
                .map(|(n, when)| format!("{} came {when}", count(*n)))
                .collect();
            format!(
                " (of {}, {})",
                plural(q + r + u, "recovery phase"),
                parts.join(", ")
            )
        }
    }
}

/// How often the sender recovered from losses.
fn recovered((all, timeouts): (u64, u64)) -> String {
    let after = match timeouts {
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

fn late((packets, of): (u64, u64), most_ns: u64, discarded: u64, harmless: bool) -> String {
    let most = match most_ns {
        0 => String::new(),
        ns => format!(", by up to {}", time_u64(ns)),
    };
    let discarded = match discarded {
        0 => String::new(),
        n if n == packets => format!(
            "; the receiver discarded {}, since {} timestamp was too old",
            it(n),
            if n == 1 { "its" } else { "their" }
        ),
        n => format!(
            "; the receiver discarded {} of them, since their timestamps were too old",
            count(n)
        ),
    };
    let harmless = match harmless {
        true => "; the sender reduced its window for none of them",
        false => "",
    };
    format!(
        "{} arrived late{most}{discarded}{harmless}",
        of_packets(packets, of)
    )
}

fn mistaken(
    late: u64,
    (unneeded, reductions): (u64, u64),
    (spurious, retransmissions): (u64, u64),
    cost: Option<&Lost>,
) -> String {
    // How many each recovery mistook is not counted, but it repeats what it takes for lost.
    let taken = match (late, spurious) {
        (1, _) => "it",
        (late, spurious) if spurious >= late => "them",
        _ => "some of them",
    };
    format!(
        "the sender took {taken} for lost in {} of {} of its window; {} of {} {} unnecessary{}",
        count(unneeded),
        plural(reductions, "reduction"),
        count(spurious),
        plural(retransmissions, "retransmission"),
        was(spurious),
        cost_words(cost),
    )
}

/// What the unnecessary reductions of its window cost.
fn cost_words(lost: Option<&Lost>) -> String {
    match lost {
        None => String::new(),
        Some(lost) => format!(", which cost {}", cost_of(lost)),
    }
}

/// An interval of the goodput in words: one that excludes little is said to say little.
pub(crate) fn cost_of(lost: &Lost) -> String {
    /// A share of the goodput for which an interval would say too much.
    const SMALL: f64 = 0.01;
    /// An interval from nothing to more than this says nothing.
    const SAYS_NOTHING: f64 = 0.3;
    match (lost.low, lost.high) {
        (low, high) if low <= 0.0 && high > SAYS_NOTHING => {
            "an unknown part of the goodput".to_owned()
        }
        (low, high) if low > 0.0 && high >= SMALL => format!(
            "about {} % of the goodput ({} % to {} %)",
            percent(lost.share),
            percent(low),
            percent(high)
        ),
        (_, high) => format!("at most {} % of the goodput", percent(high)),
    }
}

/// What one cause made the sender do without need.
fn misled(what: &str, (unneeded, all): (u64, u64), cost: Option<&Lost>) -> String {
    let reductions = match (unneeded, all) {
        (1, 1) => "the only reduction of its window was unnecessary".to_owned(),
        (n, all) => format!(
            "{} of {} of its window {} unnecessary for this reason",
            count(n),
            plural(all, "reduction"),
            was(n)
        ),
    };
    format!("{what}; {reductions}{}", cost_words(cost))
}

fn probes(sent: u64, undecided: bool) -> String {
    let said = match (sent, undecided) {
        (1, false) => "1 tail loss probe repeated a packet that had arrived".to_owned(),
        (1, true) => {
            "1 tail loss probe was sent, and whether its packet had arrived is unknown".to_owned()
        }
        (n, false) => format!(
            "{} tail loss probes repeated packets that had arrived",
            count(n)
        ),
        (n, true) => format!(
            "{} tail loss probes were sent, and whether all of their packets had arrived is unknown",
            count(n)
        ),
    };
    format!("{said}; this costs only the bandwidth of the duplicates")
}

fn unanswered(packets: u64, repeated: u64, timer: bool) -> String {
    let never = match packets {
        0 | 1 => "1 packet was never acknowledged, although the sender repeated it".to_owned(),
        n => format!(
            "{} were never acknowledged, although the sender repeated them",
            plural(n, "packet")
        ),
    };
    format!(
        "{never} {}{}: the path or the receiver was dead for this data",
        times(repeated),
        if timer { " by its timer" } else { "" }
    )
}

fn unexplained(packets: u64, recoveries: u64, timeouts: u64) -> String {
    let after = match timeouts {
        0 => String::new(),
        1 if recoveries == 1 => " after a time-out".to_owned(),
        n => format!(", {} after a time-out", times(n)),
    };
    format!(
        "it sent {} again in {}{after}, and the capture does not show why",
        plural(packets, "packet"),
        plural(recoveries, "recovery phase"),
    )
}

fn not_reordering(late: u64, of: u64, of_all: bool, at_most: Option<f64>) -> String {
    let packets = match (late, of_all) {
        (0, _) => return "reordering is not the problem: no late packet was seen".to_owned(),
        (n, true) => format!("{} of all flows {}", plural(n, "packet"), was(n)),
        (n, false) => format!("{} {}", plural(n, "packet"), was(n)),
    };
    let late = percent(late as f64 / of.max(1) as f64);
    let harm = match at_most {
        None => "started no recovery".to_owned(),
        Some(part) if part < 0.0005 => "took none of its time".to_owned(),
        Some(part) => format!("took at most {} % of its time", percent(part)),
    };
    format!("reordering is not the problem: {packets} late ({late} %) and {harm}")
}

fn part_reordering(
    late: u64,
    (spurious, retransmissions): (u64, u64),
    (caused, recoveries): (u64, u64),
    at_least: Option<f64>,
) -> String {
    let taken = match at_least.filter(|part| *part > 0.0) {
        Some(part) => format!(" and took at least {} of the time", share(part)),
        None => String::new(),
    };
    let mut facts = Vec::new();
    if caused > 0 {
        facts.push(format!(
            "late packets were taken for lost in {} of {}",
            count(caused),
            plural(recoveries, "recovery phase")
        ));
    }
    if spurious > 0 {
        facts.push(format!(
            "{} of {} repeated what had arrived, with {}",
            count(spurious),
            plural(retransmissions, "retransmission"),
            plural(late, "late packet")
        ));
    }
    format!(
        "reordering had a part in it{taken}: {}",
        facts.join(", and ")
    )
}

fn open_reordering(late: u64, undecided: u64) -> String {
    match (late, undecided) {
        (0, _) => "whether packets of this flow arrived out of order is unknown".to_owned(),
        (late, 0) => format!("what {} cost is unknown", plural(late, "late packet")),
        (late, undecided) => format!(
            "whether reordering is a part of the problem is unknown: {} {} late, and {} undecided",
            plural(late, "packet"),
            was(late),
            match undecided {
                1 => "1 event is".to_owned(),
                n => format!("{} events are", count(n)),
            }
        ),
    }
}

fn also(counts: &[Counted]) -> String {
    let said: Vec<String> = counts
        .iter()
        .map(|c| {
            let things = match c.of {
                None => plural(c.n, c.noun),
                Some(all) => format!("{} of {}", count(c.n), plural(all, c.noun)),
            };
            format!("{things} {} {}", was(c.n), c.state)
        })
        .collect();
    said.join(", ")
}

fn nothing(how: Nothing, (flows, streams): (u64, u64), refused: u64) -> String {
    let seen = match (flows, streams) {
        (0, streams) => plural(streams, "numbered stream"),
        (flows, 0) => plural(flows, "TCP flow"),
        (flows, streams) => format!(
            "{} and {}",
            plural(flows, "TCP flow"),
            plural(streams, "numbered stream")
        ),
    };
    let said = match how {
        Nothing::NoProblem => {
            format!("No problem in {seen}: no packet was lost, late or sent again")
        }
        Nothing::NothingLost => format!("No packet was lost, late or sent again in {seen}"),
        Nothing::NoneVisible => {
            format!("No problem is visible in {seen}: no packet was lost, late or sent again")
        }
        Nothing::NoneKnown => format!(
            "No problem is visible in {seen}: no packet is known to have been lost or late, and none was sent again"
        ),
    };
    match refused {
        0 => said,
        n => format!(
            "{said} (but data in {}, which was refused there: TCP Fast Open)",
            plural(n, "SYN")
        ),
    }
}
