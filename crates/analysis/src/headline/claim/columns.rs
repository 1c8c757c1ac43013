//! A claim as programs read it.

use inorder_report::{Column, Kind};

use super::Claim;

/// A claim as programs read it: what does not apply to its kind is absent.
pub(crate) static CLAIM: &[Column<Claim>] = &[
    Column::new(
        "kind",
        Kind::Choice(Claim::KINDS),
        "What is claimed.",
        |c: &Claim| c.kind().into(),
    ),
    Column::new("text", Kind::Text, "The clause.", |c: &Claim| c.text().into()),
    Column::new(
        "flow",
        Kind::Text,
        "Of which flow (moved): what follows up to the next such claim is of the same one.",
        |c: &Claim| match c {
            Claim::Moved { flow, .. } => Some(flow.to_string()).into(),
            _ => None::<String>.into(),
        },
    )
    .optional(),
    Column::new(
        "limits",
        Kind::Text,
        "What held the flow (held): names joined by `+` where the capture cannot tell them apart. Recoveries count as \
         the windows that they leave.",
        |c: &Claim| match c {
            Claim::Held(held) => Some(held.part.limits.to_string()).into(),
            _ => None::<String>.into(),
        },
    )
    .optional(),
    Column::new(
        "share",
        Kind::Share,
        "Share of the flow's life: that held it (held), that its start took (short), after all was sent (ended), that late packets took at most \
         (not-reordering) or at least (part-reordering).",
        |c: &Claim| c.share().into(),
    )
    .optional(),
    Column::new(
        "share_at_most",
        Kind::Share,
        "The same with the time in which the capture leaves open whether it was this limit or another (held, short).",
        |c: &Claim| match c {
            Claim::Held(held) => Some(held.part.at_most).into(),
            Claim::Short {
                opening,
                start_at_most,
                ..
            } => Some(opening + start_at_most).into(),
            _ => None::<f64>.into(),
        },
    )
    .optional(),
    Column::new(
        "sure",
        Kind::Flag,
        "Clauses like it are seldom false (held); the text of others says that what held the flow is uncertain.",
        |c: &Claim| match c {
            Claim::Held(held) => Some(held.sure).into(),
            _ => None::<bool>.into(),
        },
    )
    .optional(),
    Column::new(
        "evidence",
        Kind::List(inorder_report::Element::Text),
        "What speaks for the clause or against it, by name (held): `sure` follows from these and from the limits, as docs/evidence/limits.md says.",
        |c: &Claim| match c {
            Claim::Held(held) => held.evidence.names(),
            _ => Vec::new(),
        }
        .into(),
    ),
    Column::new(
        "reads_slowly",
        Kind::Flag,
        "The window was full because the receiving application read too slowly, and not because it was small (held, receiver-window).",
        |c: &Claim| match c {
            Claim::Held(held) => held.reads_slowly().into(),
            _ => None::<bool>.into(),
        },
    )
    .optional(),
    Column::new(
        "packets",
        Kind::Count,
        "Packets that this is about: late, lost, outside the window, repeated, unclear.",
        |c: &Claim| c.packets().map(|(n, _)| n).into(),
    )
    .optional(),
    Column::new(
        "packets_at_most",
        Kind::Count,
        "The same with those of which it is not known whether they were lost (lost), and of late ones; absent if the capture gives no bound.",
        |c: &Claim| match c {
            Claim::Lost { at_most, .. } | Claim::Late { at_most, .. } => (*at_most).into(),
            _ => None::<u64>.into(),
        },
    )
    .optional(),
    Column::new(
        "of",
        Kind::Count,
        "Of how many: packets sent (lost), packets that arrived (late, outside-window, not-reordering), retransmissions (mistaken, part-reordering).",
        |c: &Claim| c.packets().and_then(|(_, of)| of).into(),
    )
    .optional(),
    Column::new(
        "recoveries",
        Kind::Count,
        "Recoveries that this is about.",
        |c: &Claim| c.recoveries().into(),
    )
    .optional(),
    Column::new(
        "bps",
        Kind::Rate,
        "Rate of the flow (moved).",
        |c: &Claim| match c {
            Claim::Moved { bps, .. } => (*bps).into(),
            _ => None::<u64>.into(),
        },
    )
    .optional(),
    Column::new(
        "line_bps",
        Kind::Rate,
        "Rate of the line (moved), of the line or the policer (held).",
        |c: &Claim| match c {
            Claim::Moved { line_bps, .. } => (*line_bps).into(),
            Claim::Held(held) => held.rate_bps().into(),
            _ => None::<u64>.into(),
        },
    )
    .optional(),
    Column::new(
        "bytes",
        Kind::Bytes,
        "Bytes that the flow carried (moved, short), of the window or the buffer (held).",
        |c: &Claim| match c {
            Claim::Moved { bytes, .. } | Claim::Short { bytes, .. } => Some(*bytes).into(),
            Claim::Held(held) => held.bytes().into(),
            _ => None::<u64>.into(),
        },
    )
    .optional(),
];

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
            | Claim::Outside { packets, of } => (*packets, Some(*of)),
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
