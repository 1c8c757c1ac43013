/*
 * A software forwarder of real threads: a network card (one thread, or none) deals numbered packets to the rings of
 * worker threads, each of which takes bursts, works on them and sends them; then a reorder buffer if it is wanted, and a
 * receiver whose driver takes packets after an interrupt and may sort them with SRPIC.
 *
 *   threads NAME=VALUE...     names, meanings and defaults are those of crates/netproc/nets/forwarder.net; times are in
 *                             nanoseconds, `offered` in packets per second; also packets, seed and wait=sleep|spin
 *
 * wait=sleep: the work of a packet is slept through, so that any number of workers runs on any machine; choose works far
 * above its wake-up delay. wait=spin: workers are pinned, one to a processor, and compute until the work is over; packets
 * come from a schedule in memory, since no processor is left for a network card, and what follows the line is left out.
 *
 * Prints `line FLOW NUMBER` and `stack FLOW NUMBER` for each packet in the order in which it arrived there, and on stderr
 * what the machine added: delays of wake-ups, or the time for which it took the processor away. Exit code 1 if something is
 * missing, with one line that says what.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "inorder_sort.h"
#include "options.h"

/* --- time, and what the machine adds to it --- */

/* Lateness of wake-ups, or for spinning the time between two looks at the clock that the processor was away. */
struct jitter {
    double sum_ns, most_ns;
    uint64_t count;
    uint64_t bursts; /* of a worker */
};

