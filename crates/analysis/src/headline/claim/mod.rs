//! What the headline claims, with its numbers. A program can check each claim.

mod columns;
mod words;

use inorder_detect::{Cause, FlowId, Host, Icmp, Limit, Lost};

use super::held::Held;

pub(crate) use columns::CLAIM;
pub(crate) use words::cost_of;

/// One clause of the headline.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Claim {
    /// What a flow carried, how fast, over which path.
    Moved {
        /// Which flow.
        flow: FlowId,
        /// Payload.
        bytes: u64,
        /// Its rate, bits per second.
        bps: Option<u64>,
        /// The rate of the line as payload, bits per second.
        line_bps: Option<u64>,
        /// The shortest round trip, nanoseconds; only beside limits.
        rtt_ns: Option<i64>,
        /// How long the answer to the SYN took, if that was much longer than any round trip of data, nanoseconds: something near the sender acknowledges
        /// for the receiver, or that was slow to accept.
        handshake_ns: Option<i64>,
        /// It is named because it carried most.
        largest: bool,
        /// Some of it was sent again until the end and never acknowledged.
        in_vain: bool,
    },
    /// What held the flow back, where its life is not known in parts.
    Coarse {
        /// What.
        limit: Limit,
        /// How long the receiver's window was closed, nanoseconds.
        closed_ns: i64,
        /// How long the flow lasted, nanoseconds.
        lasted_ns: i64,
    },
    /// What held the flow back for a share of its life.
    Held(Held),
    /// The flow ended before anything but its start limited it.
    Short {
        /// Payload.
        bytes: u64,
        /// Share of its life until the connection was open.
        opening: f64,
        /// Share of its life during which the window grew from its start.
        start: f64,
        /// `start` with the time in which, as far as the capture shows, the window may have grown from its start, too.
        start_at_most: f64,
    },
    /// The last data passed long before the connection ended.
    Ended {
        /// How long before, nanoseconds.
        ns: i64,
        /// Share of its life.
        share: f64,
        /// The capture was made at the sender: elsewhere more may have been sent.
        at_sender: bool,
    },
    /// Packets were lost.
    Lost {
        /// Packets; 0 if retransmissions were needed and it is not known which packet was lost.
        packets: u64,
        /// The most that it may have been; `None` if the capture gives no bound.
        at_most: Option<u64>,
        /// Packets sent.
        of: u64,
        /// Retransmissions that were needed.
        needed: u64,
        /// Recoveries for losses while a queue was full, while none was, and without evidence for either.
        queue: [u64; 3],
        /// What ICMP says of them.
        icmp: Icmp,
        /// Recoveries for losses, and those of them after a time-out.
        recoveries: (u64, u64),
    },
    /// Packets were late.
    Late {
        /// Late packets, the discarded ones included.
        packets: u64,
        /// And at most; `None` if the capture gives no bound, as without SACK, which hides many.
        at_most: Option<u64>,
        /// Packets that arrived.
        of: u64,
        /// How late at most, nanoseconds.
        most_ns: u64,
        /// Of the late ones, discarded by the receiver because of their old timestamp.
        discarded: u64,
        /// Recoveries for them.
        recoveries: u64,
        /// The sender sent nothing again for them.
        harmless: bool,
    },
    /// Late packets were taken for lost.
    Mistaken {
        /// Late packets.
        late: u64,
        /// Recoveries for them that were unnecessary, and all recoveries.
        reductions: (u64, u64),
        /// Spurious retransmissions, and all of them.
        retransmissions: (u64, u64),
        /// Share of the goodput that this cost.
        cost: Option<Lost>,
    },
    /// Packets arrived outside the receiver's window and were discarded.
    Outside {
        /// Packets.
        packets: u64,
        /// Packets that arrived.
        of: u64,
    },
    /// Packets arrived and were reported, and then discarded (RFC 2018 section 8).
    Reneged {
        /// Packets.
        packets: u64,
        /// Packets that arrived.
        of: u64,
    },
    /// Something else than lost or late packets made the sender reduce its window.
    Misled {
        /// What.
        cause: Cause,
        /// Recoveries for it, and all recoveries.
        reductions: (u64, u64),
        /// Share of the goodput that this cost.
        cost: Option<Lost>,
    },
    /// Tail loss probes repeated what had arrived.
    Probes {
        /// Probes.
        sent: u64,
        /// Whether all of them repeated what had arrived is not known.
        undecided: bool,
    },
    /// The sender sent duplicates in advance.
    InAdvance {
        /// Packets.
        packets: u64,
    },
    /// Data was sent again to the end and never acknowledged.
    Unanswered {
        /// Packets.
        packets: u64,
        /// How often they were repeated.
        repeated: u64,
        /// By the retransmission timer.
        timer: bool,
        /// The capture was made beside the receiver, as far as is known: it was reached, and did not answer.
        beside: bool,
    },
    /// SYNs were sent again.
    Opening {
        /// SYNs.
        syns: u64,
        /// Time until the last of them, nanoseconds.
        waited_ns: i64,
    },
    /// The connection was reset while data was under way.
    Reset {
        /// By whom.
        by: Host,
        /// Packets that nothing had acknowledged.
        packets: u64,
        /// That host had closed its side before.
        closed_before: bool,
        /// Times to live of the reset and of that host's SYN, where something on the way sent the reset in its name.
        ttls: Option<(u8, u8)>,
    },
    /// Nothing answered the last keep-alives.
    Silence {
        /// Keep-alives.
        keep_alives: u64,
        /// From the first to the last, nanoseconds.
        ns: i64,
        /// The capture was made beside the host that does not answer.
        beside: bool,
    },
    /// FINs were sent again.
    Closing {
        /// FINs.
        fins: u64,
        /// Time until the last of them, nanoseconds.
        waited_ns: i64,
        /// One was acknowledged.
        acknowledged: bool,
    },
    /// Recoveries that the capture does not explain.
    Unexplained {
        /// Retransmissions.
        packets: u64,
        /// Recoveries.
        recoveries: u64,
        /// Time-outs.
        timeouts: u64,
        /// All that was repeated had arrived.
        in_vain: bool,
    },
    /// Nothing is known but that something is unclear.
    Unclear {
        /// Packets of which it is not known whether they were late, lost or neither.
        packets: u64,
    },
    /// Retransmissions without a recovery.
    Repeated {
        /// Retransmissions.
        total: u64,
        /// Of these, needed.
        needed: u64,
        /// Of these, undecided.
        undecided: u64,
    },
    /// The flow of the first sentence lost nothing, had nothing late and sent nothing again.
    Clean,
    /// Late packets are not what made the flow slow.
    NotReordering {
        /// Late packets.
        late: u64,
        /// Packets that arrived.
        of: u64,
        /// Whether those are of all flows.
        of_all: bool,
        /// Packets of the flow that may have been late, if none is known to be and they are more than a few.
        undecided: u64,
        /// Packets of the flow that were late before the capture point.
        upstream: u64,
        /// The most of its life that they can have taken; `None` where only counts are known.
        at_most: Option<f64>,
    },
    /// Late packets are a part of what made it slow.
    PartReordering {
        /// Late packets.
        late: u64,
        /// Retransmissions of what the receiver had taken, as the table counts them, and all of them.
        retransmissions: (u64, u64),
        /// Retransmissions of what it had discarded because it came late.
        discarded: u64,
        /// Recoveries for late packets, and all of them.
        recoveries: (u64, u64),
        /// Share of its life that they took at least.
        at_least: Option<f64>,
    },
    /// Whether late packets are a part of what made it slow is not known.
    OpenReordering {
        /// Late packets that are known.
        late: u64,
        /// Events and retransmissions that are undecided.
        undecided: u64,
        /// Packets that were late before the capture point.
        upstream: u64,
    },
    /// Late packets of other flows than the one of the first sentence, which harmed nothing.
    LateElsewhere {
        /// Late packets.
        late: u64,
        /// Flows that had them.
        flows: u64,
        /// The capture has no third flow.
        of_two: bool,
    },
    /// What else happened to the flow, by kind.
    Also {
        /// What is counted.
        counts: Vec<Counted>,
    },
    /// Nothing is wrong, or nothing is seen to be.
    Nothing {
        /// How sure that is.
        how: Nothing,
        /// TCP flows.
        flows: u64,
        /// Numbered streams.
        streams: u64,
        /// SYNs whose data was refused.
        refused_syns: u64,
        /// Packets that were sent again behind a reset of their receiver.
        behind_resets: u64,
    },
    /// A clause of another part of the capture: numbered streams, attempts to connect, doubts, what is not analysed.
    Other {
        /// Which part.
        about: About,
        /// The clause.
        text: String,
    },
}

