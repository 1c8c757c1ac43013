//! A claim as programs read it.

use inorder_report::{Element, columns};

use super::Claim;

columns! {
    /// A claim as programs read it: what does not apply to its kind is absent.
    pub(crate) CLAIM: Claim, |c|
    "kind": Choice(Claim::KINDS), "What is claimed." => c.kind();
    "text": Text, "The clause." => c.text();
    "flow": Text, "Of which flow (moved): what follows up to the next such claim is of the same one."
        => match c { Claim::Moved { flow, .. } => Some(flow.to_string()), _ => None }, optional();
    "limits": Text, "What held the flow (held): names joined by `+` where the capture cannot tell them apart. Recoveries count as the windows that they leave."
        => match c { Claim::Held(held) => Some(held.part.limits.to_string()), _ => None }, optional();
    "share": Share, "Share of the flow's life: that held it (held), that its start took (short), after all was sent (ended), that late packets took at most (not-reordering) or at least (part-reordering)."
        => c.share(), optional();
    "share_at_most": Share, "The same with the time in which the capture leaves open whether it was this limit or another (held, short)."
        => match c {
            Claim::Held(held) => Some(held.part.at_most),
            Claim::Short { opening, start_at_most, .. } => Some(opening + start_at_most),
            _ => None,
        }, optional();
    "sure": Flag, "Clauses like it are seldom false (held); the text of others says that what held the flow is uncertain."
        => match c { Claim::Held(held) => Some(held.sure), _ => None }, optional();
    "evidence": List(Element::Text), "What speaks for the clause or against it, by name (held): `sure` follows from these and from the limits, as docs/evidence/limits.md says."
        => match c { Claim::Held(held) => held.evidence.names(), _ => Vec::new() };
    "reads_slowly": Flag, "The window was full because the receiving application read too slowly, and not because it was small (held, receiver-window)."
        => match c { Claim::Held(held) => held.reads_slowly(), _ => None }, optional();
    "packets": Count, "Packets that this is about: late, lost, outside the window, reneged, repeated, unclear."
        => c.packets().map(|(n, _)| n), optional();
    "packets_at_most": Count, "The same with those of which it is not known whether they were lost (lost), and of late ones; absent if the capture gives no bound."
        => match c {
            Claim::Lost { at_most, .. } | Claim::Late { at_most, .. } => *at_most,
            _ => None,
        }, optional();
    "of": Count, "Of how many: packets sent (lost), packets that arrived (late, outside-window, reneged, not-reordering), retransmissions (mistaken, part-reordering)."
        => c.packets().and_then(|(_, of)| of), optional();
    "recoveries": Count, "Recoveries that this is about." => c.recoveries(), optional();
    "bps": Rate, "Rate of the flow (moved)."
        => match c { Claim::Moved { bps, .. } => *bps, _ => None }, optional();
    "line_bps": Rate, "Rate of the line (moved), of the line or the policer (held)."
        => match c {
            Claim::Moved { line_bps, .. } => *line_bps,
            Claim::Held(held) => held.rate_bps(),
            _ => None,
        }, optional();
    "bytes": Bytes, "Bytes that the flow carried (moved, short), of the window or the buffer (held)."
        => match c {
            Claim::Moved { bytes, .. } | Claim::Short { bytes, .. } => Some(*bytes),
            Claim::Held(held) => held.bytes(),
            _ => None,
        }, optional();
}

impl Claim {
    fn share(&self) -> Option<f64> {
        match self {
            Claim::Held(held) => Some(held.part.share),
            Claim::Short { opening, start, .. } => Some(opening + start),
            Claim::Ended { share, .. } => Some(*share),
            Claim::NotReordering { at_most, .. } => *at_most,
            Claim::PartReordering { at_least, .. } => *at_least,
            _ => None,
        }
    }

    fn packets(&self) -> Option<(u64, Option<u64>)> {
        Some(match self {
            Claim::Lost { packets, of, .. }
            | Claim::Late { packets, of, .. }
            | Claim::Outside { packets, of }
            | Claim::Reneged { packets, of } => (*packets, Some(*of)),
            Claim::NotReordering { late, of, .. } => (*late, Some(*of)),
            Claim::Mistaken {
                retransmissions, ..
            }
            | Claim::PartReordering {
                retransmissions, ..
            } => (retransmissions.0, Some(retransmissions.1)),
            Claim::OpenReordering { late, .. } | Claim::LateElsewhere { late, .. } => (*late, None),
            Claim::Probes { sent, .. } => (*sent, None),
            Claim::InAdvance { packets }
            | Claim::Reset { packets, .. }
            | Claim::Unanswered { packets, .. }
            | Claim::Unexplained { packets, .. }
            | Claim::Unclear { packets } => (*packets, None),
            Claim::Repeated { total, .. } => (*total, None),
            _ => return None,
        })
    }

    fn recoveries(&self) -> Option<u64> {
        Some(match self {
            Claim::Lost { recoveries, .. } => recoveries.0,
            Claim::Late { recoveries, .. } | Claim::Unexplained { recoveries, .. } => *recoveries,
            Claim::Mistaken { reductions, .. } | Claim::Misled { reductions, .. } => reductions.0,
            Claim::PartReordering { recoveries, .. } => recoveries.0,
            Claim::Held(held) => held.reductions,
            _ => return None,
        })
    }
}
