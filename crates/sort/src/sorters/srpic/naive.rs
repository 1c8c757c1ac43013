//! The simple twin of the sorter: the same guarantees by simple means, for comparison.

use alloc::vec::Vec;

use super::config::Config;
use crate::meta::Meta;

struct Held<P> {
    seq: u32,
    packet: P,
}

struct Flow<K, P> {
    key: K,
    anchor: u32,
    next_exp: u32,
    prev: Vec<Held<P>>,
    curr: Vec<Held<P>>,
    after: Vec<Held<P>>,
    /// All packets of the block in arrival order; sorted unless the listing is followed exactly.
    arrival: Vec<Held<P>>,
}

/// SRPIC with vectors that are searched from the front and sorted as a whole.
pub struct Naive<K, P> {
    config: Config,
    flows: Vec<Flow<K, P>>,
    count: usize,
}

impl<K: Copy + Eq, P: Clone> Naive<K, P> {
    /// The counterpart of [`crate::Srpic::new`].
    pub fn new(config: &Config) -> Self {
        Naive {
            config: *config,
            flows: Vec::new(),
            count: 0,
        }
    }

    /// The counterpart of [`crate::Srpic::push`].
    pub fn push(&mut self, meta: &Meta<K>, packet: P, out: &mut Vec<P>) {
        if !meta.is_suitable() {
            if !self.config.literal {
                self.flush_flow(&meta.flow, out);
            }
            return out.push(packet);
        }
        if !self.flows.iter().any(|f| f.key == meta.flow) {
            if self.flows.len() == self.config.flow_capacity {
                self.end_of_batch(out);
            }
            self.flows.push(Flow::new(meta.flow));
        }
        let mut full = false;
        for flow in self.flows.iter_mut().filter(|f| f.key == meta.flow) {
            flow.add(meta, packet.clone());
            full = flow.arrival.len() >= self.config.block_size;
        }
        if full {
            self.flush_flow(&meta.flow, out);
        }
        self.count += 1;
        if self.count >= self.config.ring_size {
            self.end_of_batch(out);
        }
    }

    /// The counterpart of [`crate::Srpic::end_of_batch`].
    pub fn end_of_batch(&mut self, out: &mut Vec<P>) {
        for flow in &mut self.flows {
            flow.flush(self.config.literal, out);
        }
        self.flows.clear();
        self.count = 0;
    }

    fn flush_flow(&mut self, key: &K, out: &mut Vec<P>) {
        for flow in self.flows.iter_mut().filter(|f| f.key == *key) {
            flow.flush(self.config.literal, out);
        }
    }
}

impl<K, P: Clone> Flow<K, P> {
    fn new(key: K) -> Self {
        Flow {
            key,
            anchor: 0,
            next_exp: 0,
            prev: Vec::new(),
            curr: Vec::new(),
            after: Vec::new(),
            arrival: Vec::new(),
        }
    }

    /// Listing 1, statement by statement.
    fn add(&mut self, meta: &Meta<K>, packet: P) {
        let held = |packet| Held {
            seq: meta.seq,
            packet,
        };
        let end = meta.seq.wrapping_add(meta.len);
        if self.arrival.is_empty() {
            self.next_exp = end;
            self.anchor = end;
            self.curr.push(held(packet.clone()));
        } else {
            match meta.seq.wrapping_sub(self.next_exp) as i32 {
                i32::MIN..0 => self.prev.push(held(packet.clone())),
                0 => {
                    self.curr.push(held(packet.clone()));
                    self.next_exp = end;
                }
                1.. => self.after.push(held(packet.clone())),
            }
        }
        self.arrival.push(held(packet));
    }

    fn flush(&mut self, literal: bool, out: &mut Vec<P>) {
        let anchor = self.anchor;
        let lists = if literal {
            [&mut self.prev, &mut self.curr, &mut self.after]
        } else {
            self.curr.clear();
            self.after.clear();
            self.prev.clear();
            [&mut self.arrival, &mut self.curr, &mut self.after]
        };
        for list in lists {
            list.sort_by_key(|h| h.seq.wrapping_sub(anchor) as i32);
            out.extend(list.drain(..).map(|h| h.packet));
        }
        self.arrival.clear();
    }
}
