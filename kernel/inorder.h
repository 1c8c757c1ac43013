/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices of type "inorder": their queues and their parameters. */
#ifndef INORDER_H
#define INORDER_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/u64_stats_sync.h>

#include "sort.h"

/* Limits and defaults of the parameters. */
#define INORDER_MAX_USECS	1000000
#define INORDER_USECS		75
#define INORDER_MAX_RING	8192
#define INORDER_RING		512
#define INORDER_MAX_FLOWS	1048576
#define INORDER_FLOWS		4096
#define INORDER_MAX_QUEUES	64

/*
 * What the tables and the packets that may wait take, all queues of a device
 * together: for anybody who can make one, and with CAP_NET_ADMIN over the
 * machine. The tables are charged to whoever makes the device; packets, which
 * are assumed to be this large, are not.
 */
#define INORDER_BYTES		(64ULL << 20)
#define INORDER_MAX_BYTES	(8ULL << 30)
#define INORDER_PACKET_BYTES	2304

/* Why a queue's NAPI is to run: bits of inorder_queue.pending. */
enum {
	INORDER_INTERRUPT,	/* the ring is to be emptied */
	INORDER_DUE,		/* the sorter has something to deliver */
};

struct inorder_queue_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t interrupts;
	u64_stats_t deadlines;
	/* Packets that belong to no flow, and passed beside the sorter. */
	u64_stats_t flowless;
	struct u64_stats_sync sync;
};

/*
 * A receive queue. Packets of the lower device enter its ring; an hrtimer
 * stands for the card's interrupt. Only NAPI touches the sorter.
 */
struct inorder_queue {
	struct napi_struct napi;
	struct inorder_dev *priv;

	/* The ring, and packets that found it full. */
	spinlock_t lock;
	struct sk_buff_head ring;
	u64 ring_full;

	unsigned long pending;
	struct hrtimer interrupt;
	s64 last_interrupt_ns;

	struct hrtimer deadline;
	/* What the deadline's timer is set to; INORDER_NEVER: it is not. */
	s64 armed_ns;
	struct inorder_sorter *sorter;
	struct inorder_out out;
	/* What left the sorter and has not gone up yet; only NAPI's, too. */
	struct sk_buff_head up;
	struct inorder_queue_stats stats;
} ____cacheline_aligned_in_smp;

/* Parameters; changed under rtnl, read anywhere. */
struct inorder_params {
	u32 rx_usecs;
	/* 0: no limit but the ring. */
	u32 rx_frames;
	/* Least time between two interrupts. */
	u32 gap_usecs;
	/* Those below determine the memory of the sorters. */
	u32 ring;
	u32 flows;
	struct inorder_config sorter;
};

struct inorder_dev {
	struct net_device *dev;
	struct net_device *lower;
	netdevice_tracker lower_tracker;
	struct inorder_params params;
	siphash_key_t hash_key;
	/* How the lower device merged packets before. */
	netdev_features_t had_gro;
	unsigned int nqueues;
	struct inorder_queue *queues;
};

/* Frames in, and the queues. */
rx_handler_result_t inorder_handle_frame(struct sk_buff **pskb);
/* 0 if the device may take the memory that these parameters need. */
int inorder_may_take(const struct inorder_dev *priv,
		     const struct inorder_params *params);
int inorder_queues_create(struct inorder_dev *priv);
void inorder_queues_destroy(struct inorder_dev *priv);
void inorder_queues_start(struct inorder_dev *priv);
/* Stops the queues; what they hold is dropped. */
void inorder_queues_stop(struct inorder_dev *priv);
/*
 * Other parameters, while the device is up or down. What the sorters hold goes
 * up. On an error nothing has changed. Under rtnl.
 */
int inorder_queues_change(struct inorder_dev *priv,
			  const struct inorder_params *params);
void inorder_queue_stats_read(struct inorder_queue *queue,
			      struct inorder_queue_stats *sum);

/* Settings and counters. */
extern const struct ethtool_ops inorder_ethtool_ops;
extern const struct attribute_group inorder_sysfs_group;
/* Sets the sorter by its text, under rtnl. */
int inorder_set_sorter(struct inorder_dev *priv, const char *text);

#endif
