//! The parts of the text that are not about single flows: warnings, other numbered services, the comparison with the
//! other end, skipped frames.

use std::io::{self, Write};

use crate::flows::{ATTEMPT, STREAM, stream_name};
use inorder_detect::Outcome;
use inorder_pairing::{AGREEMENT, Matched};
use inorder_report::escape::printable;
use inorder_report::text::{self, paragraph};
use inorder_report::{Sheet, columns};

use super::Style;
use super::detail::compared;
use crate::gravity::streams_by_gravity;
use crate::headline::stream_remarks;
use crate::model::Analysis;
use crate::peer::{PeerComparison, Score};
use inorder_report::number::{count, percent, plural};

/// Warnings, each on lines of its own.
pub(super) fn warnings(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    for warning in &analysis.warnings {
        let text = format!("Warning: {}", printable(warning));
        paragraph(out, &text, "  ", style.width)?;
    }
    Ok(())
}

/// Frames that could not be analysed, by reason.
pub(super) fn skipped(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    if analysis.skipped.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> = analysis
        .skipped
        .iter()
        .map(|(reason, n)| format!("{} {}", count(*n), printable(reason)))
        .collect();
    writeln!(out)?;
    paragraph(
        out,
        &format!("Frames not used: {}", reasons.join(", ")),
        "  ",
        style.width,
    )
}

/// Streams of other numbered services, the most severe first.
pub(super) fn streams(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    if analysis.streams.is_empty() {
        return Ok(());
    }
    let sorted = streams_by_gravity(&analysis.streams);
    writeln!(out)?;
    let shown = sorted.iter().take(style.top).copied();
    text::write(out, STREAM, shown.clone(), &style.layout())?;
    let remarks = shown.clone().flat_map(|stream| {
        let remarks = stream_remarks(stream).into_iter();
        remarks.map(|remark| format!("{}: {remark}", stream_name(stream)))
    });
    for (at, remark) in remarks.enumerate() {
        if at == 0 {
            writeln!(out)?;
        }
        paragraph(out, &remark, "", style.width)?;
    }
    for stream in shown.filter(|stream| !stream.what_if.is_empty()) {
        writeln!(out, "\n{}", stream_name(stream))?;
        compared(out, &stream.what_if, style)?;
    }
    match sorted.len().saturating_sub(style.top) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "({} not shown; --top N shows more)",
            plural(n, "stream")
        ),
    }
}

/// The attempts to open connections that carried no data, the first ones by time.
pub(super) fn attempts(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    let all = &analysis.attempts;
    if all.list.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let shown = all.list.len().min(style.top);
    text::write(out, ATTEMPT, all.list.iter().take(shown), &style.layout())?;
    match (all.failed() + all.of(Outcome::Open) + all.of(Outcome::Traced))
        .saturating_sub(shown as u64)
    {
        0 => Ok(()),
        n => writeln!(
            out,
            "({} not shown; --top N shows more)",
            plural(n, "connection attempt")
        ),
    }
}

/// The comparison with the other end.
pub(super) fn peer(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    let Some(peer) = &analysis.peer else {
        return Ok(());
    };
    writeln!(out)?;
    text::write(out, &peer_columns(), peer_rows(peer), &style.layout())?;
    paragraph(out, &peer_text(peer), "", style.width)
}

/// One kind of event in the comparison.
pub(crate) struct PeerRow {
    what: &'static str,
    truth: u64,
    inferred: u64,
    score: Score,
}

columns! {
    PEER_ROW: PeerRow, |r|
    "what": Text, "Kind of event." => r.what, shown("against the other end", 0);
    "true": Count, "With both captures in hand." => r.truth, shown("true", 0);
    "inferred": Count, "From this capture alone." => r.inferred, shown("inferred", 0);
}

/// The columns of the comparison.
pub(crate) fn peer_columns<'c>() -> Sheet<'c, PeerRow> {
    Sheet::new()
        .with(PEER_ROW, |row: &PeerRow| row)
        .with(AGREEMENT, |row| &row.score)
}

/// Totals over all flows: one row for each kind of event.
pub(crate) fn peer_rows(peer: &PeerComparison) -> [PeerRow; 4] {
    let found = peer.total();
    let (truth, inferred) = (found.truth, found.inferred);
    let row = |what, truth, inferred, score| PeerRow {
        what,
        truth,
        inferred,
        score,
    };
    [
        row(
            "reordered",
            truth.reordered,
            inferred.reordered,
            found.reordered,
        ),
        row("lost", truth.lost, inferred.lost, found.lost),
        row(
            "discarded by the receiver",
            truth.refused,
            inferred.refused,
            found.refused,
        ),
        row(
            "spurious retransmissions",
            truth.spurious,
            inferred.spurious,
            found.spurious,
        ),
    ]
}

/// The sentences below the table: flows matched, how they were matched, agreement of extents.
pub(crate) fn peer_text(peer: &PeerComparison) -> String {
    let extents = peer.total().extents;
    let mut text = format!(
        "{} matched with {}; {} only here, {} only there.",
        plural(peer.flows.len() as u64, "flow"),
        printable(&peer.file),
        count(peer.only_here.len() as u64),
        count(peer.only_there.len() as u64)
    );
    let by = |matched| {
        let flows = peer.flows.iter();
        flows.filter(|flow| flow.matched == matched).count() as u64
    };
    for (matched, why) in [
        (Matched::Numbers, "their packets' numbers"),
        (Matched::InitialNumbers, "their initial sequence numbers"),
        (
            Matched::Distances,
            "timestamps and distances of sequence numbers, which are rewritten",
        ),
    ] {
        if by(matched) > 0 {
            text.push_str(&format!(
                " Addresses differ of {}, the same by {why}.",
                count(by(matched))
            ));
        }
    }
    if !peer.ambiguous.is_empty() {
        text.push_str(&format!(
            " {} here could be several there and were skipped.",
            plural(peer.ambiguous.len() as u64, "flow")
        ));
    }
    if let (Some(exact), Some(near)) = (extents.exact_share(), extents.within_one_share()) {
        text.push_str(&format!(
            " Of {}, {} % are exact, {} % within one packet.",
            plural(extents.compared, "extent"),
            percent(exact),
            percent(near)
        ));
    }
    text
}
