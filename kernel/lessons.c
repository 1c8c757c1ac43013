// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the resequencer learns as it goes, and what it makes of it: for how
 * long a gap is waited for.
 *
 * Line by line crates/sort/src/sorters/resequence/lessons.rs.
 */
#include "lessons.h"

/* Outcomes after which a flow's own experience counts more than its path's. */
#define OWN_OUTCOMES	16

/* The shorter of two round trips, of which 0 is not known. */
static s64 reseq_shorter(s64 a, s64 b)
{
	if (!a || !b)
		return a + b;
	return min(a, b);
}

/* The round trip of a flow, or 0. */
s64 inorder_gap_rtt(struct resequence *r, const struct past *past)
{
	return reseq_shorter(past->learnt.rtt_ns, path_of(&r->flows, past)->rtt_ns);
}

/* How long a gap of this flow is waited for. */
s64 inorder_gap_bound(struct resequence *r, u32 at)
{
	struct past *past = &r->flows.pasts[at];
	struct learnt *path = path_of(&r->flows, past);
	s64 rtt_ns = inorder_gap_rtt(r, past), bound_ns;
	bool is_own = lateness_outcomes(&past->learnt.lateness) >= OWN_OUTCOMES;

	bound_ns = inorder_learnt_bound(is_own ? &past->learnt : path, rtt_ns,
					&r->limits);
	if (!inorder_learnt_is_new(path))
		return bound_ns;
	return max(bound_ns, inorder_start_ns(&r->limits, rtt_ns));
}

static void reseq_teach(struct resequence *r, u32 at, enum outcome outcome,
			s64 late_ns, s64 now)
{
	struct past *past = &r->flows.pasts[at];

	inorder_learnt_outcome(&past->learnt, outcome, late_ns, now);
	inorder_learnt_outcome(path_of(&r->flows, past), outcome, late_ns, now);
}

static void reseq_teach_reaction(struct resequence *r, u32 at, bool resent, s64 ns,
				 s64 now)
{
	struct past *past = &r->flows.pasts[at];

	inorder_learnt_reaction(&past->learnt, resent, ns, now);
	inorder_learnt_reaction(path_of(&r->flows, past), resent, ns, now);
}

/* A gap open since open_ns has filled while it was waited for. */
void inorder_gap_filled(struct resequence *r, u32 at, s64 open_ns, s64 now)
{
	r->sorter.counters.gaps_filled++;
	reseq_teach(r, at, IN_TIME, inorder_since(now, open_ns), now);
}

/* Looks at the gaps given up long ago. */
void inorder_learn(struct resequence *r, s64 now)
{
	struct flow_id id;
	enum ended ended;

	while ((ended = inorder_released_pop(&r->released, now, &id))) {
		if (r->flows.pasts[id.place].generation != id.generation)
			continue;
		if (ended == ENDED_LOST)
			reseq_teach(r, id.place, NEVER, 0, now);
		else
			reseq_teach_reaction(r, id.place, false, 0, now);
	}
}

/* A packet comes below what was delivered. True: it repairs a loss. */
bool inorder_learn_latecomer(struct resequence *r, u32 at, u32 seq, u32 end,
			     s64 now)
{
	struct flow_id id = { at, r->flows.pasts[at].generation };
	enum latecomer latecomer;
	s64 ns = 0;

	latecomer = inorder_released_latecomer(&r->released, id, seq, end, now,
					       &ns);
	if (latecomer == LATE_ORIGINAL)
		reseq_teach(r, at, TOO_LATE, ns, now);
	else if (latecomer == LATE_REPAIR)
		reseq_teach(r, at, NEVER, 0, now);
	else if (latecomer == LATE_SPURIOUS)
		reseq_teach_reaction(r, at, true, ns, now);
	inorder_learn(r, now);
	return latecomer == LATE_REPAIR || latecomer == LATE_REPAIR_KNOWN;
}
