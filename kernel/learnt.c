// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a path or a flow has shown, and how long a gap is worth waiting for.
 *
 * The constants, the reasons for them and the derivation of the rule are in
 * lateness.rs, learnt.rs and rule.rs of crates/sort/src/sorters/resequence.
 */
#include "learnt.h"

/* The first bin ends here, nanoseconds. */
#define FIRST_NS	1024
#define FIRST_BIT	10

/* This number of outcomes is remembered in full; of more, all count half. */
#define REMEMBERED	128

/* After this time half of what was seen is forgotten. */
#define FADES_NS	1000000000LL

/* Shares of a round trip are given in eighths: a hold for a sender that
 * resends what is only late, one for any other, and the time for which only
 * an original can fill a gap.
 */
#define SHARE_FOR_STRICT	7
#define SHARE_FOR_TOLERANT	4
#define SHARE_OF_ORIGINALS	7

/* Gaps that filled while they were waited for end the start of a path. */
#define START_FILLED	64

/* Price of the longest hold, in thousandths of what a filled gap earns. */
#define PRICE		50
#define PRICE_PARTS	1000

/* A bound is made longer by a quarter, a shift of 2. */
#define MARGIN_SHIFT	2

/* Resent this number of times more often than not: a strict sender. */
#define STRICT	2

/* This number of losses in a row, over FADES_NS and longer, ends the holds. */
#define LOSSES_IN_A_ROW	16

/* RACK waits for a quarter of a round trip: a shift of 2. */
#define RACK_SHIFT	2

static unsigned int learnt_bin_of(s64 late_ns)
{
	unsigned int bit, quarter;

	if (late_ns < FIRST_NS)
		return 0;
	bit = fls64(late_ns) - 1;
	quarter = late_ns >> (bit - 2) & 3;
	return min(1 + (bit - FIRST_BIT) * 4 + quarter, LATENESS_BINS - 1U);
}

/* The least lateness that is not in a bin any more. */
static s64 learnt_end_of(unsigned int bin)
{
	if (!bin)
		return FIRST_NS;
	bin--;
	return ((s64)FIRST_NS << (bin / 4)) / 4 * (5 + bin % 4);
}

static void learnt_halve(struct lateness *lateness)
{
	unsigned int i, odd = 0;

	/* An odd one goes on to the next bin, so that many bins of one do not
	 * all become nothing.
	 */
	for (i = 0; i < LATENESS_BINS; i++) {
		unsigned int both = lateness->bins[i] + odd;

		lateness->bins[i] = both / 2;
		odd = both % 2;
	}
	lateness->filled /= 2;
	lateness->lost /= 2;
}

static void learnt_make_room(struct lateness *lateness)
{
	if (lateness_outcomes(lateness) >= REMEMBERED)
		learnt_halve(lateness);
}

/*
 * The B up to hard_ns with the greatest
 *   F(B) - price / hard_ns * integral of (1 - F(t)) dt from 0 to B,
 * where F(t) is the share of gaps that fill within t.
 */
static s64 learnt_best_bound(const struct lateness *lateness, s64 hard_ns)
{
	s64 outcomes = lateness_outcomes(lateness);
	s64 waited = 0, from = 0, filled_before = 0, filled = 0;
	s64 most_worth = 0, best = 0;
	unsigned int i;

	for (i = 0; i < LATENESS_BINS && from < hard_ns && outcomes; i++) {
		s64 end = learnt_end_of(i);

		filled += lateness->bins[i];
		waited += (min(end, hard_ns) - from) *
			  (outcomes - filled_before);
		/* A bin that ends above the most cannot be waited for to its
		 * end: its gaps do not count.
		 */
		if (end <= hard_ns) {
			s64 worth = filled * hard_ns * PRICE_PARTS -
				    PRICE * waited;

			if (worth > most_worth) {
				most_worth = worth;
				best = end;
			}
		}
		from = end;
		filled_before = filled;
	}
	return min(best + (best >> MARGIN_SHIFT), hard_ns);
}

void inorder_learnt_init(struct learnt *learnt)
{
	memset(learnt, 0, sizeof(*learnt));
	learnt->reacted_ns = S64_MIN;
}

void inorder_learnt_round_trip(struct learnt *learnt, s64 rtt_ns)
{
	if (rtt_ns > 0 && (!learnt->rtt_ns || rtt_ns < learnt->rtt_ns)) {
		learnt->rtt_ns = rtt_ns;
		learnt->stale = 0;
	}
}

