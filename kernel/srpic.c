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
	/* Among those of its block, by key. */
	struct rb_node node;
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
	struct rb_root tree;
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
	siphash_key_t hash_key;
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

static struct srpic *srpic_of(const struct inorder_sorter *sorter)
{
	return container_of(sorter, struct srpic, sorter);
}

static void srpic_destroy(struct inorder_sorter *sorter)
{
	struct srpic *srpic = srpic_of(sorter);

	kvfree(srpic->slots);
	kvfree(srpic->flows);
	kvfree(srpic->buckets);
	kvfree(srpic);
}

static u32 srpic_max_flows(const struct inorder_around *around)
{
	return min(around->flows, around->ring_packets);
}

static u32 srpic_buckets(const struct inorder_around *around)
{
	return roundup_pow_of_two(srpic_max_flows(around) * 2);
}

static u64 srpic_footprint(const struct inorder_config *config,
			   const struct inorder_around *around, u32 *packets)
{
	*packets = around->ring_packets;
	return sizeof(struct srpic) +
	       (u64)around->ring_packets * sizeof(struct slot) +
	       (u64)srpic_max_flows(around) * sizeof(struct block) +
	       (u64)srpic_buckets(around) * sizeof(struct bucket);
}

static struct inorder_sorter *srpic_create(const struct inorder_config *config,
					   const struct inorder_around *around)
{
	struct srpic *srpic = kvzalloc(sizeof(*srpic), GFP_KERNEL_ACCOUNT);
	u32 buckets;

	if (!srpic)
		return NULL;
	srpic->block_size = config->values[SET_BLOCK_SIZE];
	srpic->literal = config->values[SET_LITERAL];
	srpic->hash_key = around->hash_key;
	srpic->ring_packets = around->ring_packets;
	srpic->max_flows = srpic_max_flows(around);
	srpic->stamp = 1;
	buckets = srpic_buckets(around);
	srpic->bucket_mask = buckets - 1;
	srpic->slots = kvcalloc(srpic->ring_packets, sizeof(*srpic->slots),
				GFP_KERNEL_ACCOUNT);
	srpic->flows = kvcalloc(srpic->max_flows, sizeof(*srpic->flows),
				GFP_KERNEL_ACCOUNT);
	srpic->buckets = kvcalloc(buckets, sizeof(*srpic->buckets),
				  GFP_KERNEL_ACCOUNT);
	if (srpic->slots && srpic->flows && srpic->buckets)
		return &srpic->sorter;
	srpic_destroy(&srpic->sorter);
	return NULL;
}

/*
 * The index of a flow in the batch, or INORDER_NIL; then bucket is where it
 * would be found. At least half of the buckets are free, so the search ends.
 */
static u32 srpic_find(struct srpic *srpic, const struct inorder_key *key,
		      struct bucket **bucket)
{
	u32 at;

	if (srpic->last < srpic->nflows &&
	    inorder_same_key(&srpic->flows[srpic->last].flow, key))
		return srpic->last;
	at = inorder_hash(key, &srpic->hash_key) >> 32;
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
static void srpic_deliver(struct srpic *srpic, struct block *block,
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
static void srpic_deliver_all(struct srpic *srpic, struct inorder_out *out)
{
	u32 i;

	for (i = 0; i < srpic->nflows; i++)
		srpic_deliver(srpic, &srpic->flows[i], out);
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
static struct block *srpic_enter(struct srpic *srpic, const struct inorder_key *key,
				 struct inorder_out *out)
{
	struct bucket *bucket;
	u32 at = srpic_find(srpic, key, &bucket);

	if (at != INORDER_NIL)
		return &srpic->flows[at];
	if (srpic->nflows == srpic->max_flows) {
		srpic_deliver_all(srpic, out);
		srpic_find(srpic, key, &bucket);
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
static s64 srpic_sort_key(const struct srpic *srpic, struct block *block, u32 seq,
			  u32 end)
{
	enum { PREV, CURR, AFTER } list;
	s64 key;

	if (!block->count) {
		block->next = seq;
		block->anchor = end;
		block->lowest = INORDER_NIL;
		block->highest = INORDER_NIL;
		block->tree = RB_ROOT;
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

/* Puts a slot into the tree; the highest one whose key is not above its own. */
static u32 srpic_grow(struct srpic *srpic, struct block *block,
		      struct slot *slot)
{
	struct rb_node **link = &block->tree.rb_node, *parent = NULL;
	u32 below = INORDER_NIL;

	while (*link) {
		struct slot *other = container_of(*link, struct slot, node);

		parent = *link;
		if (other->key > slot->key) {
			link = &parent->rb_left;
		} else {
			below = other - srpic->slots;
			link = &parent->rb_right;
		}
	}
	rb_link_node(&slot->node, parent, link);
	rb_insert_color(&slot->node, &block->tree);
	return below;
}

/* Puts a packet into its block, behind those of the same key. */
static void srpic_add(struct srpic *srpic, struct block *block,
		      const struct inorder_meta *meta, void *packet)
{
	u32 at = srpic->arrived++;
	struct slot *slot = &srpic->slots[at];
	u32 below;

	slot->packet = packet;
	slot->key = srpic_sort_key(srpic, block, meta->seq,
				   meta->seq + meta->len);
	below = srpic_grow(srpic, block, slot);
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
	struct srpic *srpic = srpic_of(sorter);
	struct block *block;

	if (meta->kind != INORDER_DATA) {
		struct bucket *bucket;
		u32 at;

		sorter->counters.unsuitable++;
		/* The listing lets it overtake what is held of its flow. */
		at = srpic->literal ? INORDER_NIL :
				      srpic_find(srpic, &meta->flow, &bucket);
		if (at != INORDER_NIL)
			srpic_deliver(srpic, &srpic->flows[at], out);
		out->deliver(out, packet);
		return;
	}
	sorter->counters.suitable++;
	block = srpic_enter(srpic, &meta->flow, out);
	srpic_add(srpic, block, meta, packet);
	if (block->count >= srpic->block_size) {
		sorter->counters.full_blocks++;
		srpic_deliver(srpic, block, out);
	}
	if (srpic->arrived == srpic->ring_packets) {
		sorter->counters.full_rings++;
		srpic_deliver_all(srpic, out);
	}
}

static void srpic_flush(struct inorder_sorter *sorter, s64 now,
			struct inorder_out *out)
{
	srpic_deliver_all(srpic_of(sorter), out);
}

static void srpic_end_of_batch(struct inorder_sorter *sorter, s64 now,
			       struct inorder_out *out)
{
	sorter->counters.batches++;
	srpic_deliver_all(srpic_of(sorter), out);
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
	return READ_ONCE(srpic_of(sorter)->held);
}

const struct inorder_sorter_ops inorder_srpic = {
	.name = "srpic",
	.settings = settings,
	.nsettings = ARRAY_SIZE(settings),
	.footprint = srpic_footprint,
	.create = srpic_create,
	.destroy = srpic_destroy,
	.push = srpic_push,
	.end_of_batch = srpic_end_of_batch,
	.next_deadline = srpic_next_deadline,
	.on_deadline = srpic_on_deadline,
	.flush = srpic_flush,
	.held = srpic_held,
};
