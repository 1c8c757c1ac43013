//! What to do about a policer.

use inorder_detect::FlowReport;
use inorder_report::number::{plural, rate};

use super::{Action, ActionKind};

/// A pacer counts headers, too: a packet on Ethernet for each full payload.
const WITH_HEADERS: f64 = 1514.0 / 1448.0;

/// Send no faster than what it let pass, whatever the congestion control. Where its bucket is small it lets more pass of what
/// comes evenly than of what came in bursts.
pub(super) fn shape(flows: &[&FlowReport]) -> Option<Action> {
    let policed = flows.iter().filter(|f| f.limits.policed_bps.is_some());
    let flow = policed.max_by_key(|f| f.originals.bytes)?;
    let bps = flow.limits.policed_bps?;
    Some(Action {
        commands: vec![format!(
            "tc qdisc replace dev IF root fq maxrate {}kbit",
            (bps as f64 * WITH_HEADERS / 1e3) as u64
        )],
        evidence: format!(
            "{} were lost whenever {} had passed, and what passed next to them had waited in no queue",
            plural(flow.originals.lost, "packet"),
            rate(bps)
        ),
        holds: "Linux since 3.12, on the sender. Losses end, and the rate stays what the policer lets pass: raise it until \
                losses come. Another congestion control does nothing here. `fq` paces each connection by itself: several together \
                need `tbf`.",
        warning: "The command paces every connection over this interface; SO_MAX_PACING_RATE paces one socket.",
        ..Action::new(
            ActionKind::Shape,
            format!(
                "A policer drops what exceeds its rate, {} or more: ask whoever runs it for the rate, and send below it.",
                rate(bps)
            ),
        )
    })
}
