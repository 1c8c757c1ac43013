// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which packets may be held and sorted: section 3.3 of the SRPIC paper, and no
 * segment without data. The rule is that of crates/sort/src/classify.rs.
 */
#include "classify.h"

#define PROTOCOL_TCP	6
#define FIN		0x01
#define SYN		0x02
#define RST		0x04
/* CWR ECE URG RST SYN FIN: the stack must see them at once. */
#define UNSUITABLE	0xe7

static u16 classify_be16(const u8 *p)
{
	return (u16)(p[0] << 8 | p[1]);
}

static u32 classify_be32(const u8 *p)
{
	return (u32)classify_be16(p) << 16 | classify_be16(p + 2);
}

static u64 classify_be64(const u8 *p)
{
	return (u64)classify_be32(p) << 32 | classify_be32(p + 4);
}

/* Anything but timestamps (RFC 7323 section 3.2), no-operation and end of list. */
static bool classify_has_other_options(const u8 *options, u32 length)
{
	enum { END, NOP, TIMESTAMPS = 8, TIMESTAMPS_LENGTH = 10 };

	while (length && *options != END) {
		u32 step = 1;

		if (*options != NOP) {
			if (length < TIMESTAMPS_LENGTH ||
			    options[0] != TIMESTAMPS ||
			    options[1] != TIMESTAMPS_LENGTH)
				return true;
			step = TIMESTAMPS_LENGTH;
		}
		options += step;
		length -= step;
	}
	return false;
}

static enum inorder_kind classify_kind_of(u8 flags, u32 payload, bool is_fragment,
					  bool has_options)
{
	if (payload && !(flags & UNSUITABLE) && !is_fragment && !has_options)
		return INORDER_DATA;
	if (flags & (FIN | RST))
		return INORDER_CLOSE;
	if (flags & SYN)
		return INORDER_OPEN;
	if (!payload && !is_fragment)
		return INORDER_ACK;
	return INORDER_OTHER;
}

/* The TCP header behind the IP header of this length. */
static bool classify_read_tcp(const u8 *ip, u32 have, u32 header, u32 whole,
			      bool is_fragment, bool has_ip_options,
		     struct inorder_meta *meta)
{
	const u8 *tcp = ip + header;
	bool has_options = has_ip_options;
	u32 length;

	if (have < header + 20 || whole < header + 20)
		return false;
	length = (u32)(tcp[12] >> 4) * 4;
	if (length < 20 || have < header + length || whole < header + length) {
		has_options = true;
		meta->len = 0;
	} else {
		has_options |= classify_has_other_options(tcp + 20, length - 20);
		meta->len = whole - header - length;
	}
	meta->seq = classify_be32(tcp + 4);
	meta->flow.words[4] = (u64)classify_be16(tcp) << 48 | (u64)classify_be16(tcp + 2) << 32;
	meta->kind = classify_kind_of(tcp[13], meta->len, is_fragment, has_options);
	return true;
}

static bool classify_read_ipv4(const u8 *ip, u32 have, u32 whole,
			       struct inorder_meta *meta)
{
	u32 header, total;

	if (have < 20)
		return false;
	header = (u32)(ip[0] & 15) * 4;
	total = classify_be16(ip + 2);
	if (header < 20 || ip[9] != PROTOCOL_TCP)
		return false;
	/* The ports are in the first fragment only. */
	if (classify_be16(ip + 6) & 0x1fff)
		return false;
	/* Segments merged to more than 64 KiB have a total length of 0. */
	if (total)
		whole = min(whole, total);
	meta->flow.words[0] = 0xffff00000000ULL | classify_be32(ip + 12);
	meta->flow.words[1] = 0xffff00000000ULL | classify_be32(ip + 16);
	meta->flow.words[2] = 0;
	meta->flow.words[3] = 0;
	return classify_read_tcp(ip, have, header, whole, classify_be16(ip + 6) & 0x2000,
			header > 20, meta);
}

static bool classify_read_ipv6(const u8 *ip, u32 have, u32 whole,
			       struct inorder_meta *meta)
{
	u32 payload;

	/* Behind extension headers nothing is sorted. */
	if (have < 40 || ip[6] != PROTOCOL_TCP)
		return false;
	payload = classify_be16(ip + 4);
	if (payload)
		whole = min(whole, payload + 40);
	meta->flow.words[0] = classify_be64(ip + 16);
	meta->flow.words[1] = classify_be64(ip + 32);
	meta->flow.words[2] = classify_be64(ip + 8);
	meta->flow.words[3] = classify_be64(ip + 24);
	return classify_read_tcp(ip, have, 40, whole, false, false, meta);
}

bool inorder_classify(const u8 *ip, u32 have, u32 whole, int version,
		      struct inorder_meta *meta)
{
	if (!have || ip[0] >> 4 != version)
		return false;
	if (version == INORDER_IPV4)
		return classify_read_ipv4(ip, have, whole, meta);
	if (version == INORDER_IPV6)
		return classify_read_ipv6(ip, have, whole, meta);
	return false;
}
