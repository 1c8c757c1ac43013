//! `inorder diff`: order, loss and delay between two captures of any traffic.

use std::path::{Path, PathBuf};

use inorder_capture::{Block, Capture};
use inorder_pairing::diff::{
    Cuts, Difference, FLOW, Flow, Keep, Layer, PACKET, RESULT, Settings, Trace, compare, html,
    in_common,
};
use inorder_pipeline::{Filter, Watch, memory};
use inorder_report::escape::printable;
use inorder_report::text::{self, Layout, paragraph};
use inorder_report::{csv, number::plural};
use inorder_wire::Frame;

use crate::error::{CliError, ExitCode, Outcome, usage};
use crate::progress::Reading;
use crate::{interrupt, manners, outputs};

/// Flows in the table; files have all.
const MAX_FLOWS_SHOWN: usize = 20;

/// Options of `inorder diff`.
#[derive(clap::Args)]
#[command(after_help = "\
Packets are the same if their bytes are, except for what a path changes: link header, time to live, traffic class and \
ECN, checksums. Where fewer than half match so, they are matched without addresses and ports, which a device between the \
captures may translate, and then by their payload (--match). Which capture a packet passes first follows from the time to live, then from the times of both directions, and is A otherwise. Packets \
from before the first or after the last one that both have are not lost. Super-packets of segmentation offload and \
fragmented IPv4 datagrams are cut where the other capture's packets begin and end (--whole leaves them).\n\n\
--filter: addresses, ports, tcp, udp, ipv4, ipv6 as for `inorder analyze`, by the addresses of A.\n\n\
Rows of --csv: directions, flows, packets.\n\n\
Examples:\n  inorder diff sender.pcap receiver.pcap\n  inorder diff --csv=late.csv --rows packets a.pcapng b.pcapng")]
pub(crate) struct Args {
    /// Capture A
    #[arg(required_unless_present = "schema")]
    a: Option<PathBuf>,
    /// Capture B
    #[arg(required_unless_present = "schema")]
    b: Option<PathBuf>,
    /// Print JSON instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Print CSV instead of text, or write it to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    csv: Option<PathBuf>,
    /// What the rows of --csv are
    #[arg(long, value_name = "ROWS", value_parser = ["directions", "flows", "packets"], default_value = "flows")]
    rows: String,
    /// Write directions.parquet, flows.parquet and packets.parquet into DIR
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "DIR")]
    parquet: Option<PathBuf>,
    /// Write a page with charts, which needs no network, to FILE
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Only flows that EXPR selects, by their addresses in A
    #[arg(long, value_name = "EXPR")]
    filter: Option<Filter>,
    /// What a packet has in common in both captures: its bytes, the same without addresses and ports (translated), or its
    /// payload; auto takes the first by which half of the packets match
    #[arg(long = "match", value_name = "WHAT", value_parser = ["auto", "bytes", "translated", "payload"], default_value = "auto")]
    keep: String,
    /// Do not cut super-packets of segmentation offload and datagrams that one capture has in fragments
    #[arg(long)]
    whole: bool,
    /// Every packet in JSON, and those that are not in order in the text
    #[arg(long)]
    packets: bool,
    /// Compare at most BYTES of each packet [default: as many as the snap lengths left in both captures]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(20..))]
    bytes: Option<u32>,
    /// Memory that the packets take at most, as in 512M or 4G, or unlimited; of each capture the first packets for which there is
    /// room are compared [default: a quarter of the machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<usize>,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
}

