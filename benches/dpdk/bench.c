/*
 * Packets a second on one core: DPDK's rte_reorder and a sorter through its C interface, in one
 * program, over the same mbufs and the same arrivals, round by round in turn.
 *
 * Timed, rte_reorder: writing the sequence number into the mbuf, rte_reorder_insert of each packet
 * of a batch, rte_reorder_drain into an array. It knows one number space and no flows.
 * Timed, the sorter (SRPIC with blocks of 32, or the argument): describing each packet (pointer, 40-byte flow, sequence number), then
 * inorder_sort_sort_batch into an array, which finds the flow.
 * Timed on neither side: receiving, and reading packet headers.
 *
 * Pools: "hot", few small mbufs that stay in the processor's second cache, kept and used again in
 * turn; "standard", 8191 mbufs of the usual size, likewise; "alloc", as standard, but taken from
 * the pool and given back, in bulk, once a batch.
 *
 * Lines: sorter, pool, workload, million packets a second (fastest of many short rounds), packets
 * that come up below a number already seen in their flow, in per cent, packets refused.
 */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_reorder.h>
#include <stdio.h>
#include <string.h>

#include "inorder_sort.h"
#include "lap.h"

#define WINDOW 512 /* rte_reorder's buffer, and the other sorter's ring */
#define MAX_MBUFS 8191

struct pool {
    const char *name;
    struct rte_mempool *from;
    struct rte_mbuf *kept[MAX_MBUFS];
    uint32_t count; /* of kept; 0: take from the pool */
};

struct round {
    const struct workload *load;
    struct pool *pool;
    uint64_t packets; /* minimum number */
    int witness;      /* look at the order: not for timing */
};

struct result {
    double rate;
    uint64_t late, delivered, refused;
};

static struct rte_mbuf *up[4 * WINDOW];
static uint8_t flows[MAX_LAP][40];
static uint32_t top[MAX_LAP]; /* largest position seen, by flow */

/* What the stack would see: positions in their flow, counted from the start of the round. */
static void look(struct result *r, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t flow = up[i]->hash.rss, position = *rte_reorder_seqn(up[i]);
        if (position < top[flow])
            r->late++;
        else
            top[flow] = position;
        r->delivered++;
    }
}

static void deliver(struct result *r, const struct round *round, unsigned count)
{
    if (round->witness)
        look(r, count);
    if (round->pool->count == 0 && count > 0)
        rte_pktmbuf_free_bulk(up, count);
}

/* The mbufs of a batch. */
static struct rte_mbuf **take(struct pool *pool, uint32_t *next, uint32_t count,
                              struct rte_mbuf **fresh)
{
    if (pool->count == 0)
        return rte_pktmbuf_alloc_bulk(pool->from, fresh, count) == 0 ? fresh : NULL;
    if (*next + count > pool->count)
        *next = 0;
    *next += count;
    return pool->kept + (*next - count);
}

static int insert(struct rte_reorder_buffer *b, struct rte_mbuf *m, const struct round *round,
                  struct result *r)
{
    while (rte_reorder_insert(b, m) != 0) {
        unsigned count = rte_errno == ENOSPC ? rte_reorder_drain(b, up, RTE_DIM(up)) : 0;
        if (count == 0) {
            r->refused++;
            return -1;
        }
        deliver(r, round, count);
    }
    return 0;
}

static struct result reorder_round(const struct round *round)
{
    const struct workload *load = round->load;
    struct rte_reorder_buffer *b = rte_reorder_create("bench", SOCKET_ID_ANY, WINDOW);
    struct rte_mbuf *fresh[BATCH];
    struct result r = {0};
    uint64_t done = 0;
    uint32_t base = 0, next = 0;
    unsigned count;

    if (!b)
        return r;
    double started = now_s();
    for (; done < round->packets; done += load->count, base += load->per_flow) {
        for (uint32_t at = 0; at < load->count; at += BATCH) {
            uint32_t size = RTE_MIN((uint32_t)BATCH, load->count - at);
            struct rte_mbuf **m = take(round->pool, &next, size, fresh);
            if (!m)
                return r;
            for (uint32_t i = 0; i < size; i++) {
                *rte_reorder_seqn(m[i]) = base + load->lap[at + i].index;
                if (round->witness)
                    m[i]->hash.rss = 0;
                if (insert(b, m[i], round, &r) != 0 && round->pool->count == 0)
                    rte_pktmbuf_free(m[i]);
            }
            deliver(&r, round, rte_reorder_drain(b, up, RTE_DIM(up)));
        }
    }
    r.rate = (double)done / (now_s() - started);
    while ((count = rte_reorder_drain(b, up, RTE_DIM(up))) > 0)
        deliver(&r, round, count);
    rte_reorder_free(b); /* empty: the laps have no gaps */
    return r;
}

/* The sorter measured, as inorder_sort_config names it; the program's argument. */
static const char *sorter_name = "srpic";

static void put_up(void *packet, void *count)
{
    up[(*(unsigned *)count)++] = packet;
}

static struct result sorter_round(const struct round *round)
{
    const struct workload *load = round->load;
    /* As a driver lays out what it uses for every packet: one line of the cache each. */
    static inorder_sort_packet batch[BATCH] __rte_cache_aligned;
    struct rte_mbuf *fresh[BATCH];
    inorder_sort_config config;
    inorder_sorter *sorter;
    struct result r = {0};
    uint64_t done = 0;
    uint32_t base = 0, next = 0;

