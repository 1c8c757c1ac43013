// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a packet costs a sorter at the inputs that could make it dear: processor
 * time in user space, the best of five rounds of a million packets.
 *
 *   gcc -O2 -o cost user/cost.c sort.c srpic.c resequence.c lessons.c \
 *       flows.c held.c learnt.c released.c && ./cost
 *
 * Fails if a packet of one of them takes a microsecond or more.
 */
#include <inttypes.h>
#include <time.h>

#include "../sort.h"

#define PACKETS		1000000
#define DATA		64

/* The number of packet n as a flow and a place in it, in windows of this many. */
struct at {
	u32 flow;
	u32 place;
};

static struct at in_order(u32 n, u32 window)
{
	return (struct at){ 0, n };
}

/* First the lowest but one, then down from above. */
static struct at down(u32 n, u32 window)
{
	u32 place = n % window;

	return (struct at){ 0, n - place + (place ? window - place : 0) };
}

/* From both ends of the window to its middle, above a gap. */
static struct at middle(u32 n, u32 window)
{
	u32 place = n % window, round = n - place;

	if (!place || place == window - 1)
		return (struct at){ 0, round + !!place };
	return (struct at){ 0, round + (place % 2 ? 2 + place / 2 : window - place / 2) };
}

/* 400 flows in turn, each in order. */
static struct at flows(u32 n, u32 window)
{
	return (struct at){ n % 400, n / 400 };
}

/* New flows without end. */
static struct at flood(u32 n, u32 window)
{
	return (struct at){ n, 0 };
}

/* Every flow has a gap that nothing fills: all wait, and give way. */
static struct at gaps(u32 n, u32 window)
{
	return (struct at){ n / 2 % 100000, n % 2 * 2 + n / 200000 * 4 };
}

static const struct {
	const char *name;
	struct at (*at)(u32 n, u32 window);
	bool is_colliding;
} patterns[] = {
	{ "in-order", in_order, false },
	{ "down", down, false },
	{ "middle", middle, false },
	{ "flows", flows, false },
	{ "colliding", flows, true },
	{ "flood", flood, false },
	{ "gaps", gaps, false },
};

static void drop(struct inorder_out *out, void *packet)
{
}

/* Colliding flows have one hash where words are multiplied with constants. */
static struct inorder_key key_of(u32 flow, bool is_colliding)
{
	struct inorder_key key = { {
		is_colliding ? (u64)flow * flow : flow,
		is_colliding ? 0x13198a2e03707344ULL : 1,
		1ULL << 61, 2ULL << 61, 7ULL << 48 | 443ULL << 32,
	} };

	return key;
}

static s64 round_ns(const char *config, unsigned int pattern, u32 window)
{
	const struct inorder_around around = { 512, 4096, { { 7, 11 } } };
	static struct inorder_meta meta[PACKETS];
	struct inorder_out out = { drop };
	struct inorder_sorter *sorter;
	struct inorder_config read;
	char text[INORDER_TEXT];
	clock_t before;
	u32 n;

	snprintf(text, sizeof(text), "%s", config);
	if (inorder_config_read(text, &read))
		exit(2);
	sorter = inorder_create(&read, &around);
	if (!sorter)
		exit(2);
	for (n = 0; n < PACKETS; n++) {
		struct at at = patterns[pattern].at(n, window);

		meta[n] = (struct inorder_meta){
			.flow = key_of(at.flow, patterns[pattern].is_colliding),
			.seq = at.place * DATA,
			.len = DATA,
			.kind = INORDER_DATA,
		};
	}
	before = clock();
	for (n = 0; n < PACKETS; n++) {
		sorter->ops->push(sorter, &meta[n], NULL, n, &out);
		if (n % 64 == 63)
			sorter->ops->end_of_batch(sorter, n, &out);
	}
	sorter->ops->flush(sorter, PACKETS, &out);
	before = clock() - before;
	sorter->ops->destroy(sorter);
	return (s64)before * (1000000000 / CLOCKS_PER_SEC) / PACKETS;
}

int main(void)
{
	static const struct {
		const char *config;
		u32 window;
	} sorters[] = {
		{ "none", 512 },
		{ "srpic:block_size=16777216", 512 },
		{ "resequence", 4096 / 2 },
		{ "resequence:window=1000000,bound=10s,start=10s,blind=10s", 500000 },
	};
	unsigned int pattern, i, again;
	s64 worst = 0;

	printf("ns a packet  none  srpic  resequence  resequence, a million places\n");
	for (pattern = 0; pattern < ARRAY_SIZE(patterns); pattern++) {
		printf("%-11s", patterns[pattern].name);
		for (i = 0; i < ARRAY_SIZE(sorters); i++) {
			s64 best = S64_MAX;

			for (again = 0; again < 5; again++)
				best = min(best, round_ns(sorters[i].config, pattern,
							  sorters[i].window));
			printf("  %4" PRId64, best);
			worst = max(worst, best);
		}
		printf("\n");
		fflush(stdout);
	}
	printf("the worst: %" PRId64 "\n", worst);
	return worst < 1000 ? 0 : 1;
}