/// Reads both captures, compares and prints.
pub(super) fn run(args: &Args) -> Outcome {
    let (Some(a), Some(b), false) = (&args.a, &args.b, args.schema) else {
        outputs::to_stdout(|out| RESULT.write_schema(out))?;
        return Ok(ExitCode::SUCCESS);
    };
    let mut files = outputs::json_and_csv(args.json.as_deref(), args.csv.as_deref())?;
    files.extend(args.html.as_deref());
    if [a, b].iter().any(|path| path.as_os_str() == "-") {
        return usage!("diff reads each capture twice, so it needs files, not the standard input");
    }
    if let Some(pipe) = [a, b]
        .into_iter()
        .find(|path| inorder_pipeline::is_pipe(path))
    {
        return usage!(
            "{}: diff reads each capture twice; expected a regular file, not a pipe",
            pipe.display()
        );
    }
    outputs::check(&files, &[a, b])?;
    #[cfg(feature = "parquet")]
    if let Some(directory) = &args.parquet {
        outputs::check_in(directory, &TABLES, &[a, b])?;
    }
    let mut cuts = Cuts::default();
    for path in [a, b] {
        // The damage is reported by the reading that compares.
        frames(path, |frame| {
            cuts.note(frame);
            true
        })?;
    }
    let mut damage = Vec::new();
    let (mut trace_a, mut trace_b, keep) = matching(args, a, b, &cuts, &mut damage)?;
    let unread = [(a, &trace_a), (b, &trace_b)].map(|(path, trace)| unread(args, path, trace));
    let unread = unread.into_iter().flatten();
    let select = |flow: &Flow| selected(args.filter.as_ref(), flow);
    let settings = Settings {
        whole: args.whole,
        select: Some(&select),
    };
    let mut found = compare(&mut trace_a, &mut trace_b, settings);
    if args.filter.is_some() && found.flows.is_empty() {
        return usage!("no packet of either capture matches --filter");
    }
    found.matched = keep.name();
    if args.keep == "auto" && keep != Keep::Bytes {
        found.warnings.insert(0, said_of(keep).to_owned());
    }
    found.warnings.extend(unread);
    (found.a, found.b) = (a.display().to_string(), b.display().to_string());
    print(args, &files, &mut found)?;
    damage.iter().for_each(manners::complain);
    let interrupted = interrupt::ended("only what was read before of both captures is compared");
    let damaged = damage.first().map(CliError::exit_code);
    Ok(interrupted.or(damaged).unwrap_or(ExitCode::SUCCESS))
}

/// Share of the packets that must match for the strictest way to be taken.
const ENOUGH: f64 = 0.5;
/// By how much this share must be greater for packets to be taken out of their tunnels.
const MORE_WITHIN: f64 = 0.01;

/// Both captures, read for the first way of matching by which enough packets match, or by the one by which most do. `damage` is what ended
/// their reading early.
fn matching(
    args: &Args,
    a: &Path,
    b: &Path,
    cuts: &Cuts,
    damage: &mut Vec<CliError>,
) -> Result<(Trace, Trace, Keep), CliError> {
    let wanted = Keep::ALL
        .iter()
        .filter(|keep| args.keep == "auto" || keep.name() == args.keep);
    let layers: &[Layer] = match cuts.has_tunnels {
        true => &[Layer::Outermost, Layer::Innermost],
        false => &[Layer::Outermost],
    };
    let mut best: Option<(f64, Trace, Trace, Keep)> = None;
    for &keep in wanted {
        for &layer in layers {
            // Each reading meets the same damage.
            damage.clear();
            let limit = args.bytes.map_or(cuts.of(layer), |bytes| bytes as usize);
            let most = room(args);
            let mut read = |path| read(path, Trace::of_layer(layer, limit, keep), most, damage);
            let (in_a, in_b) = (read(a)?, read(b)?);
            let share = in_common(&in_a, &in_b);
            let least = match layer {
                Layer::Outermost => 0.0,
                Layer::Innermost => MORE_WITHIN,
            };
            if best.as_ref().is_none_or(|(most, ..)| share > most + least) {
                best = Some((share, in_a, in_b, keep));
            }
        }
        if best.as_ref().is_some_and(|(share, ..)| *share >= ENOUGH) {
            break;
        }
    }
    match best {
        Some((_, a, b, keep)) => Ok((a, b, keep)),
        None => usage!("--match {}: unknown", args.keep),
    }
}

fn said_of(keep: Keep) -> &'static str {
    match keep {
        Keep::Bytes => "packets were matched by their bytes",
        Keep::Translated => {
            "addresses or ports are translated between the captures: packets were matched without them"
        }
        Keep::Payload => {
            "more than addresses is translated between the captures: packets were matched by their payload"
        }
    }
}

/// What is not IP has no addresses by which a filter could select it.
fn selected(filter: Option<&Filter>, flow: &Flow) -> bool {
    let Some(filter) = filter else {
        return true;
    };
    let protocol = u8::try_from(flow.protocol).ok().filter(|_| flow.is_ip);
    protocol.is_some_and(|protocol| {
        let one = |src, dst| filter.packets(src, dst, protocol);
        one(flow.src, flow.dst) || one(flow.dst, flow.src)
    })
}

/// Packets of each capture that are compared at most.
fn room(args: &Args) -> usize {
    memory::limit(args.memory).map_or(usize::MAX, Trace::room)
}

