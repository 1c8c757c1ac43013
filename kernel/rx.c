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
#include "device.h"

static void wake_queue(struct inorder_queue *queue, int why)
{
	set_bit(why, &queue->pending);
	napi_schedule(&queue->napi);
}

static enum hrtimer_restart on_interrupt(struct hrtimer *timer)
{
	wake_queue(container_of(timer, struct inorder_queue, interrupt),
		 INORDER_INTERRUPT);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart on_deadline(struct hrtimer *timer)
{
	struct inorder_queue *queue =
		container_of(timer, struct inorder_queue, deadline);

	WRITE_ONCE(queue->armed_ns, INORDER_NEVER);
	wake_queue(queue, INORDER_DUE);
	return HRTIMER_NORESTART;
}

/* The interrupt for the first packet of a batch. */
static void start_interrupt(struct inorder_queue *queue,
			    const struct inorder_params *params)
{
	s64 now = ktime_get_ns();
	s64 at = now + READ_ONCE(params->rx_usecs) * (s64)NSEC_PER_USEC;
	s64 earliest = READ_ONCE(queue->last_interrupt_ns) +
		       READ_ONCE(params->gap_usecs) * (s64)NSEC_PER_USEC;

	at = max(at, earliest);
	if (at <= now)
		wake_queue(queue, INORDER_INTERRUPT);
	else
		hrtimer_start(&queue->interrupt, ns_to_ktime(at),
			      HRTIMER_MODE_ABS_PINNED);
}

static struct inorder_queue *pick_queue(struct inorder_dev *priv,
					struct sk_buff *skb)
{
	if (priv->nqueues == 1)
		return priv->queues;
	return &priv->queues[reciprocal_scale(skb_get_hash(skb),
					      priv->nqueues)];
}

static void receive(struct inorder_dev *priv, struct sk_buff *skb)
{
	const struct inorder_params *params = &priv->params;
	struct inorder_queue *queue = pick_queue(priv, skb);
	u32 frames = READ_ONCE(params->rx_frames);
	u32 length;

	spin_lock_bh(&queue->lock);
	length = queue->ring.qlen;
	if (unlikely(length >= READ_ONCE(params->ring))) {
		queue->ring_full++;
		spin_unlock_bh(&queue->lock);
		wake_queue(queue, INORDER_INTERRUPT);
		kfree_skb(skb);
		return;
	}
	skb->dev = priv->dev;
	__skb_queue_tail(&queue->ring, skb);
	length++;
	spin_unlock_bh(&queue->lock);
	if (length >= READ_ONCE(params->ring) || (frames && length >= frames))
		wake_queue(queue, INORDER_INTERRUPT);
	else if (length == 1)
		start_interrupt(queue, params);
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
		receive(priv, skb);
	}
	return RX_HANDLER_CONSUMED;
}

/* A packet goes up, in NAPI. */
static void deliver(struct inorder_out *out, void *packet)
{
	struct inorder_queue *queue =
		container_of(out, struct inorder_queue, out);
	struct sk_buff *skb = packet;

	/* Merging writes into headers, which a capture may share. */
	if (unlikely(skb_unclone(skb, GFP_ATOMIC)))
		netif_receive_skb(skb);
	else
		napi_gro_receive(&queue->napi, skb);
}

/* The flow of a packet and what it is; false: of none. */
static bool classify(const struct sk_buff *skb, struct inorder_meta *meta)
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

static void sort_packet(struct inorder_queue *queue, struct sk_buff *skb,
			s64 now)
{
	struct inorder_queue_stats *stats = &queue->stats;
	struct inorder_meta meta;
	bool has_flow = classify(skb, &meta);

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
		deliver(&queue->out, skb);
}

static struct sk_buff *take(struct inorder_queue *queue)
{
	struct sk_buff *skb;

	spin_lock_bh(&queue->lock);
	skb = __skb_dequeue(&queue->ring);
	spin_unlock_bh(&queue->lock);
	return skb;
}

/* Empties the ring; how many packets were taken, at most budget. */
static int empty_ring(struct inorder_queue *queue, int budget, s64 now)
{
	struct sk_buff *skb;
	int done = 0;

	while (done < budget) {
		skb = take(queue);
		if (!skb) {
			queue->sorter->ops->end_of_batch(queue->sorter, now,
							 &queue->out);
			break;
		}
		sort_packet(queue, skb, now);
		done++;
	}
	return done;
}

/*
 * Sets the timer to the sorter's next deadline. A deadline that moved to a
 * later time is not looked for: the timer then runs once in vain.
 */
static void arm(struct inorder_queue *queue)
{
	s64 due = queue->sorter->ops->next_deadline(queue->sorter);

	if (due >= READ_ONCE(queue->armed_ns))
		return;
	WRITE_ONCE(queue->armed_ns, due);
	hrtimer_start(&queue->deadline, ns_to_ktime(due),
		      HRTIMER_MODE_ABS_PINNED);
}

