//! `inorder reproduce`: runs a paper's experiments again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_experiments::report::{CLAIMS, COMPARISONS, REPORT, Report};
use inorder_experiments::{
    Claim, Context, ExperimentError, Findings, Item, Paper, Unknown, Verdict, Why, paper_named,
    papers,
};
use inorder_experiments::{html, markdown};
use inorder_report::number::short;
use inorder_report::text::{self, Layout};
use inorder_report::{csv, json, schema};

use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome, usage};
use crate::outputs::Comment;
use crate::progress::Bar;
use crate::{interrupt, manners, outputs};

/// Options of `inorder reproduce`.
#[derive(clap::Args)]
#[command(after_help = "\
A claim is judged by its 95 % interval over the repetitions: it held if the whole interval satisfies the criterion, it \
failed if no part of it does, else it is undecided, as everything random is with a single repetition. A quick run fails no \
claim. A claim that fails is a result, not an error: the exit code is 0.\n\n\
Examples:\n  inorder reproduce network-processor table-1 table-3 --quick\n  inorder reproduce srpic table-4 --quick --html table-4.html")]
pub(crate) struct Args {
    /// The paper; without it, the papers and their items are listed
    paper: Option<String>,
    /// Tables and figures of the paper, such as table-4 [default: all]
    items: Vec<String>,
    /// A smaller grid and shorter runs, for a first look
    #[arg(long)]
    quick: bool,
    /// Seed of the first repetition
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run the experiment that was made to find out why this claim fails, such as figure-16/linux: its item as it is and with
    /// one change
    #[arg(long, value_name = "CLAIM", conflicts_with_all = ["json", "csv", "markdown", "html"])]
    why: Option<String>,
    /// Independent repetitions [default: as the experiment defines]
    #[arg(long, value_name = "N")]
    repetitions: Option<u32>,
    /// Threads [default: as many as there are cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = manners::threads)]
    threads: usize,
    /// Print only claims, without the tables of printed values and ours
    #[arg(long)]
    claims: bool,
    /// Print one JSON object with `claims`, `comparisons` and `remarks` instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
    /// Print CSV instead of text, or write it to FILE: a row for each claim
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// Write a Markdown page to FILE: claims, then a table for each item with a row for each cell
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write a page with the claims, and the figures drawn with printed values beside ours, which needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write claims.parquet and comparisons.parquet into DIR
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
}

/// Runs the selected items one by one; after Ctrl-C the results so far are printed.
pub(super) fn run(args: &Args) -> Outcome {
    if args.schema {
        let about = "What `inorder reproduce PAPER --json` prints.";
        outputs::to_stdout(|out| schema::write(out, "inorder reproduce", about, REPORT))?;
        return Ok(ExitCode::SUCCESS);
    }
    let papers = papers().map_err(CliError::usage)?;
    let Some(name) = &args.paper else {
        outputs::to_stdout(|out| list(out, papers))?;
        return Ok(ExitCode::SUCCESS);
    };
    let unknown = |error: Unknown| CliError::Usage(error.to_string());
    let paper = paper_named(name).map_err(unknown)?;
    let items = paper.chosen(&args.items).map_err(unknown)?;
    prepare(args)?;
    if let Some(claim) = &args.why {
        return explain(&items, args, claim);
    }
    let mut report = Report::new(paper.name, &paper.title);
    // What was found before an item failed is written all the same.
    let complete = run_items(&items, args, &mut report);
    let written = print(args, &report);
    let complete = complete?;
    written?;
    Ok(if complete {
        ExitCode::SUCCESS
    } else {
        manners::complain(
            "interrupted: the results are partial, without the item that was running",
        );
        ExitCode::from(INTERRUPTED)
    })
}

/// Runs the experiment that belongs to a claim, in the first of the items that has it.
fn explain(items: &[&Item], args: &Args, claim: &str) -> Outcome {
    for item in items {
        // The item may be left out of the name: figure-3/newreno-fall, or newreno-fall.
        let whole = format!("{}/{claim}", item.name);
        let found = with_context(item, args, interrupt::flag(), |context| {
            let found = item.why(context, claim)?;
            if found.is_some() {
                return Ok(found);
            }
            item.why(context, &whole)
        });
        match found {
            Ok(None) => {}
            Ok(Some(why)) => {
                outputs::to_stdout(|out| print_why(out, &why))?;
                return Ok(ExitCode::SUCCESS);
            }
            Err(ExperimentError::Stopped) => return Ok(ExitCode::from(INTERRUPTED)),
            Err(error) => return usage!("{}: {error}", item.name),
        }
    }
    usage!("no claim {claim:?} with an experiment in these items (`--json` has the ids of claims)")
}

fn print_why(out: &mut dyn Write, why: &Why) -> io::Result<()> {
    writeln!(out, "As it is:")?;
    print_claim(out, &why.before)?;
    writeln!(out, "With {}:", why.set.join(", "))?;
    print_claim(out, &why.after)?;
    writeln!(out, "{}", why.text)
}

/// False if Ctrl-C came before all items were run. Text is printed as soon as an item is done.
fn run_items(items: &[&Item], args: &Args, report: &mut Report) -> Result<bool, CliError> {
    let stop = interrupt::flag();
    for item in items {
        match run_item(item, args, stop) {
            Ok(findings) => {
                let printed = match prints_text(args) {
                    true => outputs::text(|out| print_item(out, item, &findings, args.claims)),
                    false => Ok(()),
                };
                report.findings.extend(findings);
                printed?;
            }
            Err(ExperimentError::Stopped) => return Ok(false),
            Err(error) => {
                let text = format!("{} {}: {error}", report.paper, item.name);
                return Err(CliError::Usage(text));
            }
        }
    }
    Ok(true)
}

