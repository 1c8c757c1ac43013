//! The words for a claim: one clause each.

mod lateness;
mod losses;

use crate::flows::name;
use inorder_detect::{Cause, Host, Limit};
use inorder_report::number::{bytes, count, plural, rate, time};

use self::lateness::{
    Repeated, it, late, misled, mistaken, not_reordering, open_reordering, part_reordering,
    perhaps_late,
};
use self::losses::{lost, probes, unanswered, unexplained};
use super::super::held::between;
use super::super::{of_arrived, share, times, was};
use super::{Claim, Counted, Nothing};

pub(crate) use self::lateness::cost_of;

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
                handshake_ns,
                largest,
                in_vain,
            } => {
                let path = path(*line_bps, *rtt_ns, *handshake_ns);
                let flow = match largest {
                    true => format!("the largest, {},", name(flow)),
                    false => name(flow),
                };
                match in_vain {
                    true => sent(&flow, *n, &path),
                    false => moved(&flow, *n, *bps, &path),
                }
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
                start_at_most,
            } => format!(
                "{} were too little to leave slow start: {} of its time went to opening the connection and {} to \
                 the first growth of the window",
                bytes(*n),
                share(*opening),
                between(*start, *start_at_most)
            ),
            Claim::Ended {
                ns,
                share: part,
                at_sender,
            } => match at_sender {
                true => format!(
                    "all data had been sent {} before the end ({} of the time)",
                    time(*ns),
                    share(*part)
                ),
                false => format!(
                    "no data came in the last {} ({} of the time)",
                    time(*ns),
                    share(*part)
                ),
            },
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
                at_most,
                of,
                most_ns,
                discarded,
                harmless,
                ..
            } => late((*packets, *at_most, *of), *most_ns, *discarded, *harmless),
            Claim::Mistaken {
                late,
                reductions,
                retransmissions,
                cost,
            } => mistaken(*late, *reductions, *retransmissions, cost.as_ref()),
            Claim::Outside { packets, of } => format!(
                "{} lay outside the receiver's window, and the receiver discarded {}",
                of_arrived(*packets, *of),
                it(*packets)
            ),
            Claim::Reneged { packets, of } => format!(
                "the receiver reported {} and then discarded {} (reneging, RFC 2018)",
                of_arrived(*packets, *of),
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
                beside,
            } => unanswered(*packets, *repeated, (*timer, *beside)),
            Claim::Opening { syns, waited_ns } => format!(
                "{} {} sent again before the connection was opened, over {}",
                plural(*syns, "SYN"),
                was(*syns),
                time(*waited_ns)
            ),
            Claim::Reset {
                by,
                packets,
                closed_before,
                ttls,
            } => reset(*by, *packets, *closed_before, *ttls),
            Claim::Silence {
                keep_alives,
                ns,
                beside,
            } => format!(
                "nothing answered the last {}, which were sent over {}: {}",
                plural(*keep_alives, "keep-alive"),
                time(*ns),
                match beside {
                    true => "the other host, beside which the capture was made, did not answer",
                    false => "the other host or the path to it was gone",
                }
            ),
            Claim::Closing {
                fins,
                waited_ns,
                acknowledged,
            } => format!(
                "the end of the data (FIN) was sent again {}, over {}{}",
                times(*fins),
                time(*waited_ns),
                match acknowledged {
                    true => "",
                    false => ", and never acknowledged",
                }
            ),
            Claim::Unexplained {
                packets,
                recoveries,
                timeouts,
                in_vain,
            } => unexplained(*packets, *recoveries, *timeouts, *in_vain),
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
            Claim::Clean => "no data packet of it was lost, late or sent again".to_owned(),
            Claim::NotReordering {
                late,
                of,
                of_all,
                undecided,
                upstream,
                at_most,
            } => match (*late, *undecided) {
                (0, 1..) => perhaps_late(*undecided, *at_most),
                _ => not_reordering((*late, *of), *of_all, *upstream, *at_most),
            },
            Claim::PartReordering {
                late,
                retransmissions,
                discarded,
                recoveries,
                at_least,
            } => {
                let repeated = Repeated {
                    spurious: retransmissions.0,
                    discarded: *discarded,
                    of: retransmissions.1,
                };
                part_reordering(*late, &repeated, *recoveries, *at_least)
            }
            Claim::OpenReordering {
                late,
                undecided,
                upstream,
            } => open_reordering(*late, *undecided, *upstream),
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
                behind_resets,
            } => nothing(*how, (*flows, *streams), (*refused_syns, *behind_resets)),
            Claim::Other { text, .. } => text.clone(),
        }
    }
}

