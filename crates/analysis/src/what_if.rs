//! What the rows of the what-if say about a flow, where they say anything.

use inorder_detect::{FlowReport, Vantage, WhatIf};
use inorder_report::number::{count, plural, time_u64};

/// The setting with the least rank leaves the fewest late packets; among equals it delays least.
pub(crate) fn rank(row: &WhatIf) -> (u64, u64, u32) {
    (row.reordered, row.mean_added_delay_ns, row.block_size)
}

/// What the what-if says of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum WhatIfSays<'a> {
    /// Nothing was late, or nothing was computed.
    Nothing,
    /// The capture does not show the order that a sorter would have met.
    NotShown,
    /// The setting that leaves the fewest late packets; among equals the one that delays least.
    Best(&'a WhatIf),
}

impl<'a> WhatIfSays<'a> {
    /// Reads the rows. A capture at the sender, or on the path before the place that reorders, does not show the order in which
    /// packets arrive.
    pub(crate) fn of(flow: &'a FlowReport) -> Self {
        let upstream = flow.upstream.as_ref().map_or(0, |u| u.reordered);
        if flow.reordering.reordered + upstream == 0 {
            return WhatIfSays::Nothing;
        }
        match flow.vantage.vantage {
            Vantage::Sender => return WhatIfSays::NotShown,
            Vantage::Middle if upstream == 0 => return WhatIfSays::NotShown,
            _ => {}
        }
        flow.what_if
            .iter()
            .min_by_key(|w| rank(w))
            .map_or(WhatIfSays::Nothing, WhatIfSays::Best)
    }

    /// One sentence without its full stop, if there is anything to say.
    pub(crate) fn sentence(self) -> Option<String> {
        match self {
            WhatIfSays::Nothing => None,
            WhatIfSays::NotShown => Some(
                "unknown from here: only a capture at the receiver shows the order that a sorter meets"
                    .to_owned(),
            ),
            WhatIfSays::Best(row) => Some(format!(
                "{} at the receiver {} would have left {} and added {} on average",
                sorter(row),
                match row.coalesce_ns {
                    0 => "without coalescing of interrupts".to_owned(),
                    ns => format!("with interrupts coalesced for {}", time_u64(ns)),
                },
                match row.reordered {
                    0 => "no late packet".to_owned(),
                    n => plural(n, "late packet"),
                },
                time_u64(row.mean_added_delay_ns),
            )),
        }
    }
}

fn sorter(row: &WhatIf) -> String {
    match &row.sorter {
        Some(sorter) => format!("the sorter {sorter}"),
        None => format!(
            "sorting blocks of {} packets",
            count(u64::from(row.block_size))
        ),
    }
}
