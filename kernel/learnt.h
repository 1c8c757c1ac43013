/* SPDX-License-Identifier: GPL-2.0-only */
/* What a path or a flow has shown, and how long a gap is worth waiting for. */
#ifndef INORDER_LEARNT_H
#define INORDER_LEARNT_H

#include "sort.h"

/* Four bins to the octave, from a microsecond to some seconds. */
#define LATENESS_BINS	93

/* What became of the last gaps: a histogram of how late they filled. */
struct lateness {
	u8 bins[LATENESS_BINS];
	u32 filled;
	u32 lost;
};

/* What became of a gap. */
enum outcome {
	IN_TIME,	/* it filled while it was waited for */
	TOO_LATE,	/* it filled when it was not waited for any more */
	NEVER,		/* it did not fill */
};

/* The experience with a path or a flow. */
struct learnt {
	struct lateness lateness;
	s64 faded_ns;
	/* The shortest round trip seen; 0: none. */
	s64 rtt_ns;
	/* How often its sender resent what was only late, less how often it
	 * did not; limited on both sides.
	 */
	s8 strictness;
	/* Its last reaction: those of one round trip are one. */
	s64 reacted_ns;
	/* Losses since a gap last filled, and when the first one was seen. */
	u8 lost_in_a_row;
	s64 losing_since_ns;
	/* Only losses for so long that nothing is waited for. */
	bool only_loses;
	/* Gaps that filled while they were waited for, up to a limit. */
	u8 in_time;
	/* A gap was waited for in vain since one last filled. */
	bool in_vain;
	/* Outcomes until the bound is computed anew. */
	u8 stale;
	s64 bound_ns;
};

/* What bounds every hold, whatever was learnt: the settings. */
struct limits {
	s64 most_ns;
	s64 start_ns;
	s64 blind_ns;
};

void inorder_learnt_init(struct learnt *learnt);
void inorder_learnt_round_trip(struct learnt *learnt, s64 rtt_ns);
void inorder_learnt_outcome(struct learnt *learnt, enum outcome outcome,
			    s64 late_ns, s64 now);
void inorder_learnt_reaction(struct learnt *learnt, bool resent,
			     s64 seen_late_ns, s64 now);
s64 inorder_learnt_bound(struct learnt *learnt, s64 rtt_ns,
			 const struct limits *limits);
bool inorder_learnt_is_new(const struct learnt *learnt);
s64 inorder_start_ns(const struct limits *limits, s64 rtt_ns);
s64 inorder_original_ns(const struct limits *limits, s64 rtt_ns);

static inline u32 lateness_outcomes(const struct lateness *lateness)
{
	return lateness->filled + lateness->lost;
}

#endif
