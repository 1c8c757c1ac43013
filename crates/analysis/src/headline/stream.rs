//! What is wrong with one numbered stream, as a sentence without its full stop.

use crate::flows::stream_name;
use inorder_detect::{Gravity, Numbers, StreamDoubt, StreamReport, Trouble};
use inorder_report::number::{count, percent, plural, time, time_u64};
use inorder_wire::Service;

use super::{of_arrived, of_packets, times, was};

/// The stream and its troubles.
pub(super) fn wrong(stream: &StreamReport) -> String {
    format!("{}: {}", carried(stream), troubles(stream))
}

/// Its troubles, the most severe first.
pub(super) fn troubles(stream: &StreamReport) -> String {
    let order = &stream.order;
    let late = (order.reordered, {
        let most = order.late_ns.max().filter(|ns| *ns > 0);
        let by = most.map_or(String::new(), |ns| format!(", by up to {}", time_u64(ns)));
        let share = of_arrived(order.reordered, order.received.max(order.reordered));
        format!("{share} {} late{by}", was(order.reordered))
    });
    let missing = (
        stream.skipped.missing,
        format!(
            "{} never arrived",
            of_packets(
                stream.skipped.missing,
                order.received + stream.skipped.missing
            )
        ),
    );
    let copies = (
        stream.twice.duplicates,
        format!("{} more than once", count(stream.twice.duplicates)),
    );
    let unclear = (
        order.ambiguous,
        format!(
            "for {} it is unknown whether {} late",
            plural(order.ambiguous, "packet"),
            if order.ambiguous == 1 {
                "it was"
            } else {
                "they were"
            }
        ),
    );
    let mut troubles = [late, missing];
    troubles.sort_by_key(|(n, _)| std::cmp::Reverse(*n));
    let all = troubles.into_iter().chain([copies, unclear]);
    let counted = all.filter(|(n, _)| *n > 0).map(|(_, text)| text);
    let said: Vec<String> = match Gravity::of_stream(stream).worst() {
        Some(Trouble::Pauses) => pauses(stream).into_iter().chain(counted).collect(),
        _ => counted.chain(pauses(stream)).collect(),
    };
    let said = unanswered(stream).into_iter().chain(said);
    let said: Vec<String> = said.chain(possible_loss(stream)).collect();
    said.join(", ")
}

/// What limits the conclusions from this stream, and what its numbers are, as clauses.
pub(super) fn remarks(stream: &StreamReport) -> Vec<String> {
    let twice = stream.twice.captured_twice;
    let twice = (twice > 0).then(|| {
        let frames = plural(twice, "frame");
        format!("{frames} {} captured twice and counted once", was(twice))
    });
    let anew = stream.renumbered;
    let anew = (anew > 0).then(|| match stream.key.service {
        Service::Rtp => format!(
            "the sender began new numbers {} with the same SSRC",
            times(anew)
        ),
        _ => format!("the numbers started over {}", times(anew)),
    });
    let all = [
        numbers(stream).map(|what| format!("{what}; order, loss and duplicates are unknown")),
        pauses(stream),
        possible_loss(stream),
        others(stream),
        not_captured(stream),
        route_traced(stream),
        twice,
        anew,
    ];
    all.into_iter().flatten().collect()
}

/// Echo requests to which no reply was seen. A filter may have left the replies out, or there were too many streams to follow.
fn unanswered(stream: &StreamReport) -> Option<String> {
    let requests = stream.unanswered;
    let text = |n| format!("no reply to any of the {} echo requests was seen", count(n));
    (requests > 0).then(|| text(requests))
}

/// Silences for which the numbers ran on.
fn pauses(stream: &StreamReport) -> Option<String> {
    let of = &stream.skipped.pauses;
    let numbers = plural(of.numbers, "number");
    let why = "either the sender paused or the line was dead";
    match of.pauses {
        0 => None,
        1 => Some(format!(
            "one gap of {numbers} that lasts {} ({why})",
            time_u64(of.max_ns)
        )),
        n => Some(format!(
            "{} of {numbers}, {} in all and at most {} ({why} each time)",
            plural(n, "gap"),
            time_u64(of.total_ns),
            time_u64(of.max_ns)
        )),
    }
}

