//! The results as programs and tables read them.

use inorder_report::columns;
use inorder_report::number::plural;

use crate::WhatIf;

/// What people read: the sorter with its settings, or how large the blocks of SRPIC are.
fn sorted_by(what_if: &WhatIf, _: String) -> String {
    match &what_if.sorter {
        Some(sorter) => sorter.to_string(),
        None => plural(u64::from(what_if.block_size), "packet"),
    }
}

columns! {
    /// What a sorting receiver would have left.
    pub WHAT_IF: WhatIf, |w|
    "sorter": Text, "The sorter, with its settings where they are not at their defaults." => w.name();
    "block_size": Small, "Largest sorting block of SRPIC."
        => w.sorter.is_none().then_some(w.block_size), unit("packets"), optional(),
            shown("if sorted in blocks of", 0), adapted(sorted_by);
    "coalesce_ms": Duration, "Interrupt coalescing delay." => w.coalesce_ns, shown("coalescing", 0);
    "reordered": Count, "Reordered packets left." => w.reordered, in_group("still reordered", "packets", 0);
    "reordered_ratio": Share, "Reordered packets left, share of all."
        => w.reordered_ratio, in_group("still reordered", "%", 0);
    "max_extent": Small, "Greatest extent left." => w.max_extent, unit("packets"), shown("max extent", 2);
    "dupacks_saved": Count, "Duplicate ACKs that sorting would have saved."
        => w.dupacks_saved, in_group("duplicate ACKs", "saved", 1);
    "mean_added_delay_ms": Duration, "Mean time a packet waited, for the end of its batch or for what was missing before it."
        => w.mean_added_delay_ns, in_group("added delay", "mean", 0);
    "p50_added_delay_ms": Duration, "Time that half of the packets did not exceed; of SRPIC by block size to a 32nd of the coalescing time."
        => w.p50_added_delay_ns, optional(), in_group("added delay", "p50", 3);
    "p99_added_delay_ms": Duration, "Time that 99 % of the packets did not exceed; of SRPIC by block size to a 32nd of the coalescing time."
        => w.p99_added_delay_ns, optional(), in_group("added delay", "p99", 1);
    "max_added_delay_ms": Duration, "Greatest such time." => w.max_added_delay_ns, in_group("added delay", "max", 2);
    "bound_ms": Duration, "How long the sorter would hold a packet at the end of the flow, by what it had learnt."
        => w.bound_ns, optional(), shown("hold", 2);
}
