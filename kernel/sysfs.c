// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/net/NAME/inorder: the parameters that ethtool has no word for.
 *
 *   sorter     the sorter with its settings, as in "resequence:bound=20ms"
 *   flows      flows that a sorter follows at the same time
 *   gap_usecs  least time between two interrupts (interrupt throttling)
 */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "inorder.h"

static struct inorder_dev *inorder_to_priv(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

int inorder_set_sorter(struct inorder_dev *priv, const char *text)
{
	struct inorder_params params = priv->params;
	char copy[INORDER_TEXT];
	int error;

	if (strscpy(copy, text, sizeof(copy)) < 0)
		return -EINVAL;
	error = inorder_config_read(copy, &params.sorter);
	return error ? error : inorder_queues_change(priv, &params);
}

static int inorder_set_flows(struct inorder_dev *priv, const char *text)
{
	struct inorder_params params = priv->params;
	int error = kstrtou32(text, 10, &params.flows);

	if (error)
		return error;
	if (!params.flows || params.flows > INORDER_MAX_FLOWS)
		return -ERANGE;
	return inorder_queues_change(priv, &params);
}

static int inorder_set_gap(struct inorder_dev *priv, const char *text)
{
	u32 usecs;
	int error = kstrtou32(text, 10, &usecs);

	if (error)
		return error;
	if (usecs > INORDER_MAX_USECS)
		return -ERANGE;
	WRITE_ONCE(priv->params.gap_usecs, usecs);
	return 0;
}

/* Under rtnl, which whoever unregisters the device holds while it waits. */
static ssize_t inorder_store(struct device *dev, const char *text, size_t length,
			     int (*set)(struct inorder_dev *priv, const char *text))
{
	int error;

	if (!rtnl_trylock())
		return restart_syscall();
	if (to_net_dev(dev)->reg_state == NETREG_REGISTERED)
		error = set(inorder_to_priv(dev), text);
	else
		error = -ENODEV;
	rtnl_unlock();
	return error ? error : (ssize_t)length;
}

static ssize_t sorter_show(struct device *dev, struct device_attribute *attr,
			   char *text)
{
	struct inorder_config config;
	int length;

	if (!rtnl_trylock())
		return restart_syscall();
	config = inorder_to_priv(dev)->params.sorter;
	rtnl_unlock();
	length = inorder_config_write(&config, text, PAGE_SIZE - 1);
	text[length++] = '\n';
	return length;
}

static ssize_t sorter_store(struct device *dev, struct device_attribute *attr,
			    const char *text, size_t length)
{
	return inorder_store(dev, text, length, inorder_set_sorter);
}
static DEVICE_ATTR_RW(sorter);

static ssize_t flows_show(struct device *dev, struct device_attribute *attr,
			  char *text)
{
	return sysfs_emit(text, "%u\n", READ_ONCE(inorder_to_priv(dev)->params.flows));
}

static ssize_t flows_store(struct device *dev, struct device_attribute *attr,
			   const char *text, size_t length)
{
	return inorder_store(dev, text, length, inorder_set_flows);
}
static DEVICE_ATTR_RW(flows);

static ssize_t gap_usecs_show(struct device *dev, struct device_attribute *attr,
			      char *text)
{
	return sysfs_emit(text, "%u\n",
			  READ_ONCE(inorder_to_priv(dev)->params.gap_usecs));
}

static ssize_t gap_usecs_store(struct device *dev, struct device_attribute *attr,
			       const char *text, size_t length)
{
	return inorder_store(dev, text, length, inorder_set_gap);
}
static DEVICE_ATTR_RW(gap_usecs);

static struct attribute *attributes[] = {
	&dev_attr_sorter.attr,
	&dev_attr_flows.attr,
	&dev_attr_gap_usecs.attr,
	NULL,
};

const struct attribute_group inorder_sysfs_group = {
	.name = "inorder",
	.attrs = attributes,
};
