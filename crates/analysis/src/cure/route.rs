//! What a host calls the other one in a route.

use std::net::IpAddr;

use inorder_detect::FlowReport;

/// The receiver as the routes of its sender know it: where that has an address of the public Internet, and the receiver a private one, they are on
/// two sides of a translation, and only what is put in this place is known to the sender.
pub(super) fn to_receiver(flow: &FlowReport) -> String {
    let (from, to) = (flow.flow.src.ip(), flow.flow.dst.ip());
    match is_private(to) && !is_private(from) {
        true => format!("PUBLIC_ADDRESS_OF_{to}"),
        false => to.to_string(),
    }
}

/// Of a network of its own (RFC 1918, RFC 4193, RFC 6598), or of a link.
fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            let shared = a == 100 && b & 0xc0 == 64;
            ip.is_private() || ip.is_loopback() || ip.is_link_local() || shared
        }
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_their_own_are_known() {
        let private = [
            "10.0.0.1",
            "192.168.1.8",
            "100.64.0.1",
            "127.0.0.1",
            "fd00::1",
            "fe80::1",
        ];
        let public = ["172.217.19.34", "100.128.0.1", "2001:db8::1"];
        assert!(private.iter().all(|a| is_private(a.parse().unwrap())));
        assert!(public.iter().all(|a| !is_private(a.parse().unwrap())));
    }
}
