//! The counts as tables in Markdown.

use std::fmt::Write;

use super::count::{About, Counts, Found, Sure, share};
use super::truth::Fate;

const SIDE_HEAD: &str = "\
| kind of path | rec. | packets | reordered | P | R | F1 | extents exact | within 1 | lost | P | R | F1 | refused | P | R | spurious | P | R | F1 | causes told | right | place | apart |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

/// One row a name, and the sum.
pub(crate) fn side(rows: &[(String, Counts)]) -> String {
    let mut out = SIDE_HEAD.to_owned();
    for (name, counts) in rows {
        side_row(&mut out, name, counts);
    }
    out
}

/// The rows and the sum of all below; the sum alone if that is `wanted`.
pub(crate) fn with_sum(
    mut rows: Vec<(String, Counts)>,
    sum: Counts,
    wanted: bool,
) -> Vec<(String, Counts)> {
    if wanted {
        rows.clear();
    }
    rows.push(("**all**".to_owned(), sum));
    rows
}

fn side_row(out: &mut String, name: &str, c: &Counts) {
    let apart: u64 = c.apart_events;
    let three = |f: &Found| {
        let (p, r, f1) = (f.precision(), f.recall(), f.f1());
        format!(
            "{} | {} | {} | {}",
            f.truth,
            number(p),
            number(r),
            number(f1)
        )
    };
    let refused = &c.refused_number;
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {apart} |",
        c.recordings,
        c.packets,
        three(&c.reordered),
        number(share(c.exact, c.extents)),
        number(share(c.within_one, c.extents)),
        three(&c.lost),
        refused.truth,
        number(refused.precision()),
        number(refused.recall()),
        three(&c.spurious),
        number(share(c.causes_told, c.recoveries)),
        number(share(c.causes_right, c.causes_told)),
        number(share(c.places_told, c.losses_right)),
    );
}

/// Four digits, nothing rounded up to 1.
pub(crate) fn number(x: Option<f64>) -> String {
    match x {
        None => "-".to_owned(),
        Some(1.0) => "1".to_owned(),
        Some(x) => format!("{:.4}", x.min(0.9999)),
    }
}

/// How often the vantage point was reported, and rightly.
pub(crate) fn vantage(rows: &[(String, Counts)]) -> String {
    let mut out = "| kind of path | flows | vantage told | right |\n|---|--:|--:|--:|\n".to_owned();
    for (name, c) in rows {
        let right = number(share(c.vantage.right, c.vantage.told));
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {right} |",
            c.flows, c.vantage.told
        );
    }
    out
}

const STATEMENTS: [(About, &str); 5] = [
    (About::Event(Fate::Reordered), "reordered"),
    (About::Extent, "its extent"),
    (About::Event(Fate::Lost), "lost"),
    (About::Event(Fate::Refused), "refused"),
    (About::Spurious, "spurious"),
];

/// For each kind of path, statement and confidence: how many, and the share that is true.
pub(crate) fn calibration(rows: &[(String, Counts)]) -> String {
    let mut out =
        "| kind of path | statement | certain | true | likely | true | ambiguous | true |\n\
                   |---|---|--:|--:|--:|--:|--:|--:|\n"
            .to_owned();
    for (name, counts) in rows {
        for (about, word) in STATEMENTS {
            let trust = [Sure::Certain, Sure::Likely, Sure::Ambiguous].map(|sure| {
                counts
                    .trust
                    .get(&(about, sure))
                    .copied()
                    .unwrap_or_default()
            });
            if trust.iter().all(|t| t.told == 0) {
                continue;
            }
            let cells = trust.map(|t| format!("{} | {}", t.told, number(share(t.right, t.told))));
            let _ = writeln!(out, "| {name} | {word} | {} |", cells.join(" | "));
        }
    }
    out
}

/// What is counted apart, by rule.
pub(crate) fn apart(rows: &[(String, Counts)]) -> String {
    let mut out =
        "| kind of path | rule | there are | told of them | rightly |\n|---|---|--:|--:|--:|\n"
            .to_owned();
    for (name, counts) in rows {
        for (rule, (there, trust)) in &counts.apart {
            let _ = writeln!(
                out,
                "| {name} | {rule} | {there} | {} | {} |",
                trust.told, trust.right
            );
        }
    }
    out
}

/// For each statement and what it rests on: how many of all recordings, and the share that is true.
pub(crate) fn grounds(rows: &[(String, Counts)]) -> String {
    let mut out = "| statement | grounds | told | true |\n|---|---|--:|--:|\n".to_owned();
    for (_, counts) in rows.iter().rev().take(1) {
        for (words, t) in &counts.grounds {
            let _ = writeln!(
                out,
                "| {words} | {} | {} |",
                t.told,
                number(share(t.right, t.told))
            );
        }
    }
    out
}
