//! One HTML page that needs no network: headline, what it cost, what to do, sortable tables of flows and streams, and a
//! section with charts for each of the most severe. Of several captures, a table of them comes first.
//!
//! The page carries its style, script, data and the chart libraries (Vega, Vega-Lite, Vega-Embed); a content security
//! policy forbids it any request. Every chart has a caption with its figures. The data of the charts are thinned so
//! that a page of fifty flows stays below 1.5 MB (`data::Room`).

mod actions;
mod caption;
mod captures;
mod data;
mod extras;
mod numbers;
mod overview;
mod section;

use std::collections::BTreeMap;
use std::io::{self, Write};

use inorder_limits::Limit;
use inorder_report::escape::Text;
use inorder_report::html::{Assets, begin, end};
use serde::Serialize;

use self::data::{Burst, Charts, Room};
use self::overview::Listed;
use self::section::Section;
use crate::captures::Line;
use crate::glossary::TERMS;
use crate::gravity::{Subject, flows_by_gravity, streams_by_gravity, troubled};
use crate::headline::headline;
use crate::model::Analysis;

/// The charts of flows.
const ASSETS: Assets = Assets {
    style: include_str!("flows.css"),
    script: concat!(include_str!("time.js"), include_str!("flows.js")),
    charts: include_str!("charts.json"),
};

/// What the page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Maximum number of flows and streams per file that are shown with charts; the tables have all.
    pub top: usize,
    /// Whether to draw charts. Without them the page shows their numbers in tables.
    pub charts: bool,
}

impl Default for Page {
    /// Twenty flows, with charts.
    fn default() -> Self {
        Page {
            top: 20,
            charts: true,
        }
    }
}

impl Page {
    fn end(&self, out: &mut dyn Write, data: &Data) -> io::Result<()> {
        let left_out = match self.charts {
            true => "",
            false => " Charts were left out; their numbers are shown as tables.",
        };
        words(out)?;
        end(
            out,
            &format!("{NOTE}{left_out}"),
            self.charts,
            &ASSETS,
            data,
        )
    }
}

/// Writes the page. `out` should be buffered. Several captures begin with a table of them, the most severe first, and each
/// is folded. The page of many is large: [`write_overview`] and a page for each are better then.
pub fn write(out: &mut dyn Write, analyses: &[Analysis], page: &Page) -> io::Result<()> {
    let mut data = Data::default();
    match analyses {
        [one] => begin(out, &title(one), &ASSETS)?,
        several => {
            let lines: Vec<Line> = several.iter().map(Line::of).collect();
            begin(out, &captures::title(lines.len()), &ASSETS)?;
            captures::table(out, &lines, |number| format!("#capture-{number}"))?;
        }
    }
    let parts: Vec<Part<'_>> = (0..)
        .zip(analyses)
        .map(|(n, a)| Part::of(n, a, page))
        .collect();
    let room = room(&parts);
    for part in &parts {
        part.write(out, analyses.len() > 1, page, room, &mut data)?;
    }
    page.end(out, &data)
}

/// Writes the page of one capture of several; `overview` is the address of the page that [`write_overview`] wrote.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_one_of(
    out: &mut dyn Write,
    analysis: &Analysis,
    page: &Page,
    overview: &str,
) -> io::Result<()> {
    let mut data = Data::default();
    let part = Part::of(0, analysis, page);
    begin(out, &title(analysis), &ASSETS)?;
    writeln!(
        out,
        "<p><a href=\"{}\">All captures</a></p>",
        Text(overview)
    )?;
    let room = Room::shared(&part.shown);
    part.write(out, false, page, room, &mut data)?;
    page.end(out, &data)
}

/// Writes a table of captures, the most severe first, each with a link to what `address` returns for its place in
/// `lines`: so small that thousands open at once.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_overview(
    out: &mut dyn Write,
    lines: &[Line],
    address: impl Fn(usize) -> String,
) -> io::Result<()> {
    let assets = Assets {
        script: "",
        charts: "{}",
        ..ASSETS
    };
    begin(out, &captures::title(lines.len()), &assets)?;
    captures::table(out, lines, address)?;
    end(out, captures::NOTE, false, &assets, &())
}

