//! The result in a few sentences for people: what was taken for lost and was not, what that cost, what would have avoided it.

use inorder_metrics::Reordering;
use inorder_report::escape::printable;
use inorder_report::number::{count, percent, plural, share, time_u64};

use crate::result::{Declared, Document, Report, Sufficient, Threshold};

impl Document {
    /// What the logs say, the worst end first; `None` if they have no packet of a connection.
    pub fn headline(&self) -> Option<String> {
        let worst = self.connections.iter().max_by_key(|end| Trouble::of(end))?;
        let mut said = Vec::new();
        if worst.declared.lost > 0 {
            said.push(lost(worst));
            said.extend(reductions(worst));
            said.extend(thresholds(worst));
        }
        said.extend(resent(&self.connections));
        said.extend(late(&self.connections));
        said.extend(others(&self.connections, worst));
        if said.is_empty() {
            said.push(open(&self.connections).unwrap_or_else(|| calm(&self.connections)));
        }
        Some(said.join(" "))
    }
}

/// How bad it is for an end: what was taken for lost without need counts first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Trouble {
    delivered: u64,
    lost: u64,
}

impl Trouble {
    fn of(end: &Report) -> Trouble {
        Trouble {
            delivered: end.declared.delivered.unwrap_or(0),
            lost: end.declared.lost,
        }
    }
}

/// Which end of which connection: `server of 8b8c8ba3cae71a66`, or what the log calls it if that begins with the end.
fn name(end: &Report) -> String {
    let vantage = match end.vantage.to_lowercase() {
        empty if empty.is_empty() => "one end".to_owned(),
        known => printable(&known),
    };
    let name = printable(&end.name);
    match name.to_lowercase().starts_with(&vantage) {
        true => name,
        false => format!("{vantage} of {name}"),
    }
}

/// Packets that were declared lost, and what became of them.
fn lost(end: &Report) -> String {
    let Declared {
        lost,
        dropped_there,
        ..
    } = end.declared;
    let sent = end.traffic.sent.max(lost);
    let dropped = match dropped_there {
        Some(n @ 1..) => format!(
            "; {} arrived so late that the other end dropped {} as {}",
            count(n),
            if n == 1 { "it" } else { "them" },
            if n == 1 { "a duplicate" } else { "duplicates" }
        ),
        _ => String::new(),
    };
    format!(
        "The {} declared {} of {} lost ({}){}{dropped}.",
        name(end),
        count(lost),
        plural(sent, "packet"),
        share(lost, sent),
        fate(&end.declared)
    )
}

/// What became of the packets that were declared lost.
fn fate(declared: &Declared) -> String {
    let Declared {
        lost,
        dropped_there,
        joined_by,
        ..
    } = *declared;
    let late = |one: bool| match one {
        true => "it or its acknowledgement was late, not lost",
        false => "they or their acknowledgements were late, not lost",
    };
    let (them, any) = if lost == 1 {
        ("it was", "it")
    } else {
        ("none of them was", "any of them")
    };
    match declared.delivered {
        None => {
            format!("; whether {any} was delivered is only known with the log of the other end")
        }
        Some(0) if dropped_there.unwrap_or(0) > 0 => String::new(),
        // An end that forgets old ranges never acknowledges what comes very late.
        Some(0) if joined_by.is_none() => format!(
            ", and no acknowledgement came for {any}: as far as this log shows, no late packet was taken for lost"
        ),
        Some(0) => {
            let not = if lost == 1 { " not" } else { "" };
            format!(", and {them}{not} delivered: no late packet was taken for lost")
        }
        Some(1) if lost == 1 => format!(", although it was delivered: {}", late(true)),
        Some(all) if all == lost => {
            format!(", although all of them were delivered: {}", late(false))
        }
        Some(some) => format!(
            ", although {}{} of them {} delivered: {}",
            at_least(declared),
            count(some),
            was(some),
            if some == 1 {
                late(true)
            } else {
                "these or their acknowledgements were late, not lost"
            }
        ),
    }
}

/// One end's acknowledgements do not show all that arrived: an end that forgets old ranges never acknowledges what comes very
/// late.
fn at_least(declared: &Declared) -> &'static str {
    match declared.joined_by {
        None => "at least ",
        Some(_) => "",
    }
}

