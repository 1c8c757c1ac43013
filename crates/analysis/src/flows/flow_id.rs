//! How a flow is named.

use inorder_report::columns;
use inorder_wire::Overlay;

use inorder_detect::FlowId;

columns! {
    /// What names a flow.
    pub FLOW_ID: FlowId, |id|
    "flow": Text, "`src:port->dst:port`, the direction of the data; IPv6 addresses in brackets."
        => id.to_string(), shown("flow", 0), adapted(|id, _| name(id));
}

columns! {
    /// What tells flows of the same addresses and ports apart.
    pub FLOW_PLACE: FlowId, |id|
    "overlay": Small, "VXLAN or GENEVE VNI, GRE key, MPLS label, GTP-U TEID, ...; 0 for none. Outside of tunnels the VLAN: 4261412864 (0xfe000000) + 4096 x outer tag + inner tag."
        => Overlay::number(id.overlay);
    "network": Text, "What kind of tunnel or VLAN that is, with its number: `VXLAN VNI 42`, `GTP-U TEID 0x00001001`; absent outside of both."
        => network(id.overlay), optional();
    "reuse": Small, "0 for the first connection with these addresses and ports, 1 for the next, ..." => id.reuse;
}

/// A flow's ends, with what tells it from others of the same name.
pub fn name(id: &FlowId) -> String {
    let mut name = id.to_string();
    if let Some(network) = network(id.overlay) {
        name.push_str(&format!(" ({network})"));
    }
    if id.reuse != 0 {
        name.push_str(&format!(" (connection {})", id.reuse + 1));
    }
    name
}

/// The tunnel or VLAN of this overlay identifier.
pub(super) fn network(overlay: u32) -> Option<String> {
    (overlay != 0).then(|| Overlay::of(overlay).to_string())
}
