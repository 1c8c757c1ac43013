/* libslirp as one end of the path: `slirp server up BYTES | fetch TIMES BYTES`.
 *
 * slirp ends the connections of a guest and goes on with sockets of the host, here to a server within this program, in a
 * network namespace of its own. Packets come and go through the standard input (see ../path/src/end.rs); slirp wants
 * Ethernet around them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <slirp/libslirp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 5001, REQUEST = 100, LINGER_MS = 700, MOST_POLLED = 64, ETHERNET = 14, ARP_FRAME = 42 };

static const unsigned char guest_mac[6] = {0x52, 0x54, 0, 0x12, 0x34, 0x56};
static unsigned char slirp_mac[6];

static int is_upload, times = 1, listener;
static long bytes;
static volatile int ended;
static struct pollfd polled[MOST_POLLED];
static int polls;
static Slirp *slirp;

static int64_t now_ns(void *opaque)
{
    struct timespec t;
    (void)opaque;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* The host's server: what the other stacks' programs do as servers. */
static void *serve(void *arg)
{
    static char data[65536];
    int s = accept(listener, NULL, NULL);
    (void)arg;
    for (int i = 0; !is_upload && i < times; i++) {
        if (recv(s, data, REQUEST, MSG_WAITALL) != REQUEST)
            break;
        for (long left = bytes; left > 0;) {
            ssize_t n = send(s, data, left < (long)sizeof data ? (size_t)left : sizeof data, MSG_NOSIGNAL);
            if (n <= 0)
                break;
            left -= n;
        }
    }
    while (recv(s, data, sizeof data, 0) > 0)
        ;
    close(s);
    ended = 1;
    return NULL;
}

static void answer_arp(const unsigned char *asked)
{
    unsigned char frame[ARP_FRAME];
    memcpy(frame, asked + 6, 6);
    memcpy(frame + 6, guest_mac, 6);
    memcpy(frame + 12, asked + 12, 8); /* type, hardware, protocol, lengths */
    frame[20] = 0, frame[21] = 2;
    memcpy(frame + 22, guest_mac, 6);
    memcpy(frame + 28, asked + 38, 4);
    memcpy(frame + 32, asked + 22, 10);
    slirp_input(slirp, frame, sizeof frame);
}

static ssize_t send_packet(const void *data, size_t length, void *opaque)
{
    const unsigned char *frame = data;
    (void)opaque;
    memcpy(slirp_mac, frame + 6, 6);
    if (length >= ARP_FRAME && frame[12] == 8 && frame[13] == 6 && frame[21] == 1)
        answer_arp(frame);
    else if (length > ETHERNET && frame[12] == 8 && frame[13] == 0 && write(0, frame + ETHERNET, length - ETHERNET) < 0)
        return -1;
    return (ssize_t)length;
}

static void guest_error(const char *message, void *opaque)
{
    (void)opaque;
    fprintf(stderr, "slirp: %s\n", message);
}

/* No timer is needed: router advertisements are IPv6's. */
static void *timer_new(SlirpTimerCb cb, void *cb_opaque, void *opaque)
{
    (void)cb, (void)cb_opaque, (void)opaque;
    return calloc(1, 1);
}
static void timer_free(void *timer, void *opaque)
{
    (void)opaque;
    free(timer);
}
static void timer_mod(void *timer, int64_t at_ms, void *opaque)
{
    (void)timer, (void)at_ms, (void)opaque;
}
static void nothing_fd(int fd, void *opaque)
{
    (void)fd, (void)opaque;
}
static void nothing(void *opaque)
{
    (void)opaque;
}

static int add_poll(int fd, int events, void *opaque)
{
    (void)opaque;
    if (polls == MOST_POLLED)
        return -1;
    short wanted = 0;
    if (events & SLIRP_POLL_IN)
        wanted |= POLLIN;
    if (events & SLIRP_POLL_OUT)
        wanted |= POLLOUT;
    if (events & SLIRP_POLL_PRI)
        wanted |= POLLPRI;
    polled[polls] = (struct pollfd){fd, wanted, 0};
    return polls++;
}

