//! `inorder netproc forwarder`: simulates a software forwarder that sprays packets over its cores.

use clap::ValueEnum;
use inorder_netproc::forwarder::{ForwarderConfig, ForwarderOutcome, Order, Spray, run_forwarder};
use inorder_petri::statistics::run_seed;
use inorder_report::number::plural;
use inorder_sort::{ConfigError, SorterConfig, srpic};

use super::output::Form;
use super::repeat;
use crate::error::{CliError, ExitCode, Outcome as Done};
use crate::verbs::nanoseconds;

/// Options of `inorder netproc forwarder`.
#[derive(clap::Args)]
#[command(after_help = "\
Cores poll their rings, work on up to a burst of packets and send it as a whole. Order is that of the packets that \
were not dropped; delays are from arrival.\n\n\
Examples:\n  inorder netproc forwarder --order reorder-buffer --mpps 6 --repetitions 5")]
pub(super) struct Args {
    /// What restores the order: none, reorder-buffer (a core that releases packets by number), or a sorter in the
    /// receiver's driver by name, as in srpic or srpic:block_size=8
    #[arg(long, value_name = "NAME", default_value = "none")]
    order: String,
    /// Packets a reorder buffer holds before it gives up the missing one
    #[arg(long, value_name = "PACKETS", default_value_t = 1024)]
    window: u32,
    /// How long a reorder buffer holds a packet, microseconds
    #[arg(long, value_name = "US", default_value_t = 100)]
    timeout_us: u64,
    /// Packets SRPIC sorts together; 32 if not set
    #[arg(long, value_name = "PACKETS")]
    block: Option<u64>,
    /// Cores, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 4)]
    cores: u32,
    /// Maximum number of packets in a burst
    #[arg(long, value_name = "PACKETS", default_value_t = 32)]
    burst: u32,
    /// Packets the ring of a core holds
    #[arg(long, value_name = "PACKETS", default_value_t = 512)]
    ring: u32,
    /// Offered load, million packets per second
    #[arg(long, value_name = "RATE", default_value_t = 4.0)]
    mpps: f64,
    /// Flows at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    flows: u32,
    /// How the network card distributes packets over the cores
    #[arg(long, value_enum, default_value_t = Dealt::RoundRobin)]
    spray: Dealt,
    /// Packet length, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 512)]
    packet_bytes: u16,
    /// Outgoing line, Gb/s
    #[arg(long, value_name = "GBPS", default_value_t = 40.0)]
    line: f64,
    /// Probability that the operating system takes a core away before a burst
    #[arg(long, value_name = "SHARE", default_value_t = 0.0005)]
    stall: f64,
    /// Mean time for which it takes the core away, microseconds
    #[arg(long, value_name = "US", default_value_t = 20.0)]
    stall_us: f64,
    /// Time from a packet at the idle receiver to its interrupt, microseconds
    #[arg(long, value_name = "US", default_value_t = 50)]
    interrupt_us: u64,
    /// Packets of a run
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    packets: u64,
    /// Seed of the first repetition
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Independent repetitions
    #[arg(long, value_name = "N", default_value_t = 1)]
    repetitions: u32,
    #[command(flatten)]
    form: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Dealt {
    /// Round robin
    RoundRobin,
    /// At random
    Random,
}

/// Runs the repetitions.
pub(super) fn run(args: &Args) -> Done {
    if args.form.schema {
        super::output::print_schema()?;
        return Ok(ExitCode::SUCCESS);
    }
    let usage = |error: &dyn std::fmt::Display| CliError::Usage(error.to_string());
    let order = args.order().map_err(|error| {
        usage(&format!(
            "--order: {error}; or reorder-buffer, in the forwarder"
        ))
    })?;
    let config = args.config(order);
    config.validate().map_err(|error| usage(&error))?;
    let repeated = repeat::repeat(args.repetitions, config.packets, |number, go_on| {
        let seed = run_seed(config.seed, number);
        let config = ForwarderConfig {
            seed,
            ..config.clone()
        };
        run_forwarder(&config, go_on).map_err(|error| usage(&error))
    })?;
    let rows: Vec<_> = repeated
        .outcomes
        .iter()
        .map(ForwarderOutcome::rows)
        .collect();
    let title = format!(
        "{}, bursts of {}, {}",
        plural(config.cores.into(), "core"),
        config.burst,
        plural(rows.len() as u64, "run")
    );
    args.form.write(&title, &rows)?;
    Ok(repeated.exit_code())
}

impl Args {
    fn order(&self) -> Result<Order, ConfigError> {
        Ok(match self.order.as_str() {
            "none" => Order::Unordered,
            "reorder-buffer" => Order::ReorderBuffer {
                window: self.window,
                timeout_ns: nanoseconds(self.timeout_us),
                work_ns: 60,
            },
            sorter => {
                let mut sorter: SorterConfig = sorter.parse()?;
                if let Some(block) = self.block {
                    sorter.set(srpic::BLOCK_SIZE.name, block)?;
                }
                Order::Receiver(sorter)
            }
        })
    }

    fn config(&self, order: Order) -> ForwarderConfig {
        ForwarderConfig {
            order,
            spray: match self.spray {
                Dealt::RoundRobin => Spray::RoundRobin,
                Dealt::Random => Spray::Random,
            },
            cores: self.cores,
            burst: self.burst,
            ring: self.ring,
            offered_mpps: self.mpps,
            flows: self.flows,
            bytes: self.packet_bytes,
            line_gbps: self.line,
            stall: self.stall,
            stall_ns: self.stall_us * 1e3,
            coalesce_ns: nanoseconds(self.interrupt_us),
            packets: self.packets,
            seed: self.seed,
            ..ForwarderConfig::default()
        }
    }
}
