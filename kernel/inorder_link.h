/* SPDX-License-Identifier: GPL-2.0-only */
/* Attributes of devices of type "inorder" in rtnetlink's IFLA_INFO_DATA. */
#ifndef INORDER_LINK_H
#define INORDER_LINK_H

enum {
	IFLA_INORDER_UNSPEC,
	/* A string: the sorter with its settings, as in
	 * "resequence:bound=20ms".
	 */
	IFLA_INORDER_SORTER,
	__IFLA_INORDER_MAX,
};

#define IFLA_INORDER_MAX	(__IFLA_INORDER_MAX - 1)

#endif
