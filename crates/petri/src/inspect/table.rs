//! The findings as tables.

use std::io::{self, Write};

use crate::net::Net;
use crate::race::Threshold;
use crate::statistics::{Doubts, Estimate, PlaceMeasures, TransitionMeasures, plain, with_digits};
use inorder_report::number::{people, plural};
use inorder_report::text::{self, Layout};
use inorder_report::{Column, Kind};

use crate::inspect::document::{Document, Findings};
use crate::inspect::ends::Ends;
use crate::inspect::exact::Exact;
use crate::inspect::kind::REAL;
use crate::inspect::simulate::Simulated;
use crate::inspect::{columns, queries, structure};

/// Writes all findings, one paragraph each.
pub(super) fn write(net: &Net, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let name = if net.name.is_empty() {
        "net"
    } else {
        &net.name
    };
    writeln!(
        out,
        "{name}: {}, {}",
        plural(net.places.len() as u64, "place"),
        plural(net.transitions.len() as u64, "transition")
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
                    of(n).map(with_digits).into()
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

fn table<R>(out: &mut dyn Write, columns: &[Column<R>], rows: &[R]) -> io::Result<()> {
    text::write(out, columns, rows, &Layout::default().indent(2))
}

fn in_unit(value: String, unit: &str) -> String {
    match unit {
        "" => value,
        unit => format!("{value} {unit}"),
    }
}

fn write_exact(exact: &Exact, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nexact, {} of {} ({} vanishing){}",
        exact.time.map_or_else(
            || "steady state".to_owned(),
            |time| format!("state at time {}", in_unit(number(time), &exact.unit))
        ),
        plural(exact.states as u64, "tangible marking"),
        exact.vanishing,
        match exact.unit.as_str() {
            "" => String::new(),
            unit => format!(", rates per {unit}, stays in {unit}"),
        }
    )?;
    if let Some(balance) = exact.balance {
        writeln!(
            out,
            "  each probability is right to a share of {}; flows into and out of any set of markings balance to {}",
            plain(balance.error, 2),
            plain(balance.imbalance, 2)
        )?;
    }
    table(out, columns::EXACT_PLACE, &exact.places)?;
    table(out, columns::EXACT_TRANSITION, &exact.transitions)
}

fn write_simulated(simulated: &Simulated, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", headline(simulated))?;
    for sentence in simulated.doubts_in_words() {
        writeln!(out, "  {sentence}")?;
    }
    if let Some(split) = &simulated.split {
        let threshold = |t: &Threshold| format!("{} (x{})", plain(t.level, 6), t.trials);
        let all: Vec<String> = split.iter().map(threshold).collect();
        return match all.is_empty() {
            true => writeln!(
                out,
                "  importance splitting: the level never rose enough for a threshold, so that this is a plain simulation"
            ),
            false => writeln!(
                out,
                "  importance splitting where the level reaches {}",
                all.join(", ")
            ),
        };
    }
    table(out, PLACES, &simulated.measures.places)?;
    table(out, TRANSITIONS, &simulated.measures.transitions)
}

fn headline(simulated: &Simulated) -> String {
    let count = simulated.observations;
    let observations = match (simulated.are_replications, count) {
        (true, _) => plural(count as u64, "replication"),
        (false, 1) => "1 batch".to_owned(),
        (false, _) => format!("{count} batches"),
    };
    let unseen = simulated.measures.has_unseen();
    let end = match (simulated.is_precise, simulated.was_interrupted) {
        (true, _) if unseen => "the wanted precision was reached, except for what was never seen",
        (true, _) => "the wanted precision was reached",
        (false, true) => "interrupted before the wanted precision was reached",
        (false, false) => "the wanted precision was not reached",
    };
    let needed =
        needed(simulated).map_or_else(String::new, |needed| format!(", which takes {needed}"));
    format!(
        "simulated until time {}, the first {} not counted, {observations}, intervals of {} %; {end}{needed}",
        plain(simulated.time, 6),
        plain(simulated.warm_up, 6),
        plain(100.0 * simulated.confidence, 12)
    )
}

/// What the wanted precision would take.
fn needed(simulated: &Simulated) -> Option<String> {
    let times = simulated.times_needed()?;
    Some(match simulated.are_replications {
        true => format!(
            "about {} runs",
            plain(times * simulated.observations as f64, 2)
        ),
        false => format!("about the time {}", plain(times * simulated.time, 2)),
    })
}

impl Simulated {
    /// Why the estimates may be wrong, or may not mean what the modeller has in mind, one sentence each.
    pub fn doubts_in_words(&self) -> Vec<String> {
        let Doubts {
            unstable,
            unsettled,
            correlated,
            not_fired,
            full,
            ..
        } = &self.doubts;
        let mut sentences: Vec<String> = self.ends.iter().map(Ends::words).collect();
        for place in full {
            sentences.push(format!("full: {place} {}", Net::FULL));
        }
        for (transition, mean) in not_fired {
            sentences.push(format!(
                "not fired yet: {transition}, after {} on average; what follows is not in the means; expected a longer \
                 --time, or --exact",
                plain(*mean, 4)
            ));
        }
        for (transition, other) in &self.youngest_stops {
            sentences.push(format!(
                "which clock ends: of several clocks of {transition} the youngest stops when {other} takes a token, since clocks \
                 belong to no token; for customers who each have a clock of their own write a coloured net with cancel"
            ));
        }
        for place in unstable {
            sentences.push(format!(
                "unstable: {} gets {} and loses {} per unit of time and grows; there is no steady state",
                place.place,
                plain(place.inflow, 4),
                plain(place.outflow, 4)
            ));
        }
        if *unsettled && unstable.is_empty() {
            sentences.push(
                "not settled: means still differ between the first and the second half of what counts; expected a longer \
                 --time, or a longer --warm-up"
                    .to_owned(),
            );
        }
        if let Some(correlation) = correlated.filter(|_| unstable.is_empty()) {
            sentences.push(match self.are_replications {
                true => format!(
                    "the runs remember their beginnings (correlation of their halves {}): they end in different ways, or \
                     are shorter than the memory of the net",
                    plain(correlation, 2)
                ),
                false => format!(
                    "too short: {} batches depend on each other (correlation {}), so that the intervals cannot be trusted; \
                     expected a longer --time",
                    self.observations,
                    plain(correlation, 2)
                ),
            });
        }
        sentences
    }
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
