// SPDX-License-Identifier: GPL-2.0-only
/* The packets that wait, and which flow is due first. */
#include "held.h"

int inorder_held_init(struct held *held, u32 packets)
{
	u32 i;

	held->places = kvcalloc(packets, sizeof(*held->places), GFP_KERNEL_ACCOUNT);
	if (!held->places)
		return -ENOMEM;
	held->capacity = packets;
	for (i = 0; i < packets; i++)
		held->places[i].above = i + 1 < packets ? i + 1 : INORDER_NIL;
	held->free = 0;
	return 0;
}

void inorder_held_free(struct held *held)
{
	kvfree(held->places);
}

/* The highest place whose number is not above seq. */
static u32 held_not_above(const struct held *held, const struct chain *chain,
			  u32 seq)
{
	const struct rb_node *node = chain->tree.rb_node;
	u32 found = INORDER_NIL;

	/* Mostly the packet is the highest one. */
	if (chain->highest != INORDER_NIL &&
	    !inorder_before(seq, held->places[chain->highest].seq))
		return chain->highest;
	while (node) {
		const struct held_place *place =
			container_of(node, struct held_place, node);

		if (inorder_before(seq, place->seq)) {
			node = node->rb_left;
		} else {
			found = place - held->places;
			node = node->rb_right;
		}
	}
	return found;
}

/*
 * Puts a place into the tree, between its neighbours in the chain: the lower
 * one has nothing to its right, or the higher one nothing to its left.
 */
static void held_grow(struct held *held, struct chain *chain, u32 slot)
{
	struct held_place *places = held->places;
	u32 below = places[slot].below, above = places[slot].above;
	struct rb_node *parent = NULL, **link = &chain->tree.rb_node;

	if (below != INORDER_NIL && !places[below].node.rb_right) {
		parent = &places[below].node;
		link = &parent->rb_right;
	} else if (above != INORDER_NIL) {
		parent = &places[above].node;
		link = &parent->rb_left;
	}
	rb_link_node(&places[slot].node, parent, link);
	rb_insert_color(&places[slot].node, &chain->tree);
}

enum fit inorder_held_insert(struct held *held, struct chain *chain, u32 next,
			     u32 seq, u32 end, void *packet, s64 now,
			     s64 *open_ns)
{
	struct held_place *places = held->places;
	u32 below = held_not_above(held, chain, seq);
	u32 slot = held->free, floor, above;
	enum fit fit = FIT_SAME;
	bool opens;

	floor = below != INORDER_NIL ? places[below].end : next;
	above = below != INORDER_NIL ? places[below].above : chain->lowest;
	opens = inorder_before(floor, seq);
	if (opens)
		fit = FIT_OPENED;
	*open_ns = now;
	if (above != INORDER_NIL) {
		*open_ns = places[above].open_ns;
		if (places[above].has_gap &&
		    !inorder_before(end, places[above].seq)) {
			places[above].has_gap = false;
			fit = opens ? FIT_SAME : FIT_CLOSED;
		}
	}
	held->free = places[slot].above;
	places[slot] = (struct held_place){
		.packet = packet,
		.seq = seq,
		.end = end,
		.open_ns = *open_ns,
		.has_gap = opens,
		.below = below,
		.above = above,
	};
	if (below != INORDER_NIL)
		places[below].above = slot;
	else
		chain->lowest = slot;
	if (above != INORDER_NIL)
		places[above].below = slot;
	else
		chain->highest = slot;
	held_grow(held, chain, slot);
	held->packets++;
	chain->packets++;
	return fit;
}

void inorder_held_take(struct held *held, struct chain *chain,
		       struct held_place *taken)
{
	u32 slot = chain->lowest;
	struct held_place *place = &held->places[slot];

	rb_erase(&place->node, &chain->tree);
	*taken = *place;
	place->packet = NULL;
	place->above = held->free;
	held->free = slot;
	chain->lowest = taken->above;
	chain->packets--;
	held->packets--;
	if (taken->above != INORDER_NIL)
		held->places[taken->above].below = INORDER_NIL;
	else
		chain->highest = INORDER_NIL;
}

int inorder_deadlines_init(struct deadlines *deadlines, u32 flows, u32 most)
{
	u32 i;

	deadlines->heap = kvcalloc(most, sizeof(*deadlines->heap), GFP_KERNEL_ACCOUNT);
	deadlines->places = kvcalloc(flows, sizeof(*deadlines->places),
				     GFP_KERNEL_ACCOUNT);
	if (!deadlines->heap || !deadlines->places)
		return -ENOMEM;
	for (i = 0; i < flows; i++)
		deadlines->places[i] = INORDER_NIL;
	return 0;
}

void inorder_deadlines_free(struct deadlines *deadlines)
{
	kvfree(deadlines->heap);
	kvfree(deadlines->places);
}

static bool deadlines_is_earlier(const struct due *a, const struct due *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns :
					a->flow < b->flow;
}

/* Puts an entry at a place of the heap. */
static void deadlines_put(struct deadlines *deadlines, u32 place, struct due due)
{
	deadlines->heap[place] = due;
	deadlines->places[due.flow] = place;
}

static void deadlines_rise(struct deadlines *deadlines, u32 place)
{
	struct due due = deadlines->heap[place];

	while (place) {
		u32 parent = (place - 1) / 2;

		if (!deadlines_is_earlier(&due, &deadlines->heap[parent]))
			break;
		deadlines_put(deadlines, place, deadlines->heap[parent]);
		place = parent;
	}
	deadlines_put(deadlines, place, due);
}

static void deadlines_sink(struct deadlines *deadlines, u32 place)
{
	struct due due = deadlines->heap[place];

	for (;;) {
		u32 child = 2 * place + 1;

		if (child >= deadlines->count)
			break;
		if (child + 1 < deadlines->count &&
		    deadlines_is_earlier(&deadlines->heap[child + 1],
					 &deadlines->heap[child]))
			child++;
		if (!deadlines_is_earlier(&deadlines->heap[child], &due))
			break;
		deadlines_put(deadlines, place, deadlines->heap[child]);
		place = child;
	}
	deadlines_put(deadlines, place, due);
}

/* The entry at a place has changed. */
static void deadlines_restore(struct deadlines *deadlines, u32 place)
{
	deadlines_rise(deadlines, place);
	deadlines_sink(deadlines, place);
}

void inorder_deadlines_set(struct deadlines *deadlines, u32 flow, s64 due_ns)
{
	u32 place = deadlines->places[flow];

	if (due_ns != INORDER_NEVER) {
		if (place == INORDER_NIL)
			place = deadlines->count++;
		deadlines_put(deadlines, place, (struct due){ due_ns, flow });
		deadlines_restore(deadlines, place);
		return;
	}
	if (place == INORDER_NIL)
		return;
	deadlines->places[flow] = INORDER_NIL;
	deadlines->count--;
	if (place < deadlines->count) {
		deadlines_put(deadlines, place, deadlines->heap[deadlines->count]);
		deadlines_restore(deadlines, place);
	}
}
