//! Recognises files that inorder wrote, so that only those are replaced without --force.
//!
//! Each format carries its own sign: a page its generator, JSON its schema, CSV the names of its columns, Parquet its
//! writer, drawings and Markdown a comment at the end. This is the only place that knows these signs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use inorder_analysis::Rows;
use inorder_report::csv;

/// Bytes read at each end of a file to find a sign.
const LOOKED_AT: u64 = 4_096;

/// Names of columns that identify a CSV file. Later columns may differ from version to version.
const COLUMNS_COMPARED: usize = 3;

/// The comment at the end of a drawing or a text.
const MARK: &str = "written by inorder";

/// How a format writes a comment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comment {
    /// SVG, PNML, Markdown.
    Xml,
    /// Graphviz.
    Slashes,
    /// The text format of nets.
    Hash,
}

impl Comment {
    /// Writes the comment that identifies the file as ours.
    pub(crate) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Comment::Xml => writeln!(out, "<!-- {MARK} -->"),
            Comment::Slashes => writeln!(out, "// {MARK}"),
            Comment::Hash => writeln!(out, "# {MARK}"),
        }
    }
}

/// True if the file is empty or inorder wrote it.
pub(super) fn is_ours(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    Read::by_ref(&mut file)
        .take(LOOKED_AT)
        .read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    file.take(LOOKED_AT).read_to_end(&mut tail)?;
    Ok(length == 0 || is_known(&head, &tail))
}

fn is_known(head: &[u8], tail: &[u8]) -> bool {
    let contains = |bytes: &[u8], sign: &str| {
        let mut windows = bytes.windows(sign.len());
        windows.any(|window| window == sign.as_bytes())
    };
    let is_json = head.starts_with(b"{\"schema\":\"inorder-")
        || head.starts_with(b"{\"flows\": [") && contains(head, "\"data_packets\":");
    // The lines of `petri --trace`.
    let is_trace = head.starts_with(b"{\"time\":") && contains(head, "\"transition\":");
    is_json
        || is_trace
        || contains(head, "<meta name=generator content=\"inorder")
        || contains(head, ".TH inorder")
        || head.starts_with(b"PAR1") && contains(tail, "inorder ")
        || contains(tail, MARK)
        || is_known_csv(head)
}

/// True if the first line names columns that some verb writes.
fn is_known_csv(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let names: Vec<&str> = line.split(',').collect();
    csv_headers().iter().any(|known| {
        let known: Vec<&str> = known.split(',').take(COLUMNS_COMPARED).collect();
        names.windows(known.len()).any(|some| some == known)
    })
}

/// The first lines of the CSV files of all verbs, from the lists of columns that also write them. Before the columns
/// of `simulate` and `petri` there may be axes of a grid.
fn csv_headers() -> Vec<String> {
    let tables = Rows::ALL.iter();
    let mut headers: Vec<String> = tables
        .map(|rows| header(|out| rows.write_csv(out, &[])))
        .collect();
    headers.push(header(|out| inorder_sim::output::write_csv(out, &NO_RUNS)));
    headers.push(header(|out| {
        let claims = inorder_experiments::report::CLAIMS;
        csv::write(out, claims, [] as [inorder_experiments::Claim; 0])
    }));
    headers.push(header(|out| inorder_analysis::compare::write_csv(out, &[])));
    headers.push(header(|out| {
        csv::write(
            out,
            inorder_pairing::diff::FLOW,
            [] as [inorder_pairing::diff::Matched; 0],
        )
    }));
    headers.push(header(|out| {
        csv::write(
            out,
            inorder_pairing::diff::PACKET,
            [] as [inorder_pairing::diff::PacketRow; 0],
        )
    }));
    headers.push(header(|out| {
        csv::write(
            out,
            inorder_qlog::CONNECTION,
            [] as [inorder_qlog::Report; 0],
        )
    }));
    headers.push(header(|out| {
        csv::write(out, inorder_qlog::LOSS, [] as [inorder_qlog::LossRow; 0])
    }));
    let no_cells = inorder_nets::Report::new("", &[], Vec::new(), false);
    headers.push(header(|out| no_cells.write_csv(out)));
    headers.push(header(|out| inorder_lab::agreement::write_csv(out, &[])));
    headers
}

const NO_RUNS: inorder_sim::output::Report<'static> = inorder_sim::output::Report {
    file: "",
    title: "",
    cells: &[],
    first_runs: &[],
    is_partial: false,
};

fn header(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write(&mut out);
    String::from_utf8_lossy(&out).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_write_is_known() {
        for ours in [
            "{\"schema\":\"inorder-analyze/1\",\"files\":[]}",
            "file,flow,overlay,reuse,vantage\n",
            "forward.line.jitter,seed,throughput,fairness,segments\n",
            "<!doctype html>\n<meta name=generator content=\"inorder 0.1.0\">",
            "digraph {}\n// written by inorder\n",
        ] {
            assert!(is_known(ours.as_bytes(), ours.as_bytes()), "{ours}");
        }
        for foreign in [
            "{\"flows\": []}",
            "file,size\na,1\n",
            "<!doctype html><p>inorder",
            "a thesis\n",
            "PAR1PAR1",
        ] {
            assert!(
                !is_known(foreign.as_bytes(), foreign.as_bytes()),
                "{foreign}"
            );
        }
    }
}
