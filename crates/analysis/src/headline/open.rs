//! The words where a capture leaves open what held a flow back, or where it is uncertain.

use inorder_detect::Vantage;
use inorder_limits::{Limit, LimitSet};
use inorder_report::number::time;

use super::held::{Held, Why, between, bounds};

/// What shows which of several limits it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Teller {
    /// The counters of the sender's kernel: no packet shows it.
    SenderKernel,
    /// A capture at the sender.
    SenderCapture,
    /// A capture at the receiver.
    ReceiverCapture,
}

impl Teller {
    /// Of limits that a capture made at `vantage` leaves open.
    pub(crate) fn of(limits: LimitSet, vantage: Vantage) -> Teller {
        const UNSENT: LimitSet = LimitSet::of(&[Limit::Application, Limit::SendBuffer]);
        // Whether data arrived decides these.
        let arrival = |limit| {
            matches!(
                limit,
                Limit::TimerNeeded
                    | Limit::TimerUnneeded
                    | Limit::PathDead
                    | Limit::WindowNeeded
                    | Limit::WindowUnneeded
            )
        };
        let arrivals = limits.iter().all(arrival);
        match vantage {
            _ if limits == UNSENT => Teller::SenderKernel,
            Vantage::Sender if arrivals => Teller::ReceiverCapture,
            Vantage::Sender => Teller::SenderKernel,
            _ => Teller::SenderCapture,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Teller::SenderKernel => "the sender's kernel",
            Teller::SenderCapture => "a capture at the sender",
            Teller::ReceiverCapture => "a capture at the receiver",
        }
    }
}

/// What it may have been, where this capture cannot tell.
pub(super) fn one_of_several(held: &Held) -> String {
    let part = format!("{} of the time", bounds(&held.part));
    let limits = held.part.limits;
    let Some(nouns) = nouns(held) else {
        return format!("what held it back for {part} is unknown");
    };
    if is_wait(limits) {
        let expiries = held.expiries();
        let dead = match limits.contains(Limit::PathDead) {
            true => ", or the path was dead,",
            false => "",
        };
        let ns = time(held.part.ns);
        return format!("it waited for its retransmission timer{dead} for {ns} ({part}{expiries})");
    }
    let teller = Teller::of(limits, held.vantage).words();
    format!("for {part} {nouns} held it back ({teller} would tell which)")
}

/// A timer, whether it was needed or not, or a path on which nothing but timers sends.
pub(crate) fn is_wait(limits: LimitSet) -> bool {
    let mut all = limits.iter();
    all.all(|limit| {
        matches!(
            limit,
            Limit::TimerNeeded | Limit::TimerUnneeded | Limit::PathDead
        )
    })
}

/// What clauses that are often false seem to say, as one clause: the longest first.
pub(super) fn uncertain(all: &[&Held]) -> String {
    let sum = |of: fn(&Held) -> f64| all.iter().map(|held| of(held)).sum::<f64>().min(1.0);
    let part = between(sum(|held| held.part.share), sum(|held| held.part.at_most));
    let known: Vec<(&&Held, String)> = all
        .iter()
        .filter_map(|held| nouns(held).map(|nouns| (held, nouns)))
        .collect();
    let each: Vec<String> = known
        .iter()
        .map(|(held, nouns)| match all.len() {
            1 => nouns.clone(),
            _ => format!("{nouns} ({})", bounds(&held.part)),
        })
        .collect();
    match each.is_empty() {
        true => format!("what held it back for {part} of the time is unknown"),
        false => format!(
            "what held it back for {part} of the time is uncertain, perhaps {}",
            listed(&each, "and")
        ),
    }
}

/// The limits as nouns, joined by "or"; `None` if they are unknown.
fn nouns(held: &Held) -> Option<String> {
    let limits = held.part.limits;
    if limits.contains(Limit::Unknown) || limits.iter().next().is_none() {
        return None;
    }
    let open = |needed, unneeded| limits.contains(needed) && limits.contains(unneeded);
    let either_window = open(Limit::WindowNeeded, Limit::WindowUnneeded);
    let either_timer = open(Limit::TimerNeeded, Limit::TimerUnneeded);
    let mut all: Vec<&str> = limits
        .iter()
        .map(|limit| match limit {
            Limit::WindowNeeded | Limit::WindowUnneeded if either_window => {
                "a congestion window reduced after losses or without need"
            }
            Limit::TimerNeeded | Limit::TimerUnneeded if either_timer => "a retransmission timer",
            other => noun(other, held.why),
        })
        .collect();
    all.dedup();
    let all: Vec<String> = all.into_iter().map(str::to_owned).collect();
    Some(listed(&all, "or"))
}

/// `a`, `a or b`, `a, b or c`; before "and", which joins what has an "or" within, there is a comma.
fn listed(all: &[String], word: &str) -> String {
    let comma = if word == "and" { "," } else { "" };
    match all.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("{}{comma} {word} {last}", before.join(", "))
        }
        _ => all.concat(),
    }
}

/// The limit as a noun.
pub(crate) fn noun(limit: Limit, why: Why) -> &'static str {
    match limit {
        Limit::Handshake => "the opening of the connection",
        Limit::Start => "slow start",
        Limit::Application => "an idle sending application",
        Limit::SendBuffer => "a full send buffer",
        Limit::ReceiverWindow => "a full window of the receiver",
        Limit::Line => "a full line",
        Limit::WindowNeeded | Limit::RecoveryNeeded => match why {
            Why::Losses => "a congestion window reduced after losses",
            Why::Discards => "a congestion window reduced after the receiver had discarded packets",
            Why::Marks => "a congestion window reduced after congestion marks (ECN)",
        },
        Limit::WindowUnneeded | Limit::RecoveryUnneeded => {
            "a congestion window reduced without need"
        }
        Limit::TimerNeeded => "a retransmission timer after losses",
        Limit::TimerUnneeded => "a retransmission timer although everything had arrived",
        Limit::PathDead => "a dead path",
        _ => "something unknown",
    }
}