fn title(analysis: &Analysis) -> String {
    format!("Packet order in {}", short_name(&analysis.file))
}

/// How much may be drawn of each flow of the page.
fn room(parts: &[Part<'_>]) -> Room {
    let all: Vec<Subject<'_>> = parts.iter().flat_map(|part| part.shown.clone()).collect();
    Room::shared(&all)
}

/// What the words of the page mean, folded.
fn words(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "<details class=folded id=words><summary>Words</summary>\n<dl>"
    )?;
    for (term, meaning) in TERMS {
        writeln!(
            out,
            "<dt><b>{}</b></dt><dd>{}</dd>",
            Text(term),
            Text(meaning)
        )?;
    }
    writeln!(out, "</dl>\n</details>")
}

/// The name of a file without its folders.
fn short_name(file: &str) -> &str {
    file.rsplit(['/', '\\'])
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(file)
}

/// Begins the footer.
const NOTE: &str = "Extent, late time and byte offset as in RFC 4737 (Linux's \
                    <code>reordering</code> counts one packet more), reorder density as in RFC 5236.";

/// Writes the charts of the page as one JSON object, for whoever draws them elsewhere: `specs`, the Vega-Lite
/// specifications by the name of the chart, without data; the names to which the rows of events refer; and `flows`, the
/// data of the `top` most severe flows and streams of each file. The page's script says how data become records.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_charts(out: &mut dyn Write, analyses: &[Analysis], top: usize) -> io::Result<()> {
    let page = Page { top, charts: true };
    let parts = (0..).zip(analyses).map(|(n, a)| Part::of(n, a, &page));
    let parts: Vec<Part<'_>> = parts.collect();
    let room = room(&parts);
    let drawn = |part: &Part<'_>, subject: &Subject<'_>| Drawn {
        file: part.analysis.file.clone(),
        name: match subject {
            Subject::Flow(flow) => crate::flows::name(&flow.flow),
            Subject::Stream(stream) => crate::flows::stream_name(stream),
        },
        data: charts(subject, room).0,
    };
    let flows = parts.iter().flat_map(|part| {
        let subjects = part.shown.iter();
        subjects.map(move |subject| drawn(part, subject))
    });
    let all = Elsewhere {
        specs: serde_json::from_str(ASSETS.charts)?,
        names: Data::default(),
        flows: flows.collect(),
    };
    Ok(serde_json::to_writer(out, &all)?)
}

/// What [`write_charts`] writes.
#[derive(Serialize)]
struct Elsewhere {
    specs: serde_json::Value,
    names: Data,
    flows: Vec<Drawn>,
}

/// A flow or stream with the data of its charts.
#[derive(Serialize)]
struct Drawn {
    file: String,
    name: String,
    data: Charts,
}

/// The data of the charts of a flow or stream, and the worst burst of it.
fn charts(subject: &Subject<'_>, room: Room) -> (Charts, Option<Burst>) {
    match subject {
        Subject::Flow(flow) => {
            let burst = Burst::of(flow);
            (Charts::of_flow(flow, burst.as_ref(), room), burst)
        }
        Subject::Stream(stream) => (Charts::of_stream(stream), None),
    }
}

/// What the page's script reads.
#[derive(Serialize)]
struct Data {
    /// The names to which the rows of events refer.
    what: &'static [&'static str],
    confidence: &'static [&'static str],
    evidence: Vec<&'static str>,
    /// The rows of the chart of what happened when.
    when: [&'static str; data::ROWS.len()],
    /// The limits: name, and what the page calls it.
    limits: Vec<(&'static str, &'static str)>,
    /// The charts' data, by the identifier of the section.
    flows: BTreeMap<String, Charts>,
}

