//! The parts of a flow's life that a sentence names.

use inorder_limits::{Limit, LimitSet, Limits};

use super::{MIN_NAMED, Part, end_ns, joined, parts_as};

/// Parts that make up this share of the life say enough.
const ENOUGH: f64 = 0.8;
/// The most parts that a sentence names.
const MAX_NAMED: usize = 3;

/// And the most limits of a part: more names say no more than the first one with its bounds.
const MAX_NAMES: usize = 3;

/// Parts that may have been a limit named beside them are its upper bound, if it is the only one of theirs that is named. Where they are
/// longer than it is, the limit is one of those that cannot be distinguished: what it alone explains is the smaller share.
fn without_what_bounds(parts: &[Part]) -> Vec<Part> {
    let proper: Vec<Part> = parts
        .iter()
        .copied()
        .filter(|p| p.limits.only().is_some() && p.share >= MIN_NAMED)
        .collect();
    let bounded = |part: &Part| {
        let within = |one: &&Part| one.limits.iter().all(|l| part.limits.contains(l));
        let mut named = proper.iter().filter(within);
        let one = named.next().copied();
        one.filter(|_| part.limits.only().is_none() && named.next().is_none())
    };
    let mut kept: Vec<Part> = Vec::new();
    for part in parts.iter().filter(|part| bounded(part).is_none()) {
        let perhaps: Vec<&Part> = parts
            .iter()
            .filter(|other| bounded(other).is_some_and(|one| one.limits == part.limits))
            .collect();
        kept.push(one_of(part, &perhaps));
    }
    kept.sort_by(|a, b| b.at_most.total_cmp(&a.at_most));
    kept
}

/// A limit with what it may have been besides, `perhaps`: itself, or where that is longer, one of all of them, if they are few.
fn one_of(part: &Part, perhaps: &[&Part]) -> Part {
    let open: f64 = perhaps.iter().map(|other| other.share).sum();
    let all = perhaps.iter().flat_map(|other| other.limits.iter());
    let limits = LimitSet::of(&all.collect::<Vec<Limit>>());
    if open <= part.share || limits.iter().count() > MAX_NAMES {
        return *part;
    }
    let share = part.share + open;
    Part {
        limits,
        share,
        at_most: share.max(part.at_most),
        ns: part.ns + perhaps.iter().map(|other| other.ns).sum::<i64>(),
    }
}

/// A buffer or the line, if no acknowledgement shows which: an application that writes at a pace of its own keeps as much in flight. Of 66
/// drawn transfers of which a sentence named only these two, 25 were an application's.
fn with_its_own_pace(set: LimitSet) -> LimitSet {
    const FULL: LimitSet = LimitSet::of(&[Limit::SendBuffer, Limit::Line]);
    match joined(set) {
        FULL => LimitSet::of(&[Limit::Application, Limit::SendBuffer, Limit::Line]),
        other => other,
    }
}

/// The parts worth a word in a sentence, in which what the capture leaves open twice, with a limit that both have in common, is named once: the rules
/// that kept them apart are no surer than those that left each of them open. `reserved` adds names to a part that its verdicts leave open.
pub(crate) fn told(limits: &Limits, reserved: impl Fn(&Part) -> LimitSet) -> Vec<Part> {
    let mut told = worth_a_word(&parts_as(limits, with_its_own_pace), limits);
    for part in &mut told {
        part.limits = reserved(part);
    }
    while let Some((first, second)) = in_common(&told) {
        let other = told.remove(second);
        if let Some(one) = told.get_mut(first) {
            one.share += other.share;
            one.at_most = one.share;
            one.ns = one.ns.saturating_add(other.ns);
            one.limits = union(one, &other);
        }
        told.sort_by(|a, b| b.at_most.total_cmp(&a.at_most));
    }
    told
}

