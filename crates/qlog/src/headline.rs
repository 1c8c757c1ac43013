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
            said.extend(thresholds(&worst.sufficient));
        }
        said.extend(resent(&self.connections));
        said.extend(late(&self.connections));
        said.extend(others(&self.connections, worst));
        if said.is_empty() {
            said.push(calm(&self.connections));
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
        delivered,
        dropped_there,
        joined_by,
        ..
    } = end.declared;
    let sent = end.traffic.sent.max(lost);
    let fate = match delivered {
        None => {
            "; whether any of them was delivered is only known with the log of the other end".to_owned()
        }
        Some(0) if dropped_there.unwrap_or(0) > 0 => String::new(),
        // An end that forgets old ranges never acknowledges what comes very late.
        Some(0) if joined_by.is_none() => {
            ", and no acknowledgement came for any of them: as far as this log shows, no late packet was taken for lost"
                .to_owned()
        }
        Some(0) => ", and none of them was delivered: no late packet was taken for lost".to_owned(),
        Some(all) if all == lost => {
            ", although all of them were delivered: they or their acknowledgements were late, not lost"
                .to_owned()
        }
        Some(some) => format!(
            ", although {} of them {} delivered: these or their acknowledgements were late, not lost",
            count(some),
            was(some)
        ),
    };
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
        "The {} declared {} of {} lost ({}){fate}{dropped}.",
        name(end),
        count(lost),
        plural(sent, "packet"),
        share(lost, sent)
    )
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
            ", which cost {} % of what could have been sent",
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
        n => format!(", {} without need{cost}", times(n)),
    };
    Some(format!(
        "It reduced its congestion window {}{without}.",
        times(all)
    ))
}

/// The thresholds that would have declared none of the delivered ones lost: both have to suffice.
fn thresholds(sufficient: &Sufficient) -> Option<String> {
    let packets = sufficient
        .all
        .packets
        .map(|Threshold { packets, at_most }| {
            let fewer = if at_most { " or less" } else { "" };
            format!("a packet threshold of {}{fewer}", count(packets))
        });
    // Rounded up: a little less would not have sufficed.
    let rtts = sufficient.all.rtts.map(|rtts| {
        let rounded = (rtts * 100.0).ceil() / 100.0;
        format!("a time threshold of {rounded:.2} round trips")
    });
    let both: Vec<String> = packets.into_iter().chain(rtts).collect();
    (!both.is_empty()).then(|| {
        format!(
            "With {} none of these would have been declared lost (RFC 9002 section 6.1 recommends 3 packets and 9/8 of a round trip).",
            both.join(" and ")
        )
    })
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
    let key = |end: &&Report| {
        (
            end.arrivals.order.reordered,
            end.arrivals.missing.unwrap_or(0),
        )
    };
    let worst = ends.iter().max_by_key(key)?;
    let order: &Reordering = &worst.arrivals.order;
    let missing = worst.arrivals.missing.unwrap_or(0);
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
    let missing = (missing > 0).then(|| format!("{} never arrived", plural(missing, "packet")));
    let both: Vec<String> = late.into_iter().chain(missing).collect();
    (!both.is_empty()).then(|| format!("At the {}, {}.", name(worst), both.join(", and ")))
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
    let open = ends.iter().any(|end| end.arrivals.missing.is_none());
    let missing = if open { "" } else { " or missing" };
    format!(
        "No problem at {}: none of {} sent was declared lost, and none of {} received was late{missing}.",
        plural(ends.len() as u64, "end"),
        plural(sent, "packet"),
        count(received)
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
