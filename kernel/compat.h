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
#ifdef INORDER_HAVE_OPS_LOCK
#include <net/netdev_lock.h>
#endif

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

/* Some drivers have a lock of their own beside rtnl. */
static inline void inorder_lock_ops(struct net_device *dev)
{
#ifdef INORDER_HAVE_OPS_LOCK
	netdev_lock_ops(dev);
#endif
}

static inline void inorder_unlock_ops(struct net_device *dev)
{
#ifdef INORDER_HAVE_OPS_LOCK
	netdev_unlock_ops(dev);
#endif
}

#endif
