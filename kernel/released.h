/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gaps that were given up, kept for a while: what comes into one later is a
 * lesson. A late original tells how long a hold would have been enough; a
 * retransmission says that the packet was lost.
 */
#ifndef INORDER_RELEASED_H
#define INORDER_RELEASED_H

#include "sort.h"

/* Gaps remembered into which nothing has come, and as many late originals. */
#define RELEASED_REMEMBERED	128

/* A flow's place, and which of the flows that were there. */
struct flow_id {
	u32 place;
	u32 generation;
};

struct gap {
	struct flow_id flow;
	u32 from;
	u32 to;
	/* When the gap opened; of a late original, when it came. */
	s64 since_ns;
	/* What comes later than this after the gap opened is taken for a
	 * retransmission.
	 */
	s64 original_ns;
	/* When it was given up: before that its sender could not see it. */
	s64 left_ns;
};

/* Gaps in a ring, the oldest first. */
struct gap_list {
	struct gap gaps[RELEASED_REMEMBERED];
	u32 first;
	u32 count;
};

struct released {
	/* Nothing has come into these. */
	struct gap_list gaps;
	/* Of these, the ones at the front that have been reported as lost. */
	u32 reported;
	/* Late originals: each stands for its packet alone. */
	struct gap_list filled;
};

/* What a packet below the end of what was delivered is. */
enum latecomer {
	LATE_ORIGINAL,	/* ns: how late */
	LATE_REPAIR,	/* a retransmission of what had been lost */
	LATE_REPAIR_KNOWN,	/* the same, and the loss has been reported */
	LATE_SPURIOUS,	/* ns: for how long its sender saw it missing */
	LATE_UNKNOWN,
};

/* What an old gap turned out to be. */
enum ended {
	ENDED_NOT,
	ENDED_LOST,	/* nothing ever came */
	ENDED_SPARED,	/* a late original, and no retransmission after it */
};

void inorder_released_push(struct released *released, const struct gap *gap);
enum latecomer inorder_released_latecomer(struct released *released,
					  struct flow_id flow, u32 seq, u32 end,
					  s64 now, s64 *ns);
enum ended inorder_released_pop(struct released *released, s64 now,
				struct flow_id *flow);

#endif
