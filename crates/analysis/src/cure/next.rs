//! Why nothing is proposed, and what to capture next.

use inorder_base::named;
use inorder_detect::{Cause, FlowReport, NotSeen, StreamReport, Vantage};
use inorder_limits::{Limit, LimitSet};

use inorder_report::number::rate;

use super::{Action, ActionKind, path};
use crate::gravity::{Subject, troubled};
use crate::headline::{Claim, Held, Teller, clauses, is_wait, parts};
use crate::model::Analysis;
use crate::shares;

/// What no packet tells apart.
const UNSENT: LimitSet = LimitSet::of(&[Limit::Application, Limit::SendBuffer]);

named! {
    /// Which of two reasons it is that nothing is proposed.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[non_exhaustive]
    pub enum Why {
        /// Nothing on hosts or network would make the flows faster.
        NothingHelps = "nothing-helps",
        /// Too little is known.
        NotKnown = "not-known",
    }
}

/// Why nothing is proposed.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct NoAction {
    /// Which of the two reasons.
    pub why: Why,
    /// The reason, as a sentence.
    pub text: String,
    /// What to capture next, where that would help to know more.
    pub next: Option<Action>,
}

/// Why nothing is proposed for `flows`, of which the headline claims `claims`; nothing where nothing is wrong.
pub(super) fn reason(
    claims: &[Claim],
    analysis: &Analysis,
    flows: &[&FlowReport],
) -> Option<NoAction> {
    let troubled = troubled(analysis);
    let Some(worst) = troubled.first() else {
        let largest = flows.iter().max_by_key(|f| f.originals.bytes)?;
        return step(largest).map(|next| not_known(&missing(largest), next));
    };
    let nothing_helps = |text: String| NoAction {
        why: Why::NothingHelps,
        text,
        next: None,
    };
    let flow = match worst {
        Subject::Flow(flow) => flow,
        Subject::Stream(stream) if stream.unanswered > 0 => return Some(silent(stream)),
        Subject::Stream(_) => {
            let text = "No action is proposed: what this stream lacks or got late is no habit that a setting would cover.";
            return Some(nothing_helps(text.to_owned()));
        }
    };
    if let Some((bps, line)) = fills_the_line(flow) {
        return Some(nothing_helps(format!(
            "No action is proposed, since none would make it faster: it used {} of the line's {}.",
            rate(bps),
            rate(line)
        )));
    }
    if let Some(unclear) = path::unclear_losses(flows) {
        return Some(not_known(unclear, capture(flow)));
    }
    if let Some(next) = step(flow) {
        return Some(not_known(&missing(flow), next));
    }
    let (spared, known) = harm(flow);
    if known && spared {
        let text = match shares::nothing_holds_it(flow) {
            true => format!(
                "No action is proposed, since none would make it faster: {}.",
                held(claims)
            ),
            false => "No action is proposed: what happened is too little to be worth a change."
                .to_owned(),
        };
        return Some(nothing_helps(text));
    }
    // A short transfer recovers once and is over. Another capture of the same would not tell more.
    let dead = flow.limits.share_of(Limit::PathDead.into()) > 0.0;
    if flow.recoveries.total <= 1 && !dead && flow.limits.life_ns() > 0 {
        return Some(NoAction {
            why: Why::NotKnown,
            text: "No action is proposed, because not enough is known: what slowed it down happened once, and only several such transfers \
                   show a habit of the path."
                .to_owned(),
            next: None,
        });
    }
    Some(not_known(&missing(flow), capture(flow)))
}

/// Nothing answers echo requests.
fn silent(stream: &StreamReport) -> NoAction {
    let host = stream.key.dst.socket_addr().ip();
    NoAction {
        why: Why::NotKnown,
        text: format!(
            "No action is proposed, because not enough is known: whether the echo requests or the replies to them get lost, or {host} answers none, \
             shows in a capture at that host."
        ),
        next: None,
    }
}

/// What would tell what held the worst flow longest, beside actions that may be against something else; nothing where that is known, or where it
/// would change nothing.
pub(super) fn first(analysis: &Analysis) -> Option<Action> {
    let troubled = troubled(analysis);
    let Subject::Flow(flow) = troubled.first()? else {
        return None;
    };
    match fills_the_line(flow) {
        Some(_) => None,
        None => step(flow),
    }
}

/// What would tell what held a flow longest; nothing where that is known.
fn step(flow: &FlowReport) -> Option<Action> {
    let told = parts(flow);
    let main = told.first()?;
    // What is done about a timer or a dead path does not depend on which it was.
    let known = is_wait(main.limits()) || main.limits().only().is_some();
    let open = (!main.sure || !known) && !main.limits().iter().all(shares::harmless);
    let long = flow.originals.packets >= super::MIN_PACKETS || super::is_long(flow, main.part.ns);
    let worth = main.part.at_most >= super::MIN_SHARE && long;
    (open && worth).then(|| match Teller::of(main.limits(), flow.vantage.vantage) {
        Teller::SenderKernel => ask(flow, main.limits()),
        _ => capture(flow),
    })
}

/// Goodput and line of a flow that made nearly full use of it. Of 31 such transfers, drawn, no setting made one more than 1.11 times as fast.
fn fills_the_line(flow: &FlowReport) -> Option<(u64, u64)> {
    const NEARLY_ALL: f64 = 0.85;
    let line = shares::full_line_bps(flow)?;
    let busy = flow.limits.share_of(Limit::Line.into()) >= super::MIN_SHARE;
    let bps = flow.goodput_bps()?;
    (busy && bps as f64 >= NEARLY_ALL * line as f64).then_some((bps, line))
}

