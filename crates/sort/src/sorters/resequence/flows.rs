//! The flows that are followed: sets of places, in which the flow used longest ago gives way.

use alloc::collections::TryReserveError;
use alloc::vec::Vec;

use super::held::Chain;
use super::learnt::Learnt;
use super::released::FlowId;
use crate::key::FlowKey;

/// Places that flows with one hash share.
const WAYS: usize = 8;

/// A flow, as every packet of it needs it.
pub(super) struct Flow<K> {
    key: K,
    /// Where the next packet in order begins.
    pub(super) next: u32,
    pub(super) chain: Chain,
    /// A gap of it was given up once, so that what comes below `next` may be a late original.
    pub(super) has_left_gaps: bool,
    /// Packets in a row that came below `next`.
    pub(super) behind: u32,
    /// When its SYN came, until something else does.
    pub(super) opened_ns: Option<i64>,
    /// Packets pushed when it was last looked at.
    pub(super) used: u64,
}

/// What is looked at only when there is a gap.
pub(super) struct Past {
    pub(super) learnt: Learnt,
    pub(super) path: u32,
    /// Where it began.
    first: u32,
    /// Its first gap came among its first packets; `None`: there has been none.
    early: Option<bool>,
    generation: u32,
}

/// A gap among this number of first packets is hardly a loss: a path that loses a tenth of what it carries is of no use to TCP, and one
/// that delivers every second packet late is not rare.
const FIRST_PACKETS: u32 = 10;

impl Past {
    /// A gap opens at `next`, below a packet of length `len`.
    pub(super) fn gap(&mut self, next: u32, len: u32) {
        let before_it = next.wrapping_sub(self.first);
        let is_early = before_it < len.saturating_mul(FIRST_PACKETS);
        self.early.get_or_insert(is_early);
    }

    /// Its first gap came among its first packets, or there has been none.
    pub(super) fn is_early(&self) -> bool {
        self.early.unwrap_or(true)
    }
}

/// All flows.
pub(super) struct Flows<K> {
    /// Part of the hash of whoever is there, so that a foreign flow is seldom looked at.
    tags: Vec<u32>,
    flows: Vec<Option<Flow<K>>>,
    pasts: Vec<Past>,
    seed: u64,
    /// Found last: packets come in trains.
    last: usize,
}

/// Places for this number of flows: whole sets, their number a power of two.
fn places(flows: usize) -> usize {
    flows.div_ceil(WAYS).next_power_of_two() * WAYS
}

impl<K: FlowKey> Flows<K> {
    pub(super) fn new(flows: usize, seed: u64) -> Result<Self, TryReserveError> {
        let places = places(flows);
        let (mut tags, mut list, mut pasts) = (Vec::new(), Vec::new(), Vec::new());
        tags.try_reserve_exact(places)?;
        tags.resize(places, 0);
        list.try_reserve_exact(places)?;
        list.resize_with(places, || None);
        pasts.try_reserve_exact(places)?;
        pasts.resize_with(places, || Past {
            learnt: Learnt::new(),
            path: 0,
            first: 0,
            early: None,
            generation: 0,
        });
        Ok(Flows {
            tags,
            flows: list,
            pasts,
            seed,
            last: 0,
        })
    }

    /// Bytes beside itself, for this number of flows.
    pub(super) fn footprint(flows: usize) -> usize {
        places(flows) * (size_of::<u32>() + size_of::<Option<Flow<K>>>() + size_of::<Past>())
    }

    /// Flows it has places for, asked for this number.
    pub(super) fn capacity(flows: usize) -> usize {
        places(flows)
    }

    /// Flows it has places for.
    pub(super) fn len(&self) -> usize {
        self.flows.len()
    }

    #[inline]
    fn set_of(&self, hash: u64) -> core::ops::Range<usize> {
        // Both are powers of two.
        let first = ((hash >> 32) as usize * WAYS) & (self.flows.len() - 1);
        first..first + WAYS
    }

    /// Where `key` is.
    #[inline]
    pub(super) fn find(&mut self, key: K) -> Option<usize> {
        if let Some(Some(flow)) = self.flows.get(self.last)
            && flow.key == key
        {
            return Some(self.last);
        }
        let hash = key.hash64(self.seed);
        let set = self.set_of(hash);
        let tags = self.tags.get(set.clone())?;
        for (at, &tag) in set.zip(tags) {
            if tag == hash as u32
                && let Some(Some(flow)) = self.flows.get(at)
                && flow.key == key
            {
                self.last = at;
                return Some(at);
            }
        }
        None
    }

    /// The flow `key` and its place, if it was found last.
    #[inline]
    pub(super) fn found_last(&self, key: K) -> Option<(usize, &Flow<K>)> {
        let flow = self.flows.get(self.last)?.as_ref()?;
        (flow.key == key).then_some((self.last, flow))
    }

    /// What the flow `key` has shown, if it is followed.
    pub(super) fn past_of_key(&self, key: K) -> Option<&Past> {
        let is_it = |at: &usize| matches!(self.flows.get(*at), Some(Some(flow)) if flow.key == key);
        let at = self.set_of(key.hash64(self.seed)).find(is_it)?;
        self.pasts.get(at)
    }

    /// A place for the new flow `key`, which goes on at `next`: a free one, or that of the flow
    /// without held packets that was used longest ago. `None`: all of its set hold something.
    pub(super) fn insert(&mut self, key: K, next: u32, path: u32, used: u64) -> Option<usize> {
        let hash = key.hash64(self.seed);
        let age = |at: &usize| match self.flows.get(*at) {
            Some(None) => Some(0),
            Some(Some(flow)) if flow.chain.is_empty() => Some(flow.used),
            _ => None,
        };
        let free = self.set_of(hash).filter_map(|at| Some((age(&at)?, at)));
        let (_, at) = free.min()?;
        *self.tags.get_mut(at)? = hash as u32;
        *self.flows.get_mut(at)? = Some(Flow {
            key,
            next,
            chain: Chain::EMPTY,
            has_left_gaps: false,
            behind: 0,
            opened_ns: None,
            used,
        });
        let past = self.pasts.get_mut(at)?;
        past.learnt = Learnt::new();
        past.path = path;
        past.first = next;
        past.early = None;
        past.generation = past.generation.wrapping_add(1);
        self.last = at;
        Some(at)
    }

    /// The flow at a place, and a note that it was used now.
    #[inline]
    pub(super) fn used(&mut self, at: usize, now: u64) -> Option<&mut Flow<K>> {
        let flow = self.flows.get_mut(at)?.as_mut()?;
        flow.used = now;
        Some(flow)
    }

    /// The flow at a place.
    #[inline]
    pub(super) fn get(&mut self, at: usize) -> Option<&mut Flow<K>> {
        self.flows.get_mut(at)?.as_mut()
    }

    /// What the flow at a place has shown.
    #[inline]
    pub(super) fn past(&mut self, at: usize) -> Option<&mut Past> {
        self.pasts.get_mut(at)
    }

    /// The name of the flow at a place.
    pub(super) fn id(&self, at: usize) -> FlowId {
        FlowId {
            place: at as u32,
            generation: self.pasts.get(at).map_or(0, |past| past.generation),
        }
    }

    /// The past of a flow that is still there.
    pub(super) fn past_of(&mut self, id: FlowId) -> Option<&mut Past> {
        let past = self.pasts.get_mut(id.place as usize)?;
        (past.generation == id.generation).then_some(past)
    }
}
