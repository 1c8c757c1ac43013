//! `inorder netproc`: simulates network processors that reorder, and a software forwarder.

use std::io::{self, Write};
use std::num::{IntErrorKind, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Subcommand, ValueEnum};
use inorder_netproc::calibration::{Calibration, constants};
use inorder_netproc::scheme::SCHEMES;
use inorder_netproc::{
    Arbitration, Config, Dequeue, Length, Outcome, Spent, Traffic, check, picture, run_while,
};
use inorder_petri::statistics::run_seed;

use crate::error::{CliError, ExitCode, Outcome as Done};
use crate::outputs::{self, Comment};

mod forwarder;
mod output;
mod repeat;

use output::Form;

/// Options of `inorder netproc`.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
The model is the IXP 2400 of Govind, Govindarajan and Kuri (IPDPS 2007); its tables and figures are run by \
`inorder reproduce network-processor`. Values are printed with their 95 % confidence intervals over the repetitions. \
What is said of a hop is of flows; the metrics of the RFCs are of streams in which flows follow each other without a break.\n\n\
Examples:\n  inorder netproc --scheme its --packet-bytes 64:7,512:4,1500:1\n  \
inorder netproc --hops 10 --flows 10 --repetitions 3 --svg time.svg\n  \
inorder netproc forwarder --order srpic"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    load: Load,
    #[command(flatten)]
    form: Form,
    /// Write an SVG chart of where packets spend their time
    #[arg(long, value_name = "OUT")]
    svg: Option<PathBuf>,
    /// List the ordering schemes
    #[arg(long)]
    list_schemes: bool,
    /// List the constants of the model and their sources
    #[arg(long)]
    list_constants: bool,
    /// Print the constants, or those of --calibration, as the file that the nets of crates/netproc/nets include
    #[arg(long)]
    net_constants: bool,
}

#[derive(Subcommand)]
enum Other {
    /// Simulate a software forwarder that works in bursts and sprays flows over its cores
    Forwarder(forwarder::Args),
}

/// What is simulated.
#[derive(clap::Args)]
struct Load {
    /// Ordering scheme; see --list-schemes
    #[arg(long, default_value = "contiguous")]
    scheme: String,
    /// Micro-engines, 1 to 8
    #[arg(long, value_name = "N", default_value_t = 8)]
    engines: u32,
    /// Threads of each engine, 1 to 8
    #[arg(long, value_name = "N", default_value_t = 8)]
    threads: u32,
    /// Packet lengths with their weights, such as 64:7,512:4,1500:1
    #[arg(
        long,
        value_name = "BYTES[:SHARE]",
        value_delimiter = ',',
        default_value = "64"
    )]
    packet_bytes: Vec<Share>,
    /// Processors in a row
    #[arg(long, value_name = "N", default_value_t = 1)]
    hops: u32,
    /// Flows at the same time
    #[arg(long, value_name = "N", default_value_t = 32)]
    flows: u32,
    /// Packets of a flow; 0 for flows that never end
    #[arg(long, value_name = "N", default_value_t = 100)]
    flow_packets: u32,
    /// Mean number of packets of one flow that arrive in a row
    #[arg(long, value_name = "MEAN", default_value_t = 1.5)]
    train: f64,
    /// Packets of a run
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    packets: u64,
    /// Seed of the first repetition
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Independent repetitions
    #[arg(long, value_name = "N", default_value_t = 1)]
    repetitions: u32,
    /// File with constants that replace those of the model, as in crates/netproc/src/calibration.toml
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,
    /// Which request DRAM and locks serve next
    #[arg(long, value_enum, default_value_t = By::RandomEngine)]
    arbitration: By,
    /// How the transmit buffer is emptied [default: as the scheme demands]
    #[arg(long, value_enum)]
    dequeue: Option<Emptied>,
}

#[derive(Clone, Copy, ValueEnum)]
enum By {
    /// The earliest request
    Fifo,
    /// The earliest request of a random engine
    RandomEngine,
    /// A random request
    Random,
}

#[derive(Clone, Copy, ValueEnum)]
enum Emptied {
    /// Slot by slot, in the order of the slots
    Strict,
    /// In the order in which slots were filled
    Completion,
}

/// Parses `BYTES` or `BYTES:SHARE`.
#[derive(Clone, Copy)]
struct Share(Length);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (bytes, share) = text.split_once(':').unwrap_or((text, "1"));
        let wrong = || format!("expected BYTES or BYTES:SHARE, such as 512:4, found {text}");
        let bytes = bytes.trim();
        let bytes = bytes
            .parse()
            .map_err(|error: ParseIntError| match error.kind() {
                IntErrorKind::PosOverflow => format!("expected fewer bytes, found {bytes}"),
                _ => wrong(),
            })?;
        let share = share.trim().parse().map_err(|_| wrong())?;
        Ok(Share(Length { bytes, share }))
    }
}