/// What is said if not all packets of a capture were read.
fn unread(args: &Args, path: &Path, trace: &Trace) -> Option<String> {
    (trace.len() >= room(args)).then(|| {
        format!(
            "the memory was used up (--memory): of {} only the first {} were compared",
            path.display(),
            plural(trace.len() as u64, "packet")
        )
    })
}

/// Reads a capture into `trace` until that has `most` packets.
fn read(
    path: &Path,
    mut trace: Trace,
    most: usize,
    damage: &mut Vec<CliError>,
) -> Result<Trace, CliError> {
    let push = |frame: &Frame<'_>| {
        trace.push(frame);
        trace.len() < most
    };
    damage.extend(frames(path, push)?);
    Ok(trace)
}

/// All frames of a capture, until `each` is false, it ends, the user interrupts, or the file is damaged: then the damage is the result.
fn frames(
    path: &Path,
    mut each: impl FnMut(&Frame<'_>) -> bool,
) -> Result<Option<CliError>, CliError> {
    let mut capture = Capture::open(path)?;
    let mut block = Block::default();
    let reading = Reading::new(interrupt::flag());
    while !reading.stop() {
        let more = capture.read_block(&mut block).map_err(CliError::from);
        reading.progress(capture.bytes_read(), capture.total_bytes());
        if !block.frames().all(|frame| each(&frame)) {
            return Ok(None);
        }
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if error.is_damage() => return Ok(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(feature = "parquet")]
const TABLES: [&str; 3] = ["directions.parquet", "flows.parquet", "packets.parquet"];

fn print(args: &Args, files: &[&Path], found: &mut Difference) -> Result<(), CliError> {
    let mut written = outputs::Attempts::default();
    #[cfg(feature = "parquet")]
    if let Some(directory) = &args.parquet {
        written.of(outputs::directory(directory));
        let [directions, flows, packets] = TABLES.map(|name| directory.join(name));
        written.of(outputs::to_parquet(&directions, FLOW, &found.directions));
        written.of(outputs::to_parquet(&flows, FLOW, &found.flows));
        written.of(outputs::to_parquet(&packets, PACKET, &found.packets));
    }
    if let Some(path) = &args.csv {
        written.of(outputs::write_to(path, |out| match args.rows.as_str() {
            "directions" => csv::write(out, FLOW, &found.directions),
            "packets" => csv::write(out, PACKET, &found.packets),
            _ => csv::write(out, FLOW, &found.flows),
        }));
    }
    if let Some(path) = &args.html {
        written.of(outputs::write_to(path, |out| html::write(out, found)));
    }
    if !files.iter().any(|path| path.as_os_str() == "-") {
        let style = outputs::style(0, false);
        let layout = Layout::default().width(style.width).bold(style.colour);
        written.of(outputs::text(|out| {
            write_text(out, found, args.packets, &layout, style.width)
        }));
    }
    if let Some(path) = &args.json {
        if !args.packets {
            found.packets.clear();
        }
        written.of(outputs::write_to(path, |out| RESULT.write_json(out, found)));
    }
    written.finish()
}

/// A table of the directions, one of the most severe flows, and what limits the result.
fn write_text(
    out: &mut dyn std::io::Write,
    found: &Difference,
    packets: bool,
    layout: &Layout,
    width: Option<usize>,
) -> std::io::Result<()> {
    writeln!(
        out,
        "A is {}, B is {}.\n",
        printable(&found.a),
        printable(&found.b)
    )?;
    if let Some(headline) = found.headline() {
        paragraph(out, &headline, "", width)?;
        writeln!(out)?;
    }
    text::write(out, FLOW, &found.directions, layout)?;
    if found.flows.len() > found.directions.len() {
        writeln!(out)?;
        text::write(out, FLOW, found.flows.iter().take(MAX_FLOWS_SHOWN), layout)?;
    }
    if let more @ 1.. = found.flows.len().saturating_sub(MAX_FLOWS_SHOWN) as u64 {
        writeln!(out, "{} in JSON and CSV.", plural(more, "more flow"))?;
    }
    if packets {
        writeln!(out)?;
        let told = |packet: &&inorder_pairing::diff::PacketRow| {
            packet.fate != inorder_pairing::diff::Fate::InOrder
        };
        text::write(out, PACKET, found.packets.iter().filter(told), layout)?;
    }
    for warning in &found.warnings {
        writeln!(out)?;
        paragraph(out, &format!("Note: {warning}."), "", width)?;
    }
    Ok(())
}
