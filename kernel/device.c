// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices of type "inorder": each one stands above an existing device, takes
 * all its frames and hands them up in order. What is sent passes through.
 *
 *   ip link add link eth0 name ino0 type inorder
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/random.h>
#include <net/rtnetlink.h>

#include "compat.h"
#include "inorder.h"
#include "inorder_link.h"

/* Offloads of the lower device that packets sent through here may use. */
#define PASSED_FEATURES \
	(NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_IP_CSUM | NETIF_F_IPV6_CSUM | \
	 NETIF_F_HIGHDMA | NETIF_F_FRAGLIST | NETIF_F_ALL_TSO | \
	 NETIF_F_GSO_SOFTWARE | NETIF_F_RXCSUM | NETIF_F_HW_VLAN_CTAG_FILTER | \
	 NETIF_F_HW_VLAN_STAG_FILTER)

static int inorder_init(struct net_device *dev)
{
	struct inorder_dev *priv = netdev_priv(dev);
	struct net_device *lower = priv->lower;
	int error;

	netdev_lockdep_set_classes(dev);
	dev->hw_features = lower->hw_features & PASSED_FEATURES;
	dev->features |= lower->features & PASSED_FEATURES;
	dev->vlan_features = lower->vlan_features & PASSED_FEATURES;
	dev->hw_enc_features = lower->hw_enc_features & PASSED_FEATURES;
	dev->hard_header_len = lower->hard_header_len;
	netif_inherit_tso_max(dev, lower);
	dev->tstats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	if (!dev->tstats)
		return -ENOMEM;
	error = inorder_queues_create(priv);
	if (error) {
		free_percpu(dev->tstats);
		dev->tstats = NULL;
		return error;
	}
	netdev_hold(lower, &priv->lower_tracker, GFP_KERNEL);
	return 0;
}

static void inorder_uninit(struct net_device *dev)
{
	struct inorder_dev *priv = netdev_priv(dev);

	inorder_queues_destroy(priv);
	free_percpu(dev->tstats);
	dev->tstats = NULL;
	netdev_put(priv->lower, &priv->lower_tracker);
}

static int inorder_open(struct net_device *dev)
{
	struct inorder_dev *priv = netdev_priv(dev);

	if (!(priv->lower->flags & IFF_UP))
		return -ENETDOWN;
	inorder_queues_start(priv);
	if (dev->flags & IFF_ALLMULTI)
		dev_set_allmulti(priv->lower, 1);
	if (dev->flags & IFF_PROMISC)
		dev_set_promiscuity(priv->lower, 1);
	return 0;
}

static int inorder_stop(struct net_device *dev)
{
	struct inorder_dev *priv = netdev_priv(dev);

	dev_uc_unsync(priv->lower, dev);
	dev_mc_unsync(priv->lower, dev);
	if (dev->flags & IFF_ALLMULTI)
		dev_set_allmulti(priv->lower, -1);
	if (dev->flags & IFF_PROMISC)
		dev_set_promiscuity(priv->lower, -1);
	inorder_queues_stop(priv);
	return 0;
}

static netdev_tx_t inorder_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct inorder_dev *priv = netdev_priv(dev);
	unsigned int length = skb->len;
	int result;

	skb->dev = priv->lower;
	result = dev_queue_xmit(skb);
	if (likely(result == NET_XMIT_SUCCESS || result == NET_XMIT_CN))
		dev_sw_netstats_tx_add(dev, 1, length);
	else
		dev_core_stats_tx_dropped_inc(dev);
	return NETDEV_TX_OK;
}

static void inorder_get_stats64(struct net_device *dev,
				struct rtnl_link_stats64 *stats)
{
	struct inorder_dev *priv = netdev_priv(dev);
	struct inorder_queue_stats sum = { 0 };
	unsigned int i;

	dev_fetch_sw_netstats(stats, dev->tstats);
	for (i = 0; i < priv->nqueues; i++) {
		inorder_queue_stats_read(&priv->queues[i], &sum);
		stats->rx_missed_errors += READ_ONCE(priv->queues[i].ring_full);
	}
	stats->rx_packets = u64_stats_read(&sum.packets);
	stats->rx_bytes = u64_stats_read(&sum.bytes);
}

