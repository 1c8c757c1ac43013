/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels from 6.1 on. Kbuild looks for each feature in
 * the headers it builds against, because distributions backport.
 */
#ifndef INORDER_COMPAT_H
#define INORDER_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <net/rtnetlink.h>

#ifndef INORDER_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* The driver has no transmit lock: the lower device has one. */
static inline void inorder_set_lockless(struct net_device *dev)
{
#ifdef INORDER_HAVE_LLTX_BIT
	dev->lltx = true;
#else
	dev->features |= NETIF_F_LLTX;
#endif
}

#ifdef INORDER_HAVE_NEWLINK_PARAMS
#define INORDER_NEWLINK(name, net, dev, tb, data, extack)		\
	static int name##_params(struct net_device *dev,		\
				 struct rtnl_newlink_params *params,	\
				 struct netlink_ext_ack *extack)	\
	{								\
		return name(rtnl_newlink_link_net(params), dev,		\
			    params->tb, params->data, extack);		\
	}
#define INORDER_NEWLINK_OP(name)	name##_params
#else
#define INORDER_NEWLINK(name, net, dev, tb, data, extack)		\
	static int name##_params(struct net *net, struct net_device *dev, \
				 struct nlattr *tb[], struct nlattr *data[], \
				 struct netlink_ext_ack *extack)	\
	{								\
		return name(net, dev, tb, data, extack);		\
	}
#define INORDER_NEWLINK_OP(name)	name##_params
#endif

#endif