/// True if no other output uses the standard output.
fn prints_text(args: &Args) -> bool {
    files(args).all(|path| path.as_os_str() != "-")
}

/// The files that were asked for.
fn files(args: &Args) -> impl Iterator<Item = &Path> {
    let files = [&args.json, &args.csv, &args.markdown, &args.html];
    files.into_iter().flatten().map(PathBuf::as_path)
}

/// Checks the outputs before the first run.
fn prepare(args: &Args) -> Result<(), CliError> {
    let files: Vec<&Path> = files(args).collect();
    if files.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        return usage!("the standard output takes one of --json, --csv, --markdown and --html");
    }
    outputs::check(&files, &[])?;
    #[cfg(feature = "parquet")]
    if let Some(dir) = &args.parquet {
        outputs::directory(dir)?;
        outputs::check_in(dir, &PARQUET, &[])?;
    }
    Ok(())
}

fn print(args: &Args, report: &Report) -> Result<(), CliError> {
    let mut written = outputs::Attempts::default();
    if let Some(path) = &args.json {
        written.of(outputs::write_to(path, |out| {
            json::write(out, REPORT, report)
        }));
    }
    if let Some(path) = &args.csv {
        written.of(outputs::write_to(path, |out| {
            csv::write(out, CLAIMS, &report.findings.claims)
        }));
    }
    if let Some(path) = &args.markdown {
        let command = command(args, report);
        written.of(outputs::write_to(path, |out| {
            markdown::write(out, report, &command)?;
            Comment::Xml.write(out)
        }));
    }
    if let Some(path) = &args.html {
        let command = command(args, report);
        written.of(outputs::write_to(path, |out| {
            html::write(out, report, &command)
        }));
    }
    #[cfg(feature = "parquet")]
    if let Some(dir) = &args.parquet {
        let [claims, comparisons] = PARQUET.map(|name| dir.join(name));
        let found = &report.findings;
        written.of(outputs::to_parquet(&claims, CLAIMS, &found.claims));
        written.of(outputs::to_parquet(
            &comparisons,
            COMPARISONS,
            &found.comparisons,
        ));
    }
    if prints_text(args) {
        let lines = report.tally();
        written.of(outputs::text(|out| {
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))
        }));
    }
    written.finish()
}

/// What was asked for, as far as results depend on it.
fn command(args: &Args, report: &Report) -> String {
    let mut command = format!("inorder reproduce {}", report.paper);
    for item in &args.items {
        command = format!("{command} {item}");
    }
    if args.quick {
        command.push_str(" --quick");
    }
    if args.seed != 1 {
        command = format!("{command} --seed {}", args.seed);
    }
    if let Some(repetitions) = args.repetitions {
        command = format!("{command} --repetitions {repetitions}");
    }
    command
}

/// The files of --parquet.
#[cfg(feature = "parquet")]
const PARQUET: [&str; 2] = ["claims.parquet", "comparisons.parquet"];

fn run_item(item: &Item, args: &Args, stop: &AtomicBool) -> Result<Findings, ExperimentError> {
    with_context(item, args, stop, |context| item.run(context))
}

fn with_context<R>(
    item: &Item,
    args: &Args,
    stop: &AtomicBool,
    run: impl FnOnce(&Context<'_>) -> Result<R, ExperimentError>,
) -> Result<R, ExperimentError> {
    let bar = Bar::counting(&item.name, "runs");
    let progress = |done: usize, known: usize| bar.at(done as u64, Some(known as u64));
    let context = Context {
        quick: args.quick,
        repetitions: args.repetitions,
        seed: args.seed,
        threads: args.threads,
        set: &[],
        progress: &progress,
        stop,
    };
    if stop.load(Ordering::Relaxed) {
        return Err(ExperimentError::Stopped);
    }
    run(&context)
}

fn list(out: &mut dyn Write, papers: &[Paper]) -> io::Result<()> {
    for paper in papers {
        writeln!(out, "{}  {}", paper.name, paper.title)?;
        for item in &paper.items {
            writeln!(out, "  {:<12} {}", item.name, item.about)?;
        }
    }
    Ok(())
}

fn print_item(
    out: &mut dyn Write,
    item: &Item,
    findings: &Findings,
    claims_only: bool,
) -> io::Result<()> {
    writeln!(out, "{}: {}", item.name, item.about)?;
    if !claims_only && !findings.comparisons.is_empty() {
        let layout = Layout::default().indent(2).left(2);
        text::write(out, COMPARISONS, &findings.comparisons, &layout)?;
    }
    for all in &findings.magnitudes {
        writeln!(out, "  magnitudes: {}", all.in_words())?;
    }
    for claim in &findings.claims {
        print_claim(out, claim)?;
    }
    for remark in &findings.remarks {
        writeln!(out, "  note: {remark}")?;
    }
    writeln!(out)
}

fn print_claim(out: &mut dyn Write, claim: &Claim) -> io::Result<()> {
    let verdict = match claim.verdict {
        Verdict::Failed => claim.verdict_in_words().replacen("failed", "FAILED", 1),
        _ => claim.verdict_in_words(),
    };
    let printed = claim
        .printed
        .map(|p| format!(", printed {}", short(p)))
        .unwrap_or_default();
    let interval = claim.interval.filter(|[low, high]| low < high);
    let interval = interval
        .map(|[l, h]| format!(" [{}, {}]", short(l), short(h)))
        .unwrap_or_default();
    writeln!(
        out,
        "  {verdict:<9} {}: {}: {}{interval}{printed}",
        claim.id,
        claim.text,
        short(claim.ours)
    )?;
    let more = claim.detail.iter().chain(&claim.why);
    more.into_iter()
        .try_for_each(|line| writeln!(out, "            {line}"))
}
