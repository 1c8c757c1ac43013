//! An SVG chart of where packets spend their time, without fonts, scripts or external resources.
//!
//! The upper part has a bar for each resource: waiting (light) and service (dark), summed over the hops. The lower
//! part has a bar for each hop, divided by resource in the same order, so that a hop with long waits is visible.

use std::fmt::Write;

use crate::account::{Resource, Spent};

const WIDTH: f64 = 860.0;
const LEFT: f64 = 130.0;
const RIGHT: f64 = 150.0;
const BAR: f64 = 20.0;
const GAP: f64 = 6.0;

/// One colour for each resource, in their order.
const COLOURS: [&str; 11] = [
    "#8c8c8c", "#b07aa1", "#59a14f", "#4e79a7", "#76b7b2", "#e15759", "#f28e2b", "#edc948",
    "#9c755f", "#ff9da7", "#6b4c9a",
];

/// Draws the chart with `title` above it.
pub fn svg(title: &str, spent: &[Spent]) -> String {
    let hops = spent.iter().map(|s| s.hop).max().unwrap_or(1);
    let by_resource = by_resource(spent);
    let rows = by_resource.len() as f64 + if hops > 1 { f64::from(hops) + 2.0 } else { 0.0 };
    let height = 60.0 + rows * (BAR + GAP) + 20.0;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut out, 10.0, 22.0, "start", &escaped(title));
    text(
        &mut out,
        10.0,
        42.0,
        "start",
        "cycles a packet: waiting (light), served (dark)",
    );
    let bottom = resource_bars(&mut out, 60.0, &by_resource);
    if hops > 1 {
        hop_bars(&mut out, bottom + BAR, spent, hops);
    }
    out.push_str("</svg>\n");
    out
}

/// Resource, waiting time, service time; cycles, over all hops.
fn by_resource(spent: &[Spent]) -> Vec<(Resource, f64, f64)> {
    let sum = |resource| {
        let of_it = spent.iter().filter(|s| s.resource == resource);
        of_it.fold((resource, 0.0, 0.0), |(r, w, s), part| {
            (r, w + part.waiting, s + part.served)
        })
    };
    let all = Resource::ALL.into_iter().map(sum);
    all.filter(|(_, waiting, served)| waiting + served > 0.0)
        .collect()
}

fn resource_bars(out: &mut String, top: f64, rows: &[(Resource, f64, f64)]) -> f64 {
    let most = rows.iter().map(|(_, w, s)| w + s).fold(1e-9, f64::max);
    let scale = (WIDTH - LEFT - RIGHT) / most;
    let mut y = top;
    for &(resource, waiting, served) in rows {
        let colour = COLOURS[resource as usize % COLOURS.len()];
        text(out, LEFT - 8.0, y + 15.0, "end", resource.name());
        bar(out, LEFT, y, waiting * scale, colour, 0.4);
        bar(out, LEFT + waiting * scale, y, served * scale, colour, 1.0);
        let numbers = format!("{waiting:.0} + {served:.0}");
        text(
            out,
            LEFT + (waiting + served) * scale + 6.0,
            y + 15.0,
            "start",
            &numbers,
        );
        y += BAR + GAP;
    }
    y
}

fn hop_bars(out: &mut String, top: f64, spent: &[Spent], hops: u32) {
    let total = |hop: u32| -> f64 {
        spent
            .iter()
            .filter(|s| s.hop == hop)
            .map(|s| s.waiting + s.served)
            .sum()
    };
    let most = (1..=hops).map(total).fold(1e-9, f64::max);
    let scale = (WIDTH - LEFT - RIGHT) / most;
    text(out, 10.0, top + 6.0, "start", "by processor");
    let mut y = top + BAR;
    for hop in 1..=hops {
        text(out, LEFT - 8.0, y + 15.0, "end", &format!("hop {hop}"));
        let mut x = LEFT;
        for part in spent.iter().filter(|s| s.hop == hop) {
            let colour = COLOURS[part.resource as usize % COLOURS.len()];
            bar(out, x, y, part.waiting * scale, colour, 0.4);
            bar(
                out,
                x + part.waiting * scale,
                y,
                part.served * scale,
                colour,
                1.0,
            );
            x += (part.waiting + part.served) * scale;
        }
        text(
            out,
            x + 6.0,
            y + 15.0,
            "start",
            &format!("{:.0}", total(hop)),
        );
        y += BAR + GAP;
    }
}

fn bar(out: &mut String, x: f64, y: f64, width: f64, colour: &str, opacity: f64) {
    if width >= 0.05 {
        let _ = writeln!(
            out,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{colour}\" \
             fill-opacity=\"{opacity}\"/>"
        );
    }
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, content: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_bars_are_proportional_to_times() {
        let spent = [
            Spent {
                hop: 1,
                resource: Resource::Dram,
                waiting: 300.0,
                served: 100.0,
            },
            Spent {
                hop: 2,
                resource: Resource::Dram,
                waiting: 0.0,
                served: 200.0,
            },
        ];
        let picture = svg("a < b", &spent);
        assert!(picture.contains("a &lt; b"));
        // 580 units represent 600 cycles in the upper part, and the longer hop's 400 cycles in the lower part.
        for width in ["width=\"290.0\"", "width=\"435.0\"", "width=\"145.0\""] {
            assert!(picture.contains(width), "{picture}");
        }
        assert_eq!(picture.matches("hop ").count(), 2);
    }
}
