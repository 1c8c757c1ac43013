/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packets that wait, and which flow is due first.
 *
 * A gap opens when the first packet above it arrives. Every held packet knows
 * the earliest arrival among itself and those above it, so the lowest one of a
 * flow says how long the flow's first gap has been open.
 *
 * A packet's place is found in a tree, so no order of arrival, which senders
 * choose, makes the search long.
 */
#ifndef INORDER_HELD_H
#define INORDER_HELD_H

#include "sort.h"

struct held_place {
	/* Among the packets of its flow, by number. */
	struct rb_node node;
	void *packet;
	u32 seq;
	/* Where the packet after it begins. */
	u32 end;
	/* The earliest arrival of this packet and all above it. */
	s64 open_ns;
	/* A gap below it has been counted and has not ended. */
	bool has_gap;
	u32 below;
	/* Of a free place, the next free one. */
	u32 above;
};

/* Places reserved once, each flow's packets chained by number. */
struct held {
	struct held_place *places;
	u32 capacity;
	u32 free;
	u32 packets;
};

/* A flow's held packets. */
struct chain {
	u32 lowest;
	u32 highest;
	u32 packets;
	struct rb_root tree;
};

#define CHAIN_EMPTY	((struct chain){ INORDER_NIL, INORDER_NIL, 0, RB_ROOT })

/* What an arriving packet did to the gaps around it. */
enum fit {
	FIT_SAME,
	FIT_OPENED,
	FIT_CLOSED,
};

int inorder_held_init(struct held *held, u32 packets);
void inorder_held_free(struct held *held);
/*
 * Puts a packet into a chain, behind those of the same number; the caller has
 * seen that there is room. next: where the flow goes on. open_ns: since when
 * the gap that was closed had been open.
 */
enum fit inorder_held_insert(struct held *held, struct chain *chain, u32 next,
			     u32 seq, u32 end, void *packet, s64 now,
			     s64 *open_ns);
/* Takes the lowest packet out of a chain that is not empty. */
void inorder_held_take(struct held *held, struct chain *chain,
		       struct held_place *taken);

static inline bool chain_is_empty(const struct chain *chain)
{
	return chain->lowest == INORDER_NIL;
}

/* Flows by the time they are due: a heap in which a flow's place is known. */
struct due {
	s64 due_ns;
	u32 flow;
};

struct deadlines {
	struct due *heap;
	u32 count;
	/* Of every flow, its index in the heap. */
	u32 *places;
};

int inorder_deadlines_init(struct deadlines *deadlines, u32 flows, u32 most);
void inorder_deadlines_free(struct deadlines *deadlines);
/* INORDER_NEVER: the flow is not due any more. */
void inorder_deadlines_set(struct deadlines *deadlines, u32 flow, s64 due_ns);

#endif
