/*
 * Packets a second through DPDK's rte_reorder on one core.
 *
 * Timed: writing the sequence number into the mbuf, rte_reorder_insert of each packet of a batch,
 * rte_reorder_drain into an array. Not timed: reading packet headers, finding a flow (rte_reorder
 * knows one number space and no flows). "alloc" adds taking mbufs from a pool and giving them
 * back, in bulk; without it the same mbufs go round.
 *
 * One line a workload: name, million packets a second (fastest of many short rounds), reordered
 * packets after, in per cent, and packets refused.
 */
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_reorder.h>
#include <stdio.h>
#include <string.h>

#include "lap.h"

#define WINDOW 512  /* rte_reorder's buffer, as large as the other sorter's ring */
#define MBUFS 8191

/* Lots of room, so that an mbuf never comes round while it is still in the buffer. */
static struct rte_mbuf *kept[2048];
static struct rte_mbuf *up[2 * WINDOW];
static struct rte_mempool *pool;

struct result {
    double rate;
    uint64_t delivered, late, refused;
};

/* What the stack would see: how many come below the largest number before. */
struct witness {
    uint64_t delivered, late;
    uint32_t top;
    int any;
};

static void look(struct witness *w, struct rte_mbuf **mbufs, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t seq = *rte_reorder_seqn(mbufs[i]);
        if (w->any && (int32_t)(seq - w->top) < 0)
            w->late++;
        else
            w->top = seq;
        w->any = 1;
        w->delivered++;
    }
}

static unsigned drain(struct rte_reorder_buffer *b, int alloc, struct witness *w)
{
    unsigned count = rte_reorder_drain(b, up, 2 * WINDOW);
    if (w)
        look(w, up, count);
    if (alloc && count)
        rte_pktmbuf_free_bulk(up, count);
    return count;
}

/* Sorts at least `packets` packets; `w` given: looks at the order as well (not for timing). */
static struct result round_of(const struct workload *load, uint64_t packets, int alloc,
                              struct witness *w)
{
    struct result r = {0};
    struct rte_reorder_buffer *b = rte_reorder_create("bench", SOCKET_ID_ANY, WINDOW);
    struct rte_mbuf *fresh[BATCH];
    uint32_t base = 0, next = 0;
    uint64_t done = 0;

    if (!b)
        return r;
    double started = now_s();
    while (done < packets) {
        for (uint32_t at = 0; at < load->count; at += BATCH) {
            uint32_t upto = at + BATCH < load->count ? at + BATCH : load->count;
            if (alloc && rte_pktmbuf_alloc_bulk(pool, fresh, upto - at) != 0)
                return r;
            for (uint32_t i = at; i < upto; i++) {
                struct rte_mbuf *m = alloc ? fresh[i - at] : kept[next++ % RTE_DIM(kept)];
                *rte_reorder_seqn(m) = base + load->lap[i].index;
                while (rte_reorder_insert(b, m) != 0) {
                    if (rte_errno == ENOSPC && drain(b, alloc, w) > 0)
                        continue;
                    r.refused++;
                    if (alloc)
                        rte_pktmbuf_free(m);
                    break;
                }
            }
            drain(b, alloc, w);
        }
        done += load->count;
        base += load->per_flow;
    }
    r.rate = (double)done / (now_s() - started);
    while (drain(b, alloc, w) > 0)
        ;
    if (alloc)
        rte_reorder_free(b); /* gives back what it still holds */
    else {
        rte_reorder_reset(b);
        rte_reorder_free(b);
    }
    return r;
}

static int measure(const struct workload *load, int alloc)
{
    struct witness w = {0};
    double fastest = 0;
    struct result seen = round_of(load, load->count, alloc, &w);

    for (int i = 0; i < ROUNDS; i++) {
        struct result r = round_of(load, ROUND, alloc, NULL);
        if (r.rate == 0)
            return -1;
        fastest = r.rate > fastest ? r.rate : fastest;
    }
    printf("rte_reorder%s %s %.1f %.2f %llu\n", alloc ? "-alloc" : "", load->name, fastest / 1e6,
           100.0 * (double)w.late / (double)w.delivered, (unsigned long long)seen.refused);
    return 0;
}

int main(void)
{
    static struct workload load;
    char *args[] = {"reorder",  "--no-huge", "--no-pci",        "--no-shconf", "-l",
                    "0",        "-m",        "128",             "--no-telemetry",
                    "--log-level", "error",  NULL};

    if (rte_eal_init((int)RTE_DIM(args) - 1, args) < 0) {
        fprintf(stderr, "rte_eal_init: %s\n", rte_strerror(rte_errno));
        return 1;
    }
    pool = rte_pktmbuf_pool_create("pool", MBUFS, 256, 0, 128, SOCKET_ID_ANY);
    if (!pool) {
        fprintf(stderr, "rte_pktmbuf_pool_create: %s\n", rte_strerror(rte_errno));
        return 1;
    }
    for (int alloc = 1; alloc >= 0; alloc--) {
        if (!alloc && rte_pktmbuf_alloc_bulk(pool, kept, RTE_DIM(kept)) != 0)
            return 1;
        one_flow(&load, "in-order", 0);
        if (measure(&load, alloc) != 0)
            return 1;
        one_flow(&load, "late-10-percent", 1);
        if (measure(&load, alloc) != 0)
            return 1;
    }
    return 0;
}
