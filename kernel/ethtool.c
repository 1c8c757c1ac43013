// SPDX-License-Identifier: GPL-2.0-only
/* ethtool -i, -c, -C, -g, -G, -S of devices of type "inorder". */
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>

#include "inorder.h"

static void inorder_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, "inorder", sizeof(info->driver));
	strscpy(info->version, THIS_MODULE->version, sizeof(info->version));
}

static int inorder_get_link_ksettings(struct net_device *dev,
				      struct ethtool_link_ksettings *settings)
{
	struct inorder_dev *priv = netdev_priv(dev);

	return __ethtool_get_link_ksettings(priv->lower, settings);
}

static int inorder_get_coalesce(struct net_device *dev, struct ethtool_coalesce *coal,
				struct kernel_ethtool_coalesce *kernel_coal,
			struct netlink_ext_ack *extack)
{
	struct inorder_dev *priv = netdev_priv(dev);

	coal->rx_coalesce_usecs = priv->params.rx_usecs;
	coal->rx_max_coalesced_frames = priv->params.rx_frames;
	return 0;
}

static int inorder_set_coalesce(struct net_device *dev, struct ethtool_coalesce *coal,
				struct kernel_ethtool_coalesce *kernel_coal,
			struct netlink_ext_ack *extack)
{
	struct inorder_dev *priv = netdev_priv(dev);

	if (coal->rx_coalesce_usecs > INORDER_MAX_USECS) {
		NL_SET_ERR_MSG(extack, "rx-usecs must be at most 1000000");
		return -ERANGE;
	}
	WRITE_ONCE(priv->params.rx_usecs, coal->rx_coalesce_usecs);
	WRITE_ONCE(priv->params.rx_frames, coal->rx_max_coalesced_frames);
	return 0;
}

static void inorder_get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				  struct kernel_ethtool_ringparam *kernel_ring,
			  struct netlink_ext_ack *extack)
{
	struct inorder_dev *priv = netdev_priv(dev);

	ring->rx_max_pending = INORDER_MAX_RING;
	ring->rx_pending = priv->params.ring;
}

static int inorder_set_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel_ring,
			 struct netlink_ext_ack *extack)
{
	struct inorder_dev *priv = netdev_priv(dev);
	struct inorder_params params = priv->params;

	if (!ring->rx_pending) {
		NL_SET_ERR_MSG(extack, "The ring must have a place");
		return -EINVAL;
	}
	params.ring = ring->rx_pending;
	return inorder_queues_change(priv, &params);
}

/* Every statistic is one line: its name, and where it is. */
#define COUNTER(member)	{ #member, offsetof(struct inorder_counters, member) }

static const struct {
	char name[ETH_GSTRING_LEN];
	size_t offset;
} counters[] = {
	COUNTER(suitable),
	COUNTER(unsuitable),
	COUNTER(batches),
	COUNTER(full_blocks),
	COUNTER(full_rings),
	COUNTER(gaps_opened),
	COUNTER(gaps_filled),
	COUNTER(gaps_passed),
	COUNTER(gaps_timed_out),
	COUNTER(gaps_overflowed),
	COUNTER(gaps_flushed),
};

static const char others[][ETH_GSTRING_LEN] = {
	"interrupts", "deadlines", "flowless", "ring_full", "ring_now",
	"held_now",
};

static int inorder_get_sset_count(struct net_device *dev, int set)
{
	if (set != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(counters) + ARRAY_SIZE(others);
}

static void inorder_get_strings(struct net_device *dev, u32 set, u8 *data)
{
	unsigned int i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(counters); i++, data += ETH_GSTRING_LEN)
		memcpy(data, counters[i].name, ETH_GSTRING_LEN);
	memcpy(data, others, sizeof(others));
}

/* Sums over the queues. The sorters count in NAPI: each number is read as it is. */
static void inorder_get_ethtool_stats(struct net_device *dev,
				      struct ethtool_stats *stats, u64 *data)
{
	struct inorder_dev *priv = netdev_priv(dev);
	struct inorder_queue_stats sum = { 0 };
	u64 *rest = data + ARRAY_SIZE(counters);
	unsigned int q, i;

	memset(data, 0, inorder_get_sset_count(dev, ETH_SS_STATS) * sizeof(*data));
	for (q = 0; q < priv->nqueues; q++) {
		struct inorder_queue *queue = &priv->queues[q];
		const void *from = &queue->sorter->counters;

		for (i = 0; i < ARRAY_SIZE(counters); i++)
			data[i] += READ_ONCE(*(u64 *)(from + counters[i].offset));
		inorder_queue_stats_read(queue, &sum);
		rest[3] += READ_ONCE(queue->ring_full);
		rest[4] += READ_ONCE(queue->ring.qlen);
		rest[5] += queue->sorter->ops->held(queue->sorter) +
			   READ_ONCE(queue->up.qlen);
	}
	rest[0] = u64_stats_read(&sum.interrupts);
	rest[1] = u64_stats_read(&sum.deadlines);
	rest[2] = u64_stats_read(&sum.flowless);
}

const struct ethtool_ops inorder_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS |
				     ETHTOOL_COALESCE_RX_MAX_FRAMES,
	.get_drvinfo = inorder_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = inorder_get_link_ksettings,
	.get_coalesce = inorder_get_coalesce,
	.set_coalesce = inorder_set_coalesce,
	.get_ringparam = inorder_get_ringparam,
	.set_ringparam = inorder_set_ringparam,
	.get_sset_count = inorder_get_sset_count,
	.get_strings = inorder_get_strings,
	.get_ethtool_stats = inorder_get_ethtool_stats,
};
