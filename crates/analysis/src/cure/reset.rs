//! Connections that were reset while data was under way.

use inorder_detect::{FlowReport, Host};
use inorder_report::number::plural;

use super::{Action, ActionKind};

/// What ended the connections of which the most data was cut off: hosts, and devices that speak in their names.
pub(super) fn reset(flows: &[&FlowReport]) -> Option<Action> {
    let cut_off = || flows.iter().filter(|flow| flow.was_cut_off());
    let flow = cut_off().max_by_key(|flow| flow.cut_off())?;
    let (who, host) = match flow.endpoints.closing.reset_by? {
        Host::Receiver => ("receiver", flow.flow.dst.ip()),
        _ => ("sender", flow.flow.src.ip()),
    };
    let (version, hops) = match host.is_ipv4() {
        true => ("ip", "ip.ttl"),
        false => ("ipv6", "ipv6.hlim"),
    };
    // Another flow may be the one of which the first sentence speaks.
    let of = flow.flow;
    let fields = format!("-T fields -e {hops} -e tcp.flags.reset");
    Some(Action {
        commands: vec![format!(
            "tshark -r CAPTURE -Y 'tcp && {version}.src == {host}' {fields} | sort | uniq -c"
        )],
        evidence: format!(
            "the reset came in the name of the {who} while {} had not been acknowledged",
            plural(flow.cut_off(), "packet")
        ),
        holds: "No setting of TCP helps a connection that is reset. Where the reset has another time to live than the host's other packets, as the \
                command tells, something on the way sent it.",
        flows: cut_off().count() as u64,
        ..Action::new(
            ActionKind::Reset,
            format!(
                "Find out why {host} reset {of}: an application that ended, or closed its socket with data unread (its log tells); a limit \
                 of time or size; a firewall or a load balancer on the way, which sends resets in the name of hosts."
            ),
        )
    })
}