static void learnt_fade(struct learnt *learnt, s64 now)
{
	while (inorder_since(now, learnt->faded_ns) >= FADES_NS) {
		if (!lateness_outcomes(&learnt->lateness)) {
			learnt->faded_ns = now;
			return;
		}
		learnt_halve(&learnt->lateness);
		learnt->faded_ns = inorder_add_ns(learnt->faded_ns, FADES_NS);
	}
}

static void learnt_lost(struct learnt *learnt, s64 now)
{
	learnt_make_room(&learnt->lateness);
	learnt->lateness.lost++;
	if (!learnt->lost_in_a_row)
		learnt->losing_since_ns = now;
	if (learnt->lost_in_a_row < 255)
		learnt->lost_in_a_row++;
	learnt->only_loses =
		learnt->lost_in_a_row >= LOSSES_IN_A_ROW &&
		inorder_since(now, learnt->losing_since_ns) >= FADES_NS;
}

void inorder_learnt_outcome(struct learnt *learnt, enum outcome outcome,
			    s64 late_ns, s64 now)
{
	learnt_fade(learnt, now);
	if (outcome == NEVER) {
		learnt_lost(learnt, now);
	} else {
		learnt_make_room(&learnt->lateness);
		learnt->lateness.bins[learnt_bin_of(late_ns)]++;
		learnt->lateness.filled++;
		learnt->lost_in_a_row = 0;
		learnt->only_loses = false;
	}
	if (outcome == IN_TIME) {
		learnt->in_time = min(learnt->in_time + 1, START_FILLED);
		learnt->in_vain = false;
	}
	if (learnt->stale)
		learnt->stale--;
}

/*
 * A packet went up late by seen_late_ns, and was resent or not. What happens
 * within a round trip is one reaction; RACK resends what is later than a
 * quarter of it and is not strict.
 */
void inorder_learnt_reaction(struct learnt *learnt, bool resent,
			     s64 seen_late_ns, s64 now)
{
	bool was_strict = learnt->strictness >= STRICT;
	bool is_strict;

	if (resent && seen_late_ns >= learnt->rtt_ns >> RACK_SHIFT)
		return;
	if (inorder_since(now, learnt->reacted_ns) < learnt->rtt_ns)
		return;
	learnt->reacted_ns = now;
	learnt->strictness = clamp_t(int, learnt->strictness + (resent ? 1 : -1),
				     -STRICT, STRICT);
	is_strict = learnt->strictness >= STRICT;
	if (was_strict != is_strict)
		learnt->stale = 0;
}

/* This number of eighths of a round trip, or what is set in its place. */
static s64 learnt_share_ns(const struct limits *limits, s64 share, s64 rtt_ns)
{
	return rtt_ns ? (rtt_ns >> 3) * share : limits->blind_ns;
}

static s64 learnt_hard_ns(const struct learnt *learnt, s64 rtt_ns,
			  const struct limits *limits)
{
	s64 share = learnt->strictness >= STRICT ? SHARE_FOR_STRICT :
						   SHARE_FOR_TOLERANT;

	return min(learnt_share_ns(limits, share, rtt_ns), limits->most_ns);
}

/* How long to wait for a gap, by what was learnt. */
s64 inorder_learnt_bound(struct learnt *learnt, s64 rtt_ns,
			 const struct limits *limits)
{
	if (learnt->only_loses)
		return 0;
	if (!learnt->stale) {
		u32 outcomes = lateness_outcomes(&learnt->lateness);

		learnt->bound_ns = learnt_best_bound(&learnt->lateness,
						     learnt_hard_ns(learnt, rtt_ns, limits));
		/* Often while little is known, seldom when one outcome more
		 * hardly matters.
		 */
		learnt->stale = clamp_t(u32, outcomes / 8, 1, 16);
	}
	return learnt->bound_ns;
}

/* Too little is known yet to go by it alone. */
bool inorder_learnt_is_new(const struct learnt *learnt)
{
	return learnt->in_time < START_FILLED && !learnt->in_vain;
}

/* The hold on a path that is new. */
s64 inorder_start_ns(const struct limits *limits, s64 rtt_ns)
{
	s64 share = learnt_share_ns(limits, SHARE_FOR_TOLERANT, rtt_ns);

	return min(min(limits->start_ns, share), limits->most_ns);
}

/* Time after a gap opened during which only an original can fill it. */
s64 inorder_original_ns(const struct limits *limits, s64 rtt_ns)
{
	return learnt_share_ns(limits, SHARE_OF_ORIGINALS, rtt_ns);
}
