//! The nets of the crate, with the parameters that a configuration gives them.

use inorder_nets::{Program, Study};

use crate::config::{Arbitration, Config, Dequeue, Length};
use crate::error::NetprocError;
use crate::forwarder::{ForwarderConfig, Order, Spray};
use crate::scheme::find;

/// The parts that the nets of the schemes include, and the forwarder.
const PARTS: [(&str, &str); 3] = [
    ("forwarder.net", include_str!("../nets/forwarder.net")),
    ("ixp2400.net", include_str!("../nets/ixp2400.net")),
    ("traffic.net", include_str!("../nets/traffic.net")),
];

/// Parameters of a net, each with its value as `--set` takes it.
type Settings = Vec<(String, String)>;

/// The processor, or the chain of processors, of a configuration.
pub(crate) fn processor(config: &Config, has_source: bool) -> Result<Study, NetprocError> {
    config.validate()?;
    let scheme = find(&config.scheme)?;
    let text = format!(
        "coloured net processor\ninclude \"{}.net\"\n{}",
        scheme.name,
        lengths(&config.traffic.lengths)
    );
    let constants = config.calibration.as_net();
    let mut set = settings([
        ("hops", &config.hops),
        ("engines", &config.engines),
        ("threads", &config.threads),
        ("packets", &config.packets),
        ("flows", &config.traffic.flows),
        ("flow_packets", &config.traffic.flow_packets.unwrap_or(0)),
        ("train", &config.traffic.train),
        ("source", &has_source),
        ("arbitration", &arbitration(config.arbitration)),
    ]);
    if let Some(dequeue) = config.dequeue {
        let name = match dequeue {
            Dequeue::Strict => "strict",
            Dequeue::Completion => "completion",
        };
        set.extend(settings([("dequeue", &name)]));
    }
    study("processor", &text, &constants, &set)
}

/// What replaces the lengths of the part `traffic`.
fn lengths(all: &[Length]) -> String {
    let longest = all.iter().map(|length| length.bytes).max().unwrap_or(0);
    let weighted = all.iter().map(|l| format!("{}: {}", l.bytes, l.share));
    let drawn = match all {
        [only] => only.bytes.to_string(),
        _ => format!(
            "arrivals.empirical({})",
            weighted.collect::<Vec<_>>().join(", ")
        ),
    };
    format!("constant longest_bytes = {longest}\nfunction draw_length() = {drawn}\n")
}

fn arbitration(by: Arbitration) -> &'static str {
    match by {
        Arbitration::Fifo => "first",
        Arbitration::RandomEngine => "random_engine",
        Arbitration::Random => "any",
    }
}

/// The forwarder of a configuration. What sorts in the driver of the receiver is not a part of it.
pub(crate) fn forwarder(config: &ForwarderConfig) -> Result<Study, NetprocError> {
    config.validate()?;
    let with = |value: f64, unit: &str| format!("{value} {unit}");
    let ns = |value: f64| with(value, "ns");
    let spray = match config.spray {
        Spray::RoundRobin => "round_robin",
        Spray::Random => "any_core",
    };
    let mut set = settings([
        ("cores", &config.cores),
        ("burst", &config.burst),
        ("ring", &config.ring),
        ("offered", &with(config.offered_mpps, "MHz")),
        ("flows", &config.flows),
        ("spray", &spray),
        ("bytes", &config.bytes),
        ("line", &with(config.line_gbps, "Gbit/s")),
        ("burst_work", &ns(config.burst_ns)),
        ("packet_work", &ns(config.packet_ns)),
        ("variable_work", &ns(config.variable_ns)),
        ("stall", &config.stall),
        ("stall_time", &ns(config.stall_ns)),
        ("coalesce", &ns(config.coalesce_ns as f64)),
        ("receive_work", &ns(config.receive_ns as f64)),
        ("budget", &config.budget),
    ]);
    if let Order::ReorderBuffer {
        window,
        timeout_ns,
        work_ns,
    } = config.order
    {
        set.extend(settings([
            ("reorder_buffer", &true),
            ("window", &window),
            ("timeout", &ns(timeout_ns as f64)),
            ("release_work", &ns(work_ns as f64)),
        ]));
    }
    let text = "coloured net forwarding\ninclude \"forwarder.net\"\n";
    study("forwarding", text, "", &set)
}

fn settings<const N: usize>(all: [(&str, &dyn std::fmt::Display); N]) -> Settings {
    all.map(|(name, value)| (name.to_owned(), value.to_string()))
        .into()
}

fn study(name: &str, text: &str, constants: &str, set: &Settings) -> Result<Study, NetprocError> {
    let mut load = |_: &str, name: &str| {
        let part = PARTS.iter().find(|(file, _)| *file == name);
        let scheme = || find(name.strip_suffix(".net")?).ok();
        let found = match (name, part) {
            ("constants.net", _) => Some(constants),
            (_, Some((_, text))) => Some(*text),
            _ => scheme().map(|scheme| scheme.net),
        };
        let text = found.ok_or_else(|| "there is no such net".to_owned())?;
        Ok((name.to_owned(), text.to_owned()))
    };
    Ok(Program::read(name, text, &mut load)?.study(set)?)
}
