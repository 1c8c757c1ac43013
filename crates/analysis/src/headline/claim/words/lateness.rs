//! The words for what was late, and what it cost.

use inorder_detect::Lost;
use inorder_report::number::{count, percent, plural, time_u64};

use super::super::super::{of_arrived, share, was};

pub(super) fn late(
    (packets, at_most, of): (u64, Option<u64>, u64),
    most_ns: u64,
    discarded: u64,
    harmless: bool,
) -> String {
    let least = match at_most {
        None if (1..of).contains(&packets) => "at least ",
        _ => "",
    };
    let most = match most_ns {
        0 => String::new(),
        ns => format!(", by up to {}", time_u64(ns)),
    };
    let discarded = match discarded {
        0 => String::new(),
        n if n == packets => format!(
            "; the receiver discarded {}, since {} timestamp was too old",
            it(n),
            if n == 1 { "its" } else { "their" }
        ),
        n => format!(
            "; the receiver discarded {} of them, since their timestamps were too old",
            count(n)
        ),
    };
    let harmless = match harmless {
        true => "; the sender reduced its window for none of them",
        false => "",
    };
    format!(
        "{least}{} {} late{most}{discarded}{harmless}",
        of_arrived(packets, of),
        was(packets)
    )
}

pub(super) fn it(n: u64) -> &'static str {
    if n == 1 { "it" } else { "them" }
}

pub(super) fn mistaken(
    late: u64,
    (unneeded, reductions): (u64, u64),
    (spurious, retransmissions): (u64, u64),
    cost: Option<&Lost>,
) -> String {
    // How many each recovery mistook is not counted, but it repeats what it takes for lost.
    let taken = match (late, spurious) {
        (1, _) => "it",
        (late, spurious) if spurious >= late => "them",
        _ => "some of them",
    };
    format!(
        "the sender took {taken} for lost in {} of {} of its window; {} of {} {} unnecessary{}",
        count(unneeded),
        plural(reductions, "reduction"),
        count(spurious),
        plural(retransmissions, "retransmission"),
        was(spurious),
        cost_words(cost),
    )
}

/// What one cause made the sender do without need.
pub(super) fn misled(what: &str, (unneeded, all): (u64, u64), cost: Option<&Lost>) -> String {
    let reductions = match (unneeded, all) {
        (1, 1) => "the only reduction of its window was unnecessary".to_owned(),
        (n, all) => format!(
            "{} of {} of its window {} unnecessary for this reason",
            count(n),
            plural(all, "reduction"),
            was(n)
        ),
    };
    format!("{what}; {reductions}{}", cost_words(cost))
}

/// What the unnecessary reductions of its window cost.
fn cost_words(lost: Option<&Lost>) -> String {
    match lost {
        None => String::new(),
        Some(lost) => format!(", which cost {}", cost_of(lost)),
    }
}

/// An interval of the goodput in words: one that excludes little is said to say little.
pub(crate) fn cost_of(lost: &Lost) -> String {
    /// A share of the goodput for which an interval would say too much.
    const SMALL: f64 = 0.01;
    /// An interval from nothing to more than this says nothing.
    const SAYS_NOTHING: f64 = 0.3;
    match (lost.low, lost.high) {
        (low, high) if low <= 0.0 && high > SAYS_NOTHING => {
            "an unknown part of the goodput".to_owned()
        }
        (low, high) if low > 0.0 && high >= SMALL => format!(
            "about {} % of the goodput ({} % to {} %)",
            percent(lost.share),
            percent(low),
            percent(high)
        ),
        (_, high) => format!("at most {} % of the goodput", percent(high)),
    }
}

pub(super) fn not_reordering(
    (late, of): (u64, u64),
    of_all: bool,
    upstream: u64,
    at_most: Option<f64>,
) -> String {
    let packets = match late {
        0 if upstream > 0 => {
            return format!(
                "reordering is not the problem: {} and started no recovery",
                late_upstream(upstream)
            );
        }
        0 => return "reordering is not the problem: no late packet was seen".to_owned(),
        n => of_arrived(n, of),
    };
    let all = if of_all { " in all flows" } else { "" };
    let (was, harm) = (was(late), harm(at_most));
    format!("reordering is not the problem: {packets}{all} {was} late and {harm}")
}

/// None is known to be late, and `undecided` ones may have been.
pub(super) fn perhaps_late(undecided: u64, at_most: Option<f64>) -> String {
    let packets = plural(undecided, "packet");
    let harm = harm(at_most);
    format!("reordering is not the problem: {packets} may have been late and {harm}")
}

/// What late packets did that were not the problem.
fn harm(at_most: Option<f64>) -> String {
    match at_most {
        None => "started no recovery".to_owned(),
        Some(part) if part < 0.0005 => "took none of its time".to_owned(),
        Some(part) => format!("took at most {} % of its time", percent(part)),
    }
}

/// Retransmissions that were not needed.
pub(super) struct Repeated {
    /// Of what the receiver had taken.
    pub(super) spurious: u64,
    /// Of what it had discarded because it came late.
    pub(super) discarded: u64,
    /// Among as many retransmissions.
    pub(super) of: u64,
}

pub(super) fn part_reordering(
    late: u64,
    repeated: &Repeated,
    (caused, recoveries): (u64, u64),
    at_least: Option<f64>,
) -> String {
    let taken = match at_least.filter(|part| *part > 0.0) {
        Some(part) => format!(" and took at least {} of the time", share(part)),
        None => String::new(),
    };
    let mut facts = Vec::new();
    if caused > 0 {
        facts.push(format!(
            "late packets were taken for lost in {} of {}",
            count(caused),
            plural(recoveries, "recovery phase")
        ));
    }
    let of_all = |n: u64| {
        let all = plural(repeated.of, "retransmission");
        format!("{} of {all} repeated", count(n))
    };
    let late = plural(late, "late packet");
    let refused = "what the receiver had discarded";
    facts.extend(match (repeated.spurious, repeated.discarded) {
        (0, 0) => None,
        (0, n) => Some(format!("{} {refused}, with {late}", of_all(n))),
        (n, 0) => Some(format!("{} what had arrived, with {late}", of_all(n))),
        (n, more) => Some(format!(
            "{} what had arrived and {} {refused}, with {late}",
            of_all(n),
            count(more)
        )),
    });
    format!(
        "reordering had a part in it{taken}: {}",
        facts.join(", and ")
    )
}

/// Packets that were late on the first part of the path.
fn late_upstream(packets: u64) -> String {
    let n = plural(packets, "packet");
    format!("{n} {} late before the capture point", was(packets))
}

pub(super) fn open_reordering(late: u64, undecided: u64, upstream: u64) -> String {
    match (late, undecided) {
        (0, _) if upstream > 0 => format!(
            "{}, and whether any was late for the receiver is unknown",
            late_upstream(upstream)
        ),
        (0, _) => "whether packets of this flow arrived out of order is unknown".to_owned(),
        (late, 0) => format!("what {} cost is unknown", plural(late, "late packet")),
        (late, undecided) => format!(
            "whether reordering is a part of the problem is unknown: {} {} late, and {} undecided",
            plural(late, "packet"),
            was(late),
            match undecided {
                1 => "1 event is".to_owned(),
                n => format!("{} events are", count(n)),
            }
        ),
    }
}