fn union(one: &Part, other: &Part) -> LimitSet {
    LimitSet::of(
        &one.limits
            .iter()
            .chain(other.limits.iter())
            .collect::<Vec<Limit>>(),
    )
}

/// The first two parts that are open and share a limit, if a sentence can name all of theirs.
fn in_common(told: &[Part]) -> Option<(usize, usize)> {
    let open = |part: &Part| part.limits.only().is_none();
    let shared = |one: &Part, other: &Part| {
        let both = one.limits.iter().any(|limit| other.limits.contains(limit));
        both && open(one) && open(other) && union(one, other).iter().count() <= MAX_NAMES
    };
    let pairs = told.iter().enumerate().flat_map(|(i, one)| {
        let behind = told.iter().enumerate().skip(i + 1);
        behind.map(move |(k, other)| (i, k, one, other))
    });
    let found = pairs
        .into_iter()
        .find(|(_, _, one, other)| shared(one, other));
    found.map(|(first, second, ..)| (first, second))
}

/// The parts worth a word: the longest, until most of the life is explained.
fn worth_a_word(parts: &[Part], limits: &Limits) -> Vec<Part> {
    let mut explained = end_ns(limits) as f64 / limits.life_ns().max(1) as f64;
    let mut named = Vec::new();
    for part in without_what_bounds(parts) {
        if part.share < MIN_NAMED || explained >= ENOUGH || named.len() == MAX_NAMED {
            continue;
        }
        explained += part.at_most;
        named.push(part);
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::bound;

    fn part(limits: &[Limit], share: f64) -> Part {
        Part {
            limits: LimitSet::of(limits),
            share,
            at_most: share,
            ns: 0,
        }
    }

    #[test]
    fn what_a_capture_leaves_open_bounds_the_limit_that_is_named() {
        let either = [Limit::Application, Limit::SendBuffer];
        let mut parts = vec![part(&[Limit::Application], 0.5), part(&either, 0.4)];
        bound(&mut parts);
        let kept = without_what_bounds(&parts);
        assert_eq!((kept.len(), kept[0].limits), (1, Limit::Application.into()));
        assert!((kept[0].at_most - 0.9).abs() < 1e-9);
        // Where more is open than it is known to be, it is one of those that cannot be distinguished.
        let mut parts = vec![part(&either, 0.7), part(&[Limit::Application], 0.2)];
        bound(&mut parts);
        let kept = without_what_bounds(&parts);
        assert_eq!((kept.len(), kept[0].limits), (1, LimitSet::of(&either)));
        assert!((kept[0].share - 0.9).abs() < 1e-9);
    }

    #[test]
    fn what_is_left_open_twice_with_one_limit_in_common_is_told_once() {
        let mut limits = Limits::default();
        limits.ended_ns = 100;
        let share = |limits: &[Limit], ns| inorder_limits::Share {
            limits: LimitSet::of(limits),
            ns,
            confidence: inorder_detect::Confidence::Likely,
        };
        limits.shares = vec![
            share(&[Limit::Application, Limit::Line], 45),
            share(&[Limit::Application, Limit::SendBuffer], 40),
            share(&[Limit::Start], 15),
        ];
        let all = LimitSet::of(&[Limit::Application, Limit::SendBuffer, Limit::Line]);
        let told = told(&limits, |part| part.limits);
        assert_eq!((told.len(), told[0].limits, told[0].ns), (1, all, 85));
        // A buffer that looks like the line may be the pace of an application.
        limits.shares = vec![share(&[Limit::SendBuffer, Limit::Line], 85)];
        assert_eq!(super::told(&limits, |part| part.limits)[0].limits, all);
        // Four names are too many for a sentence.
        limits.shares = vec![
            share(&[Limit::Application, Limit::Line], 45),
            share(
                &[Limit::Line, Limit::WindowNeeded, Limit::WindowUnneeded],
                40,
            ),
        ];
        assert_eq!(super::told(&limits, |part| part.limits).len(), 2);
    }
}
