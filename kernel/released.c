// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gaps that were given up. The reasons are in released.rs of
 * crates/sort/src/sorters/resequence.
 */
#include "released.h"

/* A late original was not resent if this number of times original_ns has passed. */
#define PATIENCE	12

static struct gap *gaps_gap_at(struct gap_list *list, u32 at)
{
	return &list->gaps[(list->first + at) % RELEASED_REMEMBERED];
}

/* Puts a gap at the end. True: the oldest one was forgotten for it. */
static bool gaps_remember(struct gap_list *list, const struct gap *gap)
{
	bool is_full = list->count == RELEASED_REMEMBERED;

	if (is_full) {
		list->first = (list->first + 1) % RELEASED_REMEMBERED;
		list->count--;
	}
	*gaps_gap_at(list, list->count++) = *gap;
	return is_full;
}

static void gaps_take_out(struct gap_list *list, u32 at, struct gap *gap)
{
	*gap = *gaps_gap_at(list, at);
	list->count--;
	for (; at < list->count; at++)
		*gaps_gap_at(list, at) = *gaps_gap_at(list, at + 1);
}

static void gaps_drop_first(struct gap_list *list)
{
	list->first = (list->first + 1) % RELEASED_REMEMBERED;
	list->count--;
}

/* The newest gap that these numbers are in; INORDER_NIL: none. */
static u32 gaps_find(struct gap_list *list, struct flow_id flow, u32 seq, u32 end)
{
	u32 at = list->count;

	while (at--) {
		const struct gap *gap = gaps_gap_at(list, at);

		if (gap->flow.place == flow.place &&
		    gap->flow.generation == flow.generation &&
		    inorder_before(seq, gap->to) &&
		    inorder_before(gap->from, end))
			return at;
	}
	return INORDER_NIL;
}

static bool gaps_is_older(const struct gap *gap, s64 times, s64 now)
{
	return inorder_since(now, gap->since_ns) >= gap->original_ns * times;
}

void inorder_released_push(struct released *released, const struct gap *gap)
{
	if (gaps_remember(&released->gaps, gap) && released->reported)
		released->reported--;
}

enum latecomer inorder_released_latecomer(struct released *released,
					  struct flow_id flow, u32 seq, u32 end,
					  s64 now, s64 *ns)
{
	u32 at = gaps_find(&released->gaps, flow, seq, end);
	struct gap gap;

	if (at != INORDER_NIL) {
		bool is_known = at < released->reported;

		gaps_take_out(&released->gaps, at, &gap);
		released->reported -= is_known;
		if (gaps_is_older(&gap, 1, now - 1))
			return is_known ? LATE_REPAIR_KNOWN : LATE_REPAIR;
		*ns = inorder_since(now, gap.since_ns);
		/* What else was missing in the gap is forgotten. */
		gap.from = seq;
		gap.to = end;
		gap.since_ns = now;
		gaps_remember(&released->filled, &gap);
		return LATE_ORIGINAL;
	}
	at = gaps_find(&released->filled, flow, seq, end);
	if (at == INORDER_NIL)
		return LATE_UNKNOWN;
	gaps_take_out(&released->filled, at, &gap);
	*ns = inorder_since(gap.since_ns, gap.left_ns);
	return LATE_SPURIOUS;
}

enum ended inorder_released_pop(struct released *released, s64 now,
				struct flow_id *flow)
{
	struct gap *gap;

	while (released->reported &&
	       gaps_is_older(gaps_gap_at(&released->gaps, 0), PATIENCE, now)) {
		gaps_drop_first(&released->gaps);
		released->reported--;
	}
	/* What is lost is resent a round trip after the gap opened at the
	 * earliest.
	 */
	gap = gaps_gap_at(&released->gaps, released->reported);
	if (released->reported < released->gaps.count && gaps_is_older(gap, 2, now)) {
		released->reported++;
		*flow = gap->flow;
		return ENDED_LOST;
	}
	gap = gaps_gap_at(&released->filled, 0);
	if (released->filled.count && gaps_is_older(gap, PATIENCE, now)) {
		*flow = gap->flow;
		gaps_drop_first(&released->filled);
		return ENDED_SPARED;
	}
	return ENDED_NOT;
}
