/* Sends packets of one kind over an interface at a given rate. For validation/live/run; prints how many were sent.
 *
 *   flood INTERFACE SECONDS [PACKETS_PER_SECOND [KIND [CONNECTIONS [LIFE]]]]
 *
 * Kinds: data (TCP segments of 100 bytes whose numbers go on), pairs (the same, every second pair swapped), syn, udp,
 * fragment (IPv4 fragments), arp, noise (random bytes behind the Ethernet header). Of each connection LIFE packets are
 * sent (default: without end), then another one takes its place. The rate is kept by sleeping, in bursts of 64. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BURST = 64, PAYLOAD = 100, FRAME = 14 + 20 + 20 + PAYLOAD, MOST = 1 << 20 };
enum { TCP = 6, UDP = 17 };

struct connection { unsigned seq, number, packets; };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static void put16(unsigned char *at, unsigned value) { at[0] = value >> 8, at[1] = value; }

static void put32(unsigned char *at, unsigned value) { put16(at, value >> 16), put16(at + 2, value); }

static unsigned sum(const unsigned char *bytes, int length, unsigned start) {
    for (int n = 0; n + 1 < length; n += 2) start += bytes[n] << 8 | bytes[n + 1];
    while (start >> 16) start = (start & 0xffff) + (start >> 16);
    return start;
}

/* Writes a whole frame; the number of the connection gives its ports and the last two bytes of its source. */
static void write_frame(unsigned char *frame, const char *kind, unsigned number, unsigned seq) {
    memset(frame, 0, FRAME);
    memset(frame, 2, 12);
    unsigned char *ip = frame + 14, *transport = ip + 20;
    if (!strcmp(kind, "noise")) {
        for (int n = 12; n < FRAME; n++) frame[n] = random();
        return;
    }
    if (!strcmp(kind, "arp")) {
        unsigned char head[] = {8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 2, 2, 2, 2, 2, 10, 7, 0, 1, 0, 0, 0, 0, 0, 0, 10, 7, 0, 2};
        memcpy(frame + 12, head, sizeof head);
        return;
    }
    int is_udp = !strcmp(kind, "udp"), is_syn = !strcmp(kind, "syn");
    unsigned char head[] = {8, 0, 0x45, 0, 0, FRAME - 14, 0, 0, 0x40, 0, 64, is_udp ? UDP : TCP, 0, 0, 10, 7, 0, 1, 10, 7, 0, 2};
    memcpy(frame + 12, head, sizeof head);
    if (!strcmp(kind, "fragment")) put16(ip + 6, 0x2000 | (seq / PAYLOAD & 1 ? 10 : 0));
    put16(ip + 12 + 2, number >> 14);
    put16(ip + 10, ~sum(ip, 20, 0));
    put16(transport, 1024 + (number & 0x3fff));
    put16(transport + 2, 80);
    if (is_udp) {
        put16(transport + 4, FRAME - 34);
        return;
    }
    put32(transport + 4, seq);
    transport[12] = 0x50, transport[13] = is_syn ? 2 : 0x10, transport[14] = 255;
    put16(transport + 16, ~sum(transport, FRAME - 34, sum(ip + 12, 8, TCP + FRAME - 34)));
}

int main(int count, char **words) {
    if (count < 3) return 2;
    double rate = count > 3 ? atof(words[3]) : 1e12;
    const char *kind = count > 4 ? words[4] : "data";
    unsigned connections = count > 5 ? atoi(words[5]) : 64, life = count > 6 ? atoi(words[6]) : 0;
    if (connections < 1 || connections > MOST) return fprintf(stderr, "flood: expected 1 to %d connections\n", MOST), 2;
    int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(words[1])};
    if (fd < 0 || !to.sll_ifindex || bind(fd, (void *)&to, sizeof to) < 0) return perror(words[1]), 1;
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one);
    static unsigned char frames[BURST][FRAME];
    static struct connection all[MOST];
    struct iovec parts[BURST];
    struct mmsghdr messages[BURST];
    memset(messages, 0, sizeof messages);
    for (int n = 0; n < BURST; n++) {
        parts[n] = (struct iovec){frames[n], FRAME};
        messages[n].msg_hdr.msg_iov = &parts[n];
        messages[n].msg_hdr.msg_iovlen = 1;
    }
    for (unsigned n = 0; n < connections; n++) all[n].number = n;
    const int swaps = !strcmp(kind, "pairs");
    unsigned next = 0, numbers = connections;
    double start = now(), end = start + atof(words[2]), at;
    unsigned long sent = 0;
    while ((at = now()) < end) {
        double ahead = sent / rate - (at - start);
        if (ahead > 0) {
            struct timespec rest = {.tv_sec = ahead, .tv_nsec = (ahead - (long)ahead) * 1e9};
            nanosleep(&rest, NULL);
            continue;
        }
        for (int n = 0; n < BURST; n++) {
            struct connection *c = &all[next];
            /* Each connection sends two packets in a row, so that they can be swapped. */
            if (n & 1) next = (next + 1) % connections;
            unsigned swapped = swaps && c->packets / 2 % 2 ? c->seq + (c->packets & 1 ? -PAYLOAD : PAYLOAD) : c->seq;
            write_frame(frames[n], kind, c->number, swapped);
            c->seq += PAYLOAD, c->packets++;
            if (life && c->packets >= life) *c = (struct connection){.number = numbers++};
        }
        int done = sendmmsg(fd, messages, BURST, 0);
        sent += done > 0 ? done : 0;
    }
    printf("%lu packets in %.2f s\n", sent, now() - start);
    return 0;
}
