//! `inorder reproduce`: a paper's experiments, run again.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_experiments::{
    Claim, Comparison, Context, ExperimentError, Findings, Item, Paper, Verdict, papers,
};
use serde::Serialize;

use crate::error::{CliError, INTERRUPTED, Outcome};
use crate::interrupt;
use crate::progress::Bar;

/// Options of `inorder reproduce`.
#[derive(clap::Args)]
#[command(after_help = "\
A claim is judged by its 95 % interval over the repetitions: it held if the whole interval satisfies the criterion, it \
failed if no part of it does, else it is undecided, as everything random is with a single repetition. A claim that fails \
is a result, not an error: the exit code is 0.\n\n\
Example:\n  inorder reproduce network-processor table-1 table-3 --quick")]
pub struct Args {
    /// The paper; without it, what there is to run
    paper: Option<String>,
    /// Tables and figures of it, such as table-4 [default: all]
    items: Vec<String>,
    /// A smaller grid and shorter runs, for a first look
    #[arg(long)]
    quick: bool,
    /// Seed of the first repetition
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Independent repetitions [default: as the experiment wants]
    #[arg(long, value_name = "N")]
    repetitions: Option<u32>,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Only claims, without the numbers side by side
    #[arg(long)]
    claims: bool,
    /// Print one JSON object with `claims`, `comparisons` and `remarks`
    #[arg(long)]
    json: bool,
}

/// Runs what was asked for, item by item; what is done when Ctrl-C comes is printed.
pub fn run(args: &Args) -> Outcome {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let papers = papers().map_err(|error| CliError::Usage(error.to_string()))?;
    let Some(name) = &args.paper else {
        list(&mut out, papers)?;
        return Ok(ExitCode::SUCCESS);
    };
    let found = papers.iter().find(|paper| paper.name == name);
    let paper = found.ok_or_else(|| unknown("paper", name, papers.iter().map(|p| p.name)))?;
    let items = chosen(paper, &args.items)?;
    let stop = interrupt::flag();
    let mut report = Report {
        paper: paper.name,
        title: &paper.title,
        findings: Findings::default(),
    };
    let mut stopped = false;
    for item in items {
        match run_item(item, args, stop) {
            Ok(findings) => {
                if !args.json {
                    print_item(&mut out, item, &findings, args.claims)?;
                    out.flush()?;
                }
                report.findings.extend(findings);
            }
            Err(ExperimentError::Stopped) => {
                stopped = true;
                break;
            }
            Err(error) => {
                return Err(CliError::Usage(format!(
                    "{} {}: {error}",
                    paper.name, item.name
                )));
            }
        }
    }
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        let count = |verdict| report.findings.count(verdict);
        writeln!(
            out,
            "{}: of {} claims {} held, {} failed, {} are undecided",
            paper.name,
            report.findings.claims.len(),
            count(Verdict::Held),
            count(Verdict::Failed),
            count(Verdict::Undecided)
        )?;
    }
    out.flush()?;
    Ok(if stopped {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

#[derive(Serialize)]
struct Report {
    paper: &'static str,
    title: &'static str,
    #[serde(flatten)]
    findings: Findings,
}

fn run_item(item: &Item, args: &Args, stop: &AtomicBool) -> Result<Findings, ExperimentError> {
    let bar = Bar::counting(&item.name, "runs");
    let progress = |done: usize, known: usize| bar.at(done as u64, Some(known as u64));
    let context = Context {
        quick: args.quick,
        repetitions: args.repetitions,
        seed: args.seed,
        threads: args.threads,
        progress: &progress,
        stop,
    };
    if stop.load(Ordering::Relaxed) {
        return Err(ExperimentError::Stopped);
    }
    item.run(&context)
}

fn chosen<'a>(paper: &'a Paper, names: &[String]) -> Result<Vec<&'a Item>, CliError> {
    if names.is_empty() {
        return Ok(paper.items.iter().collect());
    }
    let known = || paper.items.iter().map(|item| item.name.as_str());
    names
        .iter()
        .map(|name| {
            paper
                .items
                .iter()
                .find(|item| item.name == *name)
                .ok_or_else(|| unknown("item", name, known()))
        })
        .collect()
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> CliError {
    let known: Vec<_> = known.collect();
    CliError::Usage(format!(
        "unknown {what} {name}: expected one of {}",
        known.join(", ")
    ))
}

fn list(out: &mut impl Write, papers: &[Paper]) -> io::Result<()> {
    for paper in papers {
        writeln!(out, "{}  {}", paper.name, paper.title)?;
        for item in &paper.items {
            writeln!(out, "  {:<12} {}", item.name, item.about)?;
        }
    }
    Ok(())
}

fn print_item(
    out: &mut impl Write,
    item: &Item,
    findings: &Findings,
    claims_only: bool,
) -> io::Result<()> {
    writeln!(out, "{}: {}", item.name, item.about)?;
    if !claims_only && !findings.comparisons.is_empty() {
        print_comparisons(out, &findings.comparisons)?;
    }
    for claim in &findings.claims {
        print_claim(out, claim)?;
    }
    for remark in &findings.remarks {
        writeln!(out, "  note: {remark}")?;
    }
    writeln!(out)
}

fn print_comparisons(out: &mut impl Write, rows: &[Comparison]) -> io::Result<()> {
    let width = |text: fn(&Comparison) -> &str| {
        rows.iter()
            .map(|r| text(r).chars().count())
            .max()
            .unwrap_or(0)
    };
    let (cell, measure) = (width(|r| &r.cell), width(|r| &r.measure));
    writeln!(
        out,
        "  {:cell$}  {:measure$}  {:>10}  {:>10}",
        "", "", "printed", "ours"
    )?;
    for row in rows {
        let printed = row.printed.map_or_else(|| "-".to_owned(), number);
        let half = row
            .interval
            .map(|[low, high]| (high - low) / 2.0)
            .filter(|h| *h > 0.0);
        let half = half
            .map(|h| format!(" +- {}", number(h)))
            .unwrap_or_default();
        writeln!(
            out,
            "  {:cell$}  {:measure$}  {printed:>10}  {:>10}{half}",
            row.cell,
            row.measure,
            number(row.ours)
        )?;
    }
    Ok(())
}

fn print_claim(out: &mut impl Write, claim: &Claim) -> io::Result<()> {
    let verdict = match claim.verdict {
        Verdict::Held => "held     ",
        Verdict::Failed => "FAILED   ",
        _ => "undecided",
    };
    let printed = claim
        .printed
        .map(|p| format!(", printed {}", number(p)))
        .unwrap_or_default();
    let interval = claim.interval.filter(|[low, high]| low < high);
    let interval = interval
        .map(|[l, h]| format!(" [{}, {}]", number(l), number(h)))
        .unwrap_or_default();
    writeln!(
        out,
        "  {verdict} {}: {}{interval}{printed}",
        claim.text,
        number(claim.ours)
    )?;
    match &claim.detail {
        Some(detail) => writeln!(out, "            {detail}"),
        None => Ok(()),
    }
}

/// Four significant digits, without an exponent for the usual sizes.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || size >= 1000.0 {
        format!("{value:.0}")
    } else if size >= 100.0 {
        format!("{value:.1}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}
