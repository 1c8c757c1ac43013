//! One HTML page that opens without a network: verdict, sortable table, charts.
//!
//! The page carries its style, script, data and, when the crate was built with them, the chart
//! libraries (Vega, Vega-Lite, Vega-Embed); a content security policy forbids it any request.

mod bundle;
mod data;
mod escape;
mod extras;
mod flow;
mod numbers;
mod overview;

use std::collections::BTreeMap;
use std::io::{self, Write};

use inorder_detect::FlowReport;

use self::bundle::{BUNDLE, Bundle};
use self::data::Charts;
use self::escape::{ScriptJson, Text};
use crate::model::{Analysis, by_severity, has_problems};
use crate::verdict::verdict;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");
const CHARTS: &str = include_str!("charts.json");

/// No request, no form, no code but the page's own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data: blob:";

/// What the page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Flows shown with charts, at most per file; the table has all.
    pub top: usize,
    /// Draw charts, if the chart libraries are part of this build ([`has_charts`]).
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

/// True when the crate was built with the chart libraries.
pub fn has_charts() -> bool {
    BUNDLE.is_some()
}

/// Writes the page. `out` should be buffered.
pub fn write(out: &mut dyn Write, analyses: &[Analysis], page: &Page) -> io::Result<()> {
    let bundle = BUNDLE.as_ref().filter(|_| page.charts);
    let mut charts = Collected::default();
    head(out, analyses)?;
    for (number, analysis) in analyses.iter().enumerate() {
        file(out, analysis, number, page, bundle.is_some(), &mut charts)?;
    }
    footer(out, bundle)?;
    if let Some(bundle) = bundle {
        libraries(out, bundle, &charts)?;
    }
    writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>")
}

/// The charts' data, by the identifier of the flow's section.
type Collected = BTreeMap<String, Charts>;

fn head(out: &mut dyn Write, analyses: &[Analysis]) -> io::Result<()> {
    let title = match analyses {
        [one] => format!("Packet order in {}", one.file),
        many => format!("Packet order in {} captures", many.len()),
    };
    writeln!(
        out,
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
         <meta http-equiv=Content-Security-Policy content=\"{POLICY}\">\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>",
        title = Text(&title)
    )
}

fn file(
    out: &mut dyn Write,
    analysis: &Analysis,
    number: usize,
    page: &Page,
    drawn: bool,
    charts: &mut Collected,
) -> io::Result<()> {
    overview::meta(out, analysis, number)?;
    writeln!(
        out,
        "<div class=\"card verdict\"><p>{}</p></div>",
        Text(&verdict(analysis))
    )?;
    extras::warnings(out, analysis)?;
    overview::tiles(out, analysis)?;
    let sorted = by_severity(&analysis.flows);
    let shown: Vec<&FlowReport> = sorted
        .iter()
        .copied()
        .filter(|flow| has_problems(flow))
        .take(page.top)
        .collect();
    overview::table(out, &sorted, number, shown.len())?;
    for (i, flow) in shown.iter().enumerate() {
        let id = flow_id(number, i);
        let data = Charts::of(flow);
        flow::section(out, flow, &id, &data.present(), drawn, i == 0)?;
        if drawn {
            charts.insert(id, data);
        }
    }
    extras::streams(out, analysis)?;
    extras::peer(out, analysis)?;
    extras::skipped(out, analysis)
}

/// Identifier of a flow's section: file and place in the order of the page.
fn flow_id(file: usize, place: usize) -> String {
    format!("flow-{file}-{place}")
}

fn footer(out: &mut dyn Write, bundle: Option<&Bundle>) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    writeln!(
        out,
        "<footer><p>Written by inorder {version}. Extent, late time and byte offset as in RFC \
         4737 (Linux's <code>reordering</code> counts one packet more), reorder density as in \
         RFC 5236.</p>"
    )?;
    match bundle {
        Some(bundle) => writeln!(
            out,
            "<details><summary>Licences of the chart libraries</summary><pre>{}</pre></details>",
            Text(bundle.licences)
        )?,
        None => writeln!(
            out,
            "<p>Charts were left out and stand here as tables: this build of inorder does not \
             hold the chart libraries. <code>tools/fetch-vega</code> in inorder's source fetches \
             them; the next build embeds them.</p>"
        )?,
    }
    writeln!(out, "</footer>")
}

fn libraries(out: &mut dyn Write, bundle: &Bundle, charts: &Collected) -> io::Result<()> {
    for library in [bundle.vega, bundle.vega_lite, bundle.vega_embed] {
        writeln!(out, "<script>\n{library}</script>")?;
    }
    // The specifications are our own, but contain comparison signs all the same.
    write!(out, "<script type=\"application/json\" id=charts>")?;
    ScriptJson(&mut *out).write_all(CHARTS.as_bytes())?;
    write!(out, "</script>\n<script type=\"application/json\" id=data>")?;
    serde_json::to_writer(ScriptJson(&mut *out), charts)?;
    writeln!(out, "</script>")
}
