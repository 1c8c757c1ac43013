// SPDX-License-Identifier: GPL-2.0-only
/* The list of the sorters, their settings as text, and the hash of flows. */
#include "sort.h"

static const struct inorder_sorter_ops *const sorters[] = {
	&inorder_none,
	&inorder_srpic,
	&inorder_resequence,
};

static const struct {
	const char *name;
	u64 ns;
} times[] = {
	{ "s", 1000000000 },
	{ "ms", 1000000 },
	{ "us", 1000 },
	{ "ns", 1 },
};

static int config_read_time(char *text, u64 *ns)
{
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;
	char number[21];
	size_t i;
	u64 value;

	if (!digits || digits >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, digits);
	number[digits] = 0;
	if (kstrtou64(number, 10, &value))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		if (strcmp(unit, times[i].name))
			continue;
		return __builtin_mul_overflow(value, times[i].ns, ns) ?
			       -ERANGE : 0;
	}
	return -EINVAL;
}

static int config_read_value(enum inorder_unit unit, char *text, u64 *value)
{
	switch (unit) {
	case INORDER_PACKETS:
		return kstrtou64(text, 10, value);
	case INORDER_NANOSECONDS:
		return config_read_time(text, value);
	case INORDER_FLAG:
		*value = !strcmp(text, "true");
		return *value || !strcmp(text, "false") ? 0 : -EINVAL;
	}
	return -EINVAL;
}

static int config_read_setting(struct inorder_config *config, char *part)
{
	const struct inorder_sorter_ops *ops = config->ops;
	char *text = strchr(part, '=');
	unsigned int i;
	u64 value;
	int error;

	if (!text)
		return -EINVAL;
	*text++ = 0;
	part = strim(part);
	for (i = 0; i < ops->nsettings; i++) {
		const struct inorder_setting *setting = &ops->settings[i];

		if (strcmp(part, setting->name))
			continue;
		error = config_read_value(setting->unit, strim(text), &value);
		if (error)
			return error;
		if (value < setting->min || value > setting->max)
			return -ERANGE;
		config->values[i] = value;
		return 0;
	}
	return -EINVAL;
}

int inorder_config_read(char *text, struct inorder_config *config)
{
	struct inorder_config new = { 0 };
	char *settings = strchr(text, ':');
	unsigned int i;

	if (settings)
		*settings++ = 0;
	text = strim(text);
	for (i = 0; i < ARRAY_SIZE(sorters); i++)
		if (!strcmp(text, sorters[i]->name))
			new.ops = sorters[i];
	if (!new.ops)
		return -EINVAL;
	for (i = 0; i < new.ops->nsettings; i++)
		new.values[i] = new.ops->settings[i].standard;
	while (settings) {
		char *next = strchr(settings, ',');
		int error;

		if (next)
			*next++ = 0;
		settings = strim(settings);
		error = *settings ? config_read_setting(&new, settings) : 0;
		if (error)
			return error;
		settings = next;
	}
	*config = new;
	return 0;
}

static int config_write_value(enum inorder_unit unit, u64 value, char *text,
			      size_t size)
{
	size_t i = 0;

	switch (unit) {
	case INORDER_FLAG:
		return scnprintf(text, size, "%s", value ? "true" : "false");
	case INORDER_NANOSECONDS:
		/* The largest unit that gives a whole number. */
		while (div64_u64(value, times[i].ns) * times[i].ns != value)
			i++;
		value = div64_u64(value, times[i].ns);
		return scnprintf(text, size, "%llu%s",
				 (unsigned long long)value, times[i].name);
	case INORDER_PACKETS:
		break;
	}
	return scnprintf(text, size, "%llu", (unsigned long long)value);
}

int inorder_config_write(const struct inorder_config *config, char *text,
			 size_t size)
{
	const struct inorder_sorter_ops *ops = config->ops;
	int length = scnprintf(text, size, "%s", ops->name);
	char before = ':';
	unsigned int i;

	for (i = 0; i < ops->nsettings; i++) {
		const struct inorder_setting *setting = &ops->settings[i];

		if (config->values[i] == setting->standard)
			continue;
		length += scnprintf(text + length, size - length, "%c%s=",
				    before, setting->name);
		length += config_write_value(setting->unit, config->values[i],
				      text + length, size - length);
		before = ',';
	}
	return length;
}

struct inorder_sorter *inorder_create(const struct inorder_config *config,
				      const struct inorder_around *around)
{
	struct inorder_sorter *sorter = config->ops->create(config, around);

	if (sorter)
		sorter->ops = config->ops;
	return sorter;
}

/*
 * SipHash: senders choose the keys, and a hash that multiplies has inputs that
 * make an operand zero under every seed.
 */
u64 inorder_hash(const struct inorder_key *key, const siphash_key_t *secret)
{
	return siphash(key->words, sizeof(key->words), secret);
}

u64 inorder_path_hash(const struct inorder_key *key,
		      const siphash_key_t *secret)
{
	return siphash(key->words, 4 * sizeof(key->words[0]), secret);
}

/* No sorter: every packet passes as it comes. */

static u64 none_footprint(const struct inorder_config *config,
			  const struct inorder_around *around, u32 *packets)
{
	*packets = 0;
	return sizeof(struct inorder_sorter);
}

static struct inorder_sorter *none_create(const struct inorder_config *config,
					  const struct inorder_around *around)
{
	return kvzalloc(sizeof(struct inorder_sorter), GFP_KERNEL_ACCOUNT);
}

static void none_destroy(struct inorder_sorter *sorter)
{
	kvfree(sorter);
}

static void none_push(struct inorder_sorter *sorter,
		      const struct inorder_meta *meta, void *packet, s64 now,
		      struct inorder_out *out)
{
	if (meta->kind == INORDER_DATA)
		sorter->counters.suitable++;
	else
		sorter->counters.unsuitable++;
	out->deliver(out, packet);
}

static void none_end_of_batch(struct inorder_sorter *sorter, s64 now,
			      struct inorder_out *out)
{
	sorter->counters.batches++;
}

static s64 none_next_deadline(const struct inorder_sorter *sorter)
{
	return INORDER_NEVER;
}

static void none_on_deadline(struct inorder_sorter *sorter, s64 now,
			     struct inorder_out *out)
{
}

static u32 none_held(const struct inorder_sorter *sorter)
{
	return 0;
}

const struct inorder_sorter_ops inorder_none = {
	.name = "none",
	.footprint = none_footprint,
	.create = none_create,
	.destroy = none_destroy,
	.push = none_push,
	.end_of_batch = none_end_of_batch,
	.next_deadline = none_next_deadline,
	.on_deadline = none_on_deadline,
	.flush = none_on_deadline,
	.held = none_held,
};
