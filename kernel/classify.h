/* SPDX-License-Identifier: GPL-2.0-only */
/* Which packets may be held and sorted, from their headers. */
#ifndef INORDER_CLASSIFY_H
#define INORDER_CLASSIFY_H

#include "sort.h"

#define INORDER_IPV4	4
#define INORDER_IPV6	6

/*
 * Headers that inorder_classify() needs: 60 bytes of IPv4 with options and 60
 * bytes of TCP.
 */
#define INORDER_HEADERS	120

/*
 * Reads the headers of an IP packet of this version. have: bytes that can be
 * read; whole: length of the packet. False: it belongs to no flow, and passes
 * without a sorter.
 */
bool inorder_classify(const u8 *ip, u32 have, u32 whole, int version,
		      struct inorder_meta *meta);

#endif