static void inorder_change_rx_flags(struct net_device *dev, int change)
{
	struct inorder_dev *priv = netdev_priv(dev);

	if (!(dev->flags & IFF_UP))
		return;
	if (change & IFF_ALLMULTI)
		dev_set_allmulti(priv->lower,
				 dev->flags & IFF_ALLMULTI ? 1 : -1);
	if (change & IFF_PROMISC)
		dev_set_promiscuity(priv->lower,
				    dev->flags & IFF_PROMISC ? 1 : -1);
}

static void inorder_set_rx_mode(struct net_device *dev)
{
	struct inorder_dev *priv = netdev_priv(dev);

	dev_uc_sync(priv->lower, dev);
	dev_mc_sync(priv->lower, dev);
}

static int inorder_change_mtu(struct net_device *dev, int mtu)
{
	struct inorder_dev *priv = netdev_priv(dev);

	if (mtu > (int)priv->lower->mtu)
		return -EINVAL;
	WRITE_ONCE(dev->mtu, mtu);
	return 0;
}

static netdev_features_t inorder_fix_features(struct net_device *dev,
					      netdev_features_t features)
{
	struct inorder_dev *priv = netdev_priv(dev);
	netdev_features_t passed = features & PASSED_FEATURES;

	passed = netdev_intersect_features(passed, priv->lower->features);
	return (features & ~PASSED_FEATURES) | (passed & PASSED_FEATURES);
}

static int inorder_vlan_add(struct net_device *dev, __be16 proto, u16 vid)
{
	struct inorder_dev *priv = netdev_priv(dev);

	return vlan_vid_add(priv->lower, proto, vid);
}

static int inorder_vlan_kill(struct net_device *dev, __be16 proto, u16 vid)
{
	struct inorder_dev *priv = netdev_priv(dev);

	vlan_vid_del(priv->lower, proto, vid);
	return 0;
}

static int inorder_get_iflink(const struct net_device *dev)
{
	const struct inorder_dev *priv = netdev_priv(dev);

	return priv->lower->ifindex;
}

static const struct net_device_ops inorder_netdev_ops = {
	.ndo_init = inorder_init,
	.ndo_uninit = inorder_uninit,
	.ndo_open = inorder_open,
	.ndo_stop = inorder_stop,
	.ndo_start_xmit = inorder_xmit,
	.ndo_get_stats64 = inorder_get_stats64,
	.ndo_change_rx_flags = inorder_change_rx_flags,
	.ndo_set_rx_mode = inorder_set_rx_mode,
	.ndo_change_mtu = inorder_change_mtu,
	.ndo_fix_features = inorder_fix_features,
	.ndo_vlan_rx_add_vid = inorder_vlan_add,
	.ndo_vlan_rx_kill_vid = inorder_vlan_kill,
	.ndo_get_iflink = inorder_get_iflink,
	/* The address is that of the lower device: no ndo_set_mac_address. */
};

static const struct device_type inorder_type = {
	.name = "inorder",
};

static void inorder_setup(struct net_device *dev)
{
	struct inorder_dev *priv = netdev_priv(dev);
	char text[] = "srpic";

	ether_setup(dev);
	dev->netdev_ops = &inorder_netdev_ops;
	dev->ethtool_ops = &inorder_ethtool_ops;
	dev->sysfs_groups[0] = &inorder_sysfs_group;
	dev->needs_free_netdev = true;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->min_mtu = 0;
	dev->max_mtu = ETH_MAX_MTU;
	SET_NETDEV_DEVTYPE(dev, &inorder_type);
	inorder_set_lockless(dev);

	priv->dev = dev;
	priv->params = (struct inorder_params){
		.rx_usecs = INORDER_USECS,
		.ring = INORDER_RING,
		.flows = INORDER_FLOWS,
	};
	inorder_config_read(text, &priv->params.sorter);
	get_random_bytes(&priv->hash_key, sizeof(priv->hash_key));
}

/* Reads a sorter from an attribute. */
static int inorder_read_sorter(const struct nlattr *attr, struct inorder_config *config,
			       struct netlink_ext_ack *extack)
{
	char text[INORDER_TEXT];
	int error;

	nla_strscpy(text, attr, sizeof(text));
	error = inorder_config_read(text, config);
	if (error)
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "Expected none, srpic or resequence with settings within their limits");
	return error;
}

/* Merging below, by the stack or by the card, would hide packets. */
#define MERGING	(NETIF_F_GRO | NETIF_F_GRO_HW)

