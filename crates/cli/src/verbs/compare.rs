//! `inorder compare`: what a change did, from a result before it and one after it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use inorder_analysis::Analysis;
use inorder_analysis::compare::{Side, compare, write_csv, write_json, write_schema, write_text};
use inorder_capture::{Capture, CaptureError};
use inorder_detect::Config;
use inorder_pipeline::{Analyzer, Below, Input, memory};
use inorder_report::text::Layout;

use crate::error::{CliError, ExitCode, Outcome, usage};
use crate::progress::Reading;
use crate::select::Select;
use crate::{interrupt, manners, outputs};

/// Share of the memory that the text of a result may take: what is read of it takes several times as much.
const RESULT_PART: u64 = 8;

/// Options of `inorder compare`.
#[derive(clap::Args)]
#[command(after_help = "\
Of analyses, the flows are the independent units: a share is a ratio of sums over them, and the difference of two \
shares has Welch's interval, never narrower than independent packets would give. Of simulations, the runs are the \
units; runs with the same seeds are compared one by one. With fewer than two flows or runs on a side there is no \
interval: the data do not suffice for a verdict.\n\n\
Of two folders, all captures together are compared, and each with the capture of the same name below the other folder. What \
a file contains decides whether it is a capture; what is left out is named.\n\n\
Examples:\n  inorder analyze --json=before.json monday/*.pcap\n  inorder compare before.json after.json\n  \
inorder compare --filter 'port 443' before.pcap after.pcap")]
pub(crate) struct Args {
    /// Before the change: JSON of analyze or of simulate, a capture, or a folder of captures
    #[arg(required_unless_present = "schema")]
    before: Option<PathBuf>,
    /// After the change, of the same kind
    #[arg(required_unless_present = "schema")]
    after: Option<PathBuf>,
    #[command(flatten)]
    select: Select,
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print CSV instead of text, or write it to FILE: a row for each measure
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
}

/// Compares and prints.
pub(super) fn run(args: &Args) -> Outcome {
    let (Some(before), Some(after), false) = (&args.before, &args.after, args.schema) else {
        outputs::to_stdout(write_schema)?;
        return Ok(ExitCode::SUCCESS);
    };
    args.select.check()?;
    let files = outputs::json_and_csv(args.json.as_deref(), args.csv.as_deref())?;
    outputs::check(&files, &[before, after])?;
    let mut damage = None;
    let sides = side(args, before, &mut damage)
        .and_then(|before| Ok((before, side(args, after, &mut damage)?)));
    // A part of a capture compared with a whole one shows a change that nobody made.
    if let Some(code) = interrupt::ended("nothing is compared") {
        return Ok(code);
    }
    let (before, after) = sides?;
    let comparison = compare(&before, &after).map_err(CliError::usage)?;
    if !files.iter().any(|path| path.as_os_str() == "-") {
        let style = outputs::style(0, false);
        let layout = Layout::default().width(style.width).bold(style.colour);
        outputs::text(|out| write_text(out, &comparison, &layout, style.width))?;
    }
    let mut written = outputs::Attempts::default();
    if let Some(path) = &args.json {
        written.of(outputs::write_to(path, |out| write_json(out, &comparison)));
    }
    if let Some(path) = &args.csv {
        written.of(outputs::write_to(path, |out| {
            write_csv(out, &comparison.changes)
        }));
    }
    written.finish()?;
    Ok(damage.unwrap_or(ExitCode::SUCCESS))
}

/// All captures below a folder. Of a damaged one, what came before the damage counts, and `damage` is the exit code of the first one.
fn folder(args: &Args, path: &Path, damage: &mut Option<ExitCode>) -> Result<Side, CliError> {
    let name = path.display().to_string();
    let found =
        Below::folder(path).map_err(|(place, error)| CliError::file(&place, "read")(error))?;
    let remark = found.remark();
    if found.captures.is_empty() {
        let skipped = remark.map_or_else(String::new, |said| format!("; {said}"));
        return usage!("{name}: no capture here, expected a folder of captures{skipped}");
    }
    if let Some(remark) = remark {
        manners::complain(remark);
    }
    let stop = interrupt::flag();
    let mut captures = Vec::new();
    for capture in &found.captures {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let label = capture.strip_prefix(path).unwrap_or(capture);
        let label = label.display().to_string();
        match analysis(args, capture) {
            Ok(analysis) => captures.push((label, analysis)),
            Err((analysis, error)) => {
                manners::complain(&error);
                damage.get_or_insert(error.exit_code());
                captures.extend(analysis.map(|analysis| (label, *analysis)));
            }
        }
    }
    Ok(Side::of_captures(&name, captures))
}

