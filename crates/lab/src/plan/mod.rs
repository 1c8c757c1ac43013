//! What a guest does in one run, as plain data: the host makes it from a scenario's cell, the guest carries it out.

mod address;
mod aqm;
mod card;
mod endpoint;
mod hop;
mod hops;
mod lanes;
mod netem;
mod network;
mod refusal;
mod refuse;
#[cfg(test)]
pub(crate) mod tests;

use inorder_scenario::config::Direction;
use inorder_scenario::{Cell, Error, Scenario};
use inorder_sim::openings;
use serde::{Deserialize, Serialize};

pub use card::{Card, Settings as CardSettings};
pub use endpoint::Socket;

/// TCP port of the first flow at its sender; the others follow, so that the port says which flow it is.
pub(crate) const FIRST_PORT: u16 = 10_000;
/// TCP port at which the receivers of all flows listen, each `[[flow]]` at an address of its own.
pub const SERVICE: u16 = 5001;

/// Everything a guest needs to know.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Network namespaces: hosts `a0`, `b0`, ..., and the places between them.
    pub namespaces: Vec<String>,
    /// Lines for `ip` and `tc`, in order.
    pub batches: Vec<Batch>,
    /// Values under `/proc/sys`.
    pub settings: Vec<Setting>,
    /// Devices, without segmentation offloads (unless `offloads`), so that packets are segments wherever they are counted.
    pub devices: Vec<Device>,
    /// Whether segmentation offloads stay as the kernel has them.
    pub offloads: bool,
    /// Modules of the kernel to load first.
    pub modules: Vec<String>,
    /// Cards that coalesce or sort.
    pub cards: Vec<Card>,
    /// netem's tables of distributions.
    pub tables: Vec<Table>,
    /// What each `[[flow]]` has in common.
    pub groups: Vec<Group>,
    /// The connections.
    pub flows: Vec<Connection>,
    /// Changes during the run, by time.
    pub changes: Vec<Change>,
    /// Length of the run, nanoseconds.
    pub duration_ns: i64,
    /// Time from which counters count, nanoseconds.
    pub warm_up_ns: i64,
    /// Interval between samples of the senders' state, nanoseconds.
    pub sample_interval_ns: Option<i64>,
    /// Bytes kept of each packet in captures, without the Ethernet header.
    pub snap_bytes: u32,
    /// Whether the run waits until the path is emulated.
    pub emulated: bool,
}

/// What stands for the stages of a path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Ways {
    /// Queueing disciplines of the kernel.
    #[default]
    Disciplines,
    /// A program that forwards every packet between the interfaces `WIRE`.
    Emulated,
}

/// The namespace in which paths are emulated, and its interfaces at the sides of A and B.
pub(crate) const WIRE: (&str, [&str; 2]) = ("w", ["wa", "wb"]);

/// Lines that one call of a program reads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// `ip` or `tc`.
    pub program: String,
    /// In which namespace; none: outside of all.
    pub namespace: Option<String>,
    /// The lines.
    pub lines: Vec<String>,
}

/// A value under `/proc/sys`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// In which namespace.
    pub namespace: String,
    /// Its name with dots: `net.ipv4.tcp_sack`.
    pub key: String,
    /// The value.
    pub value: String,
}

/// A network device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// In which namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Whose packets are captured at it: 0 for the side of A, 1 for that of B.
    pub captured: Option<usize>,
    /// Whether its queueing discipline stands for a stage, so that its drops count.
    pub is_stage: bool,
}

/// A table of netem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its numbers, in units of the jitter / 8192.
    pub numbers: Vec<i16>,
}

/// What the connections of a `[[flow]]` have in common.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Namespace of the sender.
    pub sender: String,
    /// Namespace of the receiver.
    pub receiver: String,
    /// IPv4 address of the sender.
    pub from: [u8; 4],
    /// IPv4 address of the receiver.
    pub to: [u8; 4],
    /// Options of the sender's sockets.
    pub sending: Socket,
    /// Options of the receiver's sockets.
    pub receiving: Socket,
    /// When data is written.
    pub work: Work,
    /// Time from which nothing more is written, nanoseconds.
    pub stop_ns: Option<i64>,
}

