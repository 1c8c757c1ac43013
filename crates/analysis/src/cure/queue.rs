//! What to do about a full queue.

use inorder_detect::{Cause, FlowReport};
use inorder_limits::Limit;
use inorder_report::number::{count, time};

use super::path::recoveries;
use super::{Action, ActionKind};
use crate::shares::{line_bps, round_trip_ns};

/// A standing queue shorter than this is no reason to act, nanoseconds.
const MIN_QUEUE_NS: i64 = 15_000_000;
/// What `fq_codel` has unless told otherwise, nanoseconds: the delay it keeps, and for how long that may be exceeded.
const TARGET_NS: i64 = 5_000_000;
const INTERVAL_NS: i64 = 100_000_000;
/// A single flow needs a queue of this part of a round trip to keep the line busy when its window is reduced: with the usual
/// target three of nine drawn transfers of 88 to 128 ms were slower by 9 to 16 %, with a quarter of a round trip one by 6 %.
const TARGET_OF_RTT: i64 = 2;
/// Minimum target, as the time of packets on the line (RFC 8290 section 5.2.1 says 1.5 of them), and the bits of one.
const TARGET_PACKETS: f64 = 2.0;
/// A queue of fewer packets is short, however slow the line: managed, it leaves a window too little for three duplicate
/// acknowledgements, and losses end in time-outs. Of 29 drawn transfers over queues of 8 packets 8 lost 5 to 54 % of their goodput.
const MIN_PACKETS: f64 = 16.0;
const PACKET_BITS: f64 = 1514.0 * 8.0;
/// The interval, in round trips.
const INTERVAL_RTTS: i64 = 2;
/// Minimum length of a queue that is worth a change, in targets.
const WORTH: i64 = 2;

/// What a full packet takes on the line, nanoseconds.
fn packet_ns(flow: &FlowReport) -> f64 {
    line_bps(flow).map_or(0.0, |bps| PACKET_BITS / bps.max(1) as f64 * 1e9)
}

/// Delay and interval of `fq_codel` which do not cost a flow goodput, nanoseconds.
fn settings(flow: &FlowReport) -> (i64, i64) {
    let rtt_ns = round_trip_ns(flow).unwrap_or(0).max(0);
    let target = TARGET_NS
        .max(rtt_ns / TARGET_OF_RTT)
        .max((packet_ns(flow) * TARGET_PACKETS) as i64);
    (
        target,
        INTERVAL_NS.max(rtt_ns.saturating_mul(INTERVAL_RTTS)),
    )
}

/// The line is full and its queue delays packets by more than the line needs to stay busy.
pub(super) fn managed(flows: &[&FlowReport]) -> Option<Action> {
    let busy = |f: &&&FlowReport| f.limits.share_of(Limit::Line.into()) >= super::MIN_SHARE;
    let standing = |f: &&FlowReport| f.limits.queueing_ns.unwrap_or(0);
    let flow = flows.iter().filter(busy).max_by_key(|f| standing(f))?;
    let (target, interval) = settings(flow);
    let delay = standing(flow);
    let short = (packet_ns(flow) * MIN_PACKETS) as i64;
    if delay < MIN_QUEUE_NS.max(short).max(target.saturating_mul(WORTH)) {
        return None;
    }
    let lost = recoveries(flows.iter().copied(), Cause::QueueLoss);
    let drops = match lost {
        0 => String::new(),
        1 => "; 1 recovery for losses came when the round trip was longest".to_owned(),
        n => format!(
            "; {} recoveries for losses came when the round trip was longest",
            count(n)
        ),
    };
    let ms = |ns: i64| ns.saturating_add(999_999) / 1_000_000;
    Some(Action {
        commands: vec![format!(
            "tc qdisc replace dev IF root fq_codel target {}ms interval {}ms",
            ms(target),
            ms(interval)
        )],
        evidence: format!("it delays packets by {}{drops}", time(delay)),
        holds: "On the device in front of the bottleneck, if the queue stands there and not in a modem behind it. It shortens \
                the delay; the line itself is full and gets no faster. A shorter target would cost long round trips goodput.",
        flows: flows.iter().filter(|f| f.originals.lost > 0).count().max(1) as u64,
        ..Action::new(
            ActionKind::Queue,
            "At the bottleneck, manage the queue, which fills up.",
        )
    })
}
