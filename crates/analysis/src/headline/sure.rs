//! How sure a clause on what held a flow back is.
//!
//! What the analysis itself shows of a clause, its properties, gives it a chance to be false: a logistic regression over the clauses of 1,300 drawn
//! transfers from three places each. This file alone decides which property a clause has: JSON lists their names beside each clause (`evidence`),
//! and `testdata/lab/confidence` computes the points from those. A clause with a larger chance than a bound says that it is uncertain.

use inorder_detect::{Cause, FlowReport};
use inorder_limits::{Limit, LimitSet};

use crate::shares::{self, Part};

/// A clause is uncertain if the logarithm of its odds to be false is larger: more than one in five like it is false. Of those clauses three
/// in ten are false, of the others one in 20, and they tell 4 % of the time.
const MAX_LOG_ODDS: f64 = -1.33;

/// Logarithm of the odds to be false that all clauses have, and what is added to it by the names of the limits.
const ALL: f64 = -2.40;
const BY_NAMES: [(LimitSet, f64); 18] = [
    (LimitSet::of(&[Limit::Handshake]), -0.22),
    (LimitSet::of(&[Limit::Start]), -0.40),
    (LimitSet::of(&[Limit::Application]), 0.43),
    (LimitSet::of(&[Limit::Application, Limit::Line]), 0.30),
    (LimitSet::of(&[Limit::Application, Limit::SendBuffer]), 0.11),
    (
        LimitSet::of(&[Limit::Application, Limit::SendBuffer, Limit::Line]),
        -0.50,
    ),
    (
        LimitSet::of(&[Limit::Application, Limit::TimerNeeded]),
        0.79,
    ),
    (LimitSet::of(&[Limit::SendBuffer]), -0.04),
    (LimitSet::of(&[Limit::ReceiverWindow]), -0.37),
    (LimitSet::of(&[Limit::Line]), -1.42),
    (LimitSet::of(&[Limit::Line, Limit::WindowNeeded]), 1.20),
    (LimitSet::of(&[Limit::WindowNeeded]), -0.64),
    (LimitSet::of(&[Limit::WindowUnneeded]), 0.39),
    (
        LimitSet::of(&[Limit::WindowNeeded, Limit::WindowUnneeded]),
        0.08,
    ),
    (LimitSet::of(&[Limit::TimerNeeded]), -0.08),
    (
        LimitSet::of(&[Limit::TimerNeeded, Limit::TimerUnneeded]),
        0.19,
    ),
    (LimitSet::of(&[Limit::TimerNeeded, Limit::PathDead]), -0.03),
    (
        LimitSet::of(&[Limit::TimerUnneeded, Limit::PathDead]),
        -0.59,
    ),
];
/// By other names, of which fewer than 40 clauses were drawn each.
const BY_OTHER_NAMES: f64 = 0.80;

/// Number of recoveries whose verdicts agree by more than chance.
const MIN_AGREEING_RECOVERIES: u64 = 10;
/// Maximum number of late packets for each spurious retransmission. Beyond it they are due to jitter, which seldom misleads a sender.
const MAX_LATE_PER_REPEATED: u64 = 10;

/// A clause, and what is known of its flow.
struct Clause<'a> {
    names: LimitSet,
    kind: Kind,
    clauses: usize,
    flow: &'a FlowReport,
}

/// What a clause speaks of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A timer, a dead path, or a window that was reduced with need.
    Losses,
    /// A window that may have been reduced without need.
    Unneeded,
    /// The sender's application or its buffer.
    Own,
    /// Anything else.
    Other,
}

impl Kind {
    fn of(names: LimitSet) -> Kind {
        let any = |limits: &[Limit]| limits.iter().any(|limit| names.contains(*limit));
        if any(&[Limit::TimerNeeded, Limit::TimerUnneeded, Limit::PathDead]) {
            Kind::Losses
        } else if any(&[Limit::WindowUnneeded]) {
            Kind::Unneeded
        } else if any(&[Limit::WindowNeeded]) {
            Kind::Losses
        } else if any(&[Limit::Application, Limit::SendBuffer]) {
            Kind::Own
        } else {
            Kind::Other
        }
    }
}

