//! SVG.

use super::ports::{BAR_HEIGHT, RADIUS, RAISED};
use super::words::{LETTERS, timing};
use super::{Drawing, Frame};
use crate::net::{Arc, ArcKind, Place, Timing, Transition};
use quick_xml::escape::escape;
use std::fmt::Write;

const STYLE: &str = "text{font:11px sans-serif;fill:#222}.small{font-size:10px;fill:#666}\
    path{fill:none;stroke:#555;stroke-width:1.2}.read{stroke-dasharray:4 3}\
    circle,rect{stroke:#222;stroke-width:1.3;fill:#fff}.black{fill:#222}.grey{fill:#bbb}";

const MARKERS: &str = "<defs>\
    <marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
    <path d=\"M0 0L8 4L0 8z\" style=\"fill:#555;stroke:none\"/></marker>\
    <marker id=\"twice\" viewBox=\"0 0 14 8\" refX=\"14\" refY=\"4\" markerWidth=\"12\" markerHeight=\"7\" orient=\"auto\">\
    <path d=\"M0 0L7 4L0 8zM7 0L14 4L7 8z\" style=\"fill:#555;stroke:none\"/></marker>\
    <marker id=\"ring\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
    <circle cx=\"4\" cy=\"4\" r=\"3\" style=\"stroke:#555\"/></marker></defs>";

/// The drawing as a document.
pub(super) fn document(drawing: &Drawing<'_>) -> String {
    let (width, height) = (drawing.width, drawing.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{STYLE}</style>{MARKERS}\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" style=\"stroke:none\"/>\n",
        text(&drawing.net.name)
    );
    let arcs = drawing.net.transitions.iter().flat_map(|t| &t.arcs);
    for (arc, path) in arcs.zip(&drawing.paths) {
        out += &arc_element(arc, path);
    }
    let (places, transitions) = drawing.nodes.split_at(drawing.net.places.len());
    for (place, frame) in drawing.net.places.iter().zip(places) {
        out += &place_element(place, frame);
    }
    for (t, frame) in drawing.net.transitions.iter().zip(transitions) {
        out += &transition_element(t, frame);
    }
    out + "</svg>\n"
}

fn place_element(place: &Place, frame: &Frame) -> String {
    let (x, y) = (frame.x, frame.y - RAISED);
    let mut out = format!("<g><title>{}</title>", text(&place.name));
    // Writing to a string cannot fail.
    let _ = write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"/>");
    out += &tokens(place.tokens, x, y);
    out += &label(&place.name, x, y + RADIUS + 13.0, "");
    if let Some(most) = place.capacity {
        out += &label(
            &format!("≤{most}"),
            x + RADIUS + 6.0,
            y - RADIUS + 4.0,
            "small",
        );
    }
    out + "</g>\n"
}

/// Up to five tokens as dots, more as a number.
fn tokens(count: u32, x: f64, y: f64) -> String {
    let dots: &[(f64, f64)] = match count {
        0 => return String::new(),
        1 => &[(0.0, 0.0)],
        2 => &[(-5.0, 0.0), (5.0, 0.0)],
        3 => &[(-5.0, 4.0), (5.0, 4.0), (0.0, -5.0)],
        4 => &[(-5.0, -5.0), (5.0, -5.0), (-5.0, 5.0), (5.0, 5.0)],
        5 => &[
            (-6.0, -6.0),
            (6.0, -6.0),
            (-6.0, 6.0),
            (6.0, 6.0),
            (0.0, 0.0),
        ],
        n => return label(&n.to_string(), x, y + 4.0, ""),
    };
    let dot = |&(dx, dy): &(f64, f64)| {
        format!(
            "<circle class=\"black\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\"/>",
            x + dx,
            y + dy
        )
    };
    dots.iter().map(dot).collect()
}

fn transition_element(t: &Transition, frame: &Frame) -> String {
    let (x, y) = (frame.x, frame.y);
    let (width, class) = look(t);
    let (left, top) = (x - 0.5 * width, y - 0.5 * BAR_HEIGHT);
    let mut out = format!("<g><title>{}: {}</title>", text(&t.name), text(&timing(t)));
    let _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width}\" height=\"{BAR_HEIGHT}\"/>"
    );
    out += &label(&t.name, x, top - 5.0, "");
    out += &label(&timing(t), x, y + 0.5 * BAR_HEIGHT + 13.0, "small");
    out + "</g>\n"
}

fn look(t: &Transition) -> (f64, &'static str) {
    match t.timing {
        Timing::Immediate { .. } => (4.0, "black"),
        Timing::Exponential { .. } => (12.0, "white"),
        Timing::Deterministic { .. } => (12.0, "black"),
        _ => (12.0, "grey"),
    }
}

fn arc_element(arc: &Arc, path: &[(f64, f64)]) -> String {
    let (class, marker) = match arc.kind {
        ArcKind::Input | ArcKind::Output => ("", " marker-end=\"url(#arrow)\""),
        ArcKind::Inhibitor => ("", " marker-end=\"url(#ring)\""),
        ArcKind::Read => ("read", ""),
        ArcKind::Reset => ("", " marker-end=\"url(#twice)\""),
    };
    let mut d = String::new();
    for (i, pair) in path.windows(2).enumerate() {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        if i == 0 {
            // Writing to a string cannot fail.
            let _ = write!(d, "M{x0:.1} {y0:.1}");
        }
        let middle = 0.5 * (x0 + x1);
        let _ = write!(
            d,
            "C{middle:.1} {y0:.1} {middle:.1} {y1:.1} {x1:.1} {y1:.1}"
        );
    }
    let mut out = format!("<path class=\"{class}\" d=\"{d}\"{marker}/>\n");
    if arc.multiplicity != 1
        && let Some(pair) = path.windows(2).nth((path.len() - 1) / 2)
    {
        let (x, y) = (
            0.5 * (pair[0].0 + pair[1].0),
            0.5 * (pair[0].1 + pair[1].1) - 4.0,
        );
        out += &label(&arc.multiplicity.to_string(), x, y, "");
        out.push('\n');
    }
    out
}

fn label(words: &str, x: f64, y: f64, class: &str) -> String {
    let shown: String = match words.chars().count() {
        n if n > LETTERS => words.chars().take(LETTERS - 1).chain(['…']).collect(),
        _ => words.to_owned(),
    };
    let shown = text(&shown);
    format!(
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{shown}</text>"
    )
}

fn text(words: &str) -> String {
    let printable: String = words
        .chars()
        .map(|c| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect();
    escape(printable).into_owned()
}
