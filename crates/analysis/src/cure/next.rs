//! Why nothing is proposed, and what to capture next.

use inorder_detect::limits::Limit;
use inorder_detect::{FlowReport, NotSeen, Vantage};

use super::{Action, ActionKind, path};
use crate::gravity::{Subject, troubled};
use crate::headline::Claim;
use crate::model::Analysis;
use crate::shares;

/// Which of two reasons it is that nothing is proposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// Nothing on hosts or network would make the flows faster.
    NothingHelps,
    /// Too little is known.
    NotKnown,
}

impl Why {
    /// All names, in the order of the declaration.
    pub const NAMES: &'static [&'static str] = &["nothing-helps", "not-known"];

    /// The name: lower case, words joined by `-`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
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
    let worst = troubled.first()?;
    let nothing_helps = |text: String| NoAction {
        why: Why::NothingHelps,
        text,
        next: None,
    };
    let Subject::Flow(flow) = worst else {
        let text = "No action is proposed: what this stream lacks or got late is no habit that a setting would cover.";
        return Some(nothing_helps(text.to_owned()));
    };
    if let Some(unclear) = path::unclear_losses(flows) {
        return Some(not_known(flow, &unclear));
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
    Some(not_known(flow, &missing(flow)))
}

/// Whether what went wrong took so little of the flow's life that no change would be noticed, and whether that is known.
fn harm(flow: &FlowReport) -> (bool, bool) {
    let limits = &flow.limits;
    if limits.life_ns() == 0 {
        let stops = flow.recoveries.total + flow.timeouts();
        return (stops <= 1 && flow.refused == 0, !flow.blind.any());
    }
    let slowed = |limit| !shares::harmless(limit);
    let surely = limits.share_where(|set| set.iter().all(slowed));
    let perhaps = limits.share_where(|set| set.iter().any(slowed)) - surely;
    let unknown = limits.share_where(|set| set.contains(Limit::Unknown));
    // A short transfer recovers once and is over.
    let once = flow.recoveries.total <= 1 && limits.share_of(Limit::PathDead.into()) == 0.0;
    let known = unknown < super::MIN_SHARE && (perhaps < super::MIN_SHARE || once);
    (surely < super::MIN_SHARE || once, known)
}

/// What held the largest flow, in the words of the headline.
fn held(claims: &[Claim]) -> String {
    let held = claims.iter().filter(|c| {
        matches!(
            c,
            Claim::Held(_) | Claim::Short { .. } | Claim::Ended { .. } | Claim::Coarse { .. }
        )
    });
    let held: Vec<String> = held.map(Claim::text).collect();
    match held.is_empty() {
        true => "nothing but its own length limited it".to_owned(),
        false => held.join("; "),
    }
}

/// What is not known.
fn missing(flow: &FlowReport) -> String {
    if let Some(what) = flow.blind.iter().next() {
        return what.sentence().to_owned();
    }
    let main = flow
        .limits
        .main()
        .filter(|share| share.limits.only().is_none());
    match main {
        Some(_) => "what limits the transfer does not show at this end".to_owned(),
        None if flow.retransmissions.ambiguous + flow.reordering.ambiguous > 0 => {
            "too much is undecided".to_owned()
        }
        None => "why the transfer was not faster does not show here".to_owned(),
    }
}

/// The next capture: where, how long, how much of each packet.
fn not_known(flow: &FlowReport, what: &str) -> NoAction {
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
    } else if !flow.syn_seen {
        ", begun before the connection is opened"
    } else {
        ""
    };
    // Headers with all options: 14 + 40 + 60 bytes, and as much again for a VLAN or a tunnel.
    let command = format!(
        "tcpdump -i IF -s 160 -G 60 -W 1 -w {file} 'tcp and host {sender} and host {receiver}'"
    );
    NoAction {
        why: Why::NotKnown,
        text: format!("No action is proposed, because not enough is known: {what}."),
        next: Some(Action {
            commands: vec![command],
            evidence:
                "the other end shows what this one cannot; with captures of both at the same time, \
                       `inorder analyze --peer` compares them packet by packet"
                    .to_owned(),
            ..Action::new(
                ActionKind::Capture,
                format!("Capture {where_} for a minute or the whole transfer{more}."),
            )
        }),
    }
}
