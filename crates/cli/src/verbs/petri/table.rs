//! Findings as tables.

use std::io::{self, Write};

use inorder_petri::net::Net;
use inorder_petri::statistics::Estimate;

use super::exact::Exact;
use super::simulate::Simulated;
use super::{Findings, structure};

/// Everything found, a paragraph each.
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

fn row(out: &mut dyn Write, name: &str, cells: [String; 3]) -> io::Result<()> {
    let [a, b, c] = cells;
    writeln!(out, "  {name:<20} {a:>24} {b:>24} {c:>24}")
}

fn places_head(out: &mut dyn Write) -> io::Result<()> {
    row(
        out,
        "place",
        ["mean tokens", "arrivals", "stay"].map(String::from),
    )
}

fn transitions_head(out: &mut dyn Write) -> io::Result<()> {
    row(
        out,
        "transition",
        ["throughput", "utilisation", "busy servers"].map(String::from),
    )
}

fn number(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e7).contains(&value.abs()) {
        format!("{value:.6e}")
    } else {
        format!("{value:.6}")
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

fn interval(estimate: Estimate) -> String {
    format!(
        "{} ± {}",
        number(estimate.mean),
        number(estimate.half_width)
    )
}

fn optional_interval(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| "-".to_owned(), interval)
}

fn write_exact(exact: &Exact, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nexact, steady state of {} tangible markings ({} vanishing)",
        exact.states, exact.vanishing
    )?;
    places_head(out)?;
    for found in &exact.places {
        let cells = [
            number(found.tokens),
            number(found.arrivals),
            optional(found.sojourn),
        ];
        row(out, &found.name, cells)?;
    }
    transitions_head(out)?;
    for found in &exact.transitions {
        let cells = [
            number(found.throughput),
            optional(found.utilisation),
            optional(found.busy),
        ];
        row(out, &found.name, cells)?;
    }
    Ok(())
}

fn write_simulated(simulated: &Simulated, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", headline(simulated))?;
    places_head(out)?;
    for place in &simulated.measures.places {
        let stay = optional_interval(place.sojourn);
        row(
            out,
            &place.name,
            [interval(place.tokens), interval(place.arrivals), stay],
        )?;
    }
    transitions_head(out)?;
    for t in &simulated.measures.transitions {
        let (utilisation, busy) = (optional_interval(t.utilisation), optional_interval(t.busy));
        row(out, &t.name, [interval(t.throughput), utilisation, busy])?;
    }
    Ok(())
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