/// `A->B moved 31.0 MB at 24.0 Mbit/s (line 50.0 Mbit/s, round trip 42.1 ms)`.
fn moved(flow: &str, n: u64, bps: Option<u64>, path: &str) -> String {
    // Of less than a bit in a second there is no speed to speak of.
    let bps = bps.filter(|&bps| bps > 0);
    let at = bps.map_or_else(String::new, |bps| format!(" at {}", rate(bps)));
    match n {
        0 => format!("{flow} moved no data"),
        n => format!("{flow} moved {}{at}{path}", bytes(n)),
    }
}

/// `A->B sent 1.50 kB, not all of which had been acknowledged at the end (round trip 42.1 ms)`: what never arrived has no speed.
fn sent(flow: &str, n: u64, path: &str) -> String {
    format!(
        "{flow} sent {}, not all of which had been acknowledged at the end{path}",
        bytes(n)
    )
}

fn path(line_bps: Option<u64>, rtt_ns: Option<i64>, handshake_ns: Option<i64>) -> String {
    let line = line_bps.map(|line| format!("line {}", rate(line)));
    let rtt = rtt_ns.map(|rtt| format!("round trip {}", time(rtt)));
    let opened = rtt_ns.and(handshake_ns);
    let opened = opened.map(|ns| format!("but {} until the SYN was answered", time(ns)));
    let said: Vec<String> = line.into_iter().chain(rtt).chain(opened).collect();
    match said.is_empty() {
        true => String::new(),
        false => format!(" ({})", said.join(", ")),
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

/// Who reset the connection, and before how many packets were acknowledged.
fn reset(by: Host, packets: u64, closed_before: bool, ttls: Option<(u8, u8)>) -> String {
    let host = match by {
        Host::Sender => "sender",
        _ => "receiver",
    };
    let before = format!(
        "before {} {} acknowledged",
        plural(packets, "packet"),
        was(packets)
    );
    match ttls {
        Some((reset, syn)) => format!(
            "something on the way reset the connection in the name of the {host} {before} (time to live {reset}, that of the {host}'s SYN {syn})"
        ),
        None if closed_before => {
            format!("the {host} closed the connection {before}, and reset it when more data came")
        }
        None => format!("the {host} reset the connection {before}"),
    }
}

fn nothing(how: Nothing, (flows, streams): (u64, u64), (refused, behind): (u64, u64)) -> String {
    let seen = match (flows, streams) {
        (0, streams) => plural(streams, "numbered stream"),
        (flows, 0) => plural(flows, "TCP flow"),
        (flows, streams) => format!(
            "{} and {}",
            plural(flows, "TCP flow"),
            plural(streams, "numbered stream")
        ),
    };
    // SYNs and FINs may have been.
    let packet = if flows > 0 { "data packet" } else { "packet" };
    let said = match how {
        Nothing::NoProblem => {
            format!("No problem in {seen}: no {packet} was lost, late or sent again")
        }
        Nothing::NothingLost => format!("No {packet} was lost, late or sent again in {seen}"),
        Nothing::NoneVisible => {
            format!(
                "No problem is visible in {seen}: no {packet} was seen to be lost, late or sent again"
            )
        }
        Nothing::NoneKnown => format!(
            "No problem is visible in {seen}: no {packet} is known to have been lost or late, and none was sent again"
        ),
    };
    let but = [
        (
            refused,
            format!(
                "data in {}, which was refused there: TCP Fast Open",
                plural(refused, "SYN")
            ),
        ),
        (
            behind,
            format!(
                "{} behind a reset of the receiver",
                plural(behind, "packet")
            ),
        ),
    ];
    let but: Vec<String> = but
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(_, text)| text)
        .collect();
    match but.is_empty() {
        true => said,
        false => format!("{said} (but {})", but.join(", and ")),
    }
}
