// SPDX-License-Identifier: GPL-2.0-only
/*
 * The resequencer: holds only what stands behind a gap, no longer than late
 * packets of this path take. What is in order passes at once.
 *
 * Line by line the rule of crates/sort/src/sorters/resequence, where its
 * reasons are.
 */
#include "lessons.h"

enum { SET_BOUND, SET_START, SET_BLIND, SET_WINDOW };

static const struct inorder_setting settings[] = {
	[SET_BOUND] = { "bound", INORDER_NANOSECONDS, 0, 10000000000ULL, 50000000 },
	[SET_START] = { "start", INORDER_NANOSECONDS, 0, 10000000000ULL, 50000000 },
	[SET_BLIND] = { "blind", INORDER_NANOSECONDS, 0, 10000000000ULL, 1000000 },
	[SET_WINDOW] = { "window", INORDER_PACKETS, 1, 1 << 24, 4096 },
};

/* This number of packets in a row below what was delivered: the flow began anew. */
#define BEHIND	1024

/* Why a gap was given up. */
enum why {
	TIMED_OUT,
	OVERFLOWED,
	FLUSHED,
	RESENT,
};

static struct resequence *reseq_of(const struct inorder_sorter *sorter)
{
	return container_of(sorter, struct resequence, sorter);
}

/* Sets the time at which the flow's first gap has been waited for enough. */
static void reseq_set_due(struct resequence *r, u32 at)
{
	u32 lowest = r->flows.flows[at].chain.lowest;
	s64 due_ns = INORDER_NEVER;

	if (lowest != INORDER_NIL)
		due_ns = inorder_add_ns(r->held.places[lowest].open_ns,
					inorder_gap_bound(r, at));
	inorder_deadlines_set(&r->deadlines, at, due_ns);
}

static void reseq_go_on(struct flow *flow, u32 next)
{
	flow->next = next;
	flow->behind = 0;
}

/* The flow goes on at seq, without what is missing before it. */
static void reseq_leave_gap(struct resequence *r, u32 at, u32 seq, s64 open_ns,
			    s64 now)
{
	struct flow *flow = &r->flows.flows[at];
	struct past *past = &r->flows.pasts[at];
	struct gap gap;

	inorder_learn(r, now);
	gap = (struct gap){
		.flow = { at, past->generation },
		.from = flow->next,
		.to = seq,
		.since_ns = open_ns,
		.original_ns = inorder_original_ns(&r->limits, inorder_gap_rtt(r, past)),
		.left_ns = now,
	};
	flow->next = seq;
	flow->has_left_gaps = true;
	inorder_released_push(&r->released, &gap);
}

/* Delivers the held packets that nothing is missing before any longer. */
static void reseq_release(struct resequence *r, u32 at, s64 now,
			  struct inorder_out *out)
{
	struct flow *flow = &r->flows.flows[at];
	struct held_place taken;
	bool any = false;

	while (!chain_is_empty(&flow->chain) &&
	       !inorder_before(flow->next,
			       r->held.places[flow->chain.lowest].seq)) {
		inorder_held_take(&r->held, &flow->chain, &taken);
		if (inorder_before(flow->next, taken.end))
			flow->next = taken.end;
		if (taken.has_gap)
			inorder_gap_filled(r, at, taken.open_ns, now);
		any = true;
		out->deliver(out, taken.packet);
	}
	if (any)
		reseq_set_due(r, at);
}

/* Gives up a flow's first gap. */
static void reseq_give_up(struct resequence *r, u32 at, enum why why, s64 now,
			  struct inorder_out *out)
{
	struct inorder_counters *counters = &r->sorter.counters;
	struct flow *flow = &r->flows.flows[at];
	struct held_place *first;

	if (chain_is_empty(&flow->chain))
		return;
	first = &r->held.places[flow->chain.lowest];
	if (first->has_gap) {
		first->has_gap = false;
		if (why == TIMED_OUT)
			counters->gaps_timed_out++;
		else if (why == OVERFLOWED)
			counters->gaps_overflowed++;
		else
			counters->gaps_flushed++;
	}
	if (inorder_before(flow->next, first->seq)) {
		if (why == FLUSHED) {
			reseq_go_on(flow, first->seq);
		} else {
			struct past *past = &r->flows.pasts[at];

			if (why == TIMED_OUT)
				path_of(&r->flows, past)->in_vain = true;
			reseq_leave_gap(r, at, first->seq, first->open_ns, now);
		}
	}
	reseq_release(r, at, now, out);
}

/* Delivers all that is held of a flow. */
static void reseq_empty(struct resequence *r, u32 at, enum why why, s64 now,
			struct inorder_out *out)
{
	while (!chain_is_empty(&r->flows.flows[at].chain))
		reseq_give_up(r, at, why, now, out);
}