/// What a capture says, or what there is of it and what is wrong.
fn analysis(
    args: &Args,
    capture: impl Into<Input>,
) -> Result<Analysis, (Option<Box<Analysis>>, CliError)> {
    let watch = Arc::new(Reading::new(interrupt::flag()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let analyzer = Analyzer::new()
        .config(Config::default().memory(memory::limit(None)))
        .threads(threads)
        .watch(watch)
        .select(args.select.selection());
    let done = analyzer
        .run(capture)
        .map_err(inorder_pipeline::Error::into_parts);
    done.map_err(|(analysis, error)| (analysis.map(Box::new), error.into()))
}

/// One side: a capture, which is analysed as far as it can be read, or the JSON of a result.
fn side(args: &Args, path: &Path, damage: &mut Option<ExitCode>) -> Result<Side, CliError> {
    let name = path.display().to_string();
    if path == Path::new("-") {
        return usage!("compare reads files and folders, not the standard input");
    }
    if path.is_dir() {
        return folder(args, path, damage);
    }
    if inorder_pipeline::is_pipe(path) {
        return of_pipe(args, path, damage);
    }
    let opened = Capture::open(path);
    if opened.is_ok() {
        return of_capture(args, &name, path, damage);
    }
    refuse_selection(args, &name)?;
    let text = std::fs::read(path).map_err(CliError::file(path, "read"))?;
    let is_json = begins_as_json(&text);
    Side::of_json(&name, &text).map_err(|error| CliError::Malformed {
        place: name,
        problem: match opened {
            Err(CaptureError::NotACapture { found, .. }) if !is_json => format!(
                "expected a capture (pcap, pcapng or snoop, plain or compressed) or the JSON of analyze or simulate; found {found}"
            ),
            _ => error.to_string(),
        },
    })
}

/// What comes out of a pipe, such as `<(inorder analyze --json trace.pcap)`, can be read only once: its first bytes tell what it is.
fn of_pipe(args: &Args, path: &Path, damage: &mut Option<ExitCode>) -> Result<Side, CliError> {
    let name = path.display().to_string();
    let mut pipe = BufReader::new(interrupt::pipe(path));
    let first = pipe.fill_buf().map_err(CliError::file(path, "read"))?;
    if !begins_as_json(first) {
        return of_capture(args, &name, Input::reader(name.clone(), pipe), damage);
    }
    refuse_selection(args, &name)?;
    // A pipe may have no end.
    let most = memory::limit(None).map_or(u64::MAX, |bytes| bytes as u64 / RESULT_PART);
    let mut text = Vec::new();
    pipe.take(most)
        .read_to_end(&mut text)
        .map_err(CliError::file(path, "read"))?;
    if text.len() as u64 == most {
        return Err(CliError::Malformed {
            place: name,
            problem: format!("expected a result of fewer than {most} bytes"),
        });
    }
    Side::of_json(&name, &text).map_err(|error| CliError::Malformed {
        place: name,
        problem: error.to_string(),
    })
}

/// A capture as far as it can be read.
fn of_capture(
    args: &Args,
    name: &str,
    capture: impl Into<Input>,
    damage: &mut Option<ExitCode>,
) -> Result<Side, CliError> {
    let analysis = match analysis(args, capture) {
        Ok(analysis) => analysis,
        Err((Some(analysis), error)) if error.is_damage() => {
            manners::complain(&error);
            damage.get_or_insert(error.exit_code());
            *analysis
        }
        Err((_, error)) => return Err(error),
    };
    Ok(Side::of_analyses(name, &[analysis]))
}

/// A result has no packets any more of which some could be selected.
fn refuse_selection(args: &Args, name: &str) -> Result<(), CliError> {
    match args.select.is_all() {
        true => Ok(()),
        false => usage!("{name}: --filter, --from and --to need a capture"),
    }
}

fn begins_as_json(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{")
}
