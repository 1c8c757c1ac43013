// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gaps that were given up. The reasons are in released.rs of
 * crates/sort/src/sorters/resequence.
 */
#include "released.h"

/* A late original was not resent if so many times original_ns have passed. */
#define PATIENCE	12

static struct gap *gap_at(struct gap_list *list, u32 at)
{
	return &list->gaps[(list->first + at) % RELEASED_REMEMBERED];
}

/* Puts a gap at the end. True: the oldest one was forgotten for it. */
static bool remember(struct gap_list *list, const struct gap *gap)
{
	bool is_full = list->count == RELEASED_REMEMBERED;

	if (is_full) {
		list->first = (list->first + 1) % RELEASED_REMEMBERED;
		list->count--;
	}
	*gap_at(list, list->count++) = *gap;
	return is_full;
}

static void take_out(struct gap_list *list, u32 at, struct gap *gap)
{
	*gap = *gap_at(list, at);
	list->count--;
	for (; at < list->count; at++)
		*gap_at(list, at) = *gap_at(list, at + 1);
}

static void drop_first(struct gap_list *list)
{
	list->first = (list->first + 1) % RELEASED_REMEMBERED;
	list->count--;
}

/* The newest gap that these numbers are in; INORDER_NIL: none. */
static u32 find(struct gap_list *list, struct flow_id flow, u32 seq, u32 end)
{
	u32 at = list->count;

	while (at--) {
		const struct gap *gap = gap_at(list, at);

		if (gap->flow.place == flow.place &&
		    gap->flow.generation == flow.generation &&
		    inorder_before(seq, gap->to) &&
		    inorder_before(gap->from, end))
			return at;
	}
	return INORDER_NIL;
}

static bool is_older(const struct gap *gap, s64 times, s64 now)
{
	return inorder_since(now, gap->since_ns) >= gap->original_ns * times;
}

void inorder_released_push(struct released *released, const struct gap *gap)
{
	if (remember(&released->gaps, gap) && released->reported)
		released->reported--;
}

enum latecomer inorder_released_latecomer(struct released *released,
					  struct flow_id flow, u32 seq, u32 end,
					  s64 now, s64 *ns)
{
	u32 at = find(&released->gaps, flow, seq, end);
	struct gap gap;

	if (at != INORDER_NIL) {
		bool is_known = at < released->reported;

		take_out(&released->gaps, at, &gap);
		released->reported -= is_known;
		if (is_older(&gap, 1, now - 1))
			return is_known ? LATE_REPAIR_KNOWN : LATE_REPAIR;
		*ns = inorder_since(now, gap.since_ns);
		/* What else was missing in the gap is forgotten. */
		gap.from = seq;
		gap.to = end;
		gap.since_ns = now;
		remember(&released->filled, &gap);
		return LATE_ORIGINAL;
	}
	at = find(&released->filled, flow, seq, end);
	if (at == INORDER_NIL)
		return LATE_UNKNOWN;
	take_out(&released->filled, at, &gap);
	*ns = inorder_since(gap.since_ns, gap.left_ns);
	return LATE_SPURIOUS;
}

enum ended inorder_released_pop(struct released *released, s64 now,
				struct flow_id *flow)
{
	struct gap *gap;

	while (released->reported &&
	       is_older(gap_at(&released->gaps, 0), PATIENCE, now)) {
		drop_first(&released->gaps);
		released->reported--;
	}
	/* What is lost is resent a round trip after the gap opened at the
	 * earliest.
	 */
	gap = gap_at(&released->gaps, released->reported);
	if (released->reported < released->gaps.count && is_older(gap, 2, now)) {
		released->reported++;
		*flow = gap->flow;
		return ENDED_LOST;
	}
	gap = gap_at(&released->filled, 0);
	if (released->filled.count && is_older(gap, PATIENCE, now)) {
		*flow = gap->flow;
		drop_first(&released->filled);
		return ENDED_SPARED;
	}
	return ENDED_NOT;
}
