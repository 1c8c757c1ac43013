//! Actions where a window, a buffer or an application holds a transfer back.

use inorder_detect::FlowReport;
use inorder_limits::Limit;
use inorder_report::number::{bytes, plural, rate, time};

use super::doubt::as_sure_as;
use super::{Action, ActionKind, Case, Gain};
use crate::shares::{awaits, held_short, line_bps, path_bytes, reads_slowly};

/// What a flow reaches of the line at least, whose window has to grow first.
const SHORT_FLOW: f64 = 0.5;
/// A line that seems faster than a flow by less than this factor promises nothing.
const MIN_TIMES: f64 = 1.2;
/// A line that seems faster than a flow by more than this factor may be a bundle of packets taken for a line.
const MAX_TIMES: f64 = 20.0;
/// Minimum share of the time for which a window was full that makes a larger window sure to help, whatever the line carries.
const SURE: f64 = 0.5;
/// Linux offers half of the buffer as window, and a queue should fit in, too.
const BUFFER_PER_WINDOW: u64 = 4;
/// A window or buffer of unknown need may grow by this factor: the maximum costs nothing where less is enough.
const LARGER: u64 = 16;

/// What a larger window or buffer brings: the line, or half of it for a short flow. Carried out on twelve recordings of
/// Linux 6.18 and ten of 6.1, windows and buffers brought this or more.
fn gain(flow: &FlowReport, line_bps: Option<u64>) -> Option<Gain> {
    let times = line_bps? as f64 / flow.goodput_bps()?.max(1) as f64;
    (MIN_TIMES..=MAX_TIMES).contains(&times).then(|| Gain {
        low: (times * SHORT_FLOW - 1.0).max(0.0),
        high: times - 1.0,
    })
}

/// A larger window without SACK fills the queue until it overflows, and then repairs one loss in a round trip (RFC 6582 section 3.2):
/// of 3 drawn transfers over short queues a larger one delivered 13 to 59 %, with SACK at least as much as before.
fn with_sack(flow: &FlowReport, mut action: Action) -> Action {
    if !flow.endpoints.sack && flow.endpoints.syn_seen {
        let setting = action.commands.first_mut();
        setting
            .into_iter()
            .for_each(|words| words.push_str(" net.ipv4.tcp_sack=1"));
        action.advice.push_str(
            " Switch SACK on at both ends with it: without, a larger window is repaired too slowly where it overflows a queue.",
        );
    }
    action
}

/// How much would fill the path, as far as that is known.
fn fills(flow: &FlowReport) -> Option<String> {
    path_bytes(flow).map(|n| match n == flow.originals.bytes {
        true => format!("all {} that it sent would fit into the path", bytes(n)),
        false => format!("{} would fill the path", bytes(n)),
    })
}

