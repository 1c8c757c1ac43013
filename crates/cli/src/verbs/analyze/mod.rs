//! `inorder analyze`: what a capture says about reordering, loss and spurious retransmission.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_analysis::threshold::Threshold;
use inorder_analysis::{Analysis, Rows, frames, html, json, table};
use inorder_capture::{AnnotateError, Capture, CaptureError};
use inorder_detect::{Assumed, Config};
use inorder_pipeline::{Analyzer, Input, memory};
use inorder_report::number::plural;

use crate::error::{CliError, DAMAGED, EXCEEDED, ExitCode, Outcome, usage};
use crate::progress::Reading;
use crate::{interrupt, manners, outputs};

mod chosen;
mod options;
mod pages;

pub(crate) use options::Args;
use pages::Pages;

/// Analyses all files, then prints the results. A file that cannot be read does not stop the others.
pub(super) fn run(args: &Args) -> Outcome {
    if args.schema {
        outputs::to_stdout(|out| json::write_schema(out))?;
        return Ok(ExitCode::SUCCESS);
    }
    check(args)?;
    args.select.check()?;
    if let (Some(peer), Some(file)) = (&args.peer, args.files.iter().find(|f| is_same(args, f))) {
        return usage!(
            "--peer {}: is {} itself; expected a capture from the other end",
            peer.display(),
            file.display()
        );
    }
    outputs::check(&written(args), &read(args))?;
    #[cfg(feature = "parquet")]
    if let Some(dir) = &args.to.parquet {
        let names: Vec<String> = Rows::ALL.iter().map(Rows::file_name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        outputs::check_in(dir, &names, &read(args))?;
    }
    let stop = interrupt::flag();
    let others = chosen::Others::default();
    let mut written = outputs::Attempts::default();
    let pages = Pages::of(args);
    let (mut analyses, errors) = analyze_all(args, &others, pages.as_ref(), &mut written, stop);
    for error in &errors {
        manners::complain(error);
    }
    let nothing = chosen::keep(args, &others, &mut analyses);
    for analysis in &analyses {
        note_summed(args, analysis);
    }
    if !analyses.is_empty() {
        print(
            args,
            &analyses,
            pages.as_ref(),
            nothing.is_none(),
            &mut written,
        );
        written.of(annotate(args, &analyses));
    }
    if let Some(nothing) = &nothing {
        manners::complain(nothing);
    }
    let judged = judge(&args.threshold, &analyses);
    written.finish()?;
    let result = match analyses.is_empty() {
        true => "nothing was analysed",
        false => "only what was read before was analysed",
    };
    if let Some(code) = interrupt::ended(result) {
        return Ok(code);
    }
    Ok(match (exit_code(&errors), nothing.is_some()) {
        (Some(code), _) => code,
        (None, true) => ExitCode::FAILURE,
        (None, false) => judged,
    })
}

/// Prints a line for each threshold that is exceeded or that cannot be judged.
fn judge(thresholds: &[Threshold], analyses: &[Analysis]) -> ExitCode {
    let (mut exceeded, mut unjudged) = (false, false);
    for analysis in analyses {
        for threshold in thresholds {
            if let Some(note) = threshold.not_applied(analysis) {
                manners::complain(format_args!(
                    "{}: {note}; --max-flows N reports more",
                    analysis.file
                ));
            }
            let (Ok(Some(sentence)) | Err(sentence)) = threshold
                .exceeded(analysis)
                .inspect_err(|_| unjudged = true)
            else {
                continue;
            };
            exceeded |= threshold.exceeded(analysis).is_ok();
            manners::complain(format_args!("{}: {sentence}", analysis.file));
        }
    }
    match (unjudged, exceeded) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::from(EXCEEDED),
        (false, false) => ExitCode::SUCCESS,
    }
}