/// What the sender did for them, and what that cost.
fn reductions(end: &Report) -> Option<String> {
    let (all, needless) = (end.reduced.reductions, end.reduced.needless?);
    if all == 0 {
        return None;
    }
    let cost = end.cost_ratio().filter(|cost| needless > 0 && *cost > 0.0);
    let cost = cost.map_or_else(String::new, |cost| {
        format!(
            ", which cost an estimated {} % of what could have been sent",
            percent(cost)
        )
    });
    let known = match end.declared.joined_by {
        Some(_) => "delivered",
        None => "acknowledged",
    };
    let without = match needless {
        0 if all == 1 => format!(", for a packet that was not {known}"),
        0 => format!(", each time for a packet that was not {known}"),
        n if n == all => format!(" without need{cost}"),
        n => format!(
            ", {}{} without need{cost}",
            at_least(&end.declared),
            times(n)
        ),
    };
    Some(format!(
        "It reduced its congestion window {}{without}.",
        times(all)
    ))
}

/// kPacketThreshold and kTimeThreshold as RFC 9002 sections 6.1.1 and 6.1.2 recommend them.
const RECOMMENDED_PACKETS: u64 = 3;
const RECOMMENDED_RTTS: f64 = 9.0 / 8.0;
/// The same in words.
const RECOMMENDED: &str = "RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip";

/// The thresholds that would have declared none of the delivered ones lost: both have to suffice. Nobody is told to go below what
/// is recommended.
fn thresholds(end: &Report) -> Option<String> {
    let Sufficient { known, all, .. } = &end.sufficient;
    let above = all
        .packets
        .filter(|needed| needed.packets > RECOMMENDED_PACKETS);
    let packets = above.map(|Threshold { packets, at_most }| {
        let fewer = if at_most { " or less" } else { "" };
        format!("{}{fewer}", count(packets))
    });
    let Some(rtts) = all.rtts.filter(|_| *known > 0) else {
        all.packets?;
        return Some(without_times(packets));
    };
    let none_would = match end.declared.delivered.unwrap_or(0) {
        delivered if delivered > *known && *known == 1 => {
            "the one whose acknowledgement the log shows would not".to_owned()
        }
        delivered if delivered > *known => format!(
            "none of the {} whose acknowledgement the log shows would",
            count(*known)
        ),
        1 => "this one would not".to_owned(),
        delivered if delivered < end.declared.lost => {
            format!("none of the {} delivered ones would", count(delivered))
        }
        _ => "none of these would".to_owned(),
    };
    // Rounded up: a little less would not have sufficed.
    let rounded = (rtts * 100.0).ceil() / 100.0;
    let rtts =
        (rtts > RECOMMENDED_RTTS).then(|| format!("a time threshold of {rounded:.2} round trips"));
    let packets = packets.map(|packets| format!("a packet threshold of {packets}"));
    let with = match (packets, rtts) {
        (Some(packets), Some(rtts)) => format!("{packets} and {rtts}"),
        (Some(packets), None) => format!("{packets} and the recommended time threshold"),
        (None, Some(rtts)) => format!("{rtts} and the recommended packet threshold"),
        (None, None) => "the recommended thresholds".to_owned(),
    };
    Some(format!(
        "With {with} {none_would} have been declared lost ({RECOMMENDED})."
    ))
}

/// What is said where the times of acknowledgements are not known.
fn without_times(packets: Option<String>) -> String {
    match packets {
        Some(packets) => format!(
            "By packet numbers alone, a threshold of {packets} would have declared none of the delivered ones lost; which time threshold is \
             needed as well, the logs do not show ({RECOMMENDED})."
        ),
        None => format!(
            "Not the packet threshold declared the delivered ones lost but the time threshold; which one is needed, the logs do not show \
             ({RECOMMENDED})."
        ),
    }
}

/// Data that was sent again without a loss, by the end that did so most.
fn resent(ends: &[Report]) -> Option<String> {
    let vain = |end: &Report| end.resent.and_then(|resent| resent.spurious_packets);
    let worst = ends.iter().max_by_key(|end| vain(end).unwrap_or(0))?;
    let (all, vain) = (worst.resent?.packets, vain(worst)?);
    (vain > 0).then(|| {
        let of = match vain == all {
            true => count(vain),
            false => format!("{} of {}", count(vain), count(all)),
        };
        format!(
            "Without a loss, the {} sent data of {of} {} again that had been delivered.",
            name(worst),
            if all == 1 { "packet" } else { "packets" }
        )
    })
}

