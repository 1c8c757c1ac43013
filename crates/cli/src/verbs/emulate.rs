//! `inorder emulate`: the path of a scenario in real time, between two interfaces.

use std::path::PathBuf;

use inorder_live::emulator::{EMULATED, SEEN, Seen};
use inorder_live::frame::Frame;
use inorder_live::os;
use inorder_path::Path;
use inorder_scenario::{Config, Scenario};
use inorder_sim::{Own, registries_with};

use crate::error::{CliError, ExitCode, Outcome, usage};
use crate::running::{Forwarding, RunningOptions};
use crate::verbs::runs::read_beside;

/// Options of `inorder emulate`.
#[derive(clap::Args)]
#[command(after_help = "\
Forwards every frame between the interfaces A and B, in both directions, over a path with the stages of \
`inorder simulate --list`: for hosts whose kernel has no netem, and for stages that netem lacks. The options shape \
the direction from A to B; --both shapes the other one in the same way; a scenario file has [[forward]] and [[reverse]]. \
Values have units as in scenario files (docs/scenario.md).\n\n\
A and B must not carry addresses of this host. Super-packets of segmentation offload are split before the path and \
checksums are left to the receiving side, so nothing needs to be switched off on veth. It runs until Ctrl-C, and \
nothing remains when it ends. An interface that goes down or is removed is waited for. Needs the capability CAP_NET_RAW, \
which is given up once the interfaces are open (and CAP_SETUID and CAP_SETGID, so that root becomes another user).\n\n\
Examples:\n  inorder emulate veth0 veth1 --rate '100 Mbit/s' --queue '1 BDP' --rtt '20 ms' --delay '10 ms'\n  \
inorder emulate veth0 veth1 --delay '5 ms' --jitter '1 ms' --loss '0.1 %' --both\n  \
inorder emulate veth0 veth1 --late '1 %' --late-by '2 ms'\n  inorder emulate veth0 veth1 --scenario srpic.toml")]
pub(crate) struct Args {
    /// The first interface
    #[arg(value_name = "A", required_unless_present = "schema")]
    a: Option<String>,
    /// The second interface
    #[arg(value_name = "B", required_unless_present = "schema")]
    b: Option<String>,
    #[command(flatten)]
    path: PathOptions,
    /// The paths of this scenario file instead of options; its flows are ignored
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["rate", "delay", "late", "loss", "duplicate", "both"])]
    scenario: Option<PathBuf>,
    /// Override a key of the scenario file
    #[arg(long, value_name = "KEY=VALUE", requires = "scenario")]
    set: Vec<String>,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    forwarding: Forwarding,
    #[command(flatten)]
    running: RunningOptions,
}

/// The path from A to B in options.
#[derive(clap::Args)]
struct PathOptions {
    /// Rate of the link
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Size of the link's queue
    #[arg(
        long,
        value_name = "SIZE",
        requires = "rate",
        default_value = "1000 packets"
    )]
    queue: String,
    /// Round-trip time of a queue in BDP
    #[arg(long, value_name = "TIME", requires = "rate")]
    rtt: Option<String>,
    /// Delay of every packet
    #[arg(long, value_name = "TIME")]
    delay: Option<String>,
    /// Standard deviation of the delay, by which packets overtake others
    #[arg(long, value_name = "TIME", requires = "delay")]
    jitter: Option<String>,
    /// Shape of the jitter: normal, uniform, exponential, pareto, pareto-normal
    #[arg(
        long,
        value_name = "NAME",
        requires = "jitter",
        default_value = "normal"
    )]
    distribution: String,
    /// Share of the packets that are late by --late-by
    #[arg(long, value_name = "SHARE", requires = "late_by")]
    late: Option<String>,
    /// By how much packets are late
    #[arg(long, value_name = "TIME", requires = "late")]
    late_by: Option<String>,
    /// Share of the packets that are lost
    #[arg(long, value_name = "SHARE")]
    loss: Option<String>,
    /// Share of the packets that are duplicated
    #[arg(long, value_name = "SHARE")]
    duplicate: Option<String>,
    /// Shape the direction from B to A in the same way
    #[arg(long)]
    both: bool,
}

/// Emulates the path until Ctrl-C, then prints what happened.
pub(super) fn run(args: &Args) -> Outcome {
    let options = &args.running;
    let (Some(a), Some(b), false) = (&args.a, &args.b, options.schema) else {
        options.print_schema("inorder emulate", EMULATED)?;
        return Ok(ExitCode::SUCCESS);
    };
    if a == b {
        return usage!("{a}: given twice; expected two interfaces");
    }
    let config = config(args)?;
    let path = |stages, name| Path::<Frame>::declared(stages, name, args.seed);
    let (forward, reverse) = (
        path(&config.forward, "forward"),
        path(&config.reverse, "reverse"),
    );
    let (mut outlet, server) = options.outlet("inorder_emulate")?;
    let mut report = |now_ns, rows: &[Seen; 2]| {
        let bytes = rows.iter().map(|row| row.bytes).sum();
        outlet.show(now_ns, bytes, SEEN, rows);
    };
    let notice = format!("forwarding between {a} and {b}; Ctrl-C ends it");
    let seen = options.run(&args.forwarding, server, &notice, |running| {
        let paths = (forward, reverse);
        os::emulate([a, b], paths, running, &mut report)
    })?;
    options.print((EMULATED, &seen), (SEEN, &seen))?;
    Ok(ExitCode::SUCCESS)
}