/* Two looks at the clock that lie further apart than this mean that something else ran in between. */
static const double AWAY_NS = 2000;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void note(struct jitter *jitter, double ns)
{
    jitter->sum_ns += ns;
    jitter->count++;
    jitter->most_ns = ns > jitter->most_ns ? ns : jitter->most_ns;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

static void wait_until(int64_t until, struct jitter *jitter)
{
    int64_t before = now_ns();
    if (!options.is_spinning) {
        struct timespec t = timespec_of(until);
        if (until <= before)
            return;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
            ;
        note(jitter, (double)(now_ns() - until));
        return;
    }
    while (before < until) {
        int64_t now = now_ns();
        if ((double)(now - before) > AWAY_NS)
            note(jitter, (double)(now - before));
        before = now;
    }
}

/* --- packets, rings, and queues into which many threads write --- */

struct packet {
    int64_t arrival_ns;
    uint32_t flow, seq, order;
};

static struct packet *packets; /* in the order of their arrival */

/* The ring of a worker: one thread fills it, one empties it. */
struct ring {
    uint32_t *slots;
    _Atomic uint64_t filled, emptied;
    sem_t news;
};

/* Packets in the order in which they were sent; it holds all of a run, so that it is never full. */
struct queue {
    _Atomic uint32_t *slots; /* number of the packet plus one; 0: not written yet */
    _Atomic uint64_t reserved;
    uint64_t taken; /* of the only reader */
    sem_t news;
};

static struct ring rings[MAX_CORES];
static struct queue sent, released;
static uint32_t *stack;
static uint64_t stacked;
static int64_t begin_ns;
static atomic_uint_fast64_t offered_in_all = UINT64_MAX; /* accepted by rings, once it is known */

static void put(struct queue *queue, uint32_t packet)
{
    queue->slots[atomic_fetch_add(&queue->reserved, 1)] = packet + 1;
    if (!options.is_spinning)
        sem_post(&queue->news);
}

static bool get(struct queue *queue, uint32_t *packet)
{
    uint32_t slot = queue->taken < (uint64_t)options.packets ? queue->slots[queue->taken] : 0;
    if (slot == 0)
        return false;
    *packet = slot - 1;
    queue->taken++;
    return true;
}

/* Waits until something has changed, at most until a time (0: for ever); the caller finds out what. */
static void wait_for_news(sem_t *news, int64_t until)
{
    struct timespec t = timespec_of(until);
    if (until == 0)
        sem_wait(news);
    else
        sem_clockwait(news, CLOCK_MONOTONIC, &t);
}

/* --- the network card --- */

static uint32_t choose_core(uint32_t before, uint32_t flow, uint64_t *random)
{
    uint32_t cores = (uint32_t)options.cores;
    switch (options.spray) {
    case ROUND_ROBIN:
        return (before + 1) % cores;
    case ANY_CORE:
        return (uint32_t)(unit(random) * cores);
    default: /* the same multiplicative hash as in forwarder.net */
        return flow * 40503 % 65536 * cores / 65536;
    }
}

static double time_to_next(uint64_t *random)
{
    double mean = 1e9 / options.offered;
    if (options.train == 1)
        return exponential(random, mean);
    if (unit(random) < 1 / options.train)
        return exponential(random, options.train * mean - (options.train - 1) * options.train_gap);
    return options.train_gap;
}

/* Deals all packets: at their times through the rings, or for spinning workers into a schedule. */
static void *card(void *unused)
{
    static uint32_t next_seq[MAX_FLOWS];
    struct jitter *jitter = calloc(1, sizeof *jitter);
    uint64_t random = stream(0), accepted = 0;
    double at = (double)begin_ns;
    (void)unused;
    for (uint32_t core = 0, offered = 0; offered < (uint32_t)options.packets; offered++) {
        at += time_to_next(&random);
        uint32_t flow = (uint32_t)(unit(&random) * options.flows);
        core = choose_core(core, flow, &random);
        struct ring *ring = &rings[core];
        if (!options.is_spinning)
            wait_until((int64_t)at, jitter);
        uint64_t filled = ring->filled;
        if (!options.is_spinning && filled - ring->emptied >= (uint64_t)options.ring)
            continue; /* dropped */
        packets[accepted] = (struct packet){
            .arrival_ns = (int64_t)at, .flow = flow, .seq = next_seq[flow]++, .order = (uint32_t)accepted,
        };
        ring->slots[options.is_spinning ? filled : filled % (uint64_t)options.ring] = (uint32_t)accepted++;
        ring->filled = filled + 1;
        if (!options.is_spinning)
            sem_post(&ring->news);
    }
    offered_in_all = accepted;
    for (uint32_t core = 0; core < (uint32_t)options.cores; core++)
        sem_post(&rings[core].news);
    return jitter;
}

/* --- a worker --- */

/* How many packets a worker may take now: those in its ring, or by now according to the schedule. */
static uint64_t waiting(const struct ring *ring, int64_t now)
{
    uint64_t filled = ring->filled, from = ring->emptied, to = from;
    if (!options.is_spinning)
        return filled - from;
    while (to < filled && to - from < (uint64_t)options.burst && packets[ring->slots[to]].arrival_ns <= now)
        to++;
    return to - from;
}

static void *worker(void *number)
{
    struct ring *ring = &rings[(uintptr_t)number];
    struct jitter *jitter = calloc(1, sizeof *jitter);
    uint64_t random = stream(1 + (uintptr_t)number);
    uint32_t batch[4096];
    uint64_t slots = options.is_spinning ? (uint64_t)options.packets : (uint64_t)options.ring;
    /* All threads exist before one spins, which would keep the main thread from starting the others. */
    struct timespec before_packets = timespec_of(begin_ns - 1000000);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &before_packets, NULL);
    for (;;) {
        int64_t now = now_ns();
        uint64_t count = waiting(ring, now);
        if (count == 0) {
            if (offered_in_all != UINT64_MAX && ring->filled == ring->emptied)
                return jitter;
            if (!options.is_spinning)
                wait_for_news(&ring->news, 0);
            continue;
        }
        if (count > (uint64_t)options.burst)
            count = (uint64_t)options.burst;
        double work = options.burst_work;
        for (uint64_t i = 0; i < count; i++) {
            batch[i] = ring->slots[(ring->emptied + i) % slots];
            work += options.packet_work + exponential(&random, options.variable_work);
        }
        ring->emptied += count;
        jitter->bursts++;
        wait_until(now + (int64_t)work, jitter);
        for (uint64_t i = 0; i < count; i++)
            put(&sent, batch[i]);
    }
}

/* --- the reorder buffer: releases by number, with a window and a time-out --- */

static struct {
    bool *is_held;                  /* by number */
    struct { int64_t at; uint32_t order; } *timers;
    uint64_t first_timer, timer_count, held;
    uint32_t next, smallest;        /* no held number lies below the smallest */
} buffer;

static void release_smallest(void)
{
    while (!buffer.is_held[buffer.smallest])
        buffer.smallest++;
    buffer.is_held[buffer.smallest] = false;
    buffer.held--;
    if (buffer.smallest >= buffer.next)
        buffer.next = buffer.smallest + 1;
    put(&released, buffer.smallest);
}

static void release_those_in_order(void)
{
    for (;;) {
        while (buffer.held > 0 && !buffer.is_held[buffer.smallest])
            buffer.smallest++;
        if (buffer.held == 0 || buffer.smallest > buffer.next)
            return;
        release_smallest();
    }
}