/// The order of arrival at the end where it was worst.
fn late(ends: &[Report]) -> Option<String> {
    let key = |end: &&Report| (end.arrivals.order.reordered, end.arrivals.missing_at_most);
    let worst = ends.iter().max_by_key(key)?;
    let order: &Reordering = &worst.arrivals.order;
    let late = match order.reordered {
        0 => None,
        n => Some(format!(
            "{} of {} ({}) arrived late, by up to {} and overtaken by up to {}",
            count(n),
            plural(order.received, "packet"),
            share(n, order.received),
            time_u64(order.late_ns.max().unwrap_or(0)),
            plural(order.extents.max().unwrap_or(0), "packet")
        )),
    };
    // Numbers that may have been skipped are only told beside other trouble if packets came late, too.
    let is_known = worst.arrivals.missing.is_some();
    let missing = missing(worst).filter(|_| is_known || late.is_some());
    let both: Vec<String> = late.into_iter().chain(missing).collect();
    (!both.is_empty()).then(|| format!("At the {}, {}.", name(worst), both.join(", and ")))
}

/// The end that misses most numbers of which nobody knows whether they were sent.
fn open(ends: &[Report]) -> Option<String> {
    let worst = ends.iter().max_by_key(|end| end.arrivals.missing_at_most)?;
    Some(format!("At the {}, {}.", name(worst), missing(worst)?))
}

/// What never arrived, or may never have arrived: a receiver does not know which numbers were used.
fn missing(end: &Report) -> Option<String> {
    let of_them = |n: u64| if n == 1 { "it was" } else { "they were" };
    match (end.arrivals.missing, end.arrivals.missing_at_most) {
        (Some(0), _) | (None, 0) => None,
        (Some(n), _) => Some(format!("{} never arrived", plural(n, "packet"))),
        (None, n) => Some(format!(
            "{} {} missing: {} lost, or the sender skipped {} on purpose (RFC 9000 section 21.4), which only its log tells",
            plural(n, "number"),
            if n == 1 { "is" } else { "are" },
            of_them(n),
            if n == 1 { "it" } else { "them" },
        )),
    }
}

/// The losses of all other ends in sums.
fn others(ends: &[Report], worst: &Report) -> Option<String> {
    let others = ends.iter().filter(|end| !std::ptr::eq(*end, worst));
    let troubled: Vec<&Report> = others.filter(|end| end.declared.lost > 0).collect();
    let lost: u64 = troubled.iter().map(|end| end.declared.lost).sum();
    let delivered = troubled.iter().filter_map(|end| end.declared.delivered);
    let delivered: u64 = delivered.sum();
    (lost > 0).then(|| {
        let of_them = match delivered {
            0 => String::new(),
            n if n == lost => format!(
                ", {} delivered",
                if n == 1 {
                    "which was"
                } else {
                    "all of which were"
                }
            ),
            n => format!(", {} of which {} delivered", count(n), was(n)),
        };
        format!(
            "Besides, {} declared {} lost{of_them}.",
            plural(troubled.len() as u64, "other end"),
            plural(lost, "packet")
        )
    })
}

/// Nothing happened that anybody need look at.
fn calm(ends: &[Report]) -> String {
    let sent: u64 = ends.iter().map(|end| end.traffic.sent).sum();
    let received: u64 = ends.iter().map(|end| end.arrivals.order.received).sum();
    let ends = plural(ends.len() as u64, "end");
    if (sent, received) == (0, 0) {
        return format!(
            "Nothing is known of {ends}: the logs have no packet that was sent, and none received that carries data."
        );
    }
    let arrived = match received {
        0 => String::new(),
        n => format!(", and none of {} received was late or missing", count(n)),
    };
    format!(
        "No problem at {ends}: none of {} sent was declared lost{arrived}.",
        plural(sent, "packet")
    )
}

/// `once`, `twice`, `3 times`.
fn times(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{} times", count(n)),
    }
}

fn was(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}
