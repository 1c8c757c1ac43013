/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every sorter offers, whatever its rule.
 *
 * The same rules, decision for decision, as the crate inorder-sort
 * (crates/sort), whose tests drive both with one set of stories. These files
 * compile in user space, too: they use no clock, no lock and no packet.
 */
#ifndef INORDER_SORT_H
#define INORDER_SORT_H

#ifdef __KERNEL__
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/rbtree.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include "user/kernel.h"
#endif

/* No time, no deadline. */
#define INORDER_NEVER	S64_MAX
/* No place, in tables of 32-bit indices. */
#define INORDER_NIL	U32_MAX
/* Longest text of a sorter with its settings, with the final zero. */
#define INORDER_TEXT	160
#define INORDER_MAX_SETTINGS	4

/*
 * Both addresses, as in IPv6, and both ports: the words of FourTuple in
 * crates/sort/src/key.rs.
 */
struct inorder_key {
	u64 words[5];
};

/* How a sorter may treat a packet. Only data may be held. */
enum inorder_kind {
	INORDER_DATA,	/* data with a sequence number */
	INORDER_ACK,	/* only an acknowledgment; neither SYN, FIN nor RST */
	INORDER_OPEN,	/* SYN */
	INORDER_CLOSE,	/* FIN or RST */
	INORDER_OTHER,	/* must not be held for another reason */
};

struct inorder_meta {
	struct inorder_key flow;
	u32 seq;
	u32 len;
	enum inorder_kind kind;
};

/* Where packets go; called once for each, in the new order. */
struct inorder_out {
	void (*deliver)(struct inorder_out *out, void *packet);
};

/* What was done so far. Every packet is counted in one of the first two. */
struct inorder_counters {
	u64 suitable;
	u64 unsuitable;
	u64 batches;
	/* srpic */
	u64 full_blocks;
	u64 full_rings;
	/* resequence: opened = filled + passed + timed_out + overflowed +
	 * flushed + those open now
	 */
	u64 gaps_opened;
	u64 gaps_filled;
	u64 gaps_passed;
	u64 gaps_timed_out;
	u64 gaps_overflowed;
	u64 gaps_flushed;
};

/* The sizes that bound a sorter's memory. */
struct inorder_around {
	u32 ring_packets;
	u32 flows;
	siphash_key_t hash_key;
};

enum inorder_unit {
	INORDER_PACKETS,
	INORDER_NANOSECONDS,
	INORDER_FLAG,
};

struct inorder_setting {
	const char *name;
	enum inorder_unit unit;
	u64 min;
	u64 max;
	u64 standard;
};

struct inorder_config;
struct inorder_sorter;

/*
 * A sorter. All memory is reserved by create() and none later; footprint()
 * says before how many bytes that is, and how many packets may wait in it.
 * Every packet pushed is delivered exactly once, in this call or a later one. The caller
 * calls on_deadline() no later than next_deadline() says.
 */
struct inorder_sorter_ops {
	const char *name;
	const struct inorder_setting *settings;
	unsigned int nsettings;
	u64 (*footprint)(const struct inorder_config *config,
			 const struct inorder_around *around, u32 *packets);
	struct inorder_sorter *(*create)(const struct inorder_config *config,
					 const struct inorder_around *around);
	void (*destroy)(struct inorder_sorter *sorter);
	void (*push)(struct inorder_sorter *sorter,
		     const struct inorder_meta *meta, void *packet, s64 now,
		     struct inorder_out *out);
	void (*end_of_batch)(struct inorder_sorter *sorter, s64 now,
			     struct inorder_out *out);
	s64 (*next_deadline)(const struct inorder_sorter *sorter);
	void (*on_deadline)(struct inorder_sorter *sorter, s64 now,
			    struct inorder_out *out);
	void (*flush)(struct inorder_sorter *sorter, s64 now,
		      struct inorder_out *out);
	/* Also while another processor is in one of the others. */
	u32 (*held)(const struct inorder_sorter *sorter);
};

/* The first member of every sorter. */
struct inorder_sorter {
	const struct inorder_sorter_ops *ops;
	struct inorder_counters counters;
};

/* A sorter by name, with its settings. */
struct inorder_config {
	const struct inorder_sorter_ops *ops;
	u64 values[INORDER_MAX_SETTINGS];
};

extern const struct inorder_sorter_ops inorder_none;
extern const struct inorder_sorter_ops inorder_srpic;
extern const struct inorder_sorter_ops inorder_resequence;

/*
 * Reads "resequence:bound=20ms,window=512" into config; the text is changed.
 * -EINVAL for a text that names no sorter or no setting, -ERANGE for a value
 * outside of its limits.
 */
int inorder_config_read(char *text, struct inorder_config *config);
/* Writes it again, with what differs from the standard; its length. */
int inorder_config_write(const struct inorder_config *config, char *text,
			 size_t size);
/* A sorter with all its memory; NULL if there is not enough. */
struct inorder_sorter *inorder_create(const struct inorder_config *config,
				      const struct inorder_around *around);

u64 inorder_hash(const struct inorder_key *key, const siphash_key_t *secret);
/* The hash of the two addresses: what flows on one path have in common. */
u64 inorder_path_hash(const struct inorder_key *key,
		      const siphash_key_t *secret);

static inline bool inorder_same_key(const struct inorder_key *a,
				    const struct inorder_key *b)
{
	u64 differing = 0;
	int i;

	for (i = 0; i < 5; i++)
		differing |= a->words[i] ^ b->words[i];
	return !differing;
}

/* a lies before b; they are less than 2^31 apart. */
static inline bool inorder_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

static inline s64 inorder_add_ns(s64 a, s64 b)
{
	s64 sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? S64_MIN : S64_MAX;
	return sum;
}

/* The time from then to now, without overflow when then is "never". */
static inline s64 inorder_since(s64 now, s64 then)
{
	s64 passed;

	if (__builtin_sub_overflow(now, then, &passed))
		return then < 0 ? S64_MAX : S64_MIN;
	return passed;
}

#endif
