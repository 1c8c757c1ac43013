/* SPDX-License-Identifier: GPL-2.0-only */
/* The flows that the resequencer follows, and the paths they share. */
#ifndef INORDER_FLOWS_H
#define INORDER_FLOWS_H

#include "held.h"
#include "learnt.h"
#include "released.h"

/* A flow, as every packet of it needs it. */
struct flow {
	bool is_used;
	/* A gap of it was given up once, so that what comes below next may be
	 * a late original.
	 */
	bool has_left_gaps;
	/* Its SYN came at opened_ns, and nothing else since. */
	bool is_opened;
	struct inorder_key key;
	/* Where the next packet in order begins. */
	u32 next;
	/* Packets in a row that came below next. */
	u32 behind;
	struct chain chain;
	s64 opened_ns;
	/* Packets pushed when it was last looked at. */
	u64 used;
};

/* What is looked at only when there is a gap. */
struct past {
	struct learnt learnt;
	u32 path;
	u32 generation;
};

struct inorder_path {
	u64 hash;
	s64 used_ns;
	struct learnt learnt;
};

struct flows {
	/* Part of the hash of whoever is there. */
	u32 *tags;
	struct flow *flows;
	struct past *pasts;
	u32 places;
	siphash_key_t hash_key;
	/* Found last: packets come in trains. */
	u32 last;
	struct inorder_path *paths;
	u32 npaths;
};

/* Places for this number of flows. */
u32 inorder_flows_places(u32 flows);
/* Bytes that this number of flows takes. */
u64 inorder_flows_footprint(u32 flows);
int inorder_flows_init(struct flows *flows, u32 wanted,
		       const siphash_key_t *hash_key);
void inorder_flows_free(struct flows *flows);
/* Where a flow is, or INORDER_NIL. */
u32 inorder_flows_find(struct flows *flows, const struct inorder_key *key);
/*
 * A place for a new flow that goes on at next: a free one, or that of the flow
 * without held packets that was used longest ago. INORDER_NIL: all places for
 * its hash hold something.
 */
u32 inorder_flows_insert(struct flows *flows, const struct inorder_key *key,
			 u32 next, u64 used, s64 now);

static inline struct learnt *path_of(struct flows *flows, const struct past *past)
{
	return &flows->paths[past->path].learnt;
}

#endif