    inorder_sort_config_default(&config);
    config.sorter = sorter_name;
    config.ring_size = WINDOW;
    config.flows = RTE_MAX((uint32_t)WINDOW, load->flows);
    if (inorder_sort_create(&config, &sorter) != 0)
        return r;
    double started = now_s();
    for (; done < round->packets; done += load->count, base += load->per_flow) {
        for (uint32_t at = 0; at < load->count; at += BATCH) {
            uint32_t size = RTE_MIN((uint32_t)BATCH, load->count - at);
            struct rte_mbuf **m = take(round->pool, &next, size, fresh);
            if (!m)
                return r;
            for (uint32_t i = 0; i < size; i++) {
                const struct arrival *a = &load->lap[at + i];
                batch[i].packet = m[i];
                memcpy(batch[i].flow, flows[a->flow], sizeof flows[0]);
                batch[i].seq = (base + a->index) * PAYLOAD;
                batch[i].len = PAYLOAD;
                batch[i].kind = INORDER_SORT_DATA;
                if (round->witness) {
                    *rte_reorder_seqn(m[i]) = base + a->index;
                    m[i]->hash.rss = a->flow;
                }
            }
            int64_t n = inorder_sort_sort_batch(sorter, batch, size, (int64_t)done, (void **)up,
                                                RTE_DIM(up));
            if (n < 0)
                return r;
            deliver(&r, round, (unsigned)n);
        }
    }
    r.rate = (double)done / (now_s() - started);
    unsigned rest = 0;
    inorder_sort_flush(sorter, (int64_t)done, put_up, &rest);
    deliver(&r, round, rest);
    inorder_sort_destroy(sorter);
    return r;
}

typedef struct result sorter_fn(const struct round *);

static struct result witnessed(sorter_fn *sort, const struct workload *load, struct pool *pool)
{
    memset(top, 0, sizeof top);
    return sort(&(struct round){load, pool, load->count, 1});
}

static int report(const char *name, const struct round *round, double rate, struct result w)
{
    if (rate == 0 || w.delivered + w.refused == 0)
        return -1;
    printf("%-11s %-8s %-24s %6.1f %5.2f %llu\n", name, round->pool->name, round->load->name,
           rate / 1e6, 100.0 * (double)w.late / (double)w.delivered,
           (unsigned long long)w.refused);
    return 0;
}

/* Both sorters in turn, or ours alone where there are flows. */
static int measure(const struct workload *load, struct pool *pool)
{
    struct round round = {load, pool, ROUND, 0};
    double reorder = 0, ours = 0;

    for (int i = 0; i < ROUNDS; i++) {
        double rate = sorter_round(&round).rate;
        ours = RTE_MAX(ours, rate);
        if (load->flows == 1) {
            rate = reorder_round(&round).rate;
            reorder = RTE_MAX(reorder, rate);
        }
    }
    if (load->flows == 1 &&
        report("rte_reorder", &round, reorder, witnessed(reorder_round, load, pool)) != 0)
        return -1;
    return report(sorter_name, &round, ours, witnessed(sorter_round, load, pool));
}

static int fill(struct pool *pool, const char *name, uint32_t count, uint32_t keep, uint16_t room)
{
    pool->name = name;
    pool->from = rte_pktmbuf_pool_create(name, count, 256, 0, room, SOCKET_ID_ANY);
    pool->count = keep;
    if (!pool->from) {
        fprintf(stderr, "rte_pktmbuf_pool_create: %s\n", rte_strerror(rte_errno));
        return -1;
    }
    return keep > 0 ? rte_pktmbuf_alloc_bulk(pool->from, pool->kept, keep) : 0;
}

static void name_flows(void)
{
    static const uint8_t dst[4] = {192, 0, 2, 1};
    for (uint32_t f = 0; f < MAX_LAP; f++) {
        inorder_sort_packet p;
        uint8_t src[4] = {10, (uint8_t)(f >> 16), (uint8_t)(f >> 8), (uint8_t)f};
        inorder_sort_set_v4(&p, src, 443, dst, 50000, 0);
        memcpy(flows[f], p.flow, sizeof flows[0]);
    }
}

int main(int argc, char **argv)
{
    static struct workload load;
    static struct pool hot, standard, alloc;
    static const struct {
        const char *name;
        enum lateness lateness;
    } one[] = {{"in-order", NONE},
               {"late-10-percent", EVERY_TENTH},
               {"late-10-percent-random", ONE_IN_TEN_AT_RANDOM}};
    struct pool *pools[] = {&hot, &standard, &alloc};
    char *args[] = {"bench", "--no-huge",      "--no-pci",    "--no-shconf", "-l", "0", "-m",
                    "128",   "--no-telemetry", "--log-level", "error",       NULL};

    if (argc > 1)
        sorter_name = argv[1];
    if (rte_eal_init((int)RTE_DIM(args) - 1, args) < 0) {
        fprintf(stderr, "rte_eal_init: %s\n", rte_strerror(rte_errno));
        return 1;
    }
    if (fill(&hot, "hot", 2047, 1728, 128) != 0 ||
        fill(&standard, "standard", MAX_MBUFS, MAX_MBUFS, RTE_MBUF_DEFAULT_BUF_SIZE) != 0 ||
        fill(&alloc, "alloc", MAX_MBUFS, 0, RTE_MBUF_DEFAULT_BUF_SIZE) != 0)
        return 1;
    name_flows();
    for (size_t i = 0; i < RTE_DIM(pools); i++) {
        for (size_t n = 0; n < RTE_DIM(one); n++) {
            one_flow(&load, one[n].name, one[n].lateness);
            if (measure(&load, pools[i]) != 0)
                return 1;
        }
        interleaved(&load, "flows-10000-interleaved", 10000, 2);
        if (measure(&load, pools[i]) != 0)
            return 1;
    }
    return 0;
}
