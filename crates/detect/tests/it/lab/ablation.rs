//! What each explanation earns: how many statements are made, and how many are false, without it.

use std::fmt::Write;

use inorder_detect::{Config, Explanation, Explanations};

use super::count::{About, Counts, Sure, share};
use super::many::score_all;
use super::recording::Recording;
use super::truth::Fate;

/// Columns: side and what is said.
const SENDER: [(&str, About); 5] = [
    ("reordered", About::Event(Fate::Reordered)),
    ("its extent, certain", About::Extent),
    ("lost", About::Event(Fate::Lost)),
    ("refused", About::Event(Fate::Refused)),
    ("spurious", About::Spurious),
];

/// A table in Markdown: a row for all explanations and one without each, of false statements and all, certain and likely.
pub(crate) fn table(recordings: &[Recording], threads: usize) -> Result<String, String> {
    let mut out = "| without |".to_owned();
    SENDER.iter().for_each(|(name, _)| {
        let _ = write!(out, " {name} |");
    });
    out += " causes wrong | extents exact | receiver: spurious |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
    let all = Explanations::default();
    let each = Explanation::ALL.map(|off| (format!("`{}`", off.name()), all.without(off)));
    let rows = std::iter::once(("none: all are weighed".to_owned(), all)).chain(each);
    for (name, explanations) in rows {
        let config = Config::default().explanations(explanations);
        let (mut sender, mut receiver) = (Counts::default(), Counts::default());
        for scored in score_all(recordings, &config, threads)? {
            sender += &scored.sender;
            receiver += &scored.receiver;
        }
        let _ = writeln!(
            out,
            "| {name} | {} |",
            cells(&sender, &receiver).join(" | ")
        );
    }
    Ok(out)
}

fn cells(sender: &Counts, receiver: &Counts) -> Vec<String> {
    let of_sender = SENDER.iter().map(|&(_, about)| false_of(sender, about));
    let causes = (sender.causes_told - sender.causes_right, sender.causes_told);
    let (causes, again) = (words(causes), words(false_of(receiver, About::Spurious)));
    let exact = share(sender.exact, sender.extents).map_or("-".to_owned(), |e| format!("{e:.4}"));
    of_sender.map(words).chain([causes, exact, again]).collect()
}

fn words((wrong, told): (u64, u64)) -> String {
    format!("{wrong} of {told}")
}

/// False statements, and all that assert something; of extents only what is certain asserts how far.
fn false_of(counts: &Counts, about: About) -> (u64, u64) {
    let sure: &[Sure] = match about {
        About::Extent => &[Sure::Certain],
        _ => &[Sure::Certain, Sure::Likely],
    };
    let trust = sure.iter().filter_map(|&s| counts.trust.get(&(about, s)));
    trust.fold((0, 0), |(wrong, told), t| {
        (wrong + t.told - t.right, told + t.told)
    })
}