static void expire(int64_t now)
{
    while (buffer.first_timer < buffer.timer_count && buffer.timers[buffer.first_timer].at <= now) {
        uint32_t order = buffer.timers[buffer.first_timer++].order;
        for (;;) {
            while (buffer.held > 0 && !buffer.is_held[buffer.smallest])
                buffer.smallest++;
            if (buffer.held == 0 || buffer.smallest > order)
                break;
            release_smallest();
        }
        release_those_in_order();
    }
}

static void *reorder(void *unused)
{
    struct jitter *jitter = calloc(1, sizeof *jitter);
    (void)unused;
    while (sent.taken < offered_in_all) {
        uint32_t packet;
        expire(now_ns());
        if (!get(&sent, &packet)) {
            bool is_waiting = buffer.first_timer < buffer.timer_count;
            int64_t soon = now_ns() + 100000000; /* the end of the packets may become known without a signal */
            wait_for_news(&sent.news, is_waiting ? buffer.timers[buffer.first_timer].at : soon);
            continue;
        }
        while (buffer.held >= (uint64_t)options.window) {
            release_smallest();
            release_those_in_order();
        }
        wait_until(now_ns() + (int64_t)options.release_work, jitter);
        uint32_t order = packets[packet].order;
        buffer.is_held[order] = true;
        buffer.held++;
        if (order < buffer.smallest)
            buffer.smallest = order;
        buffer.timers[buffer.timer_count].at = now_ns() + (int64_t)options.timeout;
        buffer.timers[buffer.timer_count++].order = order;
        release_those_in_order();
    }
    while (buffer.held > 0)
        release_smallest();
    return jitter;
}

/* --- the receiver --- */

static void to_stack(void *packet, void *unused)
{
    (void)unused;
    stack[stacked++] = (uint32_t)((uintptr_t)packet - 1);
}

static void receive(inorder_sorter *sorter, uint32_t number)
{
    static const uint8_t from[4] = { 192, 0, 2, 1 }, to[4] = { 198, 51, 100, 1 };
    const struct packet *packet = &packets[number];
    uint32_t seq = packet->seq * 512;
    const uint8_t tcp[20] = { [4] = seq >> 24, seq >> 16, seq >> 8, seq, [12] = 5 << 4, [13] = 0x10 };
    inorder_sort_packet described = { .packet = (void *)(uintptr_t)(number + 1) };
    if (sorter == NULL) {
        to_stack(described.packet, NULL);
        return;
    }
    inorder_sort_set_tcp(&described, tcp, sizeof tcp, 512, false);
    inorder_sort_set_v4(&described, from, (uint16_t)(packet->flow + 1), to, 80, 0);
    if (inorder_sort_push(sorter, &described, 1, now_ns(), to_stack, NULL) != 0)
        fail("the sorter refused a packet");
}

static inorder_sorter *sorter_of_options(void)
{
    inorder_sort_config config;
    inorder_sorter *sorter = NULL;
    if (options.srpic == 0)
        return NULL;
    char name[64];
    inorder_sort_config_default(&config);
    snprintf(name, sizeof name, "srpic:block_size=%.0f", options.block_size);
    config.sorter = name;
    if (inorder_sort_create(&config, &sorter) != 0)
        fail("the sorter could not be created");
    return sorter;
}

static void *receiver(void *unused)
{
    struct queue *from = options.reorder_buffer != 0 ? &released : &sent;
    struct jitter *jitter = calloc(1, sizeof *jitter);
    inorder_sorter *sorter = sorter_of_options();
    (void)unused;
    while (from->taken < offered_in_all) {
        uint32_t packet;
        if (!get(from, &packet)) {
            wait_for_news(&from->news, now_ns() + 100000000);
            continue;
        }
        from->taken--;
        wait_until(now_ns() + (int64_t)options.coalesce, jitter);
        int64_t at = now_ns();
        for (double left = options.budget; left > 0 && get(from, &packet); left--) {
            at += (int64_t)options.receive_work;
            wait_until(at, jitter);
            receive(sorter, packet);
        }
        if (sorter != NULL)
            inorder_sort_end_of_batch(sorter, now_ns(), to_stack, NULL);
    }
    return jitter;
}

/* --- the run --- */

static void *memory(size_t count, size_t size)
{
    void *made = calloc(count + 1, size);
    if (made == NULL)
        fail("not enough memory");
    return made;
}