/// Whether what went wrong took so little of the flow's life that no change would be noticed, and whether that is known.
fn harm(flow: &FlowReport) -> (bool, bool) {
    let limits = &flow.limits;
    if limits.life_ns() == 0 {
        let stops = flow.recoveries.total + flow.timeouts();
        return (stops <= 1 && flow.originals.refused == 0, !flow.blind.any());
    }
    let slowed = |limit| !shares::harmless(limit);
    let surely = limits.share_where(|set| set.iter().all(slowed));
    let perhaps = limits.share_where(|set| set.iter().any(slowed)) - surely;
    let unknown = limits.share_where(|set| set.contains(Limit::Unknown));
    let known = unknown < super::MIN_SHARE && perhaps < super::MIN_SHARE;
    (surely < super::MIN_SHARE, known)
}

/// What held the largest flow, in the words of the headline.
fn held(claims: &[Claim]) -> String {
    let held = claims.iter().filter(|c| {
        matches!(
            c,
            Claim::Held(_) | Claim::Short { .. } | Claim::Ended { .. } | Claim::Coarse { .. }
        )
    });
    let held: Vec<Claim> = held.cloned().collect();
    match held.is_empty() {
        true => "nothing but its own length limited it".to_owned(),
        false => clauses(&held),
    }
}

/// What is not known.
fn missing(flow: &FlowReport) -> String {
    if let Some(what) = flow.blind.iter().next() {
        return what.sentence().to_owned();
    }
    let told = parts(flow);
    let main = told.first().map(Held::limits);
    let full_queue = flow.recoveries.of(Cause::QueueLoss).recoveries > 0;
    let text = match main.map(LimitSet::only) {
        Some(None) if main == Some(UNSENT) => {
            "whether the sending application had nothing to send or its socket buffer was full does not show in packets"
        }
        Some(None) => "what limits the transfer does not show at this end",
        Some(Some(Limit::WindowNeeded | Limit::RecoveryNeeded)) if full_queue => {
            "a queue was full when packets were lost, and whether a longer one, a managed one or another congestion control would \
             do better does not show here"
        }
        Some(Some(Limit::WindowNeeded)) if flow.ecn_reductions > 0 && flow.originals.lost == 0 => {
            "a queue of the path asked the sender to slow down (ECN), and whether it does so too early does not show here"
        }
        Some(Some(Limit::WindowNeeded | Limit::RecoveryNeeded)) => path::WHICH_LOSSES,
        Some(Some(Limit::TimerNeeded)) => "what lost the packets does not show here",
        _ if flow.retransmissions.ambiguous + flow.reordering.ambiguous > 0 => {
            "too much is undecided"
        }
        _ => "why the transfer was not faster does not show here",
    };
    text.to_owned()
}

/// What the sender's kernel counts, where no capture tells which of `limits` it was.
fn ask(flow: &FlowReport, limits: LimitSet) -> Action {
    let id = &flow.flow;
    let (sender, receiver) = (id.src.ip(), id.dst.ip());
    let evidence = match limits.contains(Limit::SendBuffer) {
        true => {
            "`sndbuf_limited` is how long the buffer was full, as a share of the time in which anything was to be sent. Where it is \
             large, let the buffer grow: `sysctl net.ipv4.tcp_wmem` has its maximum, and an application that sets SO_SNDBUF must \
             ask for more. Where it is missing, the application is what is slow"
        }
        false => {
            "`notsent` is what the application has written and TCP has not sent yet. Where it is missing, the application is what is \
             slow; where it is there, `unacked` below `cwnd` shows that something else than the congestion window holds data back, as a \
             full line does"
        }
    };
    Action {
        commands: vec![format!("ss -tnmi state established dst {receiver}")],
        evidence: evidence.to_owned(),
        holds: "Linux since 4.10; other systems count nothing of the kind.",
        ..Action::new(
            ActionKind::Ask,
            format!(
                "On the sender of the data ({sender}), ask the kernel while the connection is open."
            ),
        )
    }
}

/// Nothing is proposed but `next`, which shows `what`.
fn not_known(what: &str, next: Action) -> NoAction {
    NoAction {
        why: Why::NotKnown,
        text: format!("No action is proposed, because not enough is known: {what}."),
        next: Some(next),
    }
}

/// The next capture: where, how long, how much of each packet.
fn capture(flow: &FlowReport) -> Action {
    let id = &flow.flow;
    let (sender, receiver) = (id.src.ip(), id.dst.ip());
    let other = match flow.vantage.vantage {
        Vantage::Sender => (receiver, "the receiver of the data", "receiver.pcap"),
        _ => (sender, "the sender of the data", "sender.pcap"),
    };
    let (where_, file) = (format!("at {} ({})", other.1, other.0), other.2);
    let more = if flow.blind.has(NotSeen::SackOptions) {
        ", with a longer snap length"
    } else if flow.blind.has(NotSeen::OneWay) {
        ", both directions of the traffic"
    } else if !flow.endpoints.syn_seen {
        ", begun before the connection is opened"
    } else {
        ""
    };
    // Headers with all options: 14 + 40 + 60 bytes, and as much again for a VLAN or a tunnel.
    let command = format!(
        "tcpdump -i IF -s 160 -G 60 -W 1 -w {file} 'tcp and host {sender} and host {receiver}'"
    );
    Action {
        commands: vec![command],
        evidence: "the other end shows what this one cannot; with captures of both at the same time, `inorder analyze --peer` compares \
                   them packet by packet"
            .to_owned(),
        ..Action::new(
            ActionKind::Capture,
            format!("Capture {where_} for a minute or the whole transfer{more}."),
        )
    }
}