static void inorder_stop_merging(struct inorder_dev *priv)
{
	struct net_device *lower = priv->lower;

	dev_disable_lro(lower);
	inorder_lock_ops(lower);
	priv->had_gro = lower->features & MERGING;
	lower->wanted_features &= ~(netdev_features_t)MERGING;
	netdev_update_features(lower);
	inorder_unlock_ops(lower);
}

static void inorder_allow_merging(struct inorder_dev *priv)
{
	struct net_device *lower = priv->lower;

	if (!priv->had_gro || lower->reg_state != NETREG_REGISTERED)
		return;
	inorder_lock_ops(lower);
	lower->wanted_features |= priv->had_gro;
	netdev_update_features(lower);
	inorder_unlock_ops(lower);
}

static int inorder_find_lower(struct net *net, struct net_device *dev,
			      struct nlattr *tb[], struct netlink_ext_ack *extack)
{
	struct inorder_dev *priv = netdev_priv(dev);
	struct net_device *lower;

	if (!tb[IFLA_LINK]) {
		NL_SET_ERR_MSG(extack, "Expected a lower device (link NAME)");
		return -EINVAL;
	}
	lower = __dev_get_by_index(net, nla_get_u32(tb[IFLA_LINK]));
	if (!lower)
		return -ENODEV;
	if (lower->type != ARPHRD_ETHER || lower->flags & IFF_LOOPBACK) {
		NL_SET_ERR_MSG(extack, "The lower device is not Ethernet");
		return -EINVAL;
	}
	if (tb[IFLA_ADDRESS]) {
		NL_SET_ERR_MSG(extack, "The address is that of the lower device");
		return -EINVAL;
	}
	if (!tb[IFLA_MTU])
		dev->mtu = lower->mtu;
	else if (dev->mtu > lower->mtu)
		return -EINVAL;
	eth_hw_addr_set(dev, lower->dev_addr);
	priv->lower = lower;
	return 0;
}

static int inorder_create_link(struct net *net, struct net_device *dev,
			       struct nlattr *tb[], struct nlattr *data[],
			       struct netlink_ext_ack *extack)
{
	struct inorder_dev *priv = netdev_priv(dev);
	int error = inorder_find_lower(net, dev, tb, extack);

	if (!error && data && data[IFLA_INORDER_SORTER])
		error = inorder_read_sorter(data[IFLA_INORDER_SORTER],
					    &priv->params.sorter, extack);
	if (error)
		return error;
	priv->nqueues = min_t(unsigned int, dev->real_num_rx_queues,
			      INORDER_MAX_QUEUES);
	error = inorder_may_take(priv, &priv->params);
	if (error) {
		NL_SET_ERR_MSG(extack, "So much memory needs the rights of the machine");
		return error;
	}
	error = register_netdevice(dev);
	if (error)
		return error;
	error = netdev_rx_handler_register(priv->lower, inorder_handle_frame,
					   priv);
	if (error) {
		NL_SET_ERR_MSG(extack, "The lower device belongs to another one");
		goto unregister;
	}
	error = netdev_upper_dev_link(priv->lower, dev, extack);
	if (error)
		goto unhandle;
	inorder_stop_merging(priv);
	netif_stacked_transfer_operstate(priv->lower, dev);
	linkwatch_fire_event(dev);
	return 0;

unhandle:
	netdev_rx_handler_unregister(priv->lower);
unregister:
	unregister_netdevice(dev);
	return error;
}

#ifdef INORDER_HAVE_NEWLINK_PARAMS
static int inorder_newlink(struct net_device *dev,
			   struct rtnl_newlink_params *params,
			   struct netlink_ext_ack *extack)
{
	return inorder_create_link(rtnl_newlink_link_net(params), dev,
				   params->tb, params->data, extack);
}
#else
static int inorder_newlink(struct net *net, struct net_device *dev,
			   struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	return inorder_create_link(net, dev, tb, data, extack);
}
#endif

static void inorder_dellink(struct net_device *dev, struct list_head *head)
{
	struct inorder_dev *priv = netdev_priv(dev);

	/* Afterwards no frame is on its way into a ring. */
	netdev_rx_handler_unregister(priv->lower);
	inorder_allow_merging(priv);
	netdev_upper_dev_unlink(priv->lower, dev);
	unregister_netdevice_queue(dev, head);
}

