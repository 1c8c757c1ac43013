//! How a flow is named.

use inorder_report::columns;
use inorder_wire::Vlan;

use crate::FlowId;

columns! {
    /// What names a flow.
    pub FLOW_ID: FlowId, |id|
    "flow": Text, "`src:port->dst:port`, the direction of the data; IPv6 addresses in brackets."
        => id.to_string(), shown("flow", 0), adapted(|id, _| name(id));
}

columns! {
    /// What tells flows of the same addresses and ports apart.
    pub FLOW_PLACE: FlowId, |id|
    "overlay": Small, "VXLAN VNI, GRE key, ...; 0 for none. Outside of tunnels the VLAN: 4261412864 (0xfe000000) + 4096 x outer tag + inner tag."
        => id.overlay;
    "reuse": Small, "0 for the first connection with these addresses and ports, 1 for the next, ..." => id.reuse;
}

/// A flow's ends, with what tells it from others of the same name.
pub fn name(id: &FlowId) -> String {
    let mut name = id.to_string();
    if let Some(vlan) = Vlan::of_overlay(id.overlay) {
        name.push_str(&format!(" (VLAN {vlan})"));
    } else if id.overlay != 0 {
        name.push_str(&format!(" ({}overlay {})", tunnel(id.overlay), id.overlay));
    }
    if id.reuse != 0 {
        name.push_str(&format!(" (connection {})", id.reuse + 1));
    }
    name
}

/// The kind of a tunnel without an identifier of its own, for which the overlay stands instead (`inorder_wire`, `FlowKey`).
fn tunnel(overlay: u32) -> String {
    match (overlay >> 16, overlay & 0xffff) {
        (0xff00, 4) => "in IP-in-IP, ".to_owned(),
        (0xff00, 41) => "in IPv6-in-IP, ".to_owned(),
        (0xff00, 47) => "in GRE, ".to_owned(),
        (0xff01, port) => format!("in UDP port {port}, "),
        _ => String::new(),
    }
}
