//! `inorder reflect`: answers the packets of `inorder probe`, or of any other STAMP sender.

use std::net::{IpAddr, SocketAddr};

use inorder_live::{os, reflector::Limits, stamp};
use inorder_report::number::plural;

use crate::error::{ExitCode, Outcome};
use crate::running::Confining;
use crate::{interrupt, manners};

/// Options of `inorder reflect`.
#[derive(clap::Args)]
#[command(after_help = "\
A stateful STAMP reflector (RFC 8762, unauthenticated mode): it counts the packets of each session, so that the \
sender can measure each direction by itself. An answer is never larger than its packet, goes from the address that was asked, \
and the number of answers is limited: one address gets half of --max-rate and a sixteenth of --max-sessions at most. \
What comes from a reflector is not answered. The privileges are given up once the socket is open. It runs until \
Ctrl-C.\n\n\
Examples:\n  inorder reflect\n  inorder reflect --address 192.0.2.7 --port 8620")]
pub(crate) struct Args {
    /// Address on which to listen
    #[arg(long, value_name = "ADDRESS", default_value = "::")]
    address: IpAddr,
    /// UDP port on which to listen; 0: any free one
    #[arg(long, value_name = "PORT", default_value_t = stamp::DEFAULT_PORT)]
    port: u16,
    /// Answers per second, over all sessions
    #[arg(long, value_name = "N", default_value_t = Limits::default().packets_per_s)]
    max_rate: u32,
    /// Sessions at the same time
    #[arg(long, value_name = "N", default_value_t = Limits::default().sessions)]
    max_sessions: usize,
    #[command(flatten)]
    confining: Confining,
}

/// Answers packets until Ctrl-C, then prints what was done.
pub(super) fn run(args: &Args) -> Outcome {
    let limits = Limits {
        sessions: args.max_sessions,
        packets_per_s: args.max_rate,
        ..Limits::default()
    };
    let local = SocketAddr::new(args.address, args.port);
    let mut start = |local| interrupt::flag_before(&format!("listening on UDP {local}"));
    let done = os::reflect(local, limits, args.confining.seccomp, &mut start)?;
    manners::notice(&format!(
        "{} of {} answered; not answered: {} malformed, {} from reflectors, {} over --max-rate; {} displaced by others \
         (--max-sessions)",
        plural(done.answered, "packet"),
        plural(done.sessions, "session"),
        done.malformed,
        done.from_reflectors,
        done.over_rate,
        plural(done.displaced, "session")
    ));
    Ok(ExitCode::SUCCESS)
}
