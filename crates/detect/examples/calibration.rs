//! Scores what the inference says of recordings against their truth.
//!
//! `calibration [OPTIONS] FOLDER...` prints, in Markdown and for each kind of path, recall and precision for packets
//! that were reordered, lost, discarded by the receiver or retransmitted unnecessarily, and how often verdicts of each
//! confidence are true. `testdata/lab/score` finds the folders.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use inorder_detect::{Config, Explanation, Explanations};

#[path = "../tests/it/lab/mod.rs"]
mod lab;

use lab::ablation;
use lab::aims;
use lab::count::Counts;
use lab::many::{By, by_trait, rows, score_all, sum};
use lab::recording::{Kept, Recording, recordings};
use lab::score::Scored;
use lab::snap;
use lab::table;

const USAGE: &str = "\
calibration [OPTIONS] FOLDER...

  --kind TEXT     only recordings whose name begins with TEXT
  --recordings    a row for each recording, not for each kind of path
  --stacks        a row for what each stack sends and receives (validation/stacks)
  --summary       all kinds of path in one row
  --ablation      only a table of what is false without each explanation
  --wrong         list every false statement
  --missed        list everything that was not told
  --grounds       how true statements are, by evidence and reason
  --traits        by habit of the endpoints, kind of path and defect of the capture: what is reached and the aims missed, of 100 statements and more
  --apart         say how much is counted apart, by which rule
  --snap BYTES    of each frame only so many bytes
  --tagged        each frame with a VLAN tag
  --snaps         only a table of what is said at each snap length
  --without NAME  without this explanation, to see what it earns; may be repeated
  --threads N     [default: as many as there are cores]";

#[derive(Default)]
struct Options {
    folders: Vec<PathBuf>,
    kind: String,
    by: By,
    summary: bool,
    ablation: bool,
    wrong: bool,
    missed: bool,
    grounds: bool,
    apart: bool,
    traits: bool,
    snap: Option<usize>,
    tagged: bool,
    snaps: bool,
    explanations: Explanations,
    threads: usize,
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(|o| run(&o)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("calibration: {text}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options::default();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--kind" => options.kind = args.next().ok_or("--kind needs a text")?,
            "--without" => {
                let name = args.next().unwrap_or_default();
                let mut all = Explanation::ALL.into_iter();
                let off = all.find(|e| e.name() == name);
                let names = Explanation::ALL.map(Explanation::name).join(", ");
                let off = off.ok_or_else(|| format!("--without takes one of {names}"))?;
                options.explanations = options.explanations.without(off);
            }
            "--threads" => {
                let number = args.next().and_then(|n| n.parse().ok());
                options.threads = number.ok_or("--threads needs a number")?;
            }
            "--recordings" => options.by = By::Recording,
            "--stacks" => options.by = By::Stack,
            "--summary" => options.summary = true,
            "--ablation" => options.ablation = true,
            "--wrong" => options.wrong = true,
            "--missed" => options.missed = true,
            "--grounds" => options.grounds = true,
            "--apart" => options.apart = true,
            "--traits" => options.traits = true,
            "--snap" => {
                let bytes = args.next().and_then(|n| n.parse().ok());
                options.snap = Some(bytes.ok_or("--snap needs a number of bytes")?);
            }
            "--tagged" => options.tagged = true,
            "--snaps" => options.snaps = true,
            _ if arg.starts_with('-') => return Err(format!("unknown option {arg}\n{USAGE}")),
            _ => options.folders.push(arg.into()),
        }
    }
    if options.folders.is_empty() {
        return Err(format!("which recordings?\n{USAGE}"));
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), String> {
    let mut all = Vec::new();
    for folder in &options.folders {
        all.extend(in_folder(folder)?);
    }
    all.retain(|r| r.name.starts_with(&options.kind));
    if all.is_empty() {
        return Err("no recordings there".to_owned());
    }
    if options.ablation {
        print!("{}", ablation::table(&all, options.threads)?);
        return Ok(());
    }
    let config = Config::default().explanations(options.explanations);
    if options.snaps {
        print!(
            "{}",
            snap::table(&all, options.tagged, &config, options.threads)?
        );
        return Ok(());
    }
    let kept = Kept {
        snap: options.snap.unwrap_or(usize::MAX),
        tagged: options.tagged,
    };
    all.iter_mut().for_each(|r| r.kept = kept);
    let scored = score_all(&all, &config, options.threads)?;
    if options.wrong {
        for line in scored.iter().flat_map(|s| &s.wrong) {
            println!("{line}");
        }
        println!();
    }
    if options.missed {
        for line in scored.iter().flat_map(|s| &s.missed) {
            println!("{line}");
        }
        println!();
    }
    let rows = |side: fn(&Scored) -> &Counts| rows(&all, &scored, options.by, side);
    let (sender, receiver) = (rows(|s| &s.sender), rows(|s| &s.receiver));
    let middle = with_some(rows(|s| &s.middle));
    println!(
        "## Short of the aim\n\n{}",
        aims::short(&sender, &receiver, &middle)
    );
    let (sender, receiver) = (
        table::with_sum(
            with_some(sender),
            sum(&scored, |s| &s.sender),
            options.summary,
        ),
        table::with_sum(
            with_some(receiver),
            sum(&scored, |s| &s.receiver),
            options.summary,
        ),
    );
    let middle = table::with_sum(middle, sum(&scored, |s| &s.middle), options.summary);
    println!("## From the sender's side\n\n{}", table::side(&sender));
    println!("## From the receiver's side\n\n{}", table::side(&receiver));
    if middle.iter().any(|(_, counts)| counts.flows > 0) {
        println!("## On the path\n\n{}", table::side(&middle));
        println!(
            "## Confidences, on the path\n\n{}",
            table::calibration(&middle)
        );
    }
    let sides = [
        ("the sender's side", &sender),
        ("the receiver's side", &receiver),
        ("the path", &middle),
    ];
    for (side, rows) in sides {
        println!("## The vantage point, {side}\n\n{}", table::vantage(rows));
    }
    if options.traits {
        let traits = by_trait(&scored);
        println!(
            "## Short of the aim, by trait\n\n{}",
            aims::short_by_trait(&traits)
        );
        println!("## By trait\n\n{}", aims::all_traits(&traits));
    }
    println!(
        "## Confidences, from the sender's side\n\n{}",
        table::calibration(&sender)
    );
    println!(
        "## Confidences, from the receiver's side\n\n{}",
        table::calibration(&receiver)
    );
    if options.grounds {
        println!(
            "## Grounds, from the sender's side\n\n{}",
            table::grounds(&sender)
        );
        println!(
            "## Grounds, from the receiver's side\n\n{}",
            table::grounds(&receiver)
        );
    }
    if options.apart {
        println!(
            "## Counted apart, sender's side\n\n{}",
            table::apart(&sender)
        );
        println!(
            "## Counted apart, receiver's side\n\n{}",
            table::apart(&receiver)
        );
    }
    Ok(())
}

/// Without the rows of which nothing was captured on that side.
fn with_some(mut rows: Vec<(String, Counts)>) -> Vec<(String, Counts)> {
    rows.retain(|(_, counts)| counts.flows > 0);
    rows
}

fn in_folder(folder: &Path) -> Result<Vec<Recording>, String> {
    recordings(folder).map_err(|e| format!("{}: {e}", folder.display()))
}
