//! The comparison with the other end as a table: a row for each flow and kind of event.

use inorder_pairing::{AGREEMENT, Matched, Score};
use inorder_report::{Sheet, columns};

use super::FILE_NAME;
use crate::model::Analysis;
use crate::peer::PeerFlow;

/// One kind of event of a flow seen at both ends.
pub(crate) struct PeerRow<'a> {
    analysis: &'a Analysis,
    line: PeerLine,
}

struct PeerLine {
    flow: PeerFlow,
    what: &'static str,
    truth: u64,
    inferred: u64,
    score: Score,
}

columns! {
    PEER_LINE: PeerLine, |l|
    "flow": Text, "Its name in this capture." => l.flow.flow.to_string();
    "there": Text, "Its name in the other capture." => l.flow.there.to_string();
    "matched_by": Choice(Matched::NAMES), "How the two were matched." => l.flow.matched.name();
    "what": Text, "Kind of event: reordered, lost, refused or spurious." => l.what;
    "true": Count, "How many, with both captures in hand." => l.truth;
    "inferred": Count, "How many, from this capture alone." => l.inferred;
}

/// The columns.
pub(crate) fn peers<'c, 'a: 'c>() -> Sheet<'c, PeerRow<'a>> {
    Sheet::new()
        .with(FILE_NAME, |row: &PeerRow<'a>| row.analysis)
        .with(PEER_LINE, |row| &row.line)
        .with(AGREEMENT, |row| &row.line.score)
}

/// The rows of all files that were compared.
pub(crate) fn peer_rows(analyses: &[Analysis]) -> impl Iterator<Item = PeerRow<'_>> {
    analyses.iter().flat_map(|analysis| {
        let flows = analysis.peer.iter().flat_map(|peer| &peer.flows);
        flows.flat_map(move |flow| lines(flow).map(|line| PeerRow { analysis, line }))
    })
}

fn lines(flow: &PeerFlow) -> [PeerLine; 4] {
    let found = &flow.found;
    let (truth, inferred) = (found.truth, found.inferred);
    let line = |what, truth, inferred, score| PeerLine {
        flow: *flow,
        what,
        truth,
        inferred,
        score,
    };
    [
        line(
            "reordered",
            truth.reordered,
            inferred.reordered,
            found.reordered,
        ),
        line("lost", truth.lost, inferred.lost, found.lost),
        line("refused", truth.refused, inferred.refused, found.refused),
        line(
            "spurious",
            truth.spurious,
            inferred.spurious,
            found.spurious,
        ),
    ]
}
