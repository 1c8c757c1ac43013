//! What the inference is meant to reach on every kind of path, and where it falls short.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::count::{About, Counts, Found, Sure, share};
use super::truth::Fate;

/// A measure of one kind of path, and what it is meant to be.
struct Aim {
    measure: &'static str,
    reached: Option<f64>,
    aim: f64,
    /// Of how many.
    of: u64,
    /// It is not to be more, instead of not less.
    at_most: bool,
}

impl Aim {
    fn is_missed(&self) -> bool {
        self.reached.is_some_and(|reached| match self.at_most {
            true => reached > self.aim && self.of >= ENOUGH,
            false => reached < self.aim,
        })
    }
}

/// Below this number of statements nothing is said of what must not be too true, nor of single traits.
const ENOUGH: u64 = 100;
/// Maximum share of the ambiguous statements that may be true: with more, they would be likely.
const AMBIGUOUS: f64 = 0.9;
/// Share of the reported causes that must be right.
const CAUSES: f64 = 0.95;
/// Share of the reported vantage points that must be right.
const VANTAGE: f64 = 0.99;

fn aim(measure: &'static str, reached: Option<f64>, aim: f64, of: u64) -> Aim {
    Aim {
        measure,
        reached,
        aim,
        of,
        at_most: false,
    }
}

/// From the sender's side. Without SACK what was late shows only at the left edge of the window:
/// there is an aim for precision, none for recall.
fn sender(kind: &str, c: &Counts) -> Vec<Aim> {
    let mut aims = vec![
        aim(
            "reordered, precision",
            c.reordered.precision(),
            0.97,
            c.reordered.told,
        ),
        aim(
            "spurious, precision",
            c.spurious.precision(),
            0.97,
            c.spurious.told,
        ),
        aim(
            "causes right",
            share(c.causes_right, c.recoveries),
            0.95,
            c.recoveries,
        ),
    ];
    let both = |f: &Found| f.truth.max(f.told);
    if kind != "no-sack" {
        let f1 = if kind == "no-dsack" { 0.90 } else { 0.97 };
        aims.push(aim(
            "reordered, F1",
            c.reordered.f1(),
            f1,
            both(&c.reordered),
        ));
        aims.push(aim("lost, F1", c.lost.f1(), 0.98, both(&c.lost)));
    }
    aims.extend(confidences(c));
    aims
}

fn receiver(c: &Counts) -> Vec<Aim> {
    let reordered = &c.reordered;
    let mut aims = vec![
        aim(
            "reordered, F1",
            reordered.f1(),
            0.995,
            reordered.truth.max(reordered.told),
        ),
        aim("extents exact", share(c.exact, c.extents), 1.0, c.extents),
    ];
    aims.extend(confidences(c));
    aims
}

fn confidences(c: &Counts) -> Vec<Aim> {
    let names = [
        (
            About::Event(Fate::Reordered),
            "reordered, certain",
            "reordered, likely",
            "reordered, ambiguous",
        ),
        (
            About::Event(Fate::Lost),
            "lost, certain",
            "lost, likely",
            "lost, ambiguous",
        ),
        (
            About::Event(Fate::Refused),
            "refused, certain",
            "refused, likely",
            "refused, ambiguous",
        ),
        (
            About::Spurious,
            "spurious, certain",
            "spurious, likely",
            "spurious, ambiguous",
        ),
    ];
    let sure = |about, sure| {
        let t = c.trust.get(&(about, sure)).copied().unwrap_or_default();
        (share(t.right, t.told), t.told)
    };
    let (exact, of) = sure(About::Extent, Sure::Certain);
    let mut out = vec![aim("extents, certain", exact, 0.999, of)];
    for (about, certain, likely, ambiguous) in names {
        for (how, name, least) in [
            (Sure::Certain, certain, 0.999),
            (Sure::Likely, likely, 0.95),
        ] {
            let (right, of) = sure(about, how);
            out.push(aim(name, right, least, of));
        }
        let (right, of) = sure(about, Sure::Ambiguous);
        out.push(Aim {
            at_most: true,
            ..aim(ambiguous, right, AMBIGUOUS, of)
        });
    }
    out
}

