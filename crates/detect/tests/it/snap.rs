//! Captures whose snap length cuts options off: what is left is used, and said as surely as it shows.
//!
//! A few recordings of `testdata/kinds` with fewer bytes of each frame. `cargo run -p inorder-detect --example calibration --
//! --snaps FOLDER` prints the table for all lengths and all recordings of a folder.

use std::path::Path;

use inorder_detect::Config;

use crate::lab::count::{About, Counts, Sure};
use crate::lab::recording::{Kept, Recording, recordings};
use crate::lab::snap::{STATEMENTS, scored, trust};
use crate::lab::truth::Fate;

/// Late packets, losses, queues, no timestamps, no SACK, several paths, and a card that merges.
const KINDS: [&str; 9] = [
    "jitter-1",
    "late-1",
    "queue-10-1",
    "random-loss-1",
    "radio-1",
    "no-timestamps-1",
    "no-sack-1",
    "simulated-spray-1-0",
    "offloads-1",
];

/// Bytes of each frame, with a VLAN tag or without, and the minimum recall of late packets from the sender's side, in
/// percent: headers alone; timestamps alone; the left edge of one block; one block; two and the left edge of a third (as in IPv6 with
/// 116 bytes); everything.
const LENGTHS: [(usize, bool, u64); 6] = [
    (54, false, 40),
    (68, false, 40),
    (74, false, 85),
    (80, false, 90),
    (96, true, 93),
    (128, false, 95),
];

/// Number of false statements tolerated where there are too few statements for a share.
const MAX_WRONG_OF_FEW: u64 = 3;
/// Number of ambiguous statements from which on no more than nine in ten may be true: they would have been likely.
const MIN_AMBIGUOUS: u64 = 100;

fn chosen() -> Vec<Recording> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/kinds");
    let mut all = recordings(&folder).expect("the recordings");
    all.retain(|r| KINDS.contains(&r.name.as_str()));
    assert_eq!(all.len(), KINDS.len());
    all
}

/// What is said too surely, or not surely enough.
fn faults(counts: &Counts) -> Vec<String> {
    let mut out = Vec::new();
    for (about, word) in STATEMENTS {
        for (sure, one_in) in [(Sure::Certain, 1_000), (Sure::Likely, 20)] {
            let (told, right) = trust(counts, about, sure);
            // How far a packet came behind is exact only where it is certain; frames that are missing shorten it.
            let asserted = about != About::Extent;
            if asserted && told - right > (told / one_in).max(MAX_WRONG_OF_FEW) {
                out.push(format!(
                    "{word}: {} of {told} {sure:?} are false",
                    told - right
                ));
            }
        }
        let (told, right) = trust(counts, about, Sure::Ambiguous);
        if told >= MIN_AMBIGUOUS && right * 10 > told * 9 {
            out.push(format!("{word}: {right} of {told} ambiguous ones are true"));
        }
    }
    out
}

#[test]
fn what_the_snap_length_leaves_is_used_and_no_more_is_said_than_it_shows() {
    let all = chosen();
    let mut wrong = Vec::new();
    for (snap, tagged, late) in LENGTHS {
        let kept = Kept { snap, tagged };
        let sides = scored(&all, kept, &Config::default(), 0).expect("scores");
        for (side, counts) in ["sender", "receiver"].into_iter().zip(&sides) {
            let said = faults(counts).into_iter();
            wrong.extend(said.map(|fault| format!("{snap} bytes, {side}: {fault}")));
        }
        let told = |side: &Counts| {
            let about = About::Event(Fate::Reordered);
            let right = [Sure::Certain, Sure::Likely].map(|sure| trust(side, about, sure).1);
            right.iter().sum::<u64>() * 100 / side.reordered.truth
        };
        let told = [told(&sides[0]), told(&sides[1])];
        println!("{snap} bytes, tagged {tagged}: of 100 late packets {told:?} are reported");
        if told[0] < late || told[1] < 98 {
            wrong.push(format!(
                "{snap} bytes: of 100 late packets only {told:?} are reported"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
