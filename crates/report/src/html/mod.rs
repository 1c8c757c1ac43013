//! Pages that need no network: frame, sortable tables, charts.
//!
//! A page carries its style, script, data and the chart libraries (Vega,
//! Vega-Lite, Vega-Embed); a content security policy forbids it any request.

mod bundle;
pub mod comparison;
mod table;

use std::io::{self, Write};

use serde::Serialize;

use self::bundle::BUNDLE;
pub use self::table::Table;
use crate::escape::{ScriptJson, Text};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// Forbids every request, every form, and all code except the page's own.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data: blob:";

/// What one kind of page has in addition to the common parts: style, script, and Vega-Lite charts for the script to
/// draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Assets {
    /// Rules that follow those of all pages.
    pub style: &'static str,
    /// Runs after the common script; it has access to `charts` and to the page's data through `read`.
    pub script: &'static str,
    /// A JSON object of chart specifications by name.
    pub charts: &'static str,
}

/// Writes everything before the content: head, style, title.
///
/// # Errors
/// If `out` cannot be written.
pub fn begin(out: &mut dyn Write, title: &str, assets: &Assets) -> io::Result<()> {
    writeln!(
        out,
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
         <meta http-equiv=Content-Security-Policy content=\"{POLICY}\">\n\
         <meta name=generator content=\"inorder {version}\">\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>",
        version = env!("CARGO_PKG_VERSION"),
        title = Text(title),
        style = assets.style
    )
}

/// Writes everything after the content: a footer that begins with `note` (HTML), the chart libraries with the `data`
/// of the charts if charts are drawn, and the script.
///
/// # Errors
/// If `out` cannot be written.
pub fn end(
    out: &mut dyn Write,
    note: &str,
    drawn: bool,
    assets: &Assets,
    data: &impl Serialize,
) -> io::Result<()> {
    footer(out, note, drawn)?;
    if drawn {
        libraries(out, assets, data)?;
    }
    writeln!(
        out,
        "<script>\n{SCRIPT}</script>\n<script>\n{}</script>\n</body>\n</html>",
        assets.script
    )
}

fn footer(out: &mut dyn Write, note: &str, drawn: bool) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    writeln!(
        out,
        "</main>\n<footer><p>Written by inorder {version}. {note}</p>"
    )?;
    if drawn {
        writeln!(
            out,
            "<details><summary>Licences of the chart libraries</summary><pre>{}</pre></details>",
            Text(BUNDLE.licences)
        )?;
    }
    writeln!(out, "</footer>")
}

fn libraries(out: &mut dyn Write, assets: &Assets, data: &impl Serialize) -> io::Result<()> {
    for library in [BUNDLE.vega, BUNDLE.vega_lite, BUNDLE.vega_embed] {
        writeln!(out, "<script>\n{library}</script>")?;
    }
    // The specifications are part of the program, but they contain comparison signs, which must be escaped.
    write!(out, "<script type=\"application/json\" id=charts>")?;
    ScriptJson(&mut *out).write_all(assets.charts.as_bytes())?;
    write!(out, "</script>\n<script type=\"application/json\" id=data>")?;
    serde_json::to_writer(ScriptJson(&mut *out), data)?;
    writeln!(out, "</script>")
}
