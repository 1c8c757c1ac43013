//! The IPv4 identifications of packets, by the habits of the hosts that send them.

use std::collections::HashMap;

use inorder_base::random::Random;
use inorder_scenario::Config;
use inorder_tcp::Flags;
use inorder_tcp::habits::Identification;

use crate::build;
use crate::error::Error;
use crate::own::Own;
use crate::packet::{End, Packet};

/// The identifications of a run.
pub(super) struct Identifications {
    /// By channel.
    ways: Vec<Way>,
    /// The counters of A and B.
    hosts: [u16; 2],
    random: Random,
}

struct Way {
    habit: Identification,
    next: u16,
    /// By the packet's number.
    given: Vec<u16>,
    /// By the first byte of data, where a packet that is sent again keeps its number.
    kept: HashMap<u64, u16>,
}

impl Way {
    fn new(habit: Identification, random: &mut Random) -> Self {
        Way {
            habit,
            next: random.next_u32() as u16,
            given: Vec::new(),
            kept: HashMap::new(),
        }
    }

    fn count(&mut self) -> u16 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }
}

impl Identifications {
    /// Of a run of `config` with `seed`.
    pub(crate) fn of_run(config: &Config, seed: u64) -> Result<Self, Error> {
        let mut random = Random::new(seed, "identifications");
        let hosts = [random.next_u32() as u16, random.next_u32() as u16];
        let mut ways = Vec::new();
        for flow in &config.flows {
            let mut habits = Vec::new();
            for endpoint in [&flow.sender, &flow.receiver] {
                let recipe = build::endpoint(endpoint, &Own::default())?;
                habits.push(recipe.config().habits.identification);
            }
            for _ in 0..flow.count {
                ways.extend(habits.iter().map(|&habit| Way::new(habit, &mut random)));
            }
        }
        Ok(Identifications {
            ways,
            hosts,
            random,
        })
    }

    /// `end` sends the packet.
    pub(crate) fn sent(&mut self, end: End, packet: &Packet) {
        let Some(way) = self.ways.get_mut(packet.channel.0 as usize) else {
            return;
        };
        let number = match way.habit {
            Identification::Plain => return,
            Identification::Own if without_socket(packet) => 0,
            Identification::Own => way.count(),
            Identification::Host | Identification::HostSwapped => {
                let host = &mut self.hosts[end as usize];
                let number = *host;
                *host = number.wrapping_add(1);
                if way.habit == Identification::Host {
                    number
                } else {
                    number.swap_bytes()
                }
            }
            Identification::Zero => 0,
            Identification::Random => self.random.next_u32() as u16,
            Identification::Kept => way.keep(packet),
        };
        let at = packet.id as usize;
        if at >= way.given.len() {
            way.given.resize(at + 1, 0);
        }
        way.given[at] = number;
    }

    /// The identification of a packet that was sent before.
    pub(crate) fn of(&self, packet: &Packet) -> u16 {
        match self.ways.get(packet.channel.0 as usize) {
            Some(way) if way.habit != Identification::Plain => {
                way.given.get(packet.id as usize).copied().unwrap_or(0)
            }
            _ => packet.id as u16,
        }
    }
}

impl Way {
    fn keep(&mut self, packet: &Packet) -> u16 {
        if packet.payload() == 0 {
            return self.count();
        }
        match self.kept.get(&packet.offset) {
            Some(&number) => number,
            None => {
                let number = self.count();
                self.kept.insert(packet.offset, number);
                number
            }
        }
    }
}

/// Linux answers a SYN, and refuses what belongs to no connection, without a socket that could count.
fn without_socket(packet: &Packet) -> bool {
    packet.segment().is_some_and(|segment| {
        let flags = segment.flags;
        flags.has(Flags::SYN) && flags.has(Flags::ACK) || flags.has(Flags::RST)
    })
}
