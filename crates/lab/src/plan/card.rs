//! Network cards that coalesce interrupts and sort: devices of the kernel module `inorder` (`kernel/`).

use inorder_scenario::config as plain;
use inorder_sim::sorter_of;
use serde::{Deserialize, Serialize};

use super::refusal::Refusal;

/// Name of the module, of its file, and of the type of its devices.
pub(super) const MODULE: &str = "inorder";
/// Sorters of the module, as its own list in `kernel/sort.c` has them.
const SORTERS: [&str; 3] = ["none", "srpic", "resequence"];
/// Largest ring of the module.
const MAX_RING: u64 = 8192;
/// Largest time that the module coalesces, microseconds.
const MAX_USECS: i64 = 1_000_000;

/// A device of the module, and its parameters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// In which namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub settings: Settings,
}

/// The parameters of a card.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Time from the first packet to the interrupt, microseconds (`ethtool -C`).
    pub rx_usecs: u32,
    /// Packets that cause the interrupt at once; 0 for no such number.
    pub rx_frames: u32,
    /// Least time between two interrupts, microseconds.
    pub gap_usecs: u32,
    /// Packets that the ring holds (`ethtool -G`).
    pub ring: u32,
    /// The sorter with its settings.
    pub sorter: String,
    /// Whether consecutive segments are merged (GRO).
    pub merge: bool,
}

impl Settings {
    /// The settings of a `[receiver_card]` or `[sender_card]`, whose name is `key`.
    pub(crate) fn of_card(card: &plain::Card, key: &str) -> Result<Self, Refusal> {
        let refuse = |name: &str, what: &str, expected: &str| {
            Err(Refusal::new(format!("{key}.{name}"), what, expected))
        };
        if card.tunnel {
            return refuse("tunnel", "the module sorts TCP only", "false");
        }
        if card.ring_packets > MAX_RING {
            return refuse(
                "ring",
                "the module has no such ring",
                "at most 8192 packets",
            );
        }
        let sorter = match sorter_of(card) {
            Ok(sorter) if SORTERS.contains(&sorter.entry().name) => sorter,
            _ => {
                let what = format!("the module has no sorter \"{}\"", card.sorter);
                return refuse("sorter", &what, &format!("one of {}", SORTERS.join(", ")));
            }
        };
        Ok(Settings {
            rx_usecs: micros(card.coalesce_ns, &format!("{key}.coalesce"))?,
            rx_frames: card.coalesce_packets.map_or(0, |frames| {
                // More than the ring holds is the same as no number.
                u32::try_from(frames).unwrap_or(0)
            }),
            gap_usecs: micros(card.coalesce_gap_ns, &format!("{key}.coalesce_gap"))?,
            ring: card.ring_packets as u32,
            sorter: sorter.to_string(),
            merge: card.merge,
        })
    }

    /// The settings of a stage `batch`, whose name is `key`: a card that never drops and does not sort.
    pub fn of_batch(batch: &plain::Batch, key: &str) -> Result<Self, Refusal> {
        if batch.packet_ns > 0 {
            let what = "how long a packet takes depends on the processor";
            return Err(Refusal::new(format!("{key}.packet_time"), what, "0 s"));
        }
        Ok(Settings {
            rx_usecs: micros(batch.delay_ns, &format!("{key}.delay"))?,
            rx_frames: 0,
            gap_usecs: micros(batch.gap_ns, &format!("{key}.gap"))?,
            ring: MAX_RING as u32,
            sorter: "none".to_owned(),
            merge: false,
        })
    }
}

impl Card {
    /// The parameters as commands.
    pub fn commands(&self) -> Vec<String> {
        let Card {
            namespace,
            name,
            settings,
        } = self;
        let inside = |words: String| format!("ip netns exec {namespace} {words}");
        let attribute = |key: &str, value: &str| {
            inside(format!(
                "sh -c 'echo {value} > /sys/class/net/{name}/inorder/{key}'"
            ))
        };
        vec![
            inside(format!(
                "ethtool -C {name} rx-usecs {} rx-frames {}",
                settings.rx_usecs, settings.rx_frames
            )),
            inside(format!("ethtool -G {name} rx {}", settings.ring)),
            attribute("gap_usecs", &settings.gap_usecs.to_string()),
            attribute("sorter", &settings.sorter),
        ]
    }
}

/// Refuses what was given for a card and depends on the speed of a processor, or on Linux.
pub(super) fn refused(card: &plain::Card, key: &str) -> Option<(&'static str, &'static str)> {
    let no = |good: bool, what, expected| (!good).then_some((what, expected));
    let no_time = "code takes no time in the lab";
    match key {
        "packet_time" => no(card.packet_ns == 0, no_time, "\"0 ns\""),
        "sorter_time" => no(card.sorter_ns == 0, no_time, "\"0 ns\""),
        "merge_limit" => no(
            card.merge_bytes == 65_535,
            "Linux has its own limit",
            "65535",
        ),
        "merge_packets" => no(card.merge_packets == 17, "Linux has its own limit", "17"),
        "merge_restarts" => no(card.merge_restarts, "Linux merges by GRO", "true"),
        _ => None,
    }
}

fn micros(ns: i64, key: &str) -> Result<u32, Refusal> {
    let fits = ns % 1000 == 0 && ns / 1000 <= MAX_USECS;
    let usecs = u32::try_from(ns / 1000).ok().filter(|_| fits);
    usecs.ok_or_else(|| {
        let what = "Linux counts these times in microseconds";
        Refusal::new(key, what, "whole microseconds, at most \"1 s\"")
    })
}

#[cfg(test)]
mod tests {
    use super::SORTERS;

    #[test]
    fn the_module_lists_the_same_sorters() {
        let list = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernel/sort.c");
        let list = std::fs::read_to_string(list).expect("kernel/sort.c");
        let names: Vec<&str> = list
            .lines()
            .filter_map(|line| line.trim().strip_prefix("&inorder_")?.strip_suffix(','))
            .collect();
        assert_eq!(names, SORTERS);
    }
}
