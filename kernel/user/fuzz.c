// SPDX-License-Identifier: GPL-2.0-only
/*
 * Drives the sorters and the classification with arbitrary bytes and checks
 * their guarantees: every packet comes out once, equal numbers keep their
 * order, nothing that must not wait is held, deadlines are honoured, nothing
 * is held past a batch without one, and the gaps add up.
 *
 *   fuzz [SEED [RUNS]]
 *
 * Compile it with -fsanitize=address,undefined. With -DLIBFUZZER it is an
 * entry point for libFuzzer instead of a program.
 */
#include <inttypes.h>

#include "../classify.h"

#define FLOWS		8
#define MAX_PACKETS	4096

static const struct inorder_sorter_ops *const all[] = {
	&inorder_none,
	&inorder_srpic,
	&inorder_resequence,
};

struct came {
	u32 seq;
	u8 flow;
	bool is_data;
	bool is_out;
};

static struct came came[MAX_PACKETS];
static unsigned int ncame, nout, last_out[FLOWS][256];
/* The paper's listing puts a second copy before the first. */
static bool is_literal;
static const u8 *data;
static size_t left;

static u8 byte(void)
{
	if (!left)
		return 0;
	left--;
	return *data++;
}

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void take(struct inorder_out *out, void *packet)
{
	uintptr_t id = (uintptr_t)packet;

	check(id < ncame && !came[id].is_out, "a packet came out twice");
	came[id].is_out = true;
	nout++;
	if (came[id].is_data && !is_literal) {
		unsigned int *last = &last_out[came[id].flow][came[id].seq & 255];

		check(*last <= id, "equal numbers changed places");
		*last = (unsigned int)id;
	}
}

static struct inorder_out out = { take };

static void push(struct inorder_sorter *sorter, u8 op, s64 now)
{
	unsigned int id = ncame++;
	u8 flow = op & 7;
	struct inorder_meta meta = {
		.flow = { { flow & 3, 1, 2, flow >> 2, 77 } },
		/* The first flow begins just below the wrap. */
		.seq = 0xffffff80u + flow * 0x30000000u + byte(),
		.len = (op >> 3) % 4,
		.kind = op >> 3 > 8 ? INORDER_DATA : (op >> 3) % 5,
	};

	came[id] = (struct came){ meta.seq, flow, meta.kind == INORDER_DATA,
				  false };
	sorter->ops->push(sorter, &meta, (void *)(uintptr_t)id, now, &out);
	check(meta.kind == INORDER_DATA || came[id].is_out,
	      "held although it must pass at once");
}

static void pass_time(struct inorder_sorter *sorter, s64 *now, s64 ns)
{
	s64 until = *now + ns, due;

	while ((due = sorter->ops->next_deadline(sorter)) <= until) {
		*now = max(*now, due);
		sorter->ops->on_deadline(sorter, *now, &out);
		check(sorter->ops->next_deadline(sorter) > *now,
		      "a deadline was not honoured");
	}
	*now = until;
}

static void check_gaps(const struct inorder_counters *c)
{
	check(c->gaps_opened == c->gaps_filled + c->gaps_passed +
					c->gaps_timed_out + c->gaps_overflowed +
					c->gaps_flushed,
	      "the gaps do not add up");
}

static void tell(void)
{
	const struct inorder_sorter_ops *ops = all[byte() % ARRAY_SIZE(all)];
	struct inorder_config config = { .ops = ops };
	struct inorder_around around = {
		.ring_packets = 1 + byte() % 80,
		.flows = 1 + byte() % 10,
	};
	struct inorder_sorter *sorter;
	s64 now = 0;
	unsigned int i;

	for (i = 0; i < ops->nsettings; i++) {
		const struct inorder_setting *setting = &ops->settings[i];
		u8 choice = byte();

		config.values[i] = choice & 3 ?
			min(setting->min + choice / 4, setting->max) :
			setting->standard;
	}
	sorter = inorder_create(&config, &around);
	if (!sorter)
		return;
	is_literal = ops == &inorder_srpic && config.values[1];
	ncame = nout = 0;
	memset(last_out, 0, sizeof(last_out));
	while (left && ncame < MAX_PACKETS) {
		u8 op = byte();

		if (op < 24) {
			sorter->ops->end_of_batch(sorter, now, &out);
			if (sorter->ops->next_deadline(sorter) == INORDER_NEVER)
				check(!sorter->ops->held(sorter),
				      "held past the batch without a deadline");
		} else if (op < 48) {
			pass_time(sorter, &now, op < 28 ? 100000000 : byte());
		} else {
			push(sorter, op, now);
		}
		check(nout + sorter->ops->held(sorter) == ncame,
		      "a packet was lost");
	}
	sorter->ops->flush(sorter, now, &out);
	check(nout == ncame && !sorter->ops->held(sorter),
	      "held after a flush");
	check_gaps(&sorter->counters);
	sorter->ops->destroy(sorter);
}

static void classify(void)
{
	struct inorder_meta meta;
	int version = byte() & 1 ? INORDER_IPV4 : INORDER_IPV6;
	u32 whole = byte() | (u32)byte() << 8;

	inorder_classify(data, left, whole, version, &meta);
}

static void read_text(void)
{
	struct inorder_config config;
	char text[INORDER_TEXT], again[INORDER_TEXT];
	size_t length = min(left, sizeof(text) - 1);

	memcpy(text, data, length);
	text[length] = 0;
	if (inorder_config_read(text, &config))
		return;
	inorder_config_write(&config, text, sizeof(text));
	memcpy(again, text, sizeof(text));
	check(!inorder_config_read(again, &config), "cannot read its own text");
	inorder_config_write(&config, again, sizeof(again));
	check(!strcmp(text, again), "its own text changed");
}

int LLVMFuzzerTestOneInput(const u8 *input, size_t size);
int LLVMFuzzerTestOneInput(const u8 *input, size_t size)
{
	data = input;
	left = size;
	switch (byte() % 8) {
	case 0:
		classify();
		break;
	case 1:
		read_text();
		break;
	default:
		tell();
	}
	return 0;
}

#ifndef LIBFUZZER
/* Marsaglia's xorshift64. */
static u64 random_number(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Half of the texts begin like one that can be read. */
static void make_text(u8 *bytes, u64 *state)
{
	static const char *const parts[] = {
		"resequence:", "srpic:", "none", "bound=", "20ms", ",", "window=",
		"512", "literal=", "true", "block_size=", "8", " ", "start=1s",
	};
	size_t length = 1;

	bytes[0] = 1;
	while (length < 80) {
		const char *part = parts[random_number(state) % ARRAY_SIZE(parts)];

		memcpy(bytes + length, part, strlen(part) + 1);
		length += strlen(part);
	}
}

int main(int argc, char **argv)
{
	u64 state = argc > 1 ? strtoull(argv[1], NULL, 10) | 1 : 1;
	u64 runs = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000, i;
	u8 bytes[1500];

	for (i = 0; i < runs; i++) {
		size_t length = 1 + random_number(&state) % sizeof(bytes), at;
		/* Mostly small steps: near in number, often of one flow. */
		u8 mask = i & 1 ? 0xff : 0x1f;

		for (at = 0; at < length; at++)
			bytes[at] = (u8)(random_number(&state) >> 32);
		for (at = 8; at < length; at++)
			if (bytes[at - 1] >= 48)
				bytes[at] &= mask;
		if (i % 16 == 1) {
			make_text(bytes, &state);
			length = min(length, (size_t)90);
		}
		LLVMFuzzerTestOneInput(bytes, length);
	}
	printf("%" PRIu64 " runs\n", runs);
	return 0;
}
#endif
