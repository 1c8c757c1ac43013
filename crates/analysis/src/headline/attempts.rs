//! Connections that were never opened, as a clause.

use inorder_detect::{Attempt, Attempts, Outcome};
use inorder_report::number::{count, plural};

use super::was;

/// How attempts to open connections failed.
pub(super) fn wrong(attempts: &Attempts) -> String {
    let failed = attempts.failed();
    let all = plural(failed, "connection attempt");
    format!(
        "{all}{} failed: {}{}",
        ends(attempts),
        how(attempts, failed),
        again(attempts)
    )
}

/// How attempts failed in a few words, for a headline that begins with other troubles.
pub(super) fn besides(attempts: &Attempts) -> Option<String> {
    let failed = attempts.failed();
    (failed > 0).then(|| {
        let all = plural(failed, "connection attempt");
        format!("{all} failed ({})", how(attempts, failed))
    })
}

/// From whom to whom, if that is the same for all.
fn ends(attempts: &Attempts) -> String {
    let failed = |a: &&Attempt| !matches!(a.outcome, Outcome::Open | Outcome::Traced);
    let listed: Vec<&Attempt> = attempts.list.iter().filter(failed).collect();
    if listed.len() as u64 != attempts.failed() {
        return String::new();
    }
    let one = |same: &dyn Fn(&Attempt) -> String| {
        let first = listed.first().map(|a| same(a));
        first.filter(|first| listed.iter().all(|a| same(a) == *first))
    };
    let from = one(&|a| a.src.ip().to_string());
    let to = one(&|a| a.dst.to_string()).or_else(|| one(&|a| a.dst.ip().to_string()));
    let from = from.map_or_else(String::new, |from| format!(" from {from}"));
    let to = to.map_or_else(String::new, |to| format!(" to {to}"));
    format!("{from}{to}")
}

fn how(attempts: &Attempts, failed: u64) -> String {
    let words = [
        (Outcome::Unanswered, "nothing answered", "without an answer"),
        (
            Outcome::Refused,
            "the other host refused with a reset",
            "refused with a reset",
        ),
        (
            Outcome::Unreachable,
            "ICMP says that the other host cannot be reached",
            "unreachable, as ICMP says",
        ),
        (
            Outcome::Unfinished,
            "the SYN was answered, and its sender went no further",
            "answered and not taken further",
        ),
        (
            Outcome::Cancelled,
            "the SYN was answered, and its sender reset that: a scan, or a client that had given up",
            "cancelled after the answer",
        ),
    ];
    let all = words.iter().find(|(of, ..)| attempts.of(*of) == failed);
    if let Some((_, all, _)) = all {
        return (*all).to_owned();
    }
    let some = words.iter().map(|(of, _, some)| (attempts.of(*of), some));
    let some = some.filter(|(n, _)| *n > 0);
    let some: Vec<String> = some.map(|(n, how)| format!("{} {how}", count(n))).collect();
    some.join(", ")
}

fn again(attempts: &Attempts) -> String {
    match attempts.syns_again {
        0 => String::new(),
        n => format!(", and {} {} sent again", plural(n, "SYN"), was(n)),
    }
}