/// Things of one kind: `3 of 9 retransmissions were spurious`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Counted {
    /// How many.
    pub n: u64,
    /// Of how many, where that says something.
    pub of: Option<u64>,
    /// What they are, as the word for one.
    pub noun: &'static str,
    /// What happened to them.
    pub state: &'static str,
}

/// How sure it is that nothing is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Nothing {
    /// No packet was lost, late or sent again, and nothing but the application, the line or the start limited the flows.
    NoProblem,
    /// No packet was lost, late or sent again, but something else limited a flow, or what did is not known.
    NothingLost,
    /// No packet was seen lost, late or sent again, but the capture does not show all of them.
    NoneVisible,
    /// As [`Self::NoneVisible`], and packets were missing when the capture ended.
    NoneKnown,
}

/// Of which part of the capture a clause speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum About {
    /// Numbered streams.
    Streams,
    /// Attempts to open connections.
    Attempts,
    /// All other flows and streams, in sums.
    Others,
    /// What limits the conclusions.
    Doubts,
    /// What is not analysed.
    Unread,
}

impl Claim {
    /// All kinds, in the order of the declaration; the parts of [`Claim::Other`] have names of their own.
    pub const KINDS: &'static [&'static str] = &[
        "moved",
        "coarse",
        "held",
        "short",
        "ended",
        "lost",
        "late",
        "mistaken",
        "outside-window",
        "reneged",
        "misled",
        "probes",
        "in-advance",
        "unanswered",
        "opening",
        "reset",
        "silence",
        "closing",
        "unexplained",
        "unclear",
        "repeated",
        "clean",
        "not-reordering",
        "part-reordering",
        "open-reordering",
        "late-elsewhere",
        "also",
        "no-problem",
        "nothing-lost",
        "none-visible",
        "none-known",
        "streams",
        "attempts",
        "others",
        "doubts",
        "unread",
    ];

    /// Its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::Moved { .. } => "moved",
            Claim::Coarse { .. } => "coarse",
            Claim::Held(_) => "held",
            Claim::Short { .. } => "short",
            Claim::Ended { .. } => "ended",
            Claim::Lost { .. } => "lost",
            Claim::Late { .. } => "late",
            Claim::Mistaken { .. } => "mistaken",
            Claim::Outside { .. } => "outside-window",
            Claim::Reneged { .. } => "reneged",
            Claim::Misled { .. } => "misled",
            Claim::Probes { .. } => "probes",
            Claim::InAdvance { .. } => "in-advance",
            Claim::Unanswered { .. } => "unanswered",
            Claim::Opening { .. } => "opening",
            Claim::Reset { .. } => "reset",
            Claim::Silence { .. } => "silence",
            Claim::Closing { .. } => "closing",
            Claim::Unexplained { .. } => "unexplained",
            Claim::Unclear { .. } => "unclear",
            Claim::Repeated { .. } => "repeated",
            Claim::Clean => "clean",
            Claim::NotReordering { .. } => "not-reordering",
            Claim::PartReordering { .. } => "part-reordering",
            Claim::OpenReordering { .. } => "open-reordering",
            Claim::LateElsewhere { .. } => "late-elsewhere",
            Claim::Also { .. } => "also",
            Claim::Nothing { how, .. } => match how {
                Nothing::NoProblem => "no-problem",
                Nothing::NothingLost => "nothing-lost",
                Nothing::NoneVisible => "none-visible",
                Nothing::NoneKnown => "none-known",
            },
            Claim::Other { about, .. } => match about {
                About::Streams => "streams",
                About::Attempts => "attempts",
                About::Others => "others",
                About::Doubts => "doubts",
                About::Unread => "unread",
            },
        }
    }
}