static int inorder_changelink(struct net_device *dev, struct nlattr *tb[],
			      struct nlattr *data[],
			      struct netlink_ext_ack *extack)
{
	struct inorder_dev *priv = netdev_priv(dev);
	struct inorder_params params = priv->params;
	int error;

	if (!data || !data[IFLA_INORDER_SORTER])
		return 0;
	error = inorder_read_sorter(data[IFLA_INORDER_SORTER], &params.sorter, extack);
	return error ? error : inorder_queues_change(priv, &params);
}

static size_t inorder_get_size(const struct net_device *dev)
{
	return nla_total_size(INORDER_TEXT);
}

static int inorder_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct inorder_dev *priv = netdev_priv(dev);
	char text[INORDER_TEXT];

	inorder_config_write(&priv->params.sorter, text, sizeof(text));
	return nla_put_string(skb, IFLA_INORDER_SORTER, text);
}

static struct net *inorder_get_link_net(const struct net_device *dev)
{
	const struct inorder_dev *priv = netdev_priv(dev);

	return dev_net(priv->lower);
}

/* One queue unless "numrxqueues N" asks for more: a flow stays in its queue. */
static unsigned int inorder_one_queue(void)
{
	return 1;
}

static const struct nla_policy inorder_policy[IFLA_INORDER_MAX + 1] = {
	[IFLA_INORDER_SORTER] = { .type = NLA_NUL_STRING,
				  .len = INORDER_TEXT - 1 },
};

static struct rtnl_link_ops inorder_link_ops __read_mostly = {
	.kind = "inorder",
	.maxtype = IFLA_INORDER_MAX,
	.policy = inorder_policy,
	.priv_size = sizeof(struct inorder_dev),
	.setup = inorder_setup,
	.newlink = inorder_newlink,
	.dellink = inorder_dellink,
	.changelink = inorder_changelink,
	.get_size = inorder_get_size,
	.fill_info = inorder_fill_info,
	.get_link_net = inorder_get_link_net,
	.get_num_rx_queues = inorder_one_queue,
};

/* Follows what happens to the lower device. */
static int inorder_event(struct notifier_block *unused, unsigned long event,
			 void *ptr)
{
	struct net_device *lower = netdev_notifier_info_to_dev(ptr);
	struct inorder_dev *priv;
	struct net_device *dev;
	LIST_HEAD(list);

	if (rcu_access_pointer(lower->rx_handler) != inorder_handle_frame)
		return NOTIFY_DONE;
	priv = rtnl_dereference(lower->rx_handler_data);
	dev = priv->dev;
	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
		netif_stacked_transfer_operstate(lower, dev);
		break;
	case NETDEV_CHANGEMTU:
		if (dev->mtu > lower->mtu)
			dev_set_mtu(dev, lower->mtu);
		break;
	case NETDEV_CHANGEADDR:
		eth_hw_addr_set(dev, lower->dev_addr);
		call_netdevice_notifiers(NETDEV_CHANGEADDR, dev);
		break;
	case NETDEV_FEAT_CHANGE:
		netif_inherit_tso_max(dev, lower);
		netdev_update_features(dev);
		break;
	case NETDEV_UNREGISTER:
		/* It may only go to another namespace. */
		if (lower->reg_state != NETREG_UNREGISTERING)
			break;
		inorder_dellink(dev, &list);
		unregister_netdevice_many(&list);
		break;
	case NETDEV_PRE_TYPE_CHANGE:
		return NOTIFY_BAD;
	}
	return NOTIFY_DONE;
}

static struct notifier_block inorder_notifier = {
	.notifier_call = inorder_event,
};

static int __init inorder_module_init(void)
{
	int error = register_netdevice_notifier(&inorder_notifier);

	if (error)
		return error;
	error = rtnl_link_register(&inorder_link_ops);
	if (error)
		unregister_netdevice_notifier(&inorder_notifier);
	return error;
}

static void __exit inorder_module_exit(void)
{
	rtnl_link_unregister(&inorder_link_ops);
	unregister_netdevice_notifier(&inorder_notifier);
}

module_init(inorder_module_init);
module_exit(inorder_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Puts received packets in order before the stack sees them");
MODULE_ALIAS_RTNL_LINK("inorder");
MODULE_VERSION("0.1.0");
