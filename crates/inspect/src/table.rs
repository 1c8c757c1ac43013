//! The findings as tables.

use std::io::{self, Write};

use inorder_petri::net::Net;
use inorder_petri::statistics::{Estimate, PlaceMeasures, TransitionMeasures};
use inorder_report::number::people;
use inorder_report::text::{self, Layout};
use inorder_report::{Column, Kind};

use crate::document::{Document, Findings};
use crate::exact::Exact;
use crate::kind::REAL;
use crate::simulate::Simulated;
use crate::{columns, queries, structure};

/// Writes all findings, one paragraph each.
pub fn write(net: &Net, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let name = if net.name.is_empty() {
        "net"
    } else {
        &net.name
    };
    writeln!(
        out,
        "{name}: {} places, {} transitions",
        net.places.len(),
        net.transitions.len()
    )?;
    if let Some(invariants) = &findings.invariants {
        lines(
            out,
            "invariants",
            &structure::invariant_lines(net, invariants),
        )?;
    }
    if let Some(report) = &findings.reachability {
        lines(
            out,
            "reachable markings",
            &structure::reachability_lines(net, report),
        )?;
    }
    if !findings.answers.is_empty() {
        lines(out, "answers", &queries::lines(&findings.answers, number))?;
    }
    if let Some(exact) = &findings.exact {
        write_exact(exact, out)?;
    }
    if let Some(simulated) = &findings.simulated {
        write_simulated(simulated, out)?;
    }
    Ok(())
}

fn lines(out: &mut dyn Write, title: &str, lines: &[String]) -> io::Result<()> {
    writeln!(out, "\n{title}")?;
    lines.iter().try_for_each(|line| writeln!(out, "  {line}"))
}

/// The columns of the estimates of places or transitions; JSON has their parts separately.
macro_rules! estimates {
    ($node:ty, $first:literal, $($heading:literal: $of:expr),+) => {
        &[
            Column::new($first, Kind::Text, "Its name.", |n: &$node| (&n.name).into())
                .shown($first, 0),
            $(Column::new(
                $heading,
                REAL,
                "Mean and half the width of the interval.",
                |n: &$node| {
                    let of: fn(&$node) -> Option<Estimate> = $of;
                    of(n).map(interval).into()
                },
            )
            .optional()
            .shown($heading, 0)),+
        ]
    };
}

static PLACES: &[Column<PlaceMeasures>] = estimates!(PlaceMeasures, "place",
    "mean tokens": |p| Some(p.tokens),
    "arrivals": |p| Some(p.arrivals),
    "stay": |p| p.sojourn);

static TRANSITIONS: &[Column<TransitionMeasures>] = estimates!(TransitionMeasures, "transition",
    "throughput": |t| Some(t.throughput),
    "busy servers": |t| t.busy,
    "utilisation": |t| t.utilisation);

fn number(value: f64) -> String {
    people(REAL, &value.into())
}

fn interval(estimate: Estimate) -> String {
    format!(
        "{} ± {}",
        number(estimate.mean),
        number(estimate.half_width)
    )
}

fn table<R>(out: &mut dyn Write, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
    text::write(out, columns, rows, &Layout::default().indent(2))
}

fn write_exact(exact: &Exact, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nexact, {} of {} tangible markings ({} vanishing)",
        exact.time.map_or_else(
            || "steady state".to_owned(),
            |time| format!("state at time {}", number(time))
        ),
        exact.states,
        exact.vanishing
    )?;
    table(out, columns::EXACT_PLACE, &exact.places)?;
    table(out, columns::EXACT_TRANSITION, &exact.transitions)
}

fn write_simulated(simulated: &Simulated, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", headline(simulated))?;
    table(out, PLACES, &simulated.measures.places)?;
    table(out, TRANSITIONS, &simulated.measures.transitions)
}

fn headline(simulated: &Simulated) -> String {
    let what = if simulated.are_replications {
        "replications"
    } else {
        "batches"
    };
    let end = match (simulated.is_precise, simulated.was_interrupted) {
        (true, _) => "the wanted precision was reached",
        (false, true) => "interrupted before the wanted precision was reached",
        (false, false) => "the wanted precision was not reached",
    };
    format!(
        "simulated until time {}, {} {what}, intervals of {} %; {end}",
        number(simulated.time),
        simulated.observations,
        100.0 * simulated.confidence
    )
}

impl Document {
    /// Writes a paragraph for each finding.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        write(&self.net, &self.findings, out)
    }
}
