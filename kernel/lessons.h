/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef INORDER_LESSONS_H
#define INORDER_LESSONS_H

#include "flows.h"

/* The resequencer. */
struct resequence {
	struct inorder_sorter sorter;
	struct limits limits;
	struct held held;
	struct flows flows;
	struct deadlines deadlines;
	struct released released;
};

/* How long a gap of this flow is waited for. */
s64 inorder_gap_bound(struct resequence *r, u32 at);

/* The round trip of a flow, or 0. */
s64 inorder_gap_rtt(struct resequence *r, const struct past *past);

/* A gap open since open_ns has filled while it was waited for. */
void inorder_gap_filled(struct resequence *r, u32 at, s64 open_ns, s64 now);

/* Looks at the gaps given up long ago. */
void inorder_learn(struct resequence *r, s64 now);

/* A packet comes below what was delivered. True: it repairs a loss. */
bool inorder_learn_latecomer(struct resequence *r, u32 at, u32 seq, u32 end,
			     s64 now);

#endif