/// When data is written.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Work {
    /// As much as TCP takes.
    Bulk,
    /// At a constant rate; what TCP does not take is dropped.
    Paced {
        /// Bytes of each write.
        write_bytes: u64,
        /// Time between two writes, nanoseconds.
        gap_ns: i64,
    },
    /// Requests that are answered.
    Dialogue {
        /// Bytes of a request.
        request_bytes: u64,
        /// Bytes of its response.
        response_bytes: u64,
        /// Time from a response to the next request, nanoseconds.
        think_ns: i64,
        /// Whether that time is exponentially distributed.
        exponential: bool,
    },
}

/// A connection.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connection {
    /// Index of its group.
    pub group: usize,
    /// Number in its group.
    pub number: u32,
    /// Time of opening, nanoseconds.
    pub start_ns: i64,
    /// Bytes it carries.
    pub size: Option<u64>,
}

/// A line for `tc` during the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Time, nanoseconds.
    pub at_ns: i64,
    /// In which namespace.
    pub namespace: String,
    /// The line.
    pub line: String,
}

/// The plan of a run of cell number `number`.
///
/// # Errors
/// If the scenario has something that real Linux cannot do: one line with its place in the file.
pub fn plan(
    scenario: &Scenario,
    number: usize,
    cell: &Cell,
    seed: u64,
    ways: Ways,
) -> Result<Plan, Error> {
    let refused = |refusal: refusal::Refusal| {
        scenario.refuse(number, &refusal.key, &refusal.what, &refusal.expected)
    };
    refuse::check(scenario, number, &cell.config)?;
    let config = &cell.config;
    let opened = openings(config, seed).map_err(|error| {
        scenario.refuse(
            number,
            "flow",
            &error.to_string(),
            "a scenario that can be simulated",
        )
    })?;
    let mut plan = network::plan(config, ways).map_err(refused)?;
    for (group, flow) in config.flows.iter().enumerate() {
        let ends = match flow.direction {
            Direction::Forward => ["a", "b"],
            Direction::Reverse => ["b", "a"],
        };
        plan.groups
            .push(endpoint::group(group, flow, ends, &mut plan.settings).map_err(refused)?);
    }
    if !plan.cards.is_empty() {
        plan.modules.push(card::MODULE.to_owned());
    }
    let mut senders = plan.groups.iter().map(|group| &group.sending.congestion);
    if senders.any(|name| name == endpoint::ANCR) {
        plan.modules.push(format!("tcp_{}", endpoint::ANCR));
    }
    plan.flows = opened
        .iter()
        .map(|opening| Connection {
            group: opening.group,
            number: opening.number,
            start_ns: opening.start_ns,
            size: opening.size,
        })
        .collect();
    plan.changes
        .retain(|change| change.at_ns < plan.duration_ns);
    plan.changes.sort_by_key(|change| change.at_ns);
    Ok(plan)
}

impl Plan {
    /// Everything that is set up, as commands of a shell: for the record.
    pub fn commands(&self) -> Vec<String> {
        let modules = self.modules.iter().map(|name| format!("insmod {name}.ko"));
        let namespaces = self
            .namespaces
            .iter()
            .map(|name| format!("ip netns add {name}"));
        let batches = self.batches.iter().flat_map(|batch| {
            let at = batch.namespace.as_ref();
            let at = at.map_or(String::new(), |name| format!(" -n {name}"));
            let lines = batch.lines.iter();
            lines.map(move |line| format!("{}{at} {line}", batch.program))
        });
        let settings = self.settings.iter().map(|setting| {
            let Setting {
                namespace,
                key,
                value,
            } = setting;
            format!("ip netns exec {namespace} sysctl -w {key}='{value}'")
        });
        let cards = self.cards.iter().flat_map(Card::commands);
        let sockets = self.groups.iter().flat_map(|group| {
            let both = [
                (&group.sender, &group.sending),
                (&group.receiver, &group.receiving),
            ];
            both.map(|(host, socket)| format!("setsockopt in {host}: {}", socket.words()))
        });
        let changes = self.changes.iter().map(|change| {
            let seconds = change.at_ns as f64 / 1e9;
            format!("at {seconds} s: tc -n {} {}", change.namespace, change.line)
        });
        modules
            .chain(namespaces)
            .chain(batches)
            .chain(settings)
            .chain(cards)
            .chain(sockets)
            .chain(changes)
            .collect()
    }
}
