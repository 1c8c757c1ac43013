//! An action: what somebody can do, why, and what it will bring.

use inorder_base::named;
use inorder_report::columns;
use inorder_report::number::percent;

named! {
    /// What kind of action it is.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[non_exhaustive]
    pub enum ActionKind {
        /// The sender waits longer before it takes a packet for lost.
        WaitLonger = "wait-longer",
        /// The receiver sorts packets before TCP sees them.
        Sort = "sort",
        /// The network keeps the packets of a flow on one way.
        OneWay = "one-way",
        /// Selective acknowledgements are switched on.
        Sack = "sack",
        /// Timestamps and duplicate SACKs are switched on, so that the sender can undo reductions.
        Undo = "undo",
        /// The queue of the bottleneck is managed.
        Queue = "queue",
        /// Packets that fit the path.
        PathMtu = "path-mtu",
        /// The sender stays below the rate of a policer.
        Shape = "shape",
        /// A congestion control that does not take every loss for congestion.
        Control = "control",
        /// The receiver offers a larger window.
        Window = "window",
        /// Window scaling is switched on.
        Scaling = "scaling",
        /// The receiving application reads faster.
        Reader = "reader",
        /// The sender's socket buffer grows.
        SendBuffer = "send-buffer",
        /// The application sends sooner.
        Application = "application",
        /// The ends of messages do not wait for acknowledgements.
        NoDelay = "no-delay",
        /// The retransmission timer of a route is shortened or lengthened.
        Timer = "timer",
        /// What interrupted the path is found.
        Outage = "outage",
        /// It is found who reset the connection, and why.
        Reset = "reset",
        /// A receiver that checks numbers accepts later packets.
        ReplayWindow = "replay-window",
        /// A player waits longer before it plays.
        JitterBuffer = "jitter-buffer",
        /// The sender's kernel is asked what it waits for.
        Ask = "ask",
        /// Another capture, where what remains open can be seen.
        Capture = "capture",
    }
}

/// By how much goodput grows, as a share of what it is now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// No less than this.
    pub low: f64,
    /// No more than this.
    pub high: f64,
}

impl Gain {
    /// In words.
    pub fn words(&self) -> String {
        match (self.low, self.high) {
            (low, high) if high >= 1.0 => {
                let from = (1.0 + low).max(1.0);
                format!(
                    "expected to make it {from:.1} to {:.1} times as fast",
                    1.0 + high
                )
            }
            (low, high) => format!(
                "expected to make it {} % to {} % faster",
                percent(low.max(0.0)),
                percent(high)
            ),
        }
    }
}

/// What somebody can do.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Action {
    /// Its kind.
    pub kind: ActionKind,
    /// What to do, where: a sentence.
    pub advice: String,
    /// Commands that do it; empty if there is no single one.
    pub commands: Vec<String>,
    /// What speaks for it: a sentence with counts and quantiles.
    pub evidence: String,
    /// For which kernels and under which conditions it holds: a sentence; empty if for all.
    pub holds: &'static str,
    /// What it does to other connections of the host: a sentence; empty if nothing.
    pub warning: &'static str,
    /// What it brings; `None` if that is unknown.
    pub gain: Option<Gain>,
    /// True if what was seen makes sure that it helps; false if it may.
    pub sure: bool,
    /// What must have held the flow, where that is uncertain; the action helps against nothing else.
    pub only_if: Option<&'static str>,
    /// Flows (or numbered streams) it is for.
    pub flows: u64,
}

impl Action {
    /// Selective acknowledgements, which the connection lacks.
    pub(super) fn sack() -> Action {
        Action {
            commands: vec!["sysctl -w net.ipv4.tcp_sack=1 net.ipv4.tcp_dsack=1".to_owned()],
            warning: "The setting is for all new connections of the host.",
            ..Action::new(
                ActionKind::Sack,
                "Switch selective acknowledgements on, at both ends.",
            )
        }
    }

    /// An action of which only the advice is known.
    pub(super) fn new(kind: ActionKind, advice: impl Into<String>) -> Action {
        Action {
            kind,
            advice: advice.into(),
            commands: Vec::new(),
            evidence: String::new(),
            holds: "",
            warning: "",
            gain: None,
            sure: false,
            only_if: None,
            flows: 1,
        }
    }

    /// What to expect, in words.
    pub fn expectation(&self) -> String {
        if let Some(noun) = self.only_if {
            return format!("may help if {noun} held the transfer back, which is uncertain");
        }
        match (&self.gain, self.sure) {
            (Some(gain), _) => gain.words(),
            (None, true) => "expected to help, by how much is unknown".to_owned(),
            (None, false) => "may help".to_owned(),
        }
    }
}

columns! {
    /// What is said of an action.
    pub ACTION: Action, |a|
    "kind": Choice(ActionKind::NAMES), "What kind of action it is." => a.kind.name();
    "advice": Text, "What to do, and where." => &a.advice;
    "commands": List(inorder_report::Element::Text), "Commands that do it." => a.commands.clone();
    "evidence": Text, "What speaks for it." => &a.evidence;
    "holds": Text, "For which kernels and under which conditions it holds; empty if for all." => a.holds;
    "warning": Text, "What it does to other connections of the host; empty if nothing." => a.warning;
    "expected": Text, "What to expect, in words." => a.expectation();
    "gain": Maybe(GAIN), "By how much goodput grows, as a share of what it is." => a.gain.as_ref();
    "sure": Flag, "What was seen makes sure that it helps." => a.sure;
    "flows": Count, "Flows or numbered streams it is for." => a.flows;
}

columns! {
    GAIN: Gain, |g|
    "low": Share, "No less than this." => g.low;
    "high": Share, "No more than this." => g.high;
}
