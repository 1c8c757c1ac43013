//! What is wrong with one numbered stream, as a sentence without its full stop.

use inorder_detect::StreamReport;
use inorder_detect::columns::stream_name;
use inorder_report::number::{count, plural, time, time_u64};

use super::{of_packets, was};

/// The stream and its troubles.
pub fn wrong(stream: &StreamReport) -> String {
    format!("{}: {}", carried(stream), troubles(stream))
}

/// Its troubles, the gravest first.
pub fn troubles(stream: &StreamReport) -> String {
    let order = &stream.order;
    let late = (order.reordered, {
        let most = order.late_ns.max().filter(|ns| *ns > 0);
        let by = most.map_or(String::new(), |ns| format!(", by up to {}", time_u64(ns)));
        let share = of_packets(order.reordered, order.received.max(order.reordered));
        format!("{share} arrived late{by}")
    });
    let missing = (
        stream.missing,
        format!(
            "{} never arrived",
            of_packets(stream.missing, order.received + stream.missing)
        ),
    );
    let copies = (
        stream.duplicates,
        format!("{} more than once", count(stream.duplicates)),
    );
    let unclear = (
        order.ambiguous,
        format!(
            "for {} it cannot be told whether {} late",
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
    let said: Vec<String> = all.filter(|(n, _)| *n > 0).map(|(_, text)| text).collect();
    said.join(", ")
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
pub fn sum(received: u64, late: u64, missing: u64) -> String {
    let mut said = Vec::new();
    if late > 0 {
        said.push(format!(
            "{} of {} {} late",
            count(late),
            plural(received, "packet"),
            was(late)
        ));
    }
    if missing > 0 {
        said.push(format!("{} {} missing", count(missing), was(missing)));
    }
    said.join(" and ")
}
