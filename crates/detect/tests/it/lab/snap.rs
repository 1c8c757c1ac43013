//! What is said of captures whose snap length cuts options off, by snap length.

use std::fmt::Write;

use inorder_detect::Config;

use super::count::{About, Counts, Sure, share};
use super::many::score_all;
use super::recording::{Kept, Recording};
use super::truth::Fate;

/// Bytes of each frame: from the headers alone to all options of IPv6 in a VLAN.
pub(crate) const LENGTHS: [usize; 12] = [54, 60, 66, 68, 74, 80, 84, 90, 96, 100, 128, usize::MAX];

/// Counts of what the analysis says of `recordings`, of whose frames only `kept` is left: at the sender, and at the receiver.
pub(crate) fn scored(
    recordings: &[Recording],
    kept: Kept,
    config: &Config,
    threads: usize,
) -> Result<[Counts; 2], String> {
    let mut cut = recordings.to_vec();
    cut.iter_mut().for_each(|r| r.kept = kept);
    let mut sums = [Counts::default(), Counts::default()];
    for scored in score_all(&cut, config, threads)? {
        sums[0] += &scored.sender;
        sums[1] += &scored.receiver;
    }
    Ok(sums)
}

/// What is said, and what it is called.
pub(crate) const STATEMENTS: [(About, &str); 5] = [
    (About::Event(Fate::Reordered), "reordered"),
    (About::Extent, "its extent"),
    (About::Event(Fate::Lost), "lost"),
    (About::Event(Fate::Refused), "refused"),
    (About::Spurious, "spurious"),
];

/// A table in Markdown: for each length, statement and confidence, how many were made and the share that is true.
pub(crate) fn table(
    recordings: &[Recording],
    tagged: bool,
    config: &Config,
    threads: usize,
) -> Result<String, String> {
    let mut out = "| snap length | side | statement | there are | certain | true | likely | true | ambiguous | true |\n\
                   |--:|---|---|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for snap in LENGTHS {
        let kept = Kept { snap, tagged };
        let sums = scored(recordings, kept, config, threads)?;
        for (side, counts) in ["sender", "receiver"].iter().zip(&sums) {
            for (about, word) in STATEMENTS {
                let said = [Sure::Certain, Sure::Likely, Sure::Ambiguous]
                    .map(|sure| trust(counts, about, sure));
                if said.iter().all(|s| s.0 == 0) && there_are(counts, about) == 0 {
                    continue;
                }
                let cells = said.map(|(told, right)| {
                    let true_of = share(right, told).map_or("-".to_owned(), |s| format!("{s:.4}"));
                    format!("{told} | {true_of}")
                });
                let snap = if snap == usize::MAX {
                    "all".to_owned()
                } else {
                    snap.to_string()
                };
                let there_are = there_are(counts, about);
                let _ = writeln!(
                    out,
                    "| {snap} | {side} | {word} | {there_are} | {} |",
                    cells.join(" | ")
                );
            }
        }
    }
    Ok(out)
}

/// Statements told so surely, and those of them that are true.
pub(crate) fn trust(counts: &Counts, about: About, sure: Sure) -> (u64, u64) {
    let trust = counts
        .trust
        .get(&(about, sure))
        .copied()
        .unwrap_or_default();
    (trust.told, trust.right)
}

fn there_are(counts: &Counts, about: About) -> u64 {
    match about {
        About::Event(Fate::Reordered) | About::Extent => counts.reordered.truth,
        About::Event(Fate::Lost) => counts.lost.truth,
        About::Event(Fate::Refused) => counts.refused.truth,
        About::Event(Fate::Undecided) => 0,
        About::Spurious => counts.spurious.truth,
    }
}