/// Runs the model that the options describe.
pub(super) fn run(args: &Args) -> Done {
    if let Some(Other::Forwarder(args)) = &args.other {
        return forwarder::run(args);
    }
    if args.form.schema {
        output::print_schema()?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.list_schemes {
        return list();
    }
    if args.list_constants {
        return list_constants();
    }
    if args.net_constants {
        let constants = args.load.calibration()?;
        outputs::to_stdout(|out| out.write_all(constants.as_net().as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let config = args.load.config()?;
    // All configurations are checked before the first run starts.
    check(&config).map_err(CliError::usage)?;
    if let Some(path) = &args.svg {
        outputs::check(
            &[path],
            &args
                .load
                .calibration
                .iter()
                .map(PathBuf::as_path)
                .collect::<Vec<_>>(),
        )?;
    }
    let total = config.packets;
    let repeated = repeat::repeat(args.load.repetitions, total, |number, go_on| {
        let seed = run_seed(config.seed, number);
        let config = Config {
            seed,
            ..config.clone()
        };
        run_while(&config, go_on).map_err(CliError::usage)
    })?;
    let outcomes = &repeated.outcomes;
    let rows = outcomes.iter().map(Outcome::rows).collect::<Vec<_>>();
    let title = config.title(outcomes.len());
    let mut written = outputs::Attempts::default();
    if let Some(path) = &args.svg {
        let drawn = picture::svg(&title, &mean_spent(outcomes));
        written.of(outputs::to_marked_file(path, Comment::Xml, |out| {
            out.write_all(drawn.as_bytes())
        }));
    }
    written.of(args.form.write(&title, &rows));
    written.finish()?;
    Ok(repeated.exit_code())
}

impl Load {
    fn config(&self) -> Result<Config, CliError> {
        let by = match self.arbitration {
            By::Fifo => Arbitration::Fifo,
            By::RandomEngine => Arbitration::RandomEngine,
            By::Random => Arbitration::Random,
        };
        let traffic = Traffic {
            lengths: self.packet_bytes.iter().map(|share| share.0).collect(),
            flows: self.flows,
            flow_packets: Some(self.flow_packets).filter(|&n| n > 0),
            train: self.train,
        };
        Ok(Config {
            scheme: self.scheme.clone(),
            engines: self.engines,
            threads: self.threads,
            hops: self.hops,
            packets: self.packets,
            seed: self.seed,
            traffic,
            arbitration: by,
            dequeue: self.dequeue.map(|emptied| match emptied {
                Emptied::Strict => Dequeue::Strict,
                Emptied::Completion => Dequeue::Completion,
            }),
            calibration: self.calibration()?,
        })
    }

    fn calibration(&self) -> Result<Calibration, CliError> {
        let Some(path) = &self.calibration else {
            return Ok(Calibration::default());
        };
        let text = std::fs::read_to_string(path).map_err(CliError::file(path, "read"))?;
        let wrong = |error| CliError::Usage(format!("{}: {error}", path.display()));
        Calibration::parse(&text).map_err(wrong)
    }
}

fn list() -> Done {
    let mut out = io::stdout().lock();
    for scheme in SCHEMES {
        let order = if scheme.keeps_order {
            "in order"
        } else {
            "reorders"
        };
        writeln!(
            out,
            "{:<13} {order}  {} ({})",
            scheme.name, scheme.about, scheme.source
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list_constants() -> Done {
    let mut out = io::stdout().lock();
    let all = constants(Calibration::EMBEDDED).map_err(CliError::usage)?;
    for c in all {
        writeln!(
            out,
            "{:<28} {:>8}  {:<8} {}",
            c.name,
            c.value,
            c.status.name(),
            c.note
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The mean over repetitions, all of which have the same hops and resources.
fn mean_spent(outcomes: &[Outcome]) -> Vec<Spent> {
    let n = outcomes.len().max(1) as f64;
    let Some(first) = outcomes.first() else {
        return Vec::new();
    };
    let mean = |spent: &Spent| {
        let same = |other: &&Spent| other.hop == spent.hop && other.resource == spent.resource;
        let all = || outcomes.iter().flat_map(|o| o.spent.iter().filter(same));
        Spent {
            waiting: all().map(|s| s.waiting).sum::<f64>() / n,
            served: all().map(|s| s.served).sum::<f64>() / n,
            ..spent.clone()
        }
    };
    first.spent.iter().map(mean).collect()
}
