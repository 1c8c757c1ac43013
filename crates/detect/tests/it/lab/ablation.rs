//! What each explanation earns: how many statements are made and are false without it, and what is found.

use std::fmt::Write;

use inorder_detect::{Config, Explanation, Explanations};

use super::count::{Counts, Sure, share};
use super::many::score_all;
use super::recording::Recording;
use super::table::number;

const HEAD: &str = "\
| without | sender: false | late, F1 | lost, F1 | causes told | receiver: false | late, F1 | lost, F1 | path: false | late, F1 | lost, F1 |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

/// A table in Markdown: a row for all explanations and one without each, of false statements and all, certain and likely, at the
/// sender, the receiver and on the path.
pub(crate) fn table(recordings: &[Recording], threads: usize) -> Result<String, String> {
    let mut out = HEAD.to_owned();
    let all = Explanations::default();
    let each = Explanation::ALL.map(|off| (format!("`{}`", off.name()), all.without(off)));
    let rows = std::iter::once(("none: all are weighed".to_owned(), all)).chain(each);
    for (name, explanations) in rows {
        let config = Config::default().explanations(explanations);
        let mut sides: [Counts; 3] = Default::default();
        for scored in score_all(recordings, &config, threads)? {
            let told = [&scored.sender, &scored.receiver, &scored.middle];
            sides.iter_mut().zip(told).for_each(|(sum, of)| *sum += of);
        }
        let [sender, receiver, path] = &sides;
        let causes = number(share(sender.causes_told, sender.recoveries));
        let cells = [cells(sender), causes, cells(receiver), cells(path)];
        let _ = writeln!(out, "| {name} | {} |", cells.join(" | "));
    }
    Ok(out)
}

/// False statements of all, and what is found.
fn cells(counts: &Counts) -> String {
    let trust = counts.trust.iter();
    let trust = trust.filter(|((_, sure), _)| *sure != Sure::Ambiguous);
    let (wrong, told) = trust.fold((0, 0), |(wrong, told), (_, t)| {
        (wrong + t.told - t.right, told + t.told)
    });
    let [late, lost] = [&counts.reordered, &counts.lost].map(|found| number(found.f1()));
    format!("{wrong} of {told} | {late} | {lost}")
}