/// Something that speaks for a clause or against it.
struct Property {
    /// As JSON names it.
    name: &'static str,
    holds: fn(&Clause<'_>) -> bool,
    /// What it adds to the logarithm of the odds.
    points: f64,
}

const PROPERTIES: [Property; 7] = [
    Property {
        name: "own-alone",
        holds: |c| c.kind == Kind::Own && c.clauses == 1,
        points: -0.92,
    },
    // What holds a sender up in part looks like its application or its buffer.
    Property {
        name: "own-beside-others",
        holds: |c| c.kind == Kind::Own && c.clauses > 1,
        points: 1.09,
    },
    Property {
        name: "other-alone",
        holds: |c| c.kind == Kind::Other && c.clauses == 1,
        points: -0.85,
    },
    // Each pause ended after data of the other end had come.
    Property {
        name: "awaited",
        holds: |c| c.names == Limit::Application.into() && shares::awaits(c.flow),
        points: -0.70,
    },
    // Verdicts on many recoveries that agree.
    Property {
        name: "many-recoveries",
        holds: |c| {
            let judged = |limit: Limit| {
                let needed = matches!(limit, Limit::WindowNeeded | Limit::TimerNeeded);
                needed || limit.is_unneeded()
            };
            c.names.iter().any(judged) && c.flow.recoveries.total >= MIN_AGREEING_RECOVERIES
        },
        points: -0.80,
    },
    // Without SACK late packets are counted only as far as duplicate acknowledgements show them.
    Property {
        name: "unneeded-without-sack",
        holds: |c| c.kind == Kind::Unneeded && !c.flow.endpoints.sack,
        points: 0.37,
    },
    Property {
        name: "unneeded-of-many-late",
        holds: |c| {
            let again = c
                .flow
                .retransmissions
                .spurious
                .saturating_mul(MAX_LATE_PER_REPEATED);
            c.kind == Kind::Unneeded && c.flow.late() > again
        },
        points: 0.60,
    },
];

/// Which of [`PROPERTIES`] a clause has.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Evidence(u32);

impl Evidence {
    /// Of the clause that names `names`, one of `clauses` on `flow`.
    pub(super) fn of(names: LimitSet, clauses: usize, flow: &FlowReport) -> Evidence {
        let kind = Kind::of(names);
        let clause = Clause {
            names,
            kind,
            clauses,
            flow,
        };
        let held = PROPERTIES.iter().enumerate();
        let held = held.filter(|(_, property)| (property.holds)(&clause));
        Evidence(held.fold(0, |all, (bit, _)| all | 1 << bit))
    }

    fn properties(self) -> impl Iterator<Item = &'static Property> {
        let all = PROPERTIES.iter().enumerate();
        all.filter(move |(bit, _)| self.0 >> bit & 1 == 1)
            .map(|(_, property)| property)
    }

    /// The names of what speaks for the clause or against it.
    pub(crate) fn names(self) -> Vec<String> {
        self.properties().map(|p| p.name.to_owned()).collect()
    }

    /// True if clauses like it, with these names, are seldom false.
    pub(super) fn is_sure(self, names: LimitSet) -> bool {
        let by_names = BY_NAMES.iter().find(|(own, _)| *own == names);
        let by_names = by_names.map_or(BY_OTHER_NAMES, |(_, points)| *points);
        let points: f64 = self.properties().map(|property| property.points).sum();
        ALL + by_names + points <= MAX_LOG_ODDS
    }
}

/// What the sentence calls `part`. A time-out repeats what was lost, or what had arrived before the delay jumped or its acknowledgement was
/// lost. If no more packets were lost than the sender recovered from, losses do not show elsewhere, and it is open what a timer was for: of
/// such clauses on losses two in five were false, of those on a timer whose need is open one in fifty.
pub(super) fn reserved(part: &Part, flow: &FlowReport) -> LimitSet {
    let few = flow.originals.lost.saturating_add(flow.originals.refused) <= flow.recoveries.total;
    let seldom = flow.recoveries.total < MIN_AGREEING_RECOVERIES;
    let after_few = few && seldom && flow.timeouts() > 0 && !is_unanswered(flow);
    let needed = [
        (Limit::TimerNeeded, Limit::TimerUnneeded),
        (Limit::WindowNeeded, Limit::WindowUnneeded),
    ];
    let open = needed
        .iter()
        .filter(|(needed, _)| part.limits.contains(*needed));
    let open = open.map(|(_, unneeded)| *unneeded);
    match after_few {
        true => LimitSet::of(&part.limits.iter().chain(open).collect::<Vec<Limit>>()),
        false => part.limits,
    }
}

/// What was sent last was repeated until the end, and never acknowledged.
fn is_unanswered(flow: &FlowReport) -> bool {
    flow.recoveries.of(Cause::Unanswered).recoveries > 0
}
