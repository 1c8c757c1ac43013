//! Actions for numbered packets other than TCP: RTP, IPsec, WireGuard.

use inorder_detect::StreamReport;
use inorder_report::number::{count, plural, time_u64};
use inorder_wire::Service;

use super::{Action, ActionKind};

/// Fewest late packets of a stream that tell how late they usually are.
const MIN_LATE: u64 = 20;
/// What a buffer is to cover: later packets are as good as lost.
const COVERED: f64 = 0.99;
/// Replay windows are multiples of this many packets.
const WINDOW_STEP: u64 = 64;

pub(super) fn actions(streams: &[StreamReport]) -> Vec<Action> {
    let late = |s: &&StreamReport| s.order.reordered >= MIN_LATE;
    let mut all = Vec::new();
    for stream in streams.iter().filter(late) {
        match stream.key.service {
            Service::Rtp => all.extend(jitter_buffer(stream)),
            service if !service.replay_windows().is_empty() => {
                all.extend(replay_window(stream));
            }
            _ => {}
        }
    }
    all
}

fn evidence(stream: &StreamReport) -> String {
    let order = &stream.order;
    let packets = plural(order.received, "packet");
    format!(
        "{} of {packets} that arrived were late",
        count(order.reordered)
    )
}

fn jitter_buffer(stream: &StreamReport) -> Option<Action> {
    let late_ns = stream.order.late_ns.quantile(COVERED)?;
    let ms = late_ns.div_ceil(1_000_000);
    Some(Action {
        evidence: format!(
            "{}, 99 % of them by {} at most",
            evidence(stream),
            time_u64(late_ns)
        ),
        sure: true,
        ..Action::new(
            ActionKind::JitterBuffer,
            format!(
                "In the player of {}, use a jitter buffer of {ms} ms or more.",
                stream.key.src
            ),
        )
    })
}

fn replay_window(stream: &StreamReport) -> Option<Action> {
    let windows = &stream.replay.as_ref()?.windows;
    let needed = windows
        .iter()
        .find(|w| w.accepts.is_some_and(|share| share >= COVERED))?;
    let packets = needed.window.next_multiple_of(WINDOW_STEP);
    let commands = match stream.key.service {
        Service::WireGuard => Vec::new(), // Its window of 8,192 packets is fixed.
        Service::Esp => vec![format!("ip xfrm state update ... replay-window {packets}")],
        Service::MacSec => vec![format!(
            "ip link set ... type macsec replay on window {packets}"
        )],
        _ => Vec::new(),
    };
    Some(Action {
        commands,
        evidence: format!(
            "{}, 99 % of them fewer than {} behind the highest number",
            evidence(stream),
            count(needed.window)
        ),
        sure: true,
        ..Action::new(
            ActionKind::ReplayWindow,
            format!(
                "At {}, accept packets that are {packets} behind (anti-replay window).",
                stream.key.dst
            ),
        )
    })
}
