//! `inorder probe`: the order of both directions of a path, by numbered packets.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::Ordering;

use inorder_live::os;
use inorder_live::probe::{DIRECTION, PROBED, Plan, Probed, Protocol};
use inorder_live::{icmp, stamp};
use inorder_report::text::{self, Layout};
use inorder_report::{csv, json, schema};

use crate::error::{CliError, ExitCode, INTERRUPTED, Outcome, usage};
use crate::running::{Confining, seconds};
use crate::{interrupt, manners, outputs};

/// Options of `inorder probe`.
#[derive(clap::Args)]
#[command(after_help = "\
Sends numbered packets to a STAMP reflector (RFC 8762, for example `inorder reflect` on the other host) and \
measures the order of the packets there and of its answers here: every metric of `inorder metrics`, losses and \
delays of each direction. With --icmp, echoes to any host; then only the round trip is seen. Packets of a burst are \
sent back to back: what is sent far apart is not reordered.\n\n\
Without --beyond-limits at most 1,000 packets per second, 1,472 bytes each, for 60 seconds. Probe only hosts \
whose owners agree.\n\n\
Examples:\n  inorder probe 192.0.2.7\n  inorder probe --burst 10 --rate 500 --csv host.example:8620\n  \
inorder probe --icmp --json 2001:db8::1")]
pub(crate) struct Args {
    /// Name or address of the peer, with a port if it is not 862
    #[arg(value_name = "HOST[:PORT]", required_unless_present = "schema")]
    host: Option<String>,
    /// ICMP echo instead of STAMP
    #[arg(long)]
    icmp: bool,
    /// Packets per second
    #[arg(long, value_name = "N", default_value_t = 100.0)]
    rate: f64,
    /// Packets sent back to back; the rate stays the same
    #[arg(long, value_name = "PACKETS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    burst: u32,
    /// Seconds during which packets are sent
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = seconds)]
    duration: f64,
    /// Bytes of the UDP payload or of the ICMP message
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    size: usize,
    /// Seconds to wait for answers after the last packet
    #[arg(long, value_name = "S", default_value_t = 1.0, value_parser = seconds)]
    wait: f64,
    /// Allow more packets per second, larger packets and longer probes
    #[arg(long)]
    beyond_limits: bool,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV: a row for each direction
    #[arg(long)]
    csv: bool,
    /// Print the JSON Schema of what --json prints
    #[arg(long)]
    schema: bool,
    #[command(flatten)]
    confining: Confining,
}

/// Largest rate, size and duration without --beyond-limits. The size fills an Ethernet frame over IPv4.
const LIMITS: (f64, usize, f64) = (1_000.0, 1_472, 60.0);
/// Largest number of packets with --beyond-limits; an answer takes 48 bytes of memory.
const MAX_PACKETS: f64 = 1e8;
/// A clock that is adjusted, not set, changes by 500 us a second at most (adjtimex(2)); of this the longest probe without
/// --beyond-limits notices less.
const CLOCK_SET_NS: i64 = 50_000_000;
/// Largest payload of a UDP packet over IPv4.
const MAX_BYTES: usize = 65_507;