/// Numbers that may have been lost, or not.
fn possible_loss(stream: &StreamReport) -> Option<String> {
    (stream.skipped.doubt == Some(StreamDoubt::LostOrElsewhere)).then(|| {
        format!(
            "{} not in the capture (lost, carried on another way, or not captured)",
            absent(stream)
        )
    })
}

/// Numbers that other traffic has.
fn others(stream: &StreamReport) -> Option<String> {
    (stream.skipped.doubt == Some(StreamDoubt::OtherTraffic)).then(|| {
        format!(
            "{} not in the capture and say nothing: other traffic shares the tunnel, since the TCP in it does not lack them",
            absent(stream)
        )
    })
}

/// Numbers that the receiver has, and the capture has not.
fn not_captured(stream: &StreamReport) -> Option<String> {
    (stream.skipped.doubt == Some(StreamDoubt::NotCaptured)).then(|| {
        format!(
            "{} not in the capture although the receiver acknowledged as many",
            absent(stream)
        )
    })
}

/// Numbers of replies to requests that were not to arrive.
fn route_traced(stream: &StreamReport) -> Option<String> {
    (stream.skipped.doubt == Some(StreamDoubt::RouteTraced)).then(|| {
        format!(
            "{} not in the capture and say nothing: the requests traced a route, and most were not to arrive",
            absent(stream)
        )
    })
}

/// `3,468 of 3,481 numbers (99.6 %) are`.
fn absent(stream: &StreamReport) -> String {
    let numbers = stream.skipped.missing.saturating_add(stream.skipped.absent);
    let all = stream.order.received.saturating_add(numbers);
    let share = stream.skipped.absent as f64 / all.max(1) as f64;
    format!(
        "{} of {} ({} %) {}",
        count(stream.skipped.absent),
        plural(all, "number"),
        percent(share),
        if stream.skipped.absent == 1 {
            "is"
        } else {
            "are"
        }
    )
}

/// What the numbers of a stream are if they do not count its packets.
pub(super) fn numbers(stream: &StreamReport) -> Option<String> {
    let value = stream.numbering.value.unwrap_or(0);
    Some(match stream.numbering.numbers {
        Numbers::Count => return None,
        Numbers::Constant => format!("the number is {value} in every packet"),
        Numbers::SwappedBytes => "the bytes of the numbers are in the wrong order".to_owned(),
        Numbers::Steps => format!(
            "the numbers go in steps of {value} (the sender counts so, or the other packets take another way)"
        ),
        Numbers::Random => "the numbers have no order".to_owned(),
        Numbers::Again => format!(
            "the sender uses {} again and again",
            plural(value, "number")
        ),
    })
}

/// `rtp A->B id 0x1 carried 870 packets in 18.0 s`.
fn carried(stream: &StreamReport) -> String {
    let name = stream_name(stream);
    let lasted = stream.last_ns.saturating_sub(stream.first_ns);
    format!(
        "{name} carried {} in {}",
        plural(stream.order.received, "packet"),
        time(lasted)
    )
}

/// `12 packets of 3 numbered streams were late, 4 missing`.
pub(super) fn sum(received: u64, late: u64, missing: u64, pauses: u64) -> String {
    let mut said = Vec::new();
    if late > 0 {
        said.push(format!(
            "{} of {} that arrived {} late",
            count(late),
            plural(received, "packet"),
            was(late)
        ));
    }
    if missing > 0 {
        said.push(format!("{} {} missing", count(missing), was(missing)));
    }
    if pauses > 0 {
        said.push(format!(
            "the numbers ran on in {}",
            plural(pauses, "silence")
        ));
    }
    said.join(" and ")
}
