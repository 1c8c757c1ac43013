// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receive side, like that of a network card with interrupt coalescing: the
 * first packet in an empty ring starts a timer, whose "interrupt" schedules
 * NAPI. NAPI empties the ring through the sorter into GRO, so that what the
 * sorter put in order is merged.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ktime.h>
#include <linux/skbuff.h>

#include "classify.h"
#include "compat.h"
#include "inorder.h"

static void inorder_wake_queue(struct inorder_queue *queue, int why)
{
	set_bit(why, &queue->pending);
	napi_schedule(&queue->napi);
}

static enum hrtimer_restart inorder_on_interrupt(struct hrtimer *timer)
{
	inorder_wake_queue(container_of(timer, struct inorder_queue, interrupt),
			   INORDER_INTERRUPT);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart inorder_on_deadline(struct hrtimer *timer)
{
	struct inorder_queue *queue =
		container_of(timer, struct inorder_queue, deadline);

	WRITE_ONCE(queue->armed_ns, INORDER_NEVER);
	inorder_wake_queue(queue, INORDER_DUE);
	return HRTIMER_NORESTART;
}

/* The interrupt for the first packet of a batch. */
static void inorder_start_interrupt(struct inorder_queue *queue,
				    const struct inorder_params *params)
{
	s64 now = ktime_get_ns();
	s64 at = now + READ_ONCE(params->rx_usecs) * (s64)NSEC_PER_USEC;
	s64 earliest = READ_ONCE(queue->last_interrupt_ns) +
		       READ_ONCE(params->gap_usecs) * (s64)NSEC_PER_USEC;

	at = max(at, earliest);
	if (at <= now)
		inorder_wake_queue(queue, INORDER_INTERRUPT);
	else
		hrtimer_start(&queue->interrupt, ns_to_ktime(at),
			      HRTIMER_MODE_ABS_PINNED);
}

static struct inorder_queue *inorder_pick_queue(struct inorder_dev *priv,
						struct sk_buff *skb)
{
	if (priv->nqueues == 1)
		return priv->queues;
	return &priv->queues[reciprocal_scale(skb_get_hash(skb),
					      priv->nqueues)];
}

static void inorder_receive(struct inorder_dev *priv, struct sk_buff *skb)
{
	const struct inorder_params *params = &priv->params;
	struct inorder_queue *queue = inorder_pick_queue(priv, skb);
	u32 frames = READ_ONCE(params->rx_frames);
	u32 length;

	spin_lock_bh(&queue->lock);
	length = queue->ring.qlen;
	if (unlikely(length >= READ_ONCE(params->ring))) {
		queue->ring_full++;
		spin_unlock_bh(&queue->lock);
		inorder_wake_queue(queue, INORDER_INTERRUPT);
		kfree_skb(skb);
		return;
	}
	/* As behind a wire: what waits here weighs on no sender of this machine. */
	skb_orphan(skb);
	skb->dev = priv->dev;
	/* The lower device's may be none that this one has. */
	skb_record_rx_queue(skb, queue - priv->queues);
	__skb_queue_tail(&queue->ring, skb);
	length++;
	spin_unlock_bh(&queue->lock);
	if (length >= READ_ONCE(params->ring) || (frames && length >= frames))
		inorder_wake_queue(queue, INORDER_INTERRUPT);
	else if (length == 1)
		inorder_start_interrupt(queue, params);
}

rx_handler_result_t inorder_handle_frame(struct sk_buff **pskb)
{
	struct inorder_dev *priv =
		rcu_dereference((*pskb)->dev->rx_handler_data);
	struct sk_buff *skb = *pskb;

	if (unlikely(skb->pkt_type == PACKET_LOOPBACK))
		return RX_HANDLER_PASS;
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (unlikely(!skb))
		return RX_HANDLER_CONSUMED;
	*pskb = skb;
	if (unlikely(!netif_running(priv->dev))) {
		dev_core_stats_rx_dropped_inc(priv->dev);
		kfree_skb(skb);
	} else {
		inorder_receive(priv, skb);
	}
	return RX_HANDLER_CONSUMED;
}

/* A packet leaves the sorter, in NAPI: it waits for its turn to go up. */
static void inorder_deliver(struct inorder_out *out, void *packet)
{
	struct inorder_queue *queue =
		container_of(out, struct inorder_queue, out);

	__skb_queue_tail(&queue->up, packet);
}

/* Hands packets up that left the sorter; how many, at most budget. */
static int inorder_go_up(struct inorder_queue *queue, int budget)
{
	struct sk_buff *skb;
	int done = 0;

	while (done < budget) {
		skb = __skb_dequeue(&queue->up);
		if (!skb)
			break;
		/* Merging writes into headers, which a capture may share. */
		if (unlikely(skb_unclone(skb, GFP_ATOMIC)))
			netif_receive_skb(skb);
		else
			napi_gro_receive(&queue->napi, skb);
		done++;
	}
	return done;
}

/* The flow of a packet and what it is; false: of none. */
static bool inorder_classify_skb(const struct sk_buff *skb, struct inorder_meta *meta)
{
	u8 room[INORDER_HEADERS];
	u32 have = min_t(u32, skb->len, INORDER_HEADERS);
	int version = skb->protocol == htons(ETH_P_IP)	 ? INORDER_IPV4 :
		      skb->protocol == htons(ETH_P_IPV6) ? INORDER_IPV6 :
							   0;
	const u8 *head;

	if (!version)
		return false;
	head = skb_header_pointer(skb, 0, have, room);
	if (!head || !inorder_classify(head, have, skb->len, version, meta))
		return false;
	/* The same addresses in another VLAN are another flow. */
	if (skb_vlan_tag_present(skb))
		meta->flow.words[4] |= skb_vlan_tag_get_id(skb) + 1;
	return true;
}

static void inorder_sort_packet(struct inorder_queue *queue, struct sk_buff *skb,
				s64 now)
{
	struct inorder_queue_stats *stats = &queue->stats;
	struct inorder_meta meta;
	bool has_flow = inorder_classify_skb(skb, &meta);

	u64_stats_update_begin(&stats->sync);
	u64_stats_inc(&stats->packets);
	u64_stats_add(&stats->bytes, skb->len + ETH_HLEN);
	if (!has_flow)
		u64_stats_inc(&stats->flowless);
	u64_stats_update_end(&stats->sync);
	if (has_flow)
		queue->sorter->ops->push(queue->sorter, &meta, skb, now,
					 &queue->out);
	else
		inorder_deliver(&queue->out, skb);
}

static struct sk_buff *inorder_dequeue(struct inorder_queue *queue)
{
	struct sk_buff *skb;

