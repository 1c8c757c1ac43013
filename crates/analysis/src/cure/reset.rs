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
    // Another flow may be the one of which the first sentence speaks.
    let of = flow.flow;
    let evidence = format!(
        "the reset came in the name of the {who} while {} had not been acknowledged",
        plural(flow.cut_off(), "packet")
    );
    let flows = cut_off().count() as u64;
    if let Some((reset, syn)) = flow.endpoints.closing.reset_ttls {
        return Some(Action {
            evidence: format!("{evidence}, and with time to live {reset}, where its SYN had {syn}"),
            holds: "No setting of TCP helps a connection that is reset. The host itself knows nothing of this reset.",
            flows,
            ..Action::new(
                ActionKind::Reset,
                format!(
                    "Find out what on the way reset {of} in the name of {host}: a firewall, a filter or a load balancer (its log tells)."
                ),
            )
        });
    }
    let (version, hops) = match host.is_ipv4() {
        true => ("ip", "ip.ttl"),
        false => ("ipv6", "ipv6.hlim"),
    };
    let fields = format!("-T fields -e {hops} -e tcp.flags.reset");
    Some(Action {
        commands: vec![format!(
            "tshark -r CAPTURE -Y 'tcp && {version}.src == {host}' {fields} | sort | uniq -c"
        )],
        evidence,
        holds: "No setting of TCP helps a connection that is reset. Where the reset has another time to live than the host's other packets, as the \
                command tells, something on the way sent it.",
        flows,
        ..Action::new(
            ActionKind::Reset,
            format!("Find out why {host} reset {of}: {}.", reasons(flow)),
        )
    })
}

/// What makes a host reset a connection.
fn reasons(flow: &FlowReport) -> &'static str {
    match flow.endpoints.closing.closed_before {
        true => {
            "its application had closed the connection with data still to come (its log tells), as one that ends or is cancelled does"
        }
        false => {
            "an application that ended, or closed its socket with data unread (its log tells); a limit of time or size; a firewall or a \
             load balancer on the way, which sends resets in the name of hosts"
        }
    }
}