static int poll(struct napi_struct *napi, int budget)
{
	struct inorder_queue *queue =
		container_of(napi, struct inorder_queue, napi);
	struct inorder_queue_stats *stats = &queue->stats;
	s64 now = ktime_get_ns();
	bool is_due, is_interrupt;
	int done = 0;

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
	if (is_due)
		queue->sorter->ops->on_deadline(queue->sorter, now,
						&queue->out);
	if (is_interrupt) {
		WRITE_ONCE(queue->last_interrupt_ns, now);
		done = empty_ring(queue, budget, now);
	}
	if (done == budget) {
		/* The ring is not known to be empty. */
		set_bit(INORDER_INTERRUPT, &queue->pending);
		return budget;
	}
	arm(queue);
	napi_complete_done(napi, done);
	return done;
}

static struct inorder_sorter *create_sorter(const struct inorder_dev *priv,
					    const struct inorder_params *params)
{
	struct inorder_around around = {
		.ring_packets = params->ring,
		.flows = params->flows,
		.hash_seed = priv->hash_seed,
	};

	return inorder_create(&params->sorter, &around);
}

static void destroy_sorter(struct inorder_sorter *sorter)
{
	if (sorter)
		sorter->ops->destroy(sorter);
}

int inorder_queues_create(struct inorder_dev *priv)
{
	unsigned int i;

	priv->queues = kvcalloc(priv->nqueues, sizeof(*priv->queues),
				GFP_KERNEL);
	if (!priv->queues)
		return -ENOMEM;
	for (i = 0; i < priv->nqueues; i++) {
		struct inorder_queue *queue = &priv->queues[i];

		queue->priv = priv;
		queue->out.deliver = deliver;
		queue->armed_ns = INORDER_NEVER;
		spin_lock_init(&queue->lock);
		__skb_queue_head_init(&queue->ring);
		u64_stats_init(&queue->stats.sync);
		hrtimer_setup(&queue->interrupt, on_interrupt, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED);
		hrtimer_setup(&queue->deadline, on_deadline, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED);
		netif_napi_add(priv->dev, &queue->napi, poll);
		queue->sorter = create_sorter(priv, &priv->params);
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
		netif_napi_del(&priv->queues[i].napi);
		destroy_sorter(priv->queues[i].sorter);
	}
	kvfree(priv->queues);
	priv->queues = NULL;
}

static void start_queue(struct inorder_queue *queue)
{
	napi_enable(&queue->napi);
	/* What came meanwhile, and what the timers may have missed. */
	local_bh_disable();
	set_bit(INORDER_DUE, &queue->pending);
	wake_queue(queue, INORDER_INTERRUPT);
	local_bh_enable();
}

/* Afterwards nothing but packets that enter the ring touches the queue. */
static void stop_queue(struct inorder_queue *queue)
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
		start_queue(&priv->queues[i]);
}

/* Where packets go for which there is no NAPI. */
static void drop(struct inorder_out *out, void *packet)
{
	kfree_skb(packet);
}

static void hand_up(struct inorder_out *out, void *packet)
{
	local_bh_disable();
	netif_receive_skb(packet);
	local_bh_enable();
}

void inorder_queues_stop(struct inorder_dev *priv)
{
	struct inorder_out nowhere = { drop };
	unsigned int i;

	/* No frame is on its way into a ring: the device is not running. */
	synchronize_net();
	for (i = 0; i < priv->nqueues; i++) {
		struct inorder_queue *queue = &priv->queues[i];

		stop_queue(queue);
		queue->sorter->ops->flush(queue->sorter, ktime_get_ns(),
					  &nowhere);
		spin_lock_bh(&queue->lock);
		__skb_queue_purge(&queue->ring);
		spin_unlock_bh(&queue->lock);
	}
}

/* Exchanges the sorter of a queue. Counters go on. */
static void exchange(struct inorder_queue *queue, struct inorder_sorter *new,
		     bool is_running)
{
	struct inorder_out up = { hand_up };
	struct inorder_sorter *old = queue->sorter;

	if (is_running)
		stop_queue(queue);
	old->ops->flush(old, ktime_get_ns(), &up);
	new->counters = old->counters;
	queue->sorter = new;
	if (is_running)
		start_queue(queue);
	destroy_sorter(old);
}

int inorder_queues_change(struct inorder_dev *priv,
			  const struct inorder_params *params)
{
	struct inorder_sorter **new;
	unsigned int i;

	ASSERT_RTNL();
	new = kcalloc(priv->nqueues, sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	for (i = 0; i < priv->nqueues; i++) {
		new[i] = create_sorter(priv, params);
		if (!new[i])
			goto no_memory;
	}
	priv->params = *params;
	for (i = 0; i < priv->nqueues; i++)
		exchange(&priv->queues[i], new[i], netif_running(priv->dev));
	kfree(new);
	return 0;

no_memory:
	while (i--)
		destroy_sorter(new[i]);
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