static pthread_t start(void *(*body)(void *), void *argument, int cpu)
{
    pthread_t thread;
    cpu_set_t cpus;
    struct sched_param priority = { .sched_priority = 10 };
    int problem = pthread_create(&thread, NULL, body, argument);
    if (problem != 0)
        fail("no thread: %s", strerror(problem));
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    if (cpu >= 0 && pthread_setaffinity_np(thread, sizeof cpus, &cpus) != 0)
        fail("cannot pin a thread to processor %d", cpu);
    if (pthread_setschedparam(thread, SCHED_FIFO, &priority) != 0)
        fprintf(stderr, "threads: no real-time priority (needs CAP_SYS_NICE): delays of wake-ups will be longer\n");
    return thread;
}

static void add(struct jitter *all, pthread_t thread)
{
    struct jitter *one = NULL;
    pthread_join(thread, (void **)&one);
    all->sum_ns += one->sum_ns;
    all->count += one->count;
    all->bursts += one->bursts;
    if (one->most_ns > all->most_ns)
        all->most_ns = one->most_ns;
    free(one);
}

static void prepare(int64_t cpus)
{
    size_t count = (size_t)options.packets;
    size_t slots = options.is_spinning ? count : (size_t)options.ring;
    if (options.cores < 1 || options.cores > MAX_CORES || options.flows < 1 || options.flows > MAX_FLOWS)
        fail("expected 1 to %d cores and 1 to %d flows", MAX_CORES, MAX_FLOWS);
    if (options.burst < 1 || options.burst > 4096 || options.ring < 1 || count < 1 || count > 100000000)
        fail("expected a burst of 1 to 4096, a ring of at least 1 and 1 to 100000000 packets");
    if (options.is_spinning && ((int64_t)options.cores > cpus || options.reorder_buffer != 0 || options.srpic != 0))
        fail("spinning needs a processor for each worker (%d here), and ends at the line", (int)cpus);
    packets = memory(count, sizeof *packets);
    stack = memory(count, sizeof *stack);
    sent.slots = memory(count, sizeof *sent.slots);
    released.slots = memory(count, sizeof *released.slots);
    buffer.is_held = memory(count, sizeof *buffer.is_held);
    buffer.timers = memory(count, sizeof *buffer.timers);
    sem_init(&sent.news, 0, 0);
    sem_init(&released.news, 0, 0);
    for (uint32_t core = 0; core < (uint32_t)options.cores; core++) {
        rings[core].slots = memory(slots, sizeof *rings[core].slots);
        sem_init(&rings[core].news, 0, 0);
    }
    mlockall(MCL_CURRENT); /* page faults are no part of the scheme; without the right to it they cost little */
}

/* Of wake-ups: their mean lateness; of spinning workers: how often and how long something else ran in between. */
static void report(const char *who, const struct jitter *jitter)
{
    double mean = jitter->count > 0 ? jitter->sum_ns / (double)jitter->count : 0;
    fprintf(stderr, "%s mean_ns=%.0f most_ns=%.0f count=%llu bursts=%llu\n", who, mean, jitter->most_ns,
            (unsigned long long)jitter->count, (unsigned long long)jitter->bursts);
}

int main(int count, char **arguments)
{
    cpu_set_t allowed;
    pthread_t workers[MAX_CORES];
    for (int i = 1; i < count; i++)
        read_option(arguments[i]);
    sched_getaffinity(0, sizeof allowed, &allowed);
    int cpus = CPU_COUNT(&allowed);
    prepare(cpus);
    begin_ns = now_ns() + (options.is_spinning ? 200000000 : 20000000);
    struct jitter jitter = { 0 }, others = { 0 };
    if (options.is_spinning)
        free(card(NULL));
    for (uintptr_t core = 0; core < (uintptr_t)options.cores; core++)
        workers[core] = start(worker, (void *)core, (int)core % cpus);
    if (!options.is_spinning) {
        pthread_t buffered = 0, received = start(receiver, NULL, -1);
        if (options.reorder_buffer != 0)
            buffered = start(reorder, NULL, -1);
        add(&others, start(card, NULL, -1));
        if (options.reorder_buffer != 0)
            add(&others, buffered);
        add(&others, received);
    }
    for (uintptr_t core = 0; core < (uintptr_t)options.cores; core++)
        add(&jitter, workers[core]);
    for (uint64_t i = 0; i < offered_in_all; i++) {
        const struct packet *packet = &packets[sent.slots[i] - 1];
        printf("line %u %u\n", packet->flow, packet->seq);
    }
    for (uint64_t i = 0; i < stacked; i++)
        printf("stack %u %u\n", packets[stack[i]].flow, packets[stack[i]].seq);
    report("workers", &jitter);
    report("others", &others);
    fprintf(stderr, "dropped %.0f\n", options.packets - (double)offered_in_all);
    return 0;
}