/* Puts a packet among those that wait; there is room. */
static void reseq_hold(struct resequence *r, u32 at, u32 seq, u32 end, void *packet,
		       s64 now)
{
	struct flow *flow = &r->flows.flows[at];
	u32 lowest = flow->chain.lowest;
	s64 open_ns;

	flow->behind = 0;
	switch (inorder_held_insert(&r->held, &flow->chain, flow->next, seq,
				    end, packet, now, &open_ns)) {
	case FIT_OPENED:
		r->sorter.counters.gaps_opened++;
		break;
	case FIT_CLOSED:
		inorder_gap_filled(r, at, open_ns, now);
		break;
	case FIT_SAME:
		break;
	}
	if (flow->chain.lowest != lowest)
		reseq_set_due(r, at);
}

/* A packet that nothing is missing before: in order, or late itself. */
static void reseq_at_or_below_next(struct resequence *r, u32 at, u32 seq, u32 end,
				   void *packet, s64 now, struct inorder_out *out)
{
	struct flow *flow = &r->flows.flows[at];
	bool is_late = inorder_before(seq, flow->next);
	bool began_anew;

	if (inorder_before(flow->next, end))
		flow->behind = 0;
	else
		flow->behind++;
	began_anew = flow->behind >= BEHIND && chain_is_empty(&flow->chain);
	/* A retransmission that repairs a loss goes behind all that its flow
	 * holds: it was sent after them, and a receiver that has seen its
	 * timestamp throws older ones away (PAWS, RFC 7323 section 5.3).
	 */
	if (is_late && flow->has_left_gaps &&
	    inorder_learn_latecomer(r, at, seq, end, now))
		reseq_empty(r, at, RESENT, now, out);
	if (began_anew || inorder_before(flow->next, end))
		reseq_go_on(flow, end);
	out->deliver(out, packet);
	reseq_release(r, at, now, out);
}

/* A packet that is not simply the next one: up it goes, or it waits. */
static void reseq_place(struct resequence *r, u32 at, u32 seq, u32 end, void *packet,
			s64 now, struct inorder_out *out)
{
	struct flow *flow = &r->flows.flows[at];
	u32 most = DIV_ROUND_UP(r->held.capacity, 2);

	while (inorder_before(flow->next, seq)) {
		u32 victim;

		if (chain_is_empty(&flow->chain) && !inorder_gap_bound(r, at)) {
			r->sorter.counters.gaps_opened++;
			r->sorter.counters.gaps_passed++;
			reseq_leave_gap(r, at, seq, now, now);
			reseq_go_on(flow, end);
			out->deliver(out, packet);
			return;
		}
		if (flow->chain.packets >= most) {
			victim = at;
		} else if (r->held.free == INORDER_NIL) {
			victim = r->deadlines.count ?
					 r->deadlines.heap[0].flow : at;
		} else {
			reseq_hold(r, at, seq, end, packet, now);
			return;
		}
		reseq_give_up(r, victim, OVERFLOWED, now, out);
	}
	reseq_at_or_below_next(r, at, seq, end, packet, now, out);
}

/* The first packet after a SYN: a round trip has passed since. */
static void reseq_answered(struct resequence *r, u32 at, s64 now)
{
	struct flow *flow = &r->flows.flows[at];
	struct past *past = &r->flows.pasts[at];
	s64 rtt_ns = inorder_since(now, flow->opened_ns);

	if (!flow->is_opened)
		return;
	flow->is_opened = false;
	inorder_learnt_round_trip(&past->learnt, rtt_ns);
	inorder_learnt_round_trip(path_of(&r->flows, past), rtt_ns);
}

static void reseq_on_deadline(struct resequence *r, s64 now, struct inorder_out *out)
{
	while (r->deadlines.count && r->deadlines.heap[0].due_ns <= now)
		reseq_give_up(r, r->deadlines.heap[0].flow, TIMED_OUT, now, out);
}

static void reseq_data(struct resequence *r, const struct inorder_meta *meta,
		       void *packet, s64 now, struct inorder_out *out)
{
	u32 end = meta->seq + meta->len;
	u32 at = inorder_flows_find(&r->flows, &meta->flow);
	struct flow *flow;

	if (at == INORDER_NIL) {
		inorder_flows_insert(&r->flows, &meta->flow, end,
				     r->sorter.counters.suitable, now);
		out->deliver(out, packet);
		return;
	}
	flow = &r->flows.flows[at];
	flow->used = r->sorter.counters.suitable;
	if (flow->is_opened)
		reseq_answered(r, at, now);
	if (meta->seq == flow->next && chain_is_empty(&flow->chain)) {
		reseq_go_on(flow, end);
		out->deliver(out, packet);
		return;
	}
	reseq_place(r, at, meta->seq, end, packet, now, out);
	/* The gap behind one that has filled may have been open for long. */
	reseq_on_deadline(r, now, out);
}