/// Probes the peer and prints the result; after Ctrl-C what was measured so far.
pub(super) fn run(args: &Args) -> Outcome {
    let Some(host) = args.host.as_deref().filter(|_| !args.schema) else {
        let about = "What `inorder probe --json` prints.";
        outputs::to_stdout(|out| schema::write(out, "inorder probe", about, PROBED))?;
        return Ok(ExitCode::SUCCESS);
    };
    let plan = plan(args)?;
    let peer = resolve(host)?;
    let protocol = match args.icmp {
        true => Protocol::Icmp,
        false => Protocol::Stamp,
    };
    let found = os::probe(
        peer,
        protocol,
        &plan,
        args.confining.seccomp,
        &mut interrupt::flag,
    )?;
    let stopped = interrupt::flag().load(Ordering::Relaxed);
    let probed = Probed {
        host: host.to_owned(),
        protocol,
        bytes: args.size as u64,
        complete: !stopped,
        directions: found.directions,
    };
    print(args, &probed, peer)?;
    if found.clock_set_ns.abs() > CLOCK_SET_NS {
        let seconds = found.clock_set_ns as f64 / 1e9;
        manners::notice(&format!(
            "the clock of this host was set by {seconds:.3} s during the probe; delays are wrong by as much"
        ));
    }
    if stopped {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if found.answers == 0 {
        manners::complain(format!(
            "{peer}: nothing was answered; expected a reflector that can be reached, and whose answers can reach this host"
        ));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The plan of the options, within the limits.
fn plan(args: &Args) -> Result<Plan, CliError> {
    let (most_rate, most_bytes, most_s) = match args.beyond_limits {
        true => (f64::MAX, MAX_BYTES, f64::MAX),
        false => LIMITS,
    };
    within("--rate", args.rate, f64::MIN_POSITIVE, most_rate, args)?;
    within("--duration", args.duration, f64::MIN_POSITIVE, most_s, args)?;
    within("--wait", args.wait, 0.0, 3_600.0, args)?;
    let least_bytes = match args.icmp {
        true => icmp::BASE_BYTES,
        false => stamp::BASE_BYTES,
    };
    let (size, most) = (args.size as f64, most_bytes as f64);
    within("--size", size, least_bytes as f64, most, args)?;
    let padding = args.size - least_bytes;
    if !args.icmp && (1..stamp::TLV_HEADER_BYTES).contains(&padding) {
        return usage!(
            "--size {}: the padding of a STAMP packet has a header; expected {} or at least {}",
            args.size,
            stamp::BASE_BYTES,
            stamp::BASE_BYTES + stamp::TLV_HEADER_BYTES
        );
    }
    if args.rate * args.duration > MAX_PACKETS {
        return usage!("--rate and --duration give more than 100,000,000 packets; expected fewer");
    }
    let plan = Plan::at_rate(args.rate, args.burst, args.duration, args.size);
    Ok(Plan {
        wait_ns: (args.wait * 1e9) as i64,
        ..plan
    })
}

fn within(option: &str, value: f64, least: f64, most: f64, args: &Args) -> Result<(), CliError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    let hint = match value > most && !args.beyond_limits {
        true => ", or --beyond-limits",
        false => "",
    };
    let expected = match least > f64::MIN_POSITIVE {
        true => format!("{least} to {most}"),
        false => format!("more than 0, at most {most}"),
    };
    usage!("{option} {value}: expected {expected}{hint}")
}

/// The first address of a name; the port is that of STAMP unless one is given.
fn resolve(host: &str) -> Result<SocketAddr, CliError> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = match (host.parse::<SocketAddr>(), bare.parse::<std::net::IpAddr>()) {
        (Ok(address), _) => Ok(Some(address)),
        (_, Ok(address)) => Ok(Some(SocketAddr::new(address, stamp::DEFAULT_PORT))),
        _ if host.contains(':') => host.to_socket_addrs().map(|mut found| found.next()),
        _ => (host, stamp::DEFAULT_PORT)
            .to_socket_addrs()
            .map(|mut found| found.next()),
    };
    let problem = match found {
        Ok(Some(address)) => return Ok(address),
        Ok(None) => "the name has no address".to_owned(),
        Err(error) => error.to_string(),
    };
    let expected = "expected a name or an address, with a port if needed";
    Err(CliError::Address(format!("{host}: {problem}; {expected}")))
}

fn print(args: &Args, probed: &Probed, peer: SocketAddr) -> Result<(), CliError> {
    if args.json {
        return outputs::to_stdout(|out| json::write(out, PROBED, probed));
    }
    if args.csv {
        return outputs::to_stdout(|out| csv::write(out, DIRECTION, &probed.directions));
    }
    outputs::text(|out| {
        let name = probed.protocol.name();
        writeln!(
            out,
            "{} ({}), {name}, {} bytes",
            probed.host,
            peer.ip(),
            probed.bytes
        )?;
        let mut layout = Layout::default();
        layout.width = outputs::style(0, false).width;
        text::write(out, DIRECTION, &probed.directions, &layout)?;
        if !args.icmp && probed.directions.len() == 1 {
            writeln!(
                out,
                "Only the round-trip order is known: the reflector does not count, or nothing was answered."
            )?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    fn planned(options: &str) -> Result<Plan, String> {
        let words = ["probe", "::1"]
            .into_iter()
            .chain(options.split_whitespace());
        plan(&Command::parse_from(words).args).map_err(|error| error.to_string())
    }

    #[test]
    fn limits_need_an_option_to_be_exceeded() {
        assert!(planned("").is_ok_and(|plan| plan.packets == 1_000));
        let refused = planned("--rate 1001").unwrap_err();
        let expected = "--rate 1001: expected more than 0, at most 1000, or --beyond-limits";
        assert_eq!(refused, expected);
        assert!(planned("--rate 1001 --beyond-limits").is_ok());
        assert!(planned("--duration 61").is_err() && planned("--size 1473").is_err());
        assert!(planned("--rate 1e9 --beyond-limits").is_err());
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(planned("--size 44").is_ok() && planned("--size 48").is_ok());
        assert!(planned("--size 43").is_err() && planned("--size 46").is_err());
        assert!(planned("--icmp --size 28").is_ok() && planned("--icmp --size 27").is_err());
        for rate in ["0", "-1", "nan"] {
            assert!(planned(&format!("--rate={rate}")).is_err());
        }
    }

    #[test]
    fn a_peer_is_named_with_or_without_port() {
        let named = |host| resolve(host).map(|found| found.to_string()).unwrap();
        assert_eq!(named("192.0.2.1"), "192.0.2.1:862");
        assert_eq!(named("192.0.2.1:7"), "192.0.2.1:7");
        assert_eq!(named("2001:db8::1"), "[2001:db8::1]:862");
        assert_eq!(named("[2001:db8::1]:7"), "[2001:db8::1]:7");
        assert!(resolve("192.0.2.1:port").is_err());
    }
}
