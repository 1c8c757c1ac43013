/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * siphash() of the kernel, for user space: SipHash-2-4 (Aumasson and Bernstein,
 * 2012) of whole words on a little-endian machine.
 */
#ifndef INORDER_USER_SIPHASH_H
#define INORDER_USER_SIPHASH_H

typedef struct {
	u64 key[2];
} siphash_key_t;

static inline void sip_rounds(u64 v[4], int rounds)
{
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rol64(v[1], 13) ^ v[0];
		v[3] = rol64(v[3], 16) ^ v[2];
		v[0] = rol64(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = rol64(v[3], 21) ^ v[0];
		v[1] = rol64(v[1], 17) ^ v[2];
		v[2] = rol64(v[2], 32);
	}
}

static inline void sip_word(u64 v[4], u64 word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

static inline u64 siphash(const void *data, size_t bytes,
			  const siphash_key_t *key)
{
	u64 v[4] = {
		key->key[0] ^ 0x736f6d6570736575ULL,
		key->key[1] ^ 0x646f72616e646f6dULL,
		key->key[0] ^ 0x6c7967656e657261ULL,
		key->key[1] ^ 0x7465646279746573ULL,
	};
	size_t at;
	u64 word;

	for (at = 0; at + 8 <= bytes; at += 8) {
		memcpy(&word, (const char *)data + at, 8);
		sip_word(v, word);
	}
	sip_word(v, (u64)bytes << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