	spin_lock_bh(&queue->lock);
	skb = __skb_dequeue(&queue->ring);
	spin_unlock_bh(&queue->lock);
	return skb;
}

/*
 * Sets the timer to the sorter's next deadline. A deadline that moved to a
 * later time is not looked for: the timer then runs once in vain.
 */
static void inorder_arm(struct inorder_queue *queue)
{
	s64 due = queue->sorter->ops->next_deadline(queue->sorter);

	if (due >= READ_ONCE(queue->armed_ns))
		return;
	WRITE_ONCE(queue->armed_ns, due);
	hrtimer_start(&queue->deadline, ns_to_ktime(due),
		      HRTIMER_MODE_ABS_PINNED);
}

/*
 * Empties the ring through the sorter. Both what is taken and what goes up
 * count: one packet may release all that is held. How much was done, at most
 * budget; then the ring is not known to be empty.
 */
static int inorder_work(struct inorder_queue *queue, int budget, s64 now,
			bool has_ring)
{
	struct inorder_sorter *sorter = queue->sorter;
	int taken = 0, done = inorder_go_up(queue, budget);
	struct sk_buff *skb;

	/* Whatever woke this queue: under load it may be polled for long. */
	if (done < budget && sorter->ops->next_deadline(sorter) <= now)
		sorter->ops->on_deadline(sorter, now, &queue->out);
	for (;;) {
		done += inorder_go_up(queue, budget - done);
		if (done == budget || taken == budget)
			return budget;
		if (!has_ring)
			return max(done, taken);
		skb = inorder_dequeue(queue);
		if (skb) {
			inorder_sort_packet(queue, skb, now);
			taken++;
		} else {
			sorter->ops->end_of_batch(sorter, now, &queue->out);
			has_ring = false;
		}
	}
}

static int inorder_poll(struct napi_struct *napi, int budget)
{
	struct inorder_queue *queue =
		container_of(napi, struct inorder_queue, napi);
	struct inorder_queue_stats *stats = &queue->stats;
	s64 now = ktime_get_ns();
	bool is_due, is_interrupt;
	int done;

	/* Called by netpoll to transmit only. */
	if (unlikely(!budget))
		return 0;
	/* Cleared before the work, so that what comes meanwhile is not lost. */
	is_due = test_and_clear_bit(INORDER_DUE, &queue->pending);
	is_interrupt = test_and_clear_bit(INORDER_INTERRUPT, &queue->pending);
	u64_stats_update_begin(&stats->sync);
	if (is_due)
		u64_stats_inc(&stats->deadlines);
	if (is_interrupt)
		u64_stats_inc(&stats->interrupts);
	u64_stats_update_end(&stats->sync);
	if (is_interrupt)
		WRITE_ONCE(queue->last_interrupt_ns, now);
	done = inorder_work(queue, budget, now, is_interrupt);
	inorder_arm(queue);
	if (done == budget) {
		if (is_interrupt)
			set_bit(INORDER_INTERRUPT, &queue->pending);
		return budget;
	}
	napi_complete_done(napi, done);
	return done;
}

static struct inorder_around inorder_around_of(const struct inorder_dev *priv,
					       const struct inorder_params *params)
{
	return (struct inorder_around){
		.ring_packets = params->ring,
		.flows = params->flows,
		.hash_key = priv->hash_key,
	};
}

int inorder_may_take(const struct inorder_dev *priv,
		     const struct inorder_params *params)
{
	struct inorder_around around = inorder_around_of(priv, params);
	u32 packets;
	u64 bytes = params->sorter.ops->footprint(&params->sorter, &around,
						  &packets);

	bytes += ((u64)packets + params->ring) * INORDER_PACKET_BYTES;
	bytes *= priv->nqueues;
	if (bytes > INORDER_MAX_BYTES)
		return -ERANGE;
	/* Of the machine, not of a namespace that anybody may have made. */
	if (bytes > INORDER_BYTES && !capable(CAP_NET_ADMIN))
		return -EPERM;
	return 0;
}

static struct inorder_sorter *inorder_create_sorter(const struct inorder_dev *priv,
						    const struct inorder_params *params)
{
	struct inorder_around around = inorder_around_of(priv, params);

	return inorder_create(&params->sorter, &around);
}

static void inorder_destroy_sorter(struct inorder_sorter *sorter)
{
	if (sorter)
		sorter->ops->destroy(sorter);
}

int inorder_queues_create(struct inorder_dev *priv)
{
	unsigned int i;
	int error = inorder_may_take(priv, &priv->params);

	if (error)
		return error;
	priv->queues = kvcalloc(priv->nqueues, sizeof(*priv->queues),
				GFP_KERNEL_ACCOUNT);
	if (!priv->queues)
		return -ENOMEM;
	for (i = 0; i < priv->nqueues; i++) {
		struct inorder_queue *queue = &priv->queues[i];

		queue->priv = priv;
		queue->out.deliver = inorder_deliver;
		queue->armed_ns = INORDER_NEVER;
		spin_lock_init(&queue->lock);
		__skb_queue_head_init(&queue->ring);
		__skb_queue_head_init(&queue->up);
		u64_stats_init(&queue->stats.sync);
		hrtimer_setup(&queue->interrupt, inorder_on_interrupt, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED);
		hrtimer_setup(&queue->deadline, inorder_on_deadline, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED);
		netif_napi_add(priv->dev, &queue->napi, inorder_poll);
		queue->sorter = inorder_create_sorter(priv, &priv->params);
		if (!queue->sorter) {
			priv->nqueues = i + 1;
			inorder_queues_destroy(priv);
			return -ENOMEM;
		}
	}
	return 0;
}

void inorder_queues_destroy(struct inorder_dev *priv)
{
	unsigned int i;

	for (i = 0; i < priv->nqueues; i++) {
		struct inorder_queue *queue = &priv->queues[i];

		netif_napi_del(&queue->napi);
		/* A frame may have come while the device failed to open. */
		hrtimer_cancel(&queue->interrupt);
		hrtimer_cancel(&queue->deadline);
		__skb_queue_purge(&queue->ring);
		inorder_destroy_sorter(queue->sorter);
	}
	kvfree(priv->queues);
	priv->queues = NULL;
}

static void inorder_start_queue(struct inorder_queue *queue)
{
	napi_enable(&queue->napi);
	/* What came meanwhile, and what the timers may have missed. */
	local_bh_disable();
	set_bit(INORDER_DUE, &queue->pending);
	inorder_wake_queue(queue, INORDER_INTERRUPT);
	local_bh_enable();
}

/* Afterwards nothing but packets that enter the ring touches the queue. */
static void inorder_stop_queue(struct inorder_queue *queue)
{
	napi_disable(&queue->napi);
	hrtimer_cancel(&queue->interrupt);
	hrtimer_cancel(&queue->deadline);
	queue->armed_ns = INORDER_NEVER;
}

void inorder_queues_start(struct inorder_dev *priv)
{
	unsigned int i;

	for (i = 0; i < priv->nqueues; i++)
		inorder_start_queue(&priv->queues[i]);
}

/* Where packets go for which there is no NAPI; there may be many. */
static void inorder_drop(struct inorder_out *out, void *packet)
{
	kfree_skb(packet);
	cond_resched();
}

static void inorder_hand_up(struct inorder_out *out, void *packet)
{
	local_bh_disable();
	netif_receive_skb(packet);
	local_bh_enable();
	cond_resched();
}

void inorder_queues_stop(struct inorder_dev *priv)
{
	struct inorder_out nowhere = { inorder_drop };
	unsigned int i;

	/* No frame is on its way into a ring: the device is not running. */
	synchronize_net();
	for (i = 0; i < priv->nqueues; i++) {
		struct inorder_queue *queue = &priv->queues[i];

		inorder_stop_queue(queue);
		queue->sorter->ops->flush(queue->sorter, ktime_get_ns(),
					  &nowhere);
		__skb_queue_purge(&queue->up);
		spin_lock_bh(&queue->lock);
		__skb_queue_purge(&queue->ring);
		spin_unlock_bh(&queue->lock);
	}
}

/* Exchanges the sorter of a queue. Counters go on. */
static void inorder_exchange(struct inorder_queue *queue, struct inorder_sorter *new,
			     bool is_running)
{
	struct inorder_out up = { inorder_hand_up };
	struct inorder_sorter *old = queue->sorter;
	struct sk_buff *skb;

	if (is_running)
		inorder_stop_queue(queue);
	while ((skb = __skb_dequeue(&queue->up)))
		inorder_hand_up(&up, skb);
	old->ops->flush(old, ktime_get_ns(), &up);
	new->counters = old->counters;
	queue->sorter = new;
	if (is_running)
		inorder_start_queue(queue);
	inorder_destroy_sorter(old);
}

int inorder_queues_change(struct inorder_dev *priv,
			  const struct inorder_params *params)
{
	struct inorder_sorter **new;
	unsigned int i;
	int error;

	ASSERT_RTNL();
	error = inorder_may_take(priv, params);
	if (error)
		return error;
	new = kcalloc(priv->nqueues, sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < priv->nqueues; i++) {
		new[i] = inorder_create_sorter(priv, params);
		if (!new[i])
			goto no_memory;
	}
	/* Frames come meanwhile. */
	WRITE_ONCE(priv->params.ring, params->ring);
	WRITE_ONCE(priv->params.flows, params->flows);
	priv->params.sorter = params->sorter;
	for (i = 0; i < priv->nqueues; i++)
		inorder_exchange(&priv->queues[i], new[i], netif_running(priv->dev));
	kfree(new);
	return 0;

no_memory:
	while (i--)
		inorder_destroy_sorter(new[i]);
	kfree(new);
	return -ENOMEM;
}

void inorder_queue_stats_read(struct inorder_queue *queue,
			      struct inorder_queue_stats *sum)
{
	struct inorder_queue_stats *stats = &queue->stats;
	u64 values[5];
	unsigned int start;

	do {
		start = u64_stats_fetch_begin(&stats->sync);
		values[0] = u64_stats_read(&stats->packets);
		values[1] = u64_stats_read(&stats->bytes);
		values[2] = u64_stats_read(&stats->interrupts);
		values[3] = u64_stats_read(&stats->deadlines);
		values[4] = u64_stats_read(&stats->flowless);
	} while (u64_stats_fetch_retry(&stats->sync, start));
	u64_stats_add(&sum->packets, values[0]);
	u64_stats_add(&sum->bytes, values[1]);
	u64_stats_add(&sum->interrupts, values[2]);
	u64_stats_add(&sum->deadlines, values[3]);
	u64_stats_add(&sum->flowless, values[4]);
}
