// SPDX-License-Identifier: GPL-2.0-only
/*
 * SRPIC, Sorting Reordered Packets with Interrupt Coalescing: Listing 1 of
 * Wu, Demar and Crawford (Computer Networks 53, 2009).
 *
 * A packet of a flow goes to Prev, Curr or After of its block; a block is
 * delivered as Prev, Curr, After when it has block_size packets, and all
 * blocks at the end of the batch and when ring_packets have arrived. The
 * result is a stable sort of the block by number, unless numbers overlap.
 * Then the stable sort is what is delivered here, and with literal=true what
 * the listing says. Either is one list per block, sorted by a key: the
 * distance from the block's first packet, and with literal=true above it the
 * number of the list.
 */
#include "sort.h"

/* A packet of the batch: slots are taken in order of arrival. */
struct slot {
	void *packet;
	s64 key;
	u32 below;
	u32 above;
};

/* The block of a flow. */
struct block {
	struct inorder_key flow;
	u32 count;
	/* NextExp of the listing. */
	u32 next;
	/* The end of the block's first packet. Distances from it order the
	 * block, also where numbers wrap.
	 */
	u32 anchor;
	u32 lowest;
	u32 highest;
};

/* An entry of the index of flows; free unless its stamp is the current one. */
struct bucket {
	u32 stamp;
	u32 flow;
};

struct srpic {
	struct inorder_sorter sorter;
	u32 block_size;
	bool literal;
	u64 hash_seed;
	/* Packets since the ring was last emptied, and of these the held. */
	u32 ring_packets;
	u32 arrived;
	u32 held;
	struct slot *slots;
	/* Flows of the batch, in the order of their first packets. */
	u32 max_flows;
	u32 nflows;
	u32 last;
	struct block *flows;
	/* Twice as many buckets as flows, a power of two. */
	u32 bucket_mask;
	u32 stamp;
	struct bucket *buckets;
};

enum { SET_BLOCK_SIZE, SET_LITERAL };

static const struct inorder_setting settings[] = {
	[SET_BLOCK_SIZE] = { "block_size", INORDER_PACKETS, 1, 1 << 24, 32 },
	[SET_LITERAL] = { "literal", INORDER_FLAG, 0, 1, 0 },
};

static struct srpic *to_srpic(const struct inorder_sorter *sorter)
{
	return container_of(sorter, struct srpic, sorter);
}

static void srpic_destroy(struct inorder_sorter *sorter)
{
	struct srpic *srpic = to_srpic(sorter);

	kvfree(srpic->slots);
	kvfree(srpic->flows);
	kvfree(srpic->buckets);
	kvfree(srpic);
}

static struct inorder_sorter *srpic_create(const struct inorder_config *config,
					   const struct inorder_around *around)
{
	struct srpic *srpic = kvzalloc(sizeof(*srpic), GFP_KERNEL);
	u32 buckets;

	if (!srpic)
		return NULL;
	srpic->block_size = config->values[SET_BLOCK_SIZE];
	srpic->literal = config->values[SET_LITERAL];
	srpic->hash_seed = around->hash_seed;
	srpic->ring_packets = around->ring_packets;
	srpic->max_flows = min(around->flows, around->ring_packets);
	srpic->stamp = 1;
	buckets = roundup_pow_of_two(srpic->max_flows * 2);
	srpic->bucket_mask = buckets - 1;
	srpic->slots = kvcalloc(srpic->ring_packets, sizeof(*srpic->slots),
				GFP_KERNEL);
	srpic->flows = kvcalloc(srpic->max_flows, sizeof(*srpic->flows),
				GFP_KERNEL);
	srpic->buckets = kvcalloc(buckets, sizeof(*srpic->buckets),
				  GFP_KERNEL);
	if (srpic->slots && srpic->flows && srpic->buckets)
		return &srpic->sorter;
	srpic_destroy(&srpic->sorter);
	return NULL;
}

/*
 * The index of a flow in the batch, or INORDER_NIL; then bucket is where it
 * would be found. At least half of the buckets are free, so the search ends.
 */
static u32 find(struct srpic *srpic, const struct inorder_key *key,
		struct bucket **bucket)
{
	u32 at;

	if (srpic->last < srpic->nflows &&
	    inorder_same_key(&srpic->flows[srpic->last].flow, key))
		return srpic->last;
	at = inorder_hash(key, srpic->hash_seed) >> 32;
	for (;; at++) {
		*bucket = &srpic->buckets[at & srpic->bucket_mask];
		if ((*bucket)->stamp != srpic->stamp)
			return INORDER_NIL;
		if (inorder_same_key(&srpic->flows[(*bucket)->flow].flow, key))
			break;
	}
	srpic->last = (*bucket)->flow;
	return srpic->last;
}

/* Flush_SRPIC_manager: delivers a block and makes it empty. */
static void deliver(struct srpic *srpic, struct block *block,
		    struct inorder_out *out)
{
	u32 at = block->lowest;

	srpic->held -= block->count;
	for (; block->count; block->count--) {
		struct slot *slot = &srpic->slots[at];

		at = slot->above;
		out->deliver(out, slot->packet);
	}
}