/// Rejects options that contradict each other.
fn check(args: &Args) -> Result<(), CliError> {
    let is_stdout = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let problem = if is_stdout(&args.to.json) && is_stdout(&args.to.csv) {
        "--json and --csv cannot both go to the standard output; give one a file: --json=FILE"
    } else if args.to.annotate.is_some()
        && (args.files.len() != 1 || args.files[0] == Path::new("-"))
    {
        "--annotate needs exactly one capture, in a file"
    } else if args.to.annotate.is_some()
        && args
            .files
            .iter()
            .any(|file| inorder_pipeline::is_pipe(file))
    {
        "--annotate reads the capture twice; expected a regular file"
    } else if args
        .files
        .iter()
        .filter(|file| *file == Path::new("-"))
        .count()
        > 1
    {
        "the standard input can be read only once"
    } else if args.peer.is_some() && args.files.len() != 1 && !args.join {
        "--peer needs exactly one capture to compare with (or --join)"
    } else if args.bounds.threads == Some(0) {
        "--threads needs at least 1"
    } else {
        return Ok(());
    };
    Err(CliError::Usage(problem.to_owned()))
}

/// The capture is that of `--peer`.
fn is_same(args: &Args, file: &Path) -> bool {
    let peer = args.peer.as_deref();
    peer.is_some_and(|peer| outputs::is_one_file(peer, file))
}

/// Files that the options name as outputs.
fn written(args: &Args) -> Vec<&Path> {
    let files = [
        &args.to.json,
        &args.to.csv,
        &args.to.html,
        &args.to.annotate,
    ];
    files.into_iter().flatten().map(PathBuf::as_path).collect()
}

/// Files that are read.
fn read(args: &Args) -> Vec<&Path> {
    let files = args.files.iter().chain(&args.peer);
    files.map(PathBuf::as_path).collect()
}

/// The analyses, and the errors.
fn analyze_all(
    args: &Args,
    others: &chosen::Others,
    pages: Option<&Pages>,
    written: &mut outputs::Attempts,
    stop: &'static AtomicBool,
) -> (Vec<Analysis>, Vec<CliError>) {
    let groups: Vec<&[PathBuf]> = match args.join {
        true => vec![&args.files],
        false => args.files.chunks(1).collect(),
    };
    let (mut analyses, mut errors) = (Vec::new(), Vec::new());
    for files in groups {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (mut analysis, error) = analyze(args, others, files, stop);
        if let (Some(pages), Some(analysis)) = (pages, &mut analysis) {
            let text = args.flow.as_deref();
            text.inspect(|text| others.keep_streams(text, analysis));
            written.of(pages.write(analyses.len(), analysis));
        }
        analyses.extend(analysis);
        errors.extend(error.map(CliError::from));
    }
    (analyses, errors)
}

/// Analyses one capture; returns what could be analysed, and the error if there was one.
fn analyze(
    args: &Args,
    others: &chosen::Others,
    files: &[PathBuf],
    stop: &'static AtomicBool,
) -> (Option<Analysis>, Option<CaptureError>) {
    let analyzer = Analyzer::new()
        .config(config(args, others))
        .threads(threads(args))
        .select(args.select.selection())
        .watch(Arc::new(Reading::new(stop)));
    let capture = Input::files(files);
    let analysis = match &args.peer {
        Some(peer) => analyzer.compare(capture, peer),
        None => analyzer.run(capture),
    };
    match analysis.map_err(inorder_pipeline::Error::into_parts) {
        Ok(analysis) => (Some(analysis), None),
        Err((analysis, error)) => (analysis, Some(error)),
    }
}

fn threads(args: &Args) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    args.bounds.threads.unwrap_or_else(cores)
}

fn assumed(args: &Args) -> Assumed {
    let all = args.assume.iter();
    all.fold(Assumed::default(), Assumed::and)
}

/// True if an output other than the page has single events.
fn needs_events(args: &Args) -> bool {
    #[cfg(feature = "parquet")]
    let parquet = args.to.parquet.is_some();
    #[cfg(not(feature = "parquet"))]
    let parquet = false;
    args.events
        || args.rows().is_some_and(|rows| rows.needs_events)
        || args.peer.is_some()
        || args.to.annotate.is_some()
        || parquet
}

