//! `inorder sort`: computes what the TCP stack would have received behind a network card that sorts its batches.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use inorder_pipeline::Filter;
use inorder_replay::{Done, Error, Format, SUMMARY, Settings, Summary, replay, write_text};
use inorder_report::{json, schema};
use inorder_sort::{ConfigError, SorterConfig, srpic};

use crate::error::{CliError, ExitCode, Outcome};
use crate::{interrupt, manners, outputs, sorters};

/// Options of `inorder sort`.
#[derive(clap::Args)]
#[command(after_help = "\
Frames are gathered into batches as a network card with interrupt coalescing would, sorted flow by flow, and \
written in the order and at the time the stack would have got them: when the interrupt of their batch \
fires, or when the sorter releases them. SRPIC, the default sorter, sorts within each batch. No frame is \
dropped; only order and times change. Frames of both directions are taken as received, so sort captures made at or near the \
receiver of the data.\n\n\
Examples:\n  inorder sort --coalesce-us 75 receiver.pcap sorted.pcap")]
pub(crate) struct Args {
    /// Capture to sort (pcap, pcapng or snoop, plain or compressed); `-` for the standard input
    #[arg(value_name = "IN", required_unless_present = "schema")]
    input: Option<PathBuf>,
    /// Where to write: pcapng if the name ends in .pcapng, otherwise pcap; `-` for the standard output, the summary
    /// then goes to the standard error
    #[arg(value_name = "OUT", required_unless_present = "schema")]
    output: Option<PathBuf>,
    /// Sorter by name, with the settings that differ from their defaults: srpic:block_size=8
    #[arg(long, value_name = "NAME", default_value = "srpic", value_parser = sorters::parse)]
    sorter: SorterConfig,
    /// Maximum number of packets of a flow that SRPIC sorts together; 32 if not set
    #[arg(long, value_name = "PACKETS")]
    block_size: Option<u64>,
    /// Time from the first packet at an idle ring to the interrupt, microseconds
    #[arg(long, value_name = "US", default_value_t = 75)]
    coalesce_us: u32,
    /// Packets the receive ring holds; a full ring fires the interrupt at once
    #[arg(long, value_name = "PACKETS", default_value_t = 512)]
    ring_size: usize,
    /// Sort other numbered services as well: RTP, ESP, WireGuard, RoCEv2, GRE, ...
    #[arg(long)]
    services: bool,
    /// Sort only flows and streams that EXPR selects, as in `inorder analyze --help`; all other frames pass at once
    #[arg(long, value_name = "EXPR")]
    filter: Option<Filter>,
    /// SRPIC exactly as its paper lists it: packets that pass at once may overtake held ones, and copies go first
    #[arg(long)]
    literal: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
}

/// Sorts the capture and prints the summary.
pub(super) fn run(args: &Args) -> Outcome {
    let (Some(input), Some(output), false) = (&args.input, &args.output, args.schema) else {
        let about = "What `inorder sort --json` prints.";
        outputs::to_stdout(|out| schema::write(out, "inorder sort", about, SUMMARY))?;
        return Ok(ExitCode::SUCCESS);
    };
    outputs::check(&[output], &[input])?;
    let stop = interrupt::flag();
    let settings = settings(args)?;
    let done = sort(input, output, &settings, stop)?;
    print(args, output, &done.summary)?;
    if let Some(code) =
        interrupt::ended("only the frames that were read before were sorted and written")
    {
        return Ok(code);
    }
    // The frames before the damage were sorted and written.
    done.damage
        .map_or(Ok(ExitCode::SUCCESS), |error| Err(error.into()))
}

fn settings(args: &Args) -> Result<Settings, CliError> {
    let settings = sorter(args).map(|sorter| Settings {
        sorter,
        coalesce_ns: i64::from(args.coalesce_us) * 1_000,
        ring_packets: args.ring_size,
        services: args.services,
        filter: args.filter.clone(),
    });
    // Before anything is written.
    let checked = settings.and_then(|settings| settings.check().map(|()| settings));
    checked.map_err(CliError::usage)
}

/// The sorter of `--sorter`, with the settings of the options `--block-size` and `--literal`.
fn sorter(args: &Args) -> Result<SorterConfig, ConfigError> {
    let mut config = args.sorter;
    if let Some(packets) = args.block_size {
        config.set(srpic::BLOCK_SIZE.name, packets)?;
    }
    if args.literal {
        config.set(srpic::LITERAL.name, 1)?;
    }
    Ok(config)
}

/// Reads, sorts and writes.
fn sort(input: &Path, to: &Path, settings: &Settings, stop: &AtomicBool) -> Result<Done, CliError> {
    let mut capture = interrupt::open(input)?;
    let mut done = None;
    outputs::write_to(to, |out| {
        let stop = || stop.load(Ordering::Relaxed);
        match replay(&mut capture, out, Format::of(to), settings, &stop) {
            Ok(all) => done = Some(all),
            Err(Error::Write(error)) => return Err(error),
            Err(error @ Error::Settings(_)) => return Err(io::Error::other(error.to_string())),
        }
        Ok(())
    })?;
    done.ok_or_else(|| CliError::Output(io::Error::other("nothing was written")))
}

fn print(args: &Args, output: &Path, summary: &Summary) -> Result<(), CliError> {
    let write = |out: &mut dyn Write| match args.json {
        true => json::write(out, SUMMARY, summary),
        false => write_text(summary, out),
    };
    match (output == Path::new("-"), args.json) {
        (true, false) if manners::is_quiet() => Ok(()),
        (true, _) => Ok(write(&mut io::stderr().lock())?),
        (false, true) => outputs::to_stdout(write),
        (false, false) => outputs::text(write),
    }
}
