/*
 * A sorter that holds packets past the end of a batch, driven by a timerfd: the loop sleeps until a
 * packet comes or the sorter is due, whichever is first. The packets are made up: one is late by a
 * little and is waited for, one is lost and is waited for no longer than the sorter's hold. Prints
 * what the stack would see and fails when that is not what was promised.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "inorder_sort.h"

#define MS INT64_C(1000000)

/* What arrives when: milliseconds after the start. */
static const struct arrival {
    int at_ms;
    uint8_t flags;
    uint32_t seq, len;
    const char *name;
} arrivals[] = {
    {0, 0x02, 0, 0, "SYN"},      {40, 0x10, 1, 0, "ACK"}, /* a round trip of 40 ms */
    {41, 0x10, 1, 100, "1"},     {42, 0x10, 201, 100, "3"}, {44, 0x10, 101, 100, "2"},
    {46, 0x10, 301, 100, "4"},   {47, 0x10, 501, 100, "6"}, /* 5 is lost */
    {48, 0x10, 601, 100, "7"},
};
static const int count = sizeof arrivals / sizeof *arrivals;

static void up(void *packet, void *user)
{
    char *seen = user;
    printf("%s%s", *seen ? " " : "", (const char *)packet);
    fflush(stdout);
    if (*seen)
        strcat(seen, " ");
    strcat(seen, packet);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inorder_sort_packet packet_of(const struct arrival *a)
{
    static const uint8_t src[4] = {192, 0, 2, 1}, dst[4] = {198, 51, 100, 7};
    const uint8_t tcp[20] = {
        [4] = a->seq >> 24, a->seq >> 16, a->seq >> 8, a->seq, [12] = 5 << 4, [13] = a->flags,
    };
    inorder_sort_packet p = {.packet = (void *)a->name};
    inorder_sort_set_tcp(&p, tcp, sizeof tcp, a->len, false);
    inorder_sort_set_v4(&p, src, 443, dst, 40000, 0);
    return p;
}

/* Sleeps until `due_ns` at the latest, on the clock of now_ns(). */
static void sleep_until(int timer, int64_t due_ns)
{
    struct itimerspec when = {.it_value = {due_ns / 1000000000, due_ns % 1000000000}};
    uint64_t expired;
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
    /* A real driver polls its socket or ring beside the timer. */
    struct pollfd ready = {.fd = timer, .events = POLLIN};
    if (poll(&ready, 1, -1) == 1 && read(timer, &expired, sizeof expired) < 0)
        perror("timerfd");
}

int main(void)
{
    inorder_sort_config config;
    inorder_sorter *sorter = NULL;
    char seen[64] = "";
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);

    inorder_sort_config_default(&config);
    /* `start`: the first gap of a path nobody knows is waited for, too, up to an eighth of a round trip. */
    config.sorter = "resequence:start=5ms";
    int error = inorder_sort_create(&config, &sorter);
    if (error || timer < 0) {
        fprintf(stderr, "timer: %s\n", strerror(error ? -error : errno));
        return 1;
    }
    const int64_t begin_ns = now_ns();
    int64_t due_ns = 0;
    for (int next = 0; next < count || inorder_sort_held(sorter) > 0;) {
        int64_t arrival_ns = next < count ? begin_ns + arrivals[next].at_ms * MS : INT64_MAX;
        int is_due = inorder_sort_next_deadline_ns(sorter, &due_ns) == 1 && due_ns < arrival_ns;
        sleep_until(timer, is_due ? due_ns : arrival_ns);
        if (is_due) {
            inorder_sort_on_deadline(sorter, now_ns(), up, seen);
        } else {
            inorder_sort_packet packet = packet_of(&arrivals[next++]);
            inorder_sort_push(sorter, &packet, 1, now_ns(), up, seen);
        }
    }
    int bad = strcmp(seen, "SYN ACK 1 2 3 4 6 7") != 0;
    bad |= inorder_sort_destroy(sorter);
    close(timer);
    puts(bad ? "\nWRONG" : "\nas promised");
    return bad ? 1 : 0;
}
