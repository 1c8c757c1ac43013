//! What the code reached on the recordings of `testdata/kinds`, kind by kind, and of `testdata/stacks`, stack by stack: it may
//! rise, not fall.
//!
//! `floors.csv` has a line for each side, kind of path and measure, `stacks.csv` for each side, stack and measure. `INORDER_RAISE_FLOORS=1 cargo test
//! -p inorder-detect --test it truth::` writes what the code reaches now, where that is more, and what is
//! new. Floors that a change lowers on purpose are lowered by hand, with the reason in the commit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::count::{About, Counts, Sure, share};
use super::truth::Fate;

/// Side, kind of path, measure.
pub(crate) type Name = (String, String, &'static str);

/// Every measure that has a floor, in ten-thousandths, rounded down; without those of nothing.
fn measures(c: &Counts) -> Vec<(&'static str, u32)> {
    let trust = |about, sure| {
        let t = c.trust.get(&(about, sure)).copied().unwrap_or_default();
        share(t.right, t.told)
    };
    let (late, lost) = (About::Event(Fate::Reordered), About::Event(Fate::Lost));
    let spurious = About::Spurious;
    let all = [
        ("reordered precision", c.reordered.precision()),
        ("reordered recall", c.reordered.recall()),
        ("reordered certain", trust(late, Sure::Certain)),
        ("reordered likely", trust(late, Sure::Likely)),
        ("extents certain", trust(About::Extent, Sure::Certain)),
        ("extents exact", share(c.exact, c.extents)),
        ("extents within one", share(c.within_one, c.extents)),
        ("lost precision", c.lost.precision()),
        ("lost recall", c.lost.recall()),
        ("lost certain", trust(lost, Sure::Certain)),
        ("lost likely", trust(lost, Sure::Likely)),
        ("refused precision", c.refused_number.precision()),
        ("refused recall", c.refused_number.recall()),
        ("spurious precision", c.spurious.precision()),
        ("spurious recall", c.spurious.recall()),
        ("spurious certain", trust(spurious, Sure::Certain)),
        ("spurious likely", trust(spurious, Sure::Likely)),
        ("causes right", share(c.causes_right, c.recoveries)),
        ("places told", share(c.places_told, c.losses_right)),
    ];
    let known = all
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    known
        .map(|(name, value)| (name, (value * 10_000.0).floor() as u32))
        .collect()
}

/// What the code reaches: side ("sender", "receiver"), kind and measure.
pub(crate) fn reached(side: &str, rows: &[(String, Counts)]) -> BTreeMap<Name, u32> {
    let of = |(kind, counts): &(String, Counts)| {
        let kind = kind.clone();
        let named = move |(m, v)| ((side.to_owned(), kind.clone(), m), v);
        measures(counts).into_iter().map(named).collect::<Vec<_>>()
    };
    rows.iter().flat_map(of).collect()
}

/// The floors as text: side, kind, measure -> ten-thousandths.
fn read(text: &str) -> BTreeMap<(String, String, String), u32> {
    let line = |line: &str| {
        let mut cells = line.split(',').map(str::to_owned);
        let key = (cells.next()?, cells.next()?, cells.next()?);
        let value: f64 = cells.next()?.parse().ok()?;
        Some((key, (value * 10_000.0).round() as u32))
    };
    text.lines().skip(1).filter_map(line).collect()
}

pub(crate) fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/lab")
        .join(file)
}

/// Every measure below its floor, in words. A floor without its measure counts as one below.
pub(crate) fn below(text: &str, reached: &BTreeMap<Name, u32>) -> Vec<String> {
    let mut out = Vec::new();
    for ((side, kind, measure), floor) in read(text) {
        let now = reached
            .iter()
            .find(|((s, k, m), _)| *s == side && *k == kind && *m == measure)
            .map(|(_, &value)| value);
        if now.is_none_or(|value| value < floor) {
            let now = now.map_or("nothing".to_owned(), |v| {
                format!("{:.4}", f64::from(v) / 1e4)
            });
            out.push(format!(
                "{side}, {kind}, {measure}: {now}, floor {:.4}",
                f64::from(floor) / 1e4
            ));
        }
    }
    out
}

/// The floors raised to what is reached.
pub(crate) fn raised(text: &str, reached: &BTreeMap<Name, u32>) -> String {
    let mut floors = read(text);
    for ((side, kind, measure), &value) in reached {
        let key = (side.clone(), kind.clone(), (*measure).to_owned());
        let floor = floors.entry(key).or_default();
        *floor = value.max(*floor);
    }
    let mut out = "side,kind,measure,floor\n".to_owned();
    for ((side, kind, measure), value) in floors {
        out += &format!("{side},{kind},{measure},{:.4}\n", f64::from(value) / 1e4);
    }
    out
}