/// The paths: of the scenario file, or of a scenario made of the options, which has the same rules and errors.
fn config(args: &Args) -> Result<Config, CliError> {
    let (name, text) = match &args.scenario {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(CliError::file(file, "read"))?;
            (file.display().to_string(), text)
        }
        None => ("the options".to_owned(), args.path.scenario()),
    };
    let wrong = |mut error: inorder_scenario::Error| {
        // Of the text that was made of the options nobody knows the lines.
        error.position = error.position.filter(|_| args.scenario.is_some());
        CliError::Usage(error.to_string())
    };
    let mut scenario = Scenario::load(&text, &name, &registries_with(&Own::reading(read_beside)))
        .map_err(wrong)?;
    for assignment in &args.set {
        scenario.set(assignment).map_err(wrong)?;
    }
    let mut cells = scenario.cells().map_err(wrong)?;
    if cells.len() > 1 {
        return usage!(
            "{name}: its grid has {} cells; expected one, chosen with --set KEY=VALUE",
            cells.len()
        );
    }
    match cells.pop() {
        Some(cell) => Ok(cell.config),
        None => usage!("{name}: its grid is empty; expected one cell"),
    }
}

impl PathOptions {
    /// The options as the text of a scenario. Random decisions come before the stages that reorder.
    fn scenario(&self) -> String {
        let mut stages = Vec::new();
        let mut stage = |kind: &str, keys: &[(&str, Option<&String>)]| {
            let keys = keys
                .iter()
                .filter_map(|(key, value)| Some((key, (*value)?)));
            let keys = keys.map(|(key, value)| format!("{key} = {}\n", quoted(value)));
            stages.push(format!("kind = \"{kind}\"\n{}", keys.collect::<String>()));
        };
        if self.duplicate.is_some() {
            stage("duplicate", &[("probability", self.duplicate.as_ref())]);
        }
        if self.loss.is_some() {
            stage("loss", &[("probability", self.loss.as_ref())]);
        }
        if self.rate.is_some() {
            let keys = [
                ("rate", self.rate.as_ref()),
                ("queue", Some(&self.queue)),
                ("rtt", self.rtt.as_ref()),
            ];
            stage("link", &keys);
        }
        if self.late.is_some() {
            stage(
                "late",
                &[
                    ("probability", self.late.as_ref()),
                    ("delay", self.late_by.as_ref()),
                ],
            );
        }
        if self.delay.is_some() {
            let distribution = self.jitter.as_ref().map(|_| &self.distribution);
            let keys = [
                ("delay", self.delay.as_ref()),
                ("jitter", self.jitter.as_ref()),
                ("distribution", distribution),
            ];
            stage("delay", &keys);
        }
        let directions = if self.both {
            &["forward", "reverse"][..]
        } else {
            &["forward"]
        };
        // A scenario must send something; a probe is the shortest.
        let mut text = String::from("[[probe]]\nrate = \"1 Mbit/s\"\n");
        for direction in directions {
            for stage in &stages {
                text += &format!("[[{direction}]]\n{stage}");
            }
        }
        text
    }
}

/// A basic string of TOML.
fn quoted(value: &str) -> String {
    let escaped = value.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
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

    fn stages(options: &[&str]) -> Result<(Vec<String>, usize), String> {
        let words = ["emulate", "a", "b"]
            .into_iter()
            .chain(options.iter().copied());
        let config = config(&Command::parse_from(words).args).map_err(|error| error.to_string())?;
        let path = Path::<Frame>::declared(&config.forward, "forward", 1);
        let names = path.stages().map(|stage| stage.name().to_owned());
        Ok((names.collect(), config.reverse.len()))
    }

    #[test]
    fn options_are_stages() {
        assert_eq!(stages(&[]), Ok((vec![], 0)));
        let options = [
            "--loss",
            "1 %",
            "--rate=10 Mbit/s",
            "--queue=1 BDP",
            "--rtt=20 ms",
            "--delay",
            "5ms",
            "--jitter",
            "1ms",
            "--late=2 %",
            "--late-by=1 ms",
            "--duplicate=0.5 %",
        ];
        let names = ["duplicate", "loss", "link", "late", "delay"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(stages(&options), Ok((names, 0)));
        assert_eq!(
            stages(&["--delay=1 ms", "--both"]),
            Ok((vec!["delay".to_owned()], 1))
        );
    }

    #[test]
    fn a_wrong_value_names_its_key() {
        let error = stages(&["--delay", "5 parsec"]).unwrap_err();
        assert!(
            error.contains("delay") && error.contains("expected a time"),
            "{error}"
        );
        assert!(!error.contains('\n'));
        assert!(
            stages(&["--loss", "a\"b\\"])
                .unwrap_err()
                .contains("a share")
        );
    }
}
