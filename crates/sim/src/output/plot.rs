//! A line chart as SVG.

use std::fmt::Write;

use super::number::short;

/// A line.
pub struct Line {
    /// For its tooltip.
    pub name: String,
    /// Points with growing first coordinates.
    pub points: Vec<(f64, f64)>,
    /// Drawn as steps: a value holds until the next.
    pub steps: bool,
}

/// A chart.
pub struct Plot<'a> {
    /// What is shown, with its unit.
    pub title: &'a str,
    /// Right end of the horizontal axis, seconds.
    pub until_s: f64,
    /// Its lines.
    pub lines: &'a [Line],
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 56.0;
/// Half of the last number on the horizontal axis.
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 22.0;
const TOP: f64 = 8.0;
/// Colours that people with defective colour vision tell apart (Okabe and Ito, 2008).
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888", "#b8a900",
];
/// More points than this are thinned out, the largest of each group staying.
const POINTS: usize = 1500;

impl Plot<'_> {
    /// Appends the chart.
    pub fn svg(&self, out: &mut String) {
        let top = self
            .lines
            .iter()
            .flat_map(|line| &line.points)
            .map(|point| point.1)
            .fold(0.0, f64::max);
        let step = nice_step(top.max(1e-9) / 3.5);
        let top = libm::ceil(top / step).max(1.0) * step;
        let _ = write!(
            out,
            "<figure><figcaption>{}</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            self.title, self.title
        );
        self.grid(out, top, step);
        for (number, line) in self.lines.iter().enumerate() {
            self.line(out, line, top, number);
        }
        out.push_str("</svg></figure>\n");
    }

    /// Appends names in the colours of their lines.
    pub fn legend(out: &mut String, lines: &[Line]) {
        if lines.len() < 2 {
            return;
        }
        out.push_str("<p class=k>");
        for (number, line) in lines.iter().enumerate() {
            let (colour, dashed) = look(number);
            let class = if dashed { " class=d" } else { "" };
            let _ = write!(
                out,
                "<span><b{class} style=\"color:{colour}\"></b>{}</span> ",
                line.name
            );
        }
        out.push_str("</p>\n");
    }

    fn x(&self, seconds: f64) -> f64 {
        LEFT + seconds / self.until_s.max(1e-9) * (WIDTH - LEFT - RIGHT)
    }

    fn grid(&self, out: &mut String, top: f64, step: f64) {
        let mut value = 0.0;
        while value <= top * 1.000_001 {
            let y = y(value, top);
            let _ = write!(
                out,
                "<path class=g d=\"M{LEFT} {y:.1}H{}\"/><text class=y x=\"{}\" y=\"{:.1}\">{}</text>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                y + 4.0,
                short(value)
            );
            value += step;
        }
        let step = nice_step(self.until_s / 8.0);
        let mut time = 0.0;
        while time <= self.until_s * 1.000_001 {
            let _ = write!(
                out,
                "<text class=x x=\"{:.1}\" y=\"{}\">{} s</text>",
                self.x(time),
                HEIGHT - 4.0,
                short(time)
            );
            time += step;
        }
    }

    fn line(&self, out: &mut String, line: &Line, top: f64, number: usize) {
        let (colour, dashed) = look(number);
        let dashes = if dashed {
            " stroke-dasharray=\"4 3\""
        } else {
            ""
        };
        let _ = write!(out, "<path class=l stroke=\"{colour}\"{dashes} d=\"");
        for (at, (time, value)) in thinned(&line.points).into_iter().enumerate() {
            let (x, y) = (self.x(time), y(value, top));
            let _ = match (at, line.steps) {
                (0, _) => write!(out, "M{x:.1} {y:.1}"),
                (_, true) => write!(out, "H{x:.1}V{y:.1}"),
                (_, false) => write!(out, "L{x:.1} {y:.1}"),
            };
        }
        let _ = write!(out, "\"><title>{}</title></path>", line.name);
    }
}

/// Colour of a line, and whether it is dashed: what the colours do not tell apart dashes do.
fn look(number: usize) -> (&'static str, bool) {
    let colour = COLOURS[number % COLOURS.len()];
    (colour, number / COLOURS.len() % 2 == 1)
}

fn y(value: f64, top: f64) -> f64 {
    HEIGHT - BOTTOM - value / top * (HEIGHT - BOTTOM - TOP)
}

/// 1, 2 or 5 times a power of ten, not below `least`.
fn nice_step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(least.max(1e-12))));
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or(10.0 * power)
}

fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let group = points.len().div_ceil(POINTS).max(1);
    let largest = |chunk: &[(f64, f64)]| chunk.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunks(group).filter_map(largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_round_numbers() {
        for (least, step) in [(0.3, 0.5), (1.0, 1.0), (27.0, 50.0), (600.0, 1000.0)] {
            assert!((nice_step(least) - step).abs() < 1e-9, "{least}");
        }
    }

    #[test]
    fn sixteen_lines_look_different() {
        let looks: std::collections::BTreeSet<_> = (0..16).map(look).collect();
        assert_eq!(looks.len(), 16);
    }

    #[test]
    fn thinning_keeps_peaks() {
        let points: Vec<_> = (0..10_000)
            .map(|i| (f64::from(i), f64::from(u8::from(i == 7_777))))
            .collect();
        let kept = thinned(&points);
        assert!(kept.len() <= POINTS && kept.iter().any(|point| point.1 == 1.0));
    }
}
