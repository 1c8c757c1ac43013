//! Actions where packets are too large for the path.

use inorder_detect::{FlowReport, Vantage};
use inorder_limits::{Limit, LimitSet};
use inorder_report::number::{count, plural};

use super::route::to_receiver;
use super::{Action, ActionKind};

/// Paths carry segments of this payload, bytes: IPv6 asks 1,280 of every link (RFC 8200 section 5), of which the headers take 60.
const CARRIED_EVERYWHERE: u32 = 1_220;
/// Bytes of TCP's header that ICMP's, shorter by 12, has not: a ping of this much more than a segment's payload is as long as the segment.
const PING_BEYOND_PAYLOAD: u32 = 12;
/// Bytes by which options may shorten a full segment (RFC 9293 section 3.1).
const MAX_OPTIONS: u64 = 40;
/// Minimum share of its life for which a flow waited for answers that did not come.
const MIN_WAITED: f64 = 0.5;
/// Minimum number of retransmissions: two in a row may be lost by chance.
const MIN_REPEATED: u64 = 3;

/// Of fewer packets the sender has learnt from ICMP what the path carries (RFC 1191), and lost nothing worth a word: this part of all.
const MIN_TOO_LARGE: u64 = 100;

/// ICMP says so, and often: smaller ones from the start.
pub(super) fn told(flows: &[&FlowReport]) -> Option<Action> {
    let often = |f: &&&FlowReport| {
        let packets = f.path.icmp.too_large;
        packets > 0 && packets.saturating_mul(MIN_TOO_LARGE) >= f.originals.packets
    };
    let large = || flows.iter().filter(often);
    let packets: u64 = large().map(|f| f.path.icmp.too_large).sum();
    let mtu = large().filter_map(|f| f.path.icmp.mtu).min();
    let to = to_receiver(large().next()?);
    let size = mtu.map_or_else(|| "MTU".to_owned(), |mtu| mtu.to_string());
    Some(Action {
        commands: vec![
            format!("ip route replace {to} via GATEWAY mtu {size}"),
            "iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"
                .to_owned(),
        ],
        evidence: format!(
            "ICMP says of {} that a link of the path cannot carry {}",
            plural(packets, "packet"),
            if packets == 1 { "it" } else { "them" }
        ),
        sure: true,
        flows: large().count() as u64,
        ..Action::new(
            ActionKind::PathMtu,
            "On the sender of the data, give the route the MTU of the path; or, on the router in front of the \
             narrow link, lower the MSS of connections that pass.",
        )
    })
}

/// Full segments were lost whole each time, and arrived once the sender had cut them (RFC 2923 section 2.1).
pub(super) fn shrunk(flows: &[&FlowReport]) -> Option<Action> {
    let of = |f: &&&FlowReport| f.path.shrunk.filter(|_| f.path.icmp.too_large == 0);
    let found = |f: &&&FlowReport| of(f).is_some();
    let flow = flows.iter().find(found)?;
    let sizes = of(&flow)?;
    Some(Action {
        commands: vec![
            "iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"
                .to_owned(),
            format!("ping -M do -s {} {}", sizes.whole + PING_BEYOND_PAYLOAD, flow.flow.dst.ip()),
        ],
        evidence: format!(
            "segments of {} bytes were lost each time they were sent, those of {} into which the sender then cut them arrived, and none as long as \
             the first ever did",
            count(sizes.whole.into()),
            count(sizes.cut.into())
        ),
        holds: "A link of the path carries less than both ends do, and the message about it (ICMP, \"fragmentation needed\") is lost: let it \
                pass at firewalls, too. The second command, on the sender, tells: no answer, and fewer bytes get one.",
        flows: flows.iter().filter(found).count() as u64,
        ..Action::new(
            ActionKind::PathMtu,
            "On the router in front of the narrow link, lower the MSS of connections that pass; or give the sender's route the MTU of the \
             path.",
        )
    })
}

/// The handshake passed and no full segment ever did, and no ICMP message says why (RFC 4821, "black hole").
pub(super) fn black_hole(flows: &[&FlowReport]) -> Option<Action> {
    let waits = |set: LimitSet| {
        let waiting = |limit| matches!(limit, Limit::PathDead | Limit::TimerNeeded);
        set.iter().any(waiting)
    };
    let swallowed = |f: &&&FlowReport| {
        f.vantage.vantage == Vantage::Sender
            && f.endpoints.syn_seen
            && f.endpoints.mss > CARRIED_EVERYWHERE
            && f.originals.bytes + MAX_OPTIONS >= u64::from(f.endpoints.mss)
            && f.cost.goodput_bps.unwrap_or(0) == 0
            && f.retransmissions.total >= MIN_REPEATED
            && f.limits.share_where(waits) >= MIN_WAITED
            && f.path.icmp.too_large == 0
    };
    let flow = flows.iter().find(swallowed)?;
    Some(Action {
        commands: vec![
            "sysctl -w net.ipv4.tcp_mtu_probing=1 net.ipv4.tcp_base_mss=536".to_owned(),
            "iptables -t mangle -A FORWARD -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu"
                .to_owned(),
        ],
        evidence: format!(
            "the handshake passed; none of {} of {} bytes did, nor of {}",
            plural(flow.originals.packets, "packet"),
            flow.endpoints.mss,
            plural(flow.retransmissions.total, "retransmission")
        ),
        holds: "Linux of any version, on the sender; it helps where a link carries less and the message about it (ICMP) is lost, \
                and not where the path was interrupted after the handshake: `ping -M do -s 1472` tells.",
        warning: "The first command lets all new connections of the host try smaller packets after three time-outs, of 536 bytes first; the second is for \
                  the router in front of the narrow link.",
        ..Action::new(
            ActionKind::PathMtu,
            "On the sender of the data, try smaller packets: those of full size do not get through, although the connection \
             was opened.",
        )
    })
}

/// Shorter segments got through and the connection ended with longer ones that never did: perhaps a link of the path carries less.
pub(super) fn swallowed(flows: &[&FlowReport]) -> Option<Action> {
    let of = |f: &&&FlowReport| {
        let repeated = f.retransmissions.total >= MIN_REPEATED && f.path.icmp.too_large == 0;
        f.path
            .swallowed
            .filter(|sizes| repeated && sizes.shortest > CARRIED_EVERYWHERE)
    };
    let flow = flows.iter().find(|f| of(f).is_some())?;
    let sizes = of(&flow)?;
    Some(Action {
        commands: vec![
            format!(
                "ping -M do -s {} {}",
                sizes.shortest + PING_BEYOND_PAYLOAD,
                flow.flow.dst.ip()
            ),
            "sysctl -w net.ipv4.tcp_mtu_probing=1 net.ipv4.tcp_base_mss=536".to_owned(),
        ],
        evidence: format!(
            "packets of up to {} bytes were acknowledged, and those of {} bytes or more were not, with {}",
            count(sizes.passed.into()),
            count(sizes.shortest.into()),
            plural(flow.retransmissions.total, "retransmission")
        ),
        holds: "The first command, on the sender, tells: no answer, and one with fewer bytes gets one. Otherwise the path was interrupted when \
                they were sent. The second is for Linux of any version.",
        warning: "The second command lets all new connections of the host try smaller packets after three time-outs, of 536 bytes first.",
        flows: flows.iter().filter(|f| of(f).is_some()).count() as u64,
        ..Action::new(
            ActionKind::PathMtu,
            "On the sender of the data, find out whether packets of full size get through at all: smaller ones did. If not, let it try \
             smaller ones.",
        )
    })
}