impl Default for Data {
    fn default() -> Self {
        Data {
            what: data::WHAT,
            confidence: inorder_detect::Confidence::NAMES,
            evidence: data::evidence(),
            when: data::ROWS,
            limits: Limit::ALL
                .into_iter()
                .map(|limit| (limit.name(), crate::limits::label(limit)))
                .collect(),
            flows: BTreeMap::new(),
        }
    }
}

/// The part of the page about one capture.
struct Part<'a> {
    number: usize,
    analysis: &'a Analysis,
    /// The flows and streams that get a section, the most severe first.
    shown: Vec<Subject<'a>>,
}

impl<'a> Part<'a> {
    fn of(number: usize, analysis: &'a Analysis, page: &Page) -> Self {
        let mut shown = troubled(analysis);
        // Without any trouble the largest flow is shown: its goodput may be what the reader looks for.
        if shown.is_empty() {
            let flows = analysis
                .flows
                .iter()
                .filter(|flow| flow.originals.bytes > 0);
            let largest = flows.max_by_key(|flow| flow.originals.bytes);
            shown.extend(largest.map(Subject::Flow));
        }
        shown.truncate(page.top);
        Part {
            number,
            analysis,
            shown,
        }
    }

    fn write(
        &self,
        out: &mut dyn Write,
        one_of_several: bool,
        page: &Page,
        room: Room,
        data: &mut Data,
    ) -> io::Result<()> {
        let level = if one_of_several { 3 } else { 2 };
        if one_of_several {
            captures::begin(out, self.number, self.analysis)?;
        }
        overview::meta(out, self.analysis)?;
        let said = headline(self.analysis);
        overview::head(out, &said)?;
        actions::write(out, level, &said, self.analysis)?;
        extras::warnings(out, self.analysis)?;
        overview::tiles(out, self.analysis)?;
        self.tables(out, level)?;
        self.sections(out, level, page, room, data)?;
        extras::peer(out, level, self.analysis)?;
        extras::skipped(out, self.analysis)?;
        match one_of_several {
            true => writeln!(out, "</details>"),
            false => Ok(()),
        }
    }

    /// The tables of flows and of streams, first the one with the most severe.
    fn tables(&self, out: &mut dyn Write, level: usize) -> io::Result<()> {
        let flows: Vec<_> = flows_by_gravity(&self.analysis.flows)
            .into_iter()
            .map(|flow| Listed {
                of: flow,
                section: self
                    .section_of(|s| matches!(s, Subject::Flow(f) if std::ptr::eq(*f, flow))),
            })
            .collect();
        let streams: Vec<_> = streams_by_gravity(&self.analysis.streams)
            .into_iter()
            .map(|stream| Listed {
                of: stream,
                section: self
                    .section_of(|s| matches!(s, Subject::Stream(f) if std::ptr::eq(*f, stream))),
            })
            .collect();
        if matches!(self.shown.first(), Some(Subject::Stream(_))) {
            overview::streams(out, level, &streams)?;
            return overview::flows(out, level, &flows);
        }
        overview::flows(out, level, &flows)?;
        overview::streams(out, level, &streams)
    }

    fn section_of(&self, is: impl Fn(&Subject<'_>) -> bool) -> Option<String> {
        let place = self.shown.iter().position(is)?;
        Some(format!("#{}", self.id(place)))
    }

    fn sections(
        &self,
        out: &mut dyn Write,
        level: usize,
        page: &Page,
        room: Room,
        data: &mut Data,
    ) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        writeln!(out, "<h{level}>In detail, the most severe first</h{level}>")?;
        for (place, subject) in self.shown.iter().enumerate() {
            let id = self.id(place);
            let (charts, burst) = charts(subject, room);
            let section = Section {
                id: &id,
                level: level + 1,
                open: place == 0,
                drawn: page.charts,
            };
            section.write(out, subject, &charts, burst.as_ref())?;
            data.flows.insert(id, charts);
        }
        Ok(())
    }

    /// Identifier of a section: file and place in the order of the page.
    fn id(&self, place: usize) -> String {
        format!("flow-{}-{place}", self.number)
    }
}
