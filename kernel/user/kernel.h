/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sorters use of the kernel, for user space. */
#ifndef INORDER_USER_KERNEL_H
#define INORDER_USER_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;

#define U32_MAX	UINT32_MAX
#define S64_MAX	INT64_MAX
#define S64_MIN	INT64_MIN

#define GFP_KERNEL_ACCOUNT	0
#define kvcalloc(n, size, flags)	calloc(n, size)
#define kvzalloc(size, flags)		calloc(1, size)
#define kvfree(p)			free((void *)(p))

#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp_t(type, v, lo, hi)	min_t(type, max_t(type, v, lo), hi)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define swap(a, b) do { __typeof__(a) t_ = (a); (a) = (b); (b) = t_; } while (0)
#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))

static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline u64 rol64(u64 word, unsigned int shift)
{
	return (word << shift) | (word >> (64 - shift));
}

#include "rbtree.h"
#include "siphash.h"

static inline u32 roundup_pow_of_two(u32 n)
{
	u32 power = 1;

	while (power < n)
		power <<= 1;
	return power;
}

static inline char *strim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && (end[-1] == ' ' || end[-1] == '\n'))
		*--end = 0;
	while (*text == ' ' || *text == '\n')
		text++;
	return text;
}

static inline int kstrtou64(const char *text, unsigned int base, u64 *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	*value = strtoull(text, &end, (int)base);
	return errno || *end ? -EINVAL : 0;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

#define scnprintf snprintf

#endif
