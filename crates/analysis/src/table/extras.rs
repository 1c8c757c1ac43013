//! What stands beside the flows: warnings, other services, the other end, skipped frames.

use std::io::{self, Write};

use inorder_detect::Matched;
use inorder_report::escape::printable;
use inorder_report::text::paragraph;

use super::Style;
use super::grid::{Column, Grid};
use crate::model::{Analysis, StreamReport};
use crate::peer::{PeerComparison, Score};
use inorder_report::number::{count, mean, percent, plural, time};

const fn column(group: &'static str, title: &'static str, rank: u8) -> Column {
    Column { group, title, rank }
}

/// Warnings, each on lines of its own.
pub fn warnings(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    for warning in &analysis.warnings {
        let text = format!("Warning: {}", printable(warning));
        paragraph(out, &text, "  ", style.width)?;
    }
    Ok(())
}

/// Frames that said nothing, by reason.
pub fn skipped(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
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

const STREAMS: [Column; 10] = [
    column("", "other numbered streams", 0),
    column("", "packets", 0),
    column("reordered", "packets", 0),
    column("reordered", "%", 1),
    column("extent", "max", 0),
    column("extent", "mean", 3),
    column("late", "max", 0),
    column("", "missing", 0),
    column("", "duplicates", 2),
    column("displacement", "mean", 3),
];

/// Streams of other numbered services, the reordered ones first.
pub fn streams(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    if analysis.streams.is_empty() {
        return Ok(());
    }
    let mut sorted: Vec<&StreamReport> = analysis.streams.iter().collect();
    sorted.sort_by_key(|s| std::cmp::Reverse(s.reordered));
    let mut grid = Grid::new(&STREAMS);
    for stream in sorted.iter().take(style.top) {
        grid.row(stream_row(stream));
    }
    writeln!(out)?;
    grid.write(out, 0, style.width, style.bold())?;
    match sorted.len().saturating_sub(style.top) as u64 {
        0 => Ok(()),
        n => writeln!(
            out,
            "({} not shown; --top N shows more)",
            plural(n, "stream")
        ),
    }
}

fn stream_row(stream: &StreamReport) -> Vec<String> {
    let if_late = |text: String| {
        if stream.reordered > 0 {
            text
        } else {
            "-".to_owned()
        }
    };
    vec![
        stream_name(stream),
        count(stream.received),
        count(stream.reordered),
        percent(stream.ratio),
        if_late(count(stream.max_extent)),
        if_late(mean(stream.mean_extent)),
        if_late(time(stream.max_late_ns)),
        count(stream.missing),
        count(stream.duplicates),
        if_late(format!("{:.3}", stream.mean_displacement)),
    ]
}

/// `rtp 10.0.0.1:4000->10.0.0.2:4000 id 0x1234`; no port where the protocol has none.
pub(crate) fn stream_name(stream: &StreamReport) -> String {
    let end = |addr: std::net::SocketAddr| match addr.port() {
        0 => addr.ip().to_string(),
        _ => addr.to_string(),
    };
    let service = stream.service.name();
    format!(
        "{service} {}->{} id {:#x}",
        end(stream.src),
        end(stream.dst),
        stream.id
    )
}

/// Columns of the comparison with the other end.
pub(crate) const PEER_TITLES: [&str; 8] = [
    "against the other end",
    "true",
    "inferred",
    "right",
    "missed",
    "precision",
    "recall",
    "F1",
];

/// The comparison with the other end.
pub fn peer(out: &mut dyn Write, analysis: &Analysis, style: &Style) -> io::Result<()> {
    let Some(peer) = &analysis.peer else {
        return Ok(());
    };
    let columns = PEER_TITLES.map(|title| column("", title, u8::from(title == "right")));
    let mut grid = Grid::new(&columns);
    for row in peer_rows(peer) {
        grid.row(row);
    }
    writeln!(out)?;
    grid.write(out, 0, style.width, style.bold())?;
    paragraph(out, &peer_text(peer), "", style.width)
}

/// Totals over all flows: one row for each kind of event.
pub(crate) fn peer_rows(peer: &PeerComparison) -> Vec<Vec<String>> {
    let t = peer.total();
    let row = |what: &str, truth: u64, inferred: u64, score: &Score| {
        let show = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |s| format!("{s:.3}"));
        vec![
            what.to_owned(),
            count(truth),
            count(inferred),
            count(score.true_positives),
            count(score.false_negatives),
            show(score.precision()),
            show(score.recall()),
            show(score.f1()),
        ]
    };
    vec![
        row(
            "reordered",
            t.truth.reordered,
            t.inferred.reordered,
            &t.reordered,
        ),
        row("lost", t.truth.lost, t.inferred.lost, &t.lost),
        row(
            "needless retransmissions",
            t.truth.spurious,
            t.inferred.spurious,
            &t.spurious,
        ),
    ]
}

/// What the rows do not say: flows matched, extents.
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
            " {} here could be several there and were left alone.",
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