/// Every measure below its aim, as a table.
pub(crate) fn short(
    senders: &[(String, Counts)],
    receivers: &[(String, Counts)],
    middle: &[(String, Counts)],
) -> String {
    let mut out =
        "| side | kind of path | measure | reached | aim | of |\n|---|---|---|--:|--:|--:|\n"
            .to_owned();
    let of_sender = senders
        .iter()
        .map(|(kind, c)| ("sender", kind, sender(kind, c)));
    let of_receiver = receivers
        .iter()
        .map(|(kind, c)| ("receiver", kind, receiver(c)));
    // On the path a capture tells what a sender's would, of what passes it.
    let on_path = middle
        .iter()
        .map(|(kind, c)| ("path", kind, sender(kind, c)));
    let mut all = 0;
    for (side, kind, aims) in of_sender.chain(of_receiver).chain(on_path) {
        for a in aims {
            let Some(reached) = a.reached else {
                continue;
            };
            all += 1;
            if a.is_missed() {
                let _ = writeln!(
                    out,
                    "| {side} | {kind} | {} | {:.4} | {}{} | {} |",
                    a.measure,
                    reached.min(0.9999),
                    if a.at_most { "at most " } else { "" },
                    a.aim,
                    a.of
                );
            }
        }
    }
    let _ = writeln!(out, "\n{all} measures were compared with their aims.");
    out
}

/// What is measured of a trait: statements alone.
fn by_trait(counts: &Counts) -> Vec<Aim> {
    let mut aims = confidences(counts);
    let vantage = counts.vantage;
    let right = share(vantage.right, vantage.told);
    aims.push(aim("vantage point", right, VANTAGE, vantage.told));
    let causes = share(counts.causes_right, counts.causes_told);
    aims.push(aim("causes", causes, CAUSES, counts.causes_told));
    aims
}

const SIDES: [&str; 3] = ["sender", "receiver", "on the path"];

/// The aims that are missed, by trait: of statements alone, and only where there are enough of them.
pub(crate) fn short_by_trait(traits: &BTreeMap<String, [Counts; 3]>) -> String {
    let mut out =
        "| trait | side | measure | reached | aim | of |\n|---|---|---|--:|--:|--:|\n".to_owned();
    for (word, sides) in traits {
        for (side, counts) in SIDES.into_iter().zip(sides) {
            let aims = by_trait(counts);
            for a in aims.iter().filter(|a| a.of >= ENOUGH && a.is_missed()) {
                let _ = writeln!(
                    out,
                    "| {word} | {side} | {} | {:.4} | {}{} | {} |",
                    a.measure,
                    a.reached.unwrap_or_default(),
                    if a.at_most { "at most " } else { "" },
                    a.aim,
                    a.of
                );
            }
        }
    }
    out
}

/// What the table of all traits has: the statements that are not ambiguous, the vantage point and causes.
const TRAIT_MEASURES: [&str; 9] = [
    "reordered, certain",
    "extents, certain",
    "lost, certain",
    "lost, likely",
    "refused, certain",
    "spurious, certain",
    "spurious, likely",
    "vantage point",
    "causes",
];

/// Every trait with what is reached, in per cent; nothing where there are too few statements.
pub(crate) fn all_traits(traits: &BTreeMap<String, [Counts; 3]>) -> String {
    let mut out = format!(
        "| trait | side | {} |\n|---|---|",
        TRAIT_MEASURES.join(" | ")
    );
    out += &"--:|".repeat(TRAIT_MEASURES.len());
    out.push('\n');
    for (word, sides) in traits {
        for (side, counts) in SIDES.into_iter().zip(sides) {
            let aims = by_trait(counts);
            let cells = TRAIT_MEASURES.map(|measure| {
                let enough = |a: &&Aim| a.measure == measure && a.of >= ENOUGH;
                let reached = aims.iter().find(enough).and_then(|a| a.reached);
                reached.map_or(String::new(), |r| format!("{:.2}", (r * 100.0).min(100.0)))
            });
            if cells.iter().any(|c| !c.is_empty()) {
                let _ = writeln!(out, "| {word} | {side} | {} |", cells.join(" | "));
            }
        }
    }
    out
}
