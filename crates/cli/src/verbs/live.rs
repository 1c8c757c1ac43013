//! `inorder live`: sorts packets between two interfaces, or what one interface receives.

use inorder_live::os;
use inorder_live::sorting::{LIVE, SORTED, Sorted, Sorting, SortingConfig};
use inorder_sort::SorterConfig;

use crate::error::{CliError, ExitCode, Outcome, usage};
use crate::running::{Forwarding, RunningOptions};
use crate::sorters;

/// Options of `inorder live`.
#[derive(clap::Args)]
#[command(after_help = "\
With one interface, the TCP packets that it receives are taken before the kernel sees them (AF_XDP) and handed to \
the kernel sorted, through a TAP device. Addresses and routes stay where they are, and everything that is sent goes \
its usual way; when the process ends, for whatever reason, the kernel receives as before. The driver must support \
XDP. It needs the capabilities CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF. If the interface is removed, it ends.\n\n\
With two interfaces, a bump in the wire: every frame that A receives leaves through B and the other way round; TCP data in the chosen \
direction is sorted in between. SRPIC sorts what one batch holds, as behind a network card with interrupt \
coalescing (--coalesce-us); the resequencer holds packets until those before them have come, or a deadline it has \
learnt. Everything that is not TCP data passes at once. Sorted runs are sent as one super-packet.\n\n\
A and B must not carry addresses of this host. The privileges are given up once the interfaces are open \
(CAP_NET_RAW is needed for that, and for root to become another user CAP_SETUID and CAP_SETGID). It runs until Ctrl-C, \
and nothing remains when it ends. An interface that goes down or is removed is waited for.\n\n\
Examples:\n  inorder live eth0 --sorter resequence\n  inorder live eth1 eth2\n  inorder live eth1 eth2 --sorter resequence --both --prometheus 9464\n  \
inorder live eth1 eth2 --sorter none")]
pub(crate) struct Args {
    /// The interface from which the packets come that are sorted
    #[arg(value_name = "A", required_unless_present = "schema")]
    a: Option<String>,
    /// The interface to which they go; without it, they go to the kernel
    #[arg(value_name = "B")]
    b: Option<String>,
    /// Sorter by name, with the settings that differ from their defaults: srpic:block_size=8
    #[arg(long, value_name = "NAME", default_value = "srpic", value_parser = sorters::parse)]
    sorter: SorterConfig,
    /// Sort packets from B to A, too
    #[arg(long)]
    both: bool,
    /// Time from the first packet to the end of its batch, microseconds; 0: a batch ends when no packet is waiting
    #[arg(long, value_name = "US", default_value_t = 75)]
    coalesce_us: u32,
    /// Number of packets that end a batch at once
    #[arg(long, value_name = "PACKETS", default_value_t = 512)]
    batch: usize,
    /// Flows that the sorter follows at the same time
    #[arg(long, value_name = "N", default_value_t = 16_384)]
    flows: usize,
    /// Send every packet by itself
    #[arg(long)]
    no_merge: bool,
    #[command(flatten)]
    forwarding: Forwarding,
    #[command(flatten)]
    running: RunningOptions,
}

/// Sorts until Ctrl-C, then prints what was done.
pub(super) fn run(args: &Args) -> Outcome {
    let options = &args.running;
    let Some(a) = args.a.as_deref().filter(|_| !options.schema) else {
        options.print_schema("inorder live", LIVE)?;
        return Ok(ExitCode::SUCCESS);
    };
    let (mut outlet, server) = options.outlet("inorder_live")?;
    let mut report = |now_ns, rows: &[Sorted]| {
        let bytes = rows.iter().map(|row| row.bytes).sum();
        outlet.show(now_ns, bytes, SORTED, rows);
    };
    let forward = sorting(args, "forward", args.sorter)?;
    let sorter = args.sorter;
    let mut gone = None;
    let done = match args.b.as_deref() {
        None if args.both => {
            return usage!("--both: what the kernel sends is not sorted; expected two interfaces");
        }
        None => {
            let notice = format!("sorting what {a} receives with {sorter}; Ctrl-C ends it");
            let (done, problem) = options.run(&args.forwarding, server, &notice, |running| {
                os::sort_received(a, forward, running, &mut report)
            })?;
            gone = problem;
            done
        }
        Some(b) if a == b => {
            return usage!("{a}: given twice; expected two interfaces");
        }
        Some(b) => {
            let back = match args.both {
                true => sorter,
                false => SorterConfig::default(),
            };
            let lanes = (forward, sorting(args, "reverse", back)?);
            let notice = format!("sorting between {a} and {b} with {sorter}; Ctrl-C ends it");
            options.run(&args.forwarding, server, &notice, |running| {
                os::sort_between([a, b], lanes, running, &mut report)
            })?
        }
    };
    options.print((LIVE, &done), (SORTED, &done))?;
    match gone {
        Some(problem) => Err(problem.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn sorting(args: &Args, name: &'static str, sorter: SorterConfig) -> Result<Sorting, CliError> {
    let config = SortingConfig {
        sorter,
        // A batch is only waited for if the sorter can hold packets.
        coalesce_ns: match sorter.passes_through() {
            true => 0,
            false => i64::from(args.coalesce_us) * 1_000,
        },
        batch_frames: args.batch,
        flows: args.flows,
        merge: !args.no_merge,
        hash_seed: os::random(),
    };
    Sorting::new(name, &config).map_err(CliError::usage)
}
