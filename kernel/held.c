// SPDX-License-Identifier: GPL-2.0-only
/* The packets that wait, and which flow is due first. */
#include "held.h"

int inorder_held_init(struct held *held, u32 packets)
{
	u32 i;

	held->places = kvcalloc(packets, sizeof(*held->places), GFP_KERNEL);
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

enum fit inorder_held_insert(struct held *held, struct chain *chain, u32 next,
			     u32 seq, u32 end, void *packet, s64 now,
			     s64 *open_ns)
{
	struct held_place *places = held->places;
	u32 below = chain->highest, slot = held->free, floor, above;
	enum fit fit = FIT_SAME;
	bool opens;

	while (below != INORDER_NIL && inorder_before(seq, places[below].seq))
		below = places[below].below;
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
	held->packets++;
	chain->packets++;
	return fit;
}

void inorder_held_take(struct held *held, struct chain *chain,
		       struct held_place *taken)
{
	u32 slot = chain->lowest;
	struct held_place *place = &held->places[slot];

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

	deadlines->heap = kvcalloc(most, sizeof(*deadlines->heap), GFP_KERNEL);
	deadlines->places = kvcalloc(flows, sizeof(*deadlines->places),
				     GFP_KERNEL);
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

static bool is_earlier(const struct due *a, const struct due *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns :
					a->flow < b->flow;
}

/* Puts an entry at a place of the heap. */
static void put(struct deadlines *deadlines, u32 place, struct due due)
{
	deadlines->heap[place] = due;
	deadlines->places[due.flow] = place;
}

static void rise(struct deadlines *deadlines, u32 place)
{
	struct due due = deadlines->heap[place];

	while (place) {
		u32 parent = (place - 1) / 2;

		if (!is_earlier(&due, &deadlines->heap[parent]))
			break;
		put(deadlines, place, deadlines->heap[parent]);
		place = parent;
	}
	put(deadlines, place, due);
}

static void sink(struct deadlines *deadlines, u32 place)
{
	struct due due = deadlines->heap[place];

	for (;;) {
		u32 child = 2 * place + 1;

		if (child >= deadlines->count)
			break;
		if (child + 1 < deadlines->count &&
		    is_earlier(&deadlines->heap[child + 1],
			       &deadlines->heap[child]))
			child++;
		if (!is_earlier(&deadlines->heap[child], &due))
			break;
		put(deadlines, place, deadlines->heap[child]);
		place = child;
	}
	put(deadlines, place, due);
}

/* The entry at a place has changed. */
static void restore(struct deadlines *deadlines, u32 place)
{
	rise(deadlines, place);
	sink(deadlines, place);
}

void inorder_deadlines_set(struct deadlines *deadlines, u32 flow, s64 due_ns)
{
	u32 place = deadlines->places[flow];

	if (due_ns != INORDER_NEVER) {
		if (place == INORDER_NIL)
			place = deadlines->count++;
		put(deadlines, place, (struct due){ due_ns, flow });
		restore(deadlines, place);
		return;
	}
	if (place == INORDER_NIL)
		return;
	deadlines->places[flow] = INORDER_NIL;
	deadlines->count--;
	if (place < deadlines->count) {
		put(deadlines, place, deadlines->heap[deadlines->count]);
		restore(deadlines, place);
	}
}