fn config(args: &Args, others: &chosen::Others) -> Config {
    let events = needs_events(args) || args.to.html.is_some();
    Config::default()
        .vantage(args.vantage.forced())
        .assumed(assumed(args))
        .keep_events(events)
        .keep_points(args.to.html.is_some())
        .what_if(!args.no_what_if)
        .sorters(args.sorter.clone())
        .max_flows(args.bounds.max_flows.get())
        .memory(memory::limit(args.bounds.memory))
        .only(args.flow.as_deref().map(|text| others.except(text)))
}

/// Rows of CSV and Parquet are of flows that are reported one by one, and have no place for a warning.
fn note_summed(args: &Args, analysis: &Analysis) {
    #[cfg(feature = "parquet")]
    let parquet = args.to.parquet.is_some();
    #[cfg(not(feature = "parquet"))]
    let parquet = false;
    if analysis.summed.flows > 0 && (args.to.csv.is_some() || parquet) {
        manners::complain(format_args!(
            "{}: no row for {} that matter{} less; --max-flows N writes more",
            analysis.file,
            plural(analysis.summed.flows, "flow"),
            if analysis.summed.flows == 1 { "s" } else { "" }
        ));
    }
}

/// Writes the text if it says something and the standard output is free, and the files.
fn print(
    args: &Args,
    analyses: &[Analysis],
    pages: Option<&Pages>,
    has_text: bool,
    written: &mut outputs::Attempts,
) {
    let taken = [&args.to.json, &args.to.csv, &args.to.html];
    let is_taken = taken
        .iter()
        .any(|path| path.as_deref() == Some(Path::new("-")));
    if has_text && !is_taken {
        let style = outputs::style(args.bounds.top, args.events);
        written.of(outputs::text(|out| table::write(out, analyses, &style)));
    }
    if let Some(path) = &args.to.json {
        written.of(outputs::write_to(path, |out| {
            json::write(out, analyses, args.events)
        }));
    }
    if let (Some(path), Some(rows)) = (&args.to.csv, args.rows()) {
        written.of(outputs::write_to(path, |out| rows.write_csv(out, analyses)));
    }
    #[cfg(feature = "parquet")]
    if let Some(dir) = &args.to.parquet {
        write_parquet(dir, analyses, written);
    }
    if let Some(path) = &args.to.html {
        written.of(outputs::write_to(path, |out| match pages {
            Some(pages) => pages.write_overview(out, analyses),
            None => html::write(out, analyses, &page(args)),
        }));
    }
}

fn page(args: &Args) -> html::Page {
    html::Page {
        top: args.bounds.top,
        charts: true,
    }
}

#[cfg(feature = "parquet")]
fn write_parquet(dir: &Path, analyses: &[Analysis], written: &mut outputs::Attempts) {
    if let Err(error) = outputs::directory(dir) {
        return written.of(Err(error));
    }
    for rows in Rows::ALL {
        written.of(outputs::replace(&dir.join(rows.file_name()), |file| {
            rows.write_parquet(file, analyses)
        }));
    }
}

/// Copies the capture with comments at its events.
fn annotate(args: &Args, analyses: &[Analysis]) -> Result<(), CliError> {
    let (Some(copy), [analysis], [file]) = (&args.to.annotate, analyses, args.files.as_slice())
    else {
        return Ok(());
    };
    let comments = frames::comments(&analysis.flows);
    let mut capture = Capture::open(file)?;
    let mut damage = None;
    outputs::to_file(copy, |out| {
        let comment = |frame: u64| comments.get(&frame).map(String::as_str);
        match inorder_capture::annotate(&mut capture, out, comment) {
            Ok(_) => Ok(()),
            Err(AnnotateError::Write(error)) => Err(error),
            // Already reported: the analysis met the same damage, and the copy contains the frames before it.
            Err(AnnotateError::Read(error)) => {
                damage = Some(error);
                Ok(())
            }
        }
    })?;
    match damage {
        Some(error @ CaptureError::Io { .. }) => Err(error.into()),
        _ => Ok(()),
    }
}

/// The exit code of the errors, if there are any; damaged input counts only if no worse error happened.
fn exit_code(errors: &[CliError]) -> Option<ExitCode> {
    if errors.iter().any(|error| !error.is_damage()) {
        return Some(ExitCode::FAILURE);
    }
    (!errors.is_empty()).then(|| ExitCode::from(DAMAGED))
}
