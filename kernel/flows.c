// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flows that are followed: sets of places, in which the flow used longest
 * ago gives way. Under a flood of flows the table stays as large as it is.
 */
#include "flows.h"

/* Places that flows with one hash share. */
#define WAYS	8

/* Number of flows for each path; at most MAX_PATHS paths. */
#define FLOWS_EACH	16
#define MAX_PATHS	1024

/* A path that nobody used for this time gives its place to another. */
#define IDLE_NS	10000000000LL

u32 inorder_flows_places(u32 flows)
{
	return roundup_pow_of_two(DIV_ROUND_UP(flows, WAYS)) * WAYS;
}

/* Paths for this number of flows. */
static u32 flows_paths(u32 flows)
{
	return roundup_pow_of_two(clamp_t(u32, flows / FLOWS_EACH, 1,
					  MAX_PATHS));
}

u64 inorder_flows_footprint(u32 flows)
{
	return (u64)inorder_flows_places(flows) *
		       (sizeof(u32) + sizeof(struct flow) +
			sizeof(struct past)) +
	       (u64)flows_paths(flows) * sizeof(struct inorder_path);
}

int inorder_flows_init(struct flows *flows, u32 wanted,
		       const siphash_key_t *hash_key)
{
	u32 places = inorder_flows_places(wanted), i;

	flows->places = places;
	flows->hash_key = *hash_key;
	flows->npaths = flows_paths(wanted);
	flows->tags = kvcalloc(places, sizeof(*flows->tags), GFP_KERNEL_ACCOUNT);
	flows->flows = kvcalloc(places, sizeof(*flows->flows), GFP_KERNEL_ACCOUNT);
	flows->pasts = kvcalloc(places, sizeof(*flows->pasts), GFP_KERNEL_ACCOUNT);
	flows->paths = kvcalloc(flows->npaths, sizeof(*flows->paths),
				GFP_KERNEL_ACCOUNT);
	if (!flows->tags || !flows->flows || !flows->pasts || !flows->paths)
		return -ENOMEM;
	for (i = 0; i < flows->npaths; i++) {
		flows->paths[i].used_ns = S64_MIN;
		inorder_learnt_init(&flows->paths[i].learnt);
	}
	return 0;
}

void inorder_flows_free(struct flows *flows)
{
	kvfree(flows->tags);
	kvfree(flows->flows);
	kvfree(flows->pasts);
	kvfree(flows->paths);
}

static u32 flows_set_of(const struct flows *flows, u64 hash)
{
	return (u32)(hash >> 32) * WAYS & (flows->places - 1);
}

u32 inorder_flows_find(struct flows *flows, const struct inorder_key *key)
{
	const struct flow *last = &flows->flows[flows->last];
	u64 hash;
	u32 at, end;

	if (last->is_used && inorder_same_key(&last->key, key))
		return flows->last;
	hash = inorder_hash(key, &flows->hash_key);
	at = flows_set_of(flows, hash);
	for (end = at + WAYS; at < end; at++) {
		if (flows->tags[at] != (u32)hash || !flows->flows[at].is_used)
			continue;
		if (!inorder_same_key(&flows->flows[at].key, key))
			continue;
		flows->last = at;
		return at;
	}
	return INORDER_NIL;
}

/* The path with this hash, for a flow that begins now. */
static u32 flows_path_place(struct flows *flows, u64 hash, s64 now)
{
	u32 at = (u32)(hash >> 32) & (flows->npaths - 1);
	struct inorder_path *path = &flows->paths[at];

	if (path->hash != hash && inorder_add_ns(path->used_ns, IDLE_NS) < now) {
		inorder_learnt_init(&path->learnt);
		path->hash = hash;
	}
	path->used_ns = now;
	return at;
}

u32 inorder_flows_insert(struct flows *flows, const struct inorder_key *key,
			 u32 next, u64 used, s64 now)
{
	u32 path = flows_path_place(flows, inorder_path_hash(key, &flows->hash_key), now);
	u64 hash = inorder_hash(key, &flows->hash_key);
	u32 first = flows_set_of(flows, hash), place = INORDER_NIL, at;
	u64 oldest = 0;
	struct past *past;

	for (at = first; at < first + WAYS; at++) {
		const struct flow *flow = &flows->flows[at];
		u64 age = flow->is_used ? flow->used : 0;

		if (flow->is_used && !chain_is_empty(&flow->chain))
			continue;
		if (place == INORDER_NIL || age < oldest) {
			place = at;
			oldest = age;
		}
	}
	if (place == INORDER_NIL)
		return INORDER_NIL;
	flows->tags[place] = (u32)hash;
	flows->flows[place] = (struct flow){
		.is_used = true,
		.key = *key,
		.next = next,
		.chain = CHAIN_EMPTY,
		.used = used,
	};
	past = &flows->pasts[place];
	inorder_learnt_init(&past->learnt);
	past->path = path;
	past->generation++;
	flows->last = place;
	return place;
}