/* Flush_all_SRPIC_managers: delivers every block and forgets every flow. */
static void deliver_all(struct srpic *srpic, struct inorder_out *out)
{
	u32 i;

	for (i = 0; i < srpic->nflows; i++)
		deliver(srpic, &srpic->flows[i], out);
	srpic->nflows = 0;
	srpic->arrived = 0;
	srpic->stamp++;
	if (!srpic->stamp) {
		memset(srpic->buckets, 0, (srpic->bucket_mask + 1) *
					  sizeof(*srpic->buckets));
		srpic->stamp = 1;
	}
}

/* The block of a flow, a new one if need be. */
static struct block *enter(struct srpic *srpic, const struct inorder_key *key,
			   struct inorder_out *out)
{
	struct bucket *bucket;
	u32 at = find(srpic, key, &bucket);

	if (at != INORDER_NIL)
		return &srpic->flows[at];
	if (srpic->nflows == srpic->max_flows) {
		deliver_all(srpic, out);
		find(srpic, key, &bucket);
	}
	at = srpic->nflows++;
	bucket->stamp = srpic->stamp;
	bucket->flow = at;
	srpic->flows[at].flow = *key;
	srpic->flows[at].count = 0;
	srpic->last = at;
	return &srpic->flows[at];
}

/* The sort key of a packet; moves NextExp. */
static s64 sort_key(const struct srpic *srpic, struct block *block, u32 seq,
		    u32 end)
{
	enum { PREV, CURR, AFTER } list;
	s64 key;

	if (!block->count) {
		block->next = seq;
		block->anchor = end;
		block->lowest = INORDER_NIL;
		block->highest = INORDER_NIL;
	}
	if (seq == block->next) {
		list = CURR;
		block->next = end;
	} else if (inorder_before(seq, block->next)) {
		list = PREV;
	} else {
		list = AFTER;
	}
	key = (s32)(seq - block->anchor);
	if (srpic->literal)
		key += (s64)list * (1LL << 33);
	return key;
}

/*
 * Puts a packet into its block, behind those of the same key. The walk from
 * the highest one is at most block_size long, and a few steps where packets
 * are a little late.
 */
static void add(struct srpic *srpic, struct block *block,
		const struct inorder_meta *meta, void *packet)
{
	u32 at = srpic->arrived++;
	struct slot *slot = &srpic->slots[at];
	u32 below;

	slot->packet = packet;
	slot->key = sort_key(srpic, block, meta->seq, meta->seq + meta->len);
	below = block->highest;
	while (below != INORDER_NIL && srpic->slots[below].key > slot->key)
		below = srpic->slots[below].below;
	slot->below = below;
	if (below != INORDER_NIL) {
		slot->above = srpic->slots[below].above;
		srpic->slots[below].above = at;
	} else {
		slot->above = block->lowest;
		block->lowest = at;
	}
	if (slot->above != INORDER_NIL)
		srpic->slots[slot->above].below = at;
	else
		block->highest = at;
	block->count++;
	srpic->held++;
}

static void srpic_push(struct inorder_sorter *sorter,
		       const struct inorder_meta *meta, void *packet, s64 now,
		       struct inorder_out *out)
{
	struct srpic *srpic = to_srpic(sorter);
	struct block *block;

	if (meta->kind != INORDER_DATA) {
		struct bucket *bucket;
		u32 at;

		sorter->counters.unsuitable++;
		/* The listing lets it overtake what is held of its flow. */
		at = srpic->literal ? INORDER_NIL :
				      find(srpic, &meta->flow, &bucket);
		if (at != INORDER_NIL)
			deliver(srpic, &srpic->flows[at], out);
		out->deliver(out, packet);
		return;
	}
	sorter->counters.suitable++;
	block = enter(srpic, &meta->flow, out);
	add(srpic, block, meta, packet);
	if (block->count >= srpic->block_size) {
		sorter->counters.full_blocks++;
		deliver(srpic, block, out);
	}
	if (srpic->arrived == srpic->ring_packets) {
		sorter->counters.full_rings++;
		deliver_all(srpic, out);
	}
}

static void srpic_flush(struct inorder_sorter *sorter, s64 now,
			struct inorder_out *out)
{
	deliver_all(to_srpic(sorter), out);
}

static void srpic_end_of_batch(struct inorder_sorter *sorter, s64 now,
			       struct inorder_out *out)
{
	sorter->counters.batches++;
	deliver_all(to_srpic(sorter), out);
}

static s64 srpic_next_deadline(const struct inorder_sorter *sorter)
{
	return INORDER_NEVER;
}

/* Nothing is held past the end of a batch. */
static void srpic_on_deadline(struct inorder_sorter *sorter, s64 now,
			      struct inorder_out *out)
{
}

static u32 srpic_held(const struct inorder_sorter *sorter)
{
	return to_srpic(sorter)->held;
}

const struct inorder_sorter_ops inorder_srpic = {
	.name = "srpic",
	.settings = settings,
	.nsettings = ARRAY_SIZE(settings),
	.create = srpic_create,
	.destroy = srpic_destroy,
	.push = srpic_push,
	.end_of_batch = srpic_end_of_batch,
	.next_deadline = srpic_next_deadline,
	.on_deadline = srpic_on_deadline,
	.flush = srpic_flush,
	.held = srpic_held,
};