/* A SYN: the flow begins, or begins anew. */
static void reseq_opened(struct resequence *r, const struct inorder_meta *meta,
			 u32 at, s64 now, struct inorder_out *out)
{
	/* The SYN takes a number of its own. */
	u32 next = meta->seq + meta->len + 1;
	struct flow *flow;

	if (at != INORDER_NIL) {
		reseq_empty(r, at, FLUSHED, now, out);
		reseq_go_on(&r->flows.flows[at], next);
	} else {
		at = inorder_flows_insert(&r->flows, &meta->flow, next,
					  r->sorter.counters.suitable, now);
		if (at == INORDER_NIL)
			return;
	}
	flow = &r->flows.flows[at];
	/* Which of two SYNs is answered is unknown. */
	flow->is_opened = !flow->is_opened;
	flow->opened_ns = now;
}

/*
 * A packet that must not wait. What is held of its flow goes before it, unless
 * it only acknowledges: data and acknowledgements of one direction have no
 * order among themselves.
 */
static void reseq_unsuitable(struct resequence *r, const struct inorder_meta *meta,
			     s64 now, struct inorder_out *out)
{
	u32 at = inorder_flows_find(&r->flows, &meta->flow);
	u32 after = meta->seq + meta->len;
	struct flow *flow;

	if (meta->kind == INORDER_OPEN) {
		reseq_opened(r, meta, at, now, out);
		return;
	}
	if (at == INORDER_NIL)
		return;
	if (meta->kind == INORDER_ACK) {
		reseq_answered(r, at, now);
		return;
	}
	reseq_empty(r, at, FLUSHED, now, out);
	flow = &r->flows.flows[at];
	if (meta->len && inorder_before(flow->next, after))
		flow->next = after;
}

static void resequence_push(struct inorder_sorter *sorter,
			    const struct inorder_meta *meta, void *packet,
			    s64 now, struct inorder_out *out)
{
	struct resequence *r = reseq_of(sorter);

	if (meta->kind == INORDER_DATA) {
		sorter->counters.suitable++;
		reseq_data(r, meta, packet, now, out);
		return;
	}
	sorter->counters.unsuitable++;
	reseq_unsuitable(r, meta, now, out);
	out->deliver(out, packet);
}

static void resequence_on_deadline(struct inorder_sorter *sorter, s64 now,
				   struct inorder_out *out)
{
	reseq_on_deadline(reseq_of(sorter), now, out);
}

static void resequence_end_of_batch(struct inorder_sorter *sorter, s64 now,
				    struct inorder_out *out)
{
	sorter->counters.batches++;
	reseq_on_deadline(reseq_of(sorter), now, out);
}

static s64 resequence_next_deadline(const struct inorder_sorter *sorter)
{
	const struct deadlines *deadlines = &reseq_of(sorter)->deadlines;

	return deadlines->count ? deadlines->heap[0].due_ns : INORDER_NEVER;
}

static void resequence_flush(struct inorder_sorter *sorter, s64 now,
			     struct inorder_out *out)
{
	struct resequence *r = reseq_of(sorter);

	while (r->deadlines.count)
		reseq_empty(r, r->deadlines.heap[0].flow, FLUSHED, now, out);
}

static u32 resequence_held(const struct inorder_sorter *sorter)
{
	return READ_ONCE(reseq_of(sorter)->held.packets);
}

static void resequence_destroy(struct inorder_sorter *sorter)
{
	struct resequence *r = reseq_of(sorter);

	inorder_held_free(&r->held);
	inorder_flows_free(&r->flows);
	inorder_deadlines_free(&r->deadlines);
	kvfree(r);
}

static u64 resequence_footprint(const struct inorder_config *config,
				const struct inorder_around *around,
				u32 *packets)
{
	u32 places = inorder_flows_places(around->flows);

	*packets = config->values[SET_WINDOW];
	return sizeof(struct resequence) +
	       (u64)*packets * sizeof(struct held_place) +
	       inorder_flows_footprint(around->flows) +
	       (u64)min(*packets, places) * sizeof(struct due) +
	       (u64)places * sizeof(u32);
}

static struct inorder_sorter *
resequence_create(const struct inorder_config *config,
		  const struct inorder_around *around)
{
	struct resequence *r = kvzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	u32 packets = config->values[SET_WINDOW];
	u32 places = inorder_flows_places(around->flows);

	if (!r)
		return NULL;
	r->limits.most_ns = config->values[SET_BOUND];
	r->limits.start_ns = config->values[SET_START];
	r->limits.blind_ns = config->values[SET_BLIND];
	if (inorder_held_init(&r->held, packets) ||
	    inorder_flows_init(&r->flows, around->flows, &around->hash_key) ||
	    inorder_deadlines_init(&r->deadlines, places, min(packets, places))) {
		resequence_destroy(&r->sorter);
		return NULL;
	}
	return &r->sorter;
}

const struct inorder_sorter_ops inorder_resequence = {
	.name = "resequence",
	.settings = settings,
	.nsettings = ARRAY_SIZE(settings),
	.footprint = resequence_footprint,
	.create = resequence_create,
	.destroy = resequence_destroy,
	.push = resequence_push,
	.end_of_batch = resequence_end_of_batch,
	.next_deadline = resequence_next_deadline,
	.on_deadline = resequence_on_deadline,
	.flush = resequence_flush,
	.held = resequence_held,
};
