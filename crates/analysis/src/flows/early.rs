//! The columns of connections that were ended early.

use inorder_report::columns;

use inorder_detect::EndedEarly;

columns! {
    /// What was ended early because the memory was used up.
    pub ENDED_EARLY: EndedEarly, |e|
    "connections": Count, "Connections that were ended before their last packet, because connections had reached the memory that --memory allows."
        => e.connections;
    "flows_only_summed": Count, "Flows of these connections in which nothing had happened so far. They are among the sums and are not reported."
        => e.flows;
    "packets_only_summed": Count, "Data packets of these flows until then." => e.packets;
    "later_packets": Count, "Packets that came after their connection was ended. They are counted here and nowhere else."
        => e.later_packets;
}
