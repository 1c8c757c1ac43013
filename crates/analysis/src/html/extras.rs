//! What stands beside the flows: warnings, other services, the other end, skipped frames.

use std::io::{self, Write};

use crate::model::Analysis;
use crate::table::{PEER_TITLES, peer_rows, peer_text, stream_name};
use inorder_report::escape::Text;
use inorder_report::number::{count, mean, percent, time};

/// Warnings, each in a box.
pub fn warnings(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    for warning in &analysis.warnings {
        writeln!(out, "<div class=\"card warning\">{}</div>", Text(warning))?;
    }
    Ok(())
}

const STREAM_TITLES: [&str; 9] = [
    "stream",
    "packets",
    "late",
    "late, %",
    "max extent",
    "mean extent",
    "max late",
    "missing",
    "duplicates",
];

/// Streams of other numbered services.
pub fn streams(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    if analysis.streams.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Other numbered streams</h2>")?;
    head(out, &STREAM_TITLES)?;
    for stream in &analysis.streams {
        write!(
            out,
            "<tr><td class=mono>{}</td>",
            Text(&stream_name(stream))
        )?;
        for (value, shown) in [
            (stream.received as f64, count(stream.received)),
            (stream.reordered as f64, count(stream.reordered)),
            (stream.ratio, percent(stream.ratio)),
            (stream.max_extent as f64, count(stream.max_extent)),
            (stream.mean_extent, mean(stream.mean_extent)),
            (stream.max_late_ns as f64, time(stream.max_late_ns)),
            (stream.missing as f64, count(stream.missing)),
            (stream.duplicates as f64, count(stream.duplicates)),
        ] {
            write!(out, "<td data-v=\"{value}\">{shown}</td>")?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// The comparison with the other end.
pub fn peer(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    let Some(peer) = &analysis.peer else {
        return Ok(());
    };
    writeln!(
        out,
        "<h2>Against the other end</h2>\n<p>{}</p>",
        Text(&peer_text(peer))
    )?;
    head(out, &PEER_TITLES)?;
    for row in peer_rows(peer) {
        writeln!(out, "<tr><td>{}</td></tr>", row.join("</td><td>"))?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// Frames that said nothing, by reason.
pub fn skipped(out: &mut dyn Write, analysis: &Analysis) -> io::Result<()> {
    if analysis.skipped.is_empty() {
        return Ok(());
    }
    let reasons: Vec<String> = analysis
        .skipped
        .iter()
        .map(|(reason, n)| format!("{} {reason}", count(*n)))
        .collect();
    writeln!(
        out,
        "<p class=dim>Frames not used: {}.</p>",
        Text(&reasons.join(", "))
    )
}

fn head(out: &mut dyn Write, titles: &[&str]) -> io::Result<()> {
    writeln!(out, "<div class=\"card scroll\"><table><thead><tr>")?;
    for title in titles {
        write!(out, "<th><button type=button>{title}</button></th>")?;
    }
    writeln!(out, "</tr></thead><tbody>")
}
