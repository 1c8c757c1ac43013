//! Whole bursts: a complete block is sorted within the array of the caller.
//!
//! A driver's receive call returns an array. When a full block of packets in it belongs to one flow that holds
//! nothing, the block would be filled and flushed before any other flow is considered. Then it need not be held, and
//! the lists are not needed either, because their result is a stable sort. All other packets, and blocks of more than
//! 64 packets, are pushed one by one, with the same result.

use super::Srpic;
use crate::key::FlowKey;
use crate::meta::Meta;
use crate::out::Out;
use crate::place::{MAX_BLOCK_IN_PLACE, Watch};
use crate::table::Place;

impl<K: FlowKey, P> Srpic<K, P> {
    /// A burst arrives: the same as [`Srpic::push`] for each of its packets, and faster.
    #[inline]
    pub(super) fn take_burst<'b, T>(
        &mut self,
        burst: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        out: &mut impl Out<P>,
    ) {
        let mut rest = burst;
        while !rest.is_empty() {
            let in_place = self.block_size() <= MAX_BLOCK_IN_PLACE && !self.literal;
            let block = rest.get(..self.block_size()).filter(|_| in_place);
            let mut one_by_one = rest.len();
            if let Some(block) = block {
                if self.sort_in_place(block, meta, packet, out) {
                    rest = rest.get(block.len()..).unwrap_or_default();
                    continue;
                }
                // As many packets as complete the block this flow has begun, if they all belong to it.
                one_by_one = block.len() - self.held_of(block, meta);
            }
            let (now, later) = rest.split_at_checked(one_by_one).unwrap_or((rest, &[]));
            for t in now {
                self.push(&meta(t), packet(t), &mut |p| out.one(p));
            }
            rest = later;
        }
    }

    /// Sorts and delivers a block within the array; returns false if that is not possible.
    #[inline]
    fn sort_in_place<'b, T>(
        &mut self,
        block: &'b [T],
        meta: &impl Fn(&T) -> Meta<K>,
        packet: &impl Fn(&'b T) -> P,
        out: &mut impl Out<P>,
    ) -> bool {
        let Some(first) = block.first().map(meta) else {
            return false;
        };
        // A few packets are checked first: when flows alternate, one of them soon differs.
        let probes = [1, block.len() / 2, block.len() - 1];
        let flows = probes
            .iter()
            .filter_map(|&at| Some(meta(block.get(at)?).flow));
        // If the first packet must not be held, its flow must not be added to the table.
        if !first.is_suitable() || !first.flow.is_all_of(flows) {
            return false;
        }
        if block.len() > self.ring.room() || self.holds(first.flow, &mut |p| out.one(p)) {
            return false;
        }
        // Accepts numbers up to the same distance before and after the end of the first packet; an offset of half the
        // range makes the comparison unsigned.
        let base = first.seq.wrapping_add(first.len).wrapping_sub(1 << 31);
        let key = |m: &Meta<K>| m.seq.wrapping_sub(base);
        let (mut watch, mut suitable) = (Watch::default(), true);
        let flows = block.iter().map(|t| {
            let m = meta(t);
            suitable &= m.is_suitable();
            watch.see(key(&m));
            m.flow
        });
        if !first.flow.is_all_of(flows) || !suitable {
            return false;
        }
        self.ring.pass_by(block.len());
        self.counters.full_blocks += 1;
        out.block(block, watch.order(block.len()), |t| key(&meta(t)), packet);
        self.flush_full_ring(&mut |p| out.one(p));
        true
    }

    /// True when packets of `flow` are held. Otherwise the flow is added.
    #[inline]
    fn holds(&mut self, flow: K, out: &mut (impl FnMut(P) + ?Sized)) -> bool {
        if self.table.is_empty() && self.lead.is_none_or(|lead| lead == flow) {
            self.lead = Some(flow);
            return false;
        }
        let flow = self.enter(flow, out);
        self.table.get_mut(flow).count > 0
    }

    /// The number of held packets, less than a block, of the flow that `block` begins with.
    fn held_of<T>(&mut self, block: &[T], meta: &impl Fn(&T) -> Meta<K>) -> usize {
        match block.first().map(|t| self.table.find(meta(t).flow)) {
            Some(Place::Known(flow)) => self.table.get_mut(flow).count as usize,
            _ => 0,
        }
    }
}
