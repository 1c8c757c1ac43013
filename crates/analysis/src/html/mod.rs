//! One HTML page that needs no network: verdict, sortable table of flows, charts.
//!
//! The page carries its style, script, data and, when the crate was built with them, the chart
//! libraries (Vega, Vega-Lite, Vega-Embed); a content security policy forbids it any request.

mod data;
mod extras;
mod flow;
mod numbers;
mod overview;

use std::collections::BTreeMap;
use std::io::{self, Write};

use inorder_detect::FlowReport;
use inorder_report::escape::Text;
use inorder_report::html::{Assets, begin, end};

use self::data::Charts;
use self::overview::Listed;
use crate::gravity::{flows_by_gravity, has_problems};
use crate::headline::headline;
use crate::model::Analysis;

/// The charts of flows.
const ASSETS: Assets = Assets {
    style: "",
    script: include_str!("flows.js"),
    charts: include_str!("charts.json"),
};

/// What the page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Maximum number of flows per file that are shown with charts; the table has all flows.
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

/// Writes the page. `out` should be buffered.
pub fn write(out: &mut dyn Write, analyses: &[Analysis], page: &Page) -> io::Result<()> {
    let drawn = page.charts;
    let mut charts = Collected::default();
    let title = match analyses {
        [one] => format!("Packet order in {}", one.file),
        many => format!("Packet order in {} captures", many.len()),
    };
    begin(out, &title, &ASSETS)?;
    for (number, analysis) in analyses.iter().enumerate() {
        file(out, analysis, number, page, drawn, &mut charts)?;
    }
    end(out, NOTE, drawn, &ASSETS, &charts)
}

/// Begins the footer.
const NOTE: &str = "Extent, late time and byte offset as in RFC 4737 (Linux's \
                    <code>reordering</code> counts one packet more), reorder density as in RFC 5236.";

/// The charts' data, by the identifier of the flow's section.
type Collected = BTreeMap<String, Charts>;

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
        Text(&headline(analysis).to_string())
    )?;
    extras::warnings(out, analysis)?;
    overview::tiles(out, analysis)?;
    let sorted = flows_by_gravity(&analysis.flows);
    let shown: Vec<&FlowReport> = sorted
        .iter()
        .copied()
        .filter(|flow| has_problems(flow))
        .take(page.top)
        .collect();
    let listed: Vec<Listed<'_>> = (0..)
        .zip(&sorted)
        .map(|(place, flow)| Listed {
            flow,
            section: (place < shown.len()).then(|| flow_id(number, place)),
        })
        .collect();
    overview::table(out, &listed)?;
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
