//! The pages of many captures: each is written as soon as its capture is analysed, so that what only its charts need does
//! not stay in memory, and a table of all links to them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use inorder_analysis::{Analysis, Line, html};

use super::{Args, needs_events, page};
use crate::error::CliError;
use crate::outputs;

/// Captures whose details one page holds; more would make it too large to open at once.
const MAX_CAPTURES_ON_A_PAGE: usize = 20;
/// Characters of the name of a capture in the name of its page.
const NAME: usize = 60;

/// Where the pages go.
pub(super) struct Pages {
    /// The table of all captures.
    overview: PathBuf,
    /// The folder of the pages, beside it.
    folder: PathBuf,
    page: html::Page,
    /// Whether events are needed once the pages are written.
    keep_events: bool,
}

impl Pages {
    /// Where the pages go, if there are many captures.
    pub(super) fn of(args: &Args) -> Option<Pages> {
        let overview = args.to.html.as_deref()?;
        let many = !args.join && args.files.len() > MAX_CAPTURES_ON_A_PAGE;
        (many && overview.as_os_str() != "-").then(|| Pages {
            overview: overview.to_owned(),
            folder: folder(overview),
            page: page(args),
            keep_events: needs_events(args),
        })
    }

    /// Writes the page of a capture, the `number`th that could be analysed, and drops what only the page needs.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, number: usize, analysis: &mut Analysis) -> Result<(), CliError> {
        let name = name(number, Path::new(&analysis.file));
        outputs::directory(&self.folder)?;
        let back = format!("../{}", address(self.overview.file_name()));
        let written = outputs::to_file(&self.folder.join(name), |out| {
            html::write_one_of(out, analysis, &self.page, &back)
        });
        for flow in &mut analysis.flows {
            flow.records.points = Vec::new();
            if !self.keep_events {
                flow.records.events = Vec::new();
                flow.records.retransmissions = Vec::new();
            }
        }
        written
    }

    /// Writes the table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write_overview(
        &self,
        out: &mut dyn Write,
        analyses: &[Analysis],
    ) -> io::Result<()> {
        let lines: Vec<Line> = analyses.iter().map(Line::of).collect();
        let folder = address(self.folder.file_name());
        let page = |number: usize| lines.get(number).map_or("", |line| line.file.as_str());
        html::write_overview(out, &lines, |number| {
            format!("{folder}/{}", name(number, Path::new(page(number))))
        })
    }
}

/// `order.html` has its pages in `order-captures`.
fn folder(overview: &Path) -> PathBuf {
    let mut name = overview.file_stem().unwrap_or_default().to_owned();
    name.push("-captures");
    overview.with_file_name(name)
}

/// The number of a capture, which makes it unique, and what its name has of letters that every system takes.
fn name(number: usize, file: &Path) -> String {
    let stem = file.file_name().map(|name| name.to_string_lossy());
    let plain = stem.iter().flat_map(|stem| stem.chars()).map(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '-' | '_' => c,
        _ => '-',
    });
    let plain: String = plain.take(NAME).collect();
    format!("{:04}-{plain}.html", number + 1)
}

/// A name as a relative address: everything but plain letters is escaped (RFC 3986 section 2.1).
fn address(name: Option<&std::ffi::OsStr>) -> String {
    let name = name.unwrap_or_default().to_string_lossy();
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_addresses_everywhere() {
        assert_eq!(
            name(6, Path::new("/a/trace <b>#1?.pcap")),
            "0007-trace--b--1-.pcap.html"
        );
        assert_eq!(
            folder(Path::new("out/order.html")),
            Path::new("out/order-captures")
        );
        let odd = std::ffi::OsStr::new("100 % ä.html");
        assert_eq!(address(Some(odd)), "100%20%25%20%C3%A4.html");
    }
}