static int revents(int i, void *opaque)
{
    short seen = i < 0 ? 0 : polled[i].revents;
    (void)opaque;
    return (seen & POLLIN ? SLIRP_POLL_IN : 0) | (seen & POLLOUT ? SLIRP_POLL_OUT : 0) |
           (seen & POLLPRI ? SLIRP_POLL_PRI : 0) | (seen & POLLERR ? SLIRP_POLL_ERR : 0) |
           (seen & POLLHUP ? SLIRP_POLL_HUP : 0);
}

static int input(void)
{
    static unsigned char frame[65536];
    ssize_t n = read(0, frame + ETHERNET, sizeof frame - ETHERNET);
    if (n <= 0)
        return 0;
    memcpy(frame, slirp_mac, 6);
    memcpy(frame + 6, guest_mac, 6);
    frame[12] = 8, frame[13] = 0;
    slirp_input(slirp, frame, (int)n + ETHERNET);
    return 1;
}

static int own_namespace(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    if (unshare(CLONE_NEWNET) != 0)
        return 0;
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    int done = ioctl(s, SIOCSIFFLAGS, &lo);
    close(s);
    return done == 0;
}

static void listen_on_host(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(listener, 1) != 0) {
        perror("slirp: listen");
        exit(1);
    }
}

int main(int count, char **words)
{
    if (count < 4 || strcmp(words[1], "server") != 0 || (strcmp(words[2], "up") != 0 && count < 5)) {
        fprintf(stderr, "slirp server up BYTES | fetch TIMES BYTES (slirp cannot be the client)\n");
        return 2;
    }
    is_upload = strcmp(words[2], "up") == 0;
    if (!is_upload)
        times = atoi(words[3]);
    bytes = atol(words[is_upload ? 3 : 4]);
    if (!own_namespace()) {
        perror("slirp: network namespace");
        return 1;
    }
    listen_on_host();
    static const SlirpCb calls = {
        .send_packet = send_packet, .guest_error = guest_error, .clock_get_ns = now_ns, .timer_new = timer_new,
        .timer_free = timer_free, .timer_mod = timer_mod, .register_poll_fd = nothing_fd,
        .unregister_poll_fd = nothing_fd, .notify = nothing};
    SlirpConfig config = {.version = 1, .in_enabled = true, .if_mtu = 1500, .if_mru = 1500};
    inet_pton(AF_INET, "192.0.2.0", &config.vnetwork);
    inet_pton(AF_INET, "255.255.255.0", &config.vnetmask);
    inet_pton(AF_INET, "192.0.2.2", &config.vhost);
    inet_pton(AF_INET, "192.0.2.3", &config.vnameserver);
    inet_pton(AF_INET, "192.0.2.15", &config.vdhcp_start);
    slirp = slirp_new(&config, &calls, NULL);
    /* slirp's own address, by its rule: 52:55 and the IPv4 address. */
    memcpy(slirp_mac, (unsigned char[6]){0x52, 0x55, 192, 0, 2, 2}, 6);
    if (write(0, "r", 1) != 1)
        return 1;
    pthread_t server;
    pthread_create(&server, NULL, serve, NULL);
    for (int64_t until = 0; until == 0 || now_ns(NULL) < until;) {
        uint32_t timeout = 50;
        polled[0] = (struct pollfd){0, POLLIN, 0};
        polls = 1;
        slirp_pollfds_fill(slirp, &timeout, add_poll, NULL);
        int failed = poll(polled, (nfds_t)polls, timeout < 50 ? (int)timeout : 50) < 0;
        if (polled[0].revents & POLLIN && !input())
            break;
        slirp_pollfds_poll(slirp, failed, revents, NULL);
        if (ended && until == 0)
            until = now_ns(NULL) + LINGER_MS * 1000000LL;
    }
    return 0;
}