/// The receiver's window: without scaling, read too slowly, or too small.
pub(super) fn receiver_window(cases: &[Case<'_>]) -> Option<Action> {
    let worst = super::worst(cases, |set| set.only() == Some(Limit::ReceiverWindow))?;
    let flow = worst.flow;
    let (window, to) = (flow.limits.window.unwrap_or_default(), flow.flow.dst.ip());
    let full = format!("the window was full for {} of the time", worst.share());
    if reads_slowly(flow) {
        let action = Action {
            commands: vec![format!("ss -tnmi state established src {to}")],
            evidence: match window.closed_ns {
                0 => full,
                ns => format!("{full} and closed for {}", time(ns)),
            },
            holds: "A larger receive buffer does not help: it only takes longer to fill. Where Recv-Q stays high, the \
                    application does not read.",
            ..Action::new(
                ActionKind::Reader,
                format!(
                    "Let the application at {to} read faster: it took {}.",
                    rate(flow.goodput_bps().unwrap_or(0))
                ),
            )
        };
        return Some(as_sure_as(worst, action));
    }
    if window.unscaled {
        let action = Action {
            commands: vec![
                "sysctl -w net.ipv4.tcp_window_scaling=1".to_owned(),
                format!(
                    "tcpdump -i IF -s 128 -c 20 -v 'host {to} and tcp[tcpflags] & tcp-syn != 0'"
                ),
            ],
            evidence: format!("{full}, at {} or less", bytes(window.largest_bytes)),
            holds: "Both ends must offer the option in their SYN (RFC 7323 section 2); a firewall may remove it: compare \
                    the SYN at both ends. A larger buffer does nothing before that.",
            sure: worst.part.share >= SURE,
            ..Action::new(
                ActionKind::Scaling,
                "Switch window scaling on at both ends: without it the window cannot exceed 65,535 bytes.",
            )
        };
        return Some(as_sure_as(worst, with_sack(flow, action)));
    }
    let size = path_bytes(flow).unwrap_or(LARGER * window.largest_bytes);
    if size == 0 {
        return None;
    }
    let buffer = BUFFER_PER_WINDOW * size.max(window.largest_bytes);
    let gain = gain(flow, line_bps(flow));
    let action = Action {
        commands: vec![format!(
            "sysctl -w net.ipv4.tcp_rmem='4096 131072 {buffer}' net.core.rmem_max={buffer}"
        )],
        evidence: match fills(flow) {
            Some(fills) => format!("{full}; {fills}"),
            None => full,
        },
        holds: "Linux of any version, for applications that do not set SO_RCVBUF: one that does must ask for as much \
                itself, and gets net.core.rmem_max at most.",
        warning: "The maximum applies to every new connection of the host, each of which may use that much memory.",
        sure: gain.is_some() || worst.part.share >= SURE,
        gain,
        flows: cases.len() as u64,
        ..Action::new(
            ActionKind::Window,
            format!("On the receiver of the data ({to}), let the receive buffer grow larger."),
        )
    };
    Some(as_sure_as(worst, with_sack(flow, action)))
}

/// The sender's socket buffer is full of what is in flight.
pub(super) fn send_buffer(cases: &[Case<'_>]) -> Option<Action> {
    let worst = super::worst(cases, |set| set.only() == Some(Limit::SendBuffer))?;
    let flow = worst.flow;
    let held = flow.limits.send_buffer_bytes;
    let size = path_bytes(flow).or(held.map(|bytes| LARGER * bytes))?;
    let buffer = BUFFER_PER_WINDOW * size.max(held.unwrap_or(0));
    let gain = gain(flow, line_bps(flow));
    let from = flow.flow.src.ip();
    let action = Action {
        commands: vec![format!(
            "sysctl -w net.ipv4.tcp_wmem='4096 16384 {buffer}' net.core.wmem_max={buffer}"
        )],
        evidence: format!(
            "the buffer was full for {} of the time{}{}",
            worst.share(),
            held.map_or_else(String::new, |n| format!(", with {} in flight", bytes(n))),
            match fills(flow) {
                Some(fills) => format!("; {fills}"),
                None => "; how much would fill the path is not known".to_owned(),
            }
        ),
        holds: "Linux of any version. An application that sets SO_SNDBUF must ask for more itself (net.core.wmem_max \
                bounds it), or better not set it, since the buffer then grows by itself.",
        warning: "The maximum applies to every new connection of the host, each of which may use that much memory.",
        sure: gain.is_some(),
        gain,
        flows: cases.len() as u64,
        ..Action::new(
            ActionKind::SendBuffer,
            format!("On the sender of the data ({from}), let the socket buffer grow larger."),
        )
    };
    Some(as_sure_as(worst, with_sack(flow, action)))
}

/// A sender that answers requests one at a time: who waits for whom.
pub(super) fn requests(cases: &[Case<'_>], all: &[FlowReport]) -> Option<Action> {
    /// Fewer requests are no habit.
    const MIN_REQUESTS: u64 = 3;
    /// A direction that carries more than this share of what comes back is no stream of requests.
    const MAX_REQUESTS: f64 = 0.2;
    let waiting = cases.iter().copied().filter(|c| awaits(c.flow));
    let waiting: Vec<Case<'_>> = waiting.collect();
    let worst = super::worst(&waiting, |set| set.only() == Some(Limit::Application))?;
    let id = worst.flow.flow;
    let back = all
        .iter()
        .find(|f| (f.flow.src, f.flow.dst, f.flow.reuse) == (id.dst, id.src, id.reuse))?;
    let small = back.originals.bytes as f64 <= MAX_REQUESTS * worst.flow.originals.bytes as f64;
    let action = || Action {
        evidence: format!(
            "{} sent {} and had nothing to send for {} of the time, of which {} ended after {} had sent something ({})",
            id.src,
            plural(worst.flow.originals.packets, "packet"),
            worst.share(),
            time(worst.flow.limits.awaited_ns),
            id.dst,
            plural(back.originals.packets, "packet")
        ),
        holds: "It brings nothing where the pauses are wanted, as those of a player or a user are.",
        ..Action::new(
            ActionKind::Application,
            format!(
                "In the applications: {} waits for requests of {}. Ask for the next before the answer to the last has come \
                 (pipelining, several streams or connections), or for more at once.",
                id.src.ip(),
                id.dst.ip()
            ),
        )
    };
    (back.originals.packets >= MIN_REQUESTS && small).then(|| as_sure_as(worst, action()))
}

/// Ends of answers that wait for the acknowledgement of what was before them. What it brings: each answer takes less by what it waited,
/// half of that beyond round trips at least; and up to twice as much, for the other end then asks sooner, too.
pub(super) fn nagle(flows: &[&FlowReport]) -> Option<Action> {
    let held = flows
        .iter()
        .filter(|f| f.originals.packets >= super::MIN_PACKETS)
        .filter_map(|f| held_short(f).map(|(times, beyond_ns)| (f, times, beyond_ns)));
    let all: Vec<_> = held.collect();
    let (flow, times, beyond_ns) = all.iter().max_by_key(|(_, _, beyond_ns)| *beyond_ns)?;
    let (limits, from) = (&flow.limits, flow.flow.src.ip());
    let part = |ns: i64| ns as f64 / limits.life_ns().saturating_sub(ns).max(1) as f64;
    Some(Action {
        evidence: format!(
            "{} a segment that was not full waited until all before it was acknowledged, {} altogether: {} more than \
             round trips take",
            crate::headline::times(*times),
            time(limits.held_short.ns),
            time(*beyond_ns)
        ),
        holds: "Any system. Nagle's algorithm (RFC 896) holds back what does not fill a segment while anything is \
                unacknowledged, and a receiver may delay its acknowledgement by up to 500 ms (RFC 9293 section 3.8.6.3). An \
                application that writes each message at once, full segments and rest, loses nothing by it.",
        warning: "An application that writes few bytes at a time then sends many small packets.",
        gain: Some(Gain {
            low: part(*beyond_ns) / 2.0,
            high: 2.0 * part(limits.held_short.ns),
        }),
        sure: true,
        flows: all.len() as u64,
        ..Action::new(
            ActionKind::NoDelay,
            format!("In the sending application at {from}, set TCP_NODELAY on its sockets."),
        )
    })
}
