// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells stories to a sorter and prints what it decides: reads lines from
 * standard input, and prints one line for each.
 *
 *   new CONFIG RING FLOWS SEED     a sorter; the lines below are for it
 *   p KIND FLOW SEQ LEN            a packet; KIND is d a o c x for data, ACK,
 *                                  open, close, other; packets are numbered
 *   b                              the batch ends
 *   w NS                           time passes; deadlines are kept
 *   f                              all that is held goes up
 *   c VERSION WHOLE HEX            classifies the headers of an IP packet
 *
 * Printed are the numbers of the packets that went up, how many are held, the
 * next deadline, and at the end of a story (f) what became of the gaps.
 */
#include <inttypes.h>

#include "../classify.h"

static struct inorder_sorter *sorter;
static uintptr_t packets;
static s64 now;

static void print_packet(struct inorder_out *out, void *packet)
{
	printf("%" PRIuPTR " ", (uintptr_t)packet);
}

static struct inorder_out out = { print_packet };

static void fail(const char *line)
{
	fprintf(stderr, "story: cannot read: %s\n", line);
	exit(2);
}

static void begin(char *line)
{
	char text[INORDER_TEXT];
	struct inorder_around around = { 0 };
	struct inorder_config config;

	if (sscanf(line, "new %159s %" SCNu32 " %" SCNu32 " %" SCNu64, text,
		   &around.ring_packets, &around.flows,
		   &around.hash_key.key[0]) != 4)
		fail(line);
	if (sorter)
		sorter->ops->destroy(sorter);
	if (inorder_config_read(text, &config))
		fail(line);
	sorter = inorder_create(&config, &around);
	if (!sorter)
		fail("out of memory");
	packets = 0;
	now = 0;
	inorder_config_write(&config, text, sizeof(text));
	printf("%s ", text);
}

/* The flow of this number: both addresses and ports are made of it. */
static struct inorder_key flow_key(u64 flow)
{
	struct inorder_key key = { {
		0xffff0a000000ULL | flow >> 4, 0xffff0a010001ULL, 0, 0,
		(u64)(10000 + (flow & 15)) << 48 | (u64)443 << 32,
	} };

	return key;
}

static void push(char *line)
{
	static const char kinds[] = "daocx";
	struct inorder_meta meta;
	u64 flow;
	char kind;

	if (sscanf(line, "p %c %" SCNu64 " %" SCNu32 " %" SCNu32, &kind, &flow,
		   &meta.seq, &meta.len) != 4 || !strchr(kinds, kind))
		fail(line);
	meta.flow = flow_key(flow);
	meta.kind = (enum inorder_kind)(strchr(kinds, kind) - kinds);
	sorter->ops->push(sorter, &meta, (void *)packets++, now, &out);
}

static void pass_time(s64 until)
{
	while (sorter->ops->next_deadline(sorter) <= until) {
		now = max(now, sorter->ops->next_deadline(sorter));
		sorter->ops->on_deadline(sorter, now, &out);
	}
	now = until;
}

static void finish(void)
{
	const struct inorder_counters *c = &sorter->counters;

	sorter->ops->flush(sorter, now, &out);
	printf("| %" PRIu64 " %" PRIu64 " %" PRIu64 " | %" PRIu64 " %" PRIu64
	       " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
	       c->suitable, c->unsuitable, c->batches, c->gaps_opened,
	       c->gaps_filled, c->gaps_passed, c->gaps_timed_out,
	       c->gaps_overflowed, c->gaps_flushed);
}

static void classify(char *line)
{
	static const char kinds[] = "daocx";
	static const siphash_key_t seven = { { 7 } };
	struct inorder_meta meta;
	char hex[2 * INORDER_HEADERS + 1] = "";
	unsigned int version, whole, have, i;
	u8 *bytes;

	if (sscanf(line, "c %u %u %240s", &version, &whole, hex) < 2)
		fail(line);
	have = (unsigned int)strlen(hex) / 2;
	/* Of the exact length, so that the sanitizer sees a read beyond it. */
	bytes = malloc(have ? have : 1);
	for (i = 0; i < have; i++)
		sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
	if (inorder_classify(bytes, have, whole, (int)version, &meta))
		printf("%c %" PRIu32 " %" PRIu32 " %016" PRIx64 "\n",
		       kinds[meta.kind], meta.seq, meta.len,
		       inorder_hash(&meta.flow, &seven));
	else
		puts("-");
	free(bytes);
}

int main(void)
{
	char line[512];
	s64 ns;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] == 'c') {
			classify(line);
			continue;
		}
		if (line[0] == 'n')
			begin(line);
		else if (!sorter)
			fail(line);
		else if (line[0] == 'p')
			push(line);
		else if (line[0] == 'b')
			sorter->ops->end_of_batch(sorter, now, &out);
		else if (line[0] == 'f')
			finish();
		else if (sscanf(line, "w %" SCNd64, &ns) == 1)
			pass_time(now + ns);
		else
			fail(line);
		printf("| %" PRIu32, sorter->ops->held(sorter));
		ns = sorter->ops->next_deadline(sorter);
		if (ns != INORDER_NEVER)
			printf(" %" PRId64, ns);
		putchar('\n');
	}
	if (sorter)
		sorter->ops->destroy(sorter);
	return 0;
}
