/* The arrivals both sorters are measured with: those of examples/sort_throughput.rs. */
#ifndef LAP_H
#define LAP_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define LAP 8192
#define MAX_LAP 20000
#define BATCH 64
#define ROUND 200000
#define ROUNDS 200
#define PAYLOAD 1448

struct arrival {
    uint32_t flow;
    uint32_t index; /* position in its flow, within the lap */
};

struct workload {
    const char *name;
    uint32_t count;    /* arrivals of a lap */
    uint32_t flows;
    uint32_t per_flow; /* packets a flow sends in a lap */
    struct arrival lap[MAX_LAP];
};

struct placed {
    uint32_t place;
    uint32_t index;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

enum lateness { NONE, EVERY_TENTH, ONE_IN_TEN_AT_RANDOM };

/* By how many places packet `i` comes late: 1 to 8, or 0. */
static uint32_t late_by(enum lateness lateness, uint32_t i, uint32_t random)
{
    switch (lateness) {
    case EVERY_TENTH:
        return i % 10 == 3 ? 1 + i / 10 % 8 : 0;
    case ONE_IN_TEN_AT_RANDOM:
        return random % 10 == 3 ? 1 + random / 10 % 8 : 0;
    default:
        return 0;
    }
}

/* Marsaglia's xorshift with 32 bits of state, never 0. */
static uint32_t random_after(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    return x ^ x << 5;
}

/* One flow. */
static void one_flow(struct workload *w, const char *name, enum lateness lateness)
{
    static struct placed places[LAP];
    uint32_t random = 1;
    for (uint32_t i = 0; i < LAP; i++) {
        random = random_after(random);
        uint32_t by = late_by(lateness, i, random);
        places[i] = (struct placed){2 * (i + by) + (by > 0), i};
    }
    qsort(places, LAP, sizeof places[0], by_place);
    w->name = name;
    w->count = w->per_flow = LAP;
    w->flows = 1;
    for (uint32_t i = 0; i < LAP; i++)
        w->lap[i] = (struct arrival){0, places[i].index};
}

/* Flows that take turns, one packet each. */
static void interleaved(struct workload *w, const char *name, uint32_t flows, uint32_t per_flow)
{
    w->name = name;
    w->flows = flows;
    w->per_flow = per_flow;
    w->count = flows * per_flow;
    for (uint32_t i = 0; i < w->count; i++)
        w->lap[i] = (struct arrival){i % flows, i / flows};
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
