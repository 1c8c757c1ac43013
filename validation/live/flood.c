/* Sends TCP segments of 100 bytes of payload over an interface as fast as possible: 64 connections, whose numbers go
 * on. For validation/live/run; usage: flood INTERFACE SECONDS [PACKETS_PER_SECOND]. Prints how many were sent. */
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

enum { BURST = 64, PAYLOAD = 100, FRAME = 14 + 20 + 20 + PAYLOAD };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    double rate = count > 3 ? atof(words[3]) : 1e12;
    int fd = socket(AF_PACKET, SOCK_RAW, 0), one = 1;
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(words[1])};
    if (fd < 0 || !to.sll_ifindex || bind(fd, (void *)&to, sizeof to) < 0) return perror(words[1]), 1;
    setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &one, sizeof one);
    static unsigned char frames[BURST][FRAME];
    static unsigned seq[BURST];
    struct iovec parts[BURST];
    struct mmsghdr messages[BURST];
    memset(messages, 0, sizeof messages);
    for (int n = 0; n < BURST; n++) {
        unsigned char *frame = frames[n], head[] = {8, 0, 0x45, 0, 0, FRAME - 14, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 7, 0, 1, 10, 7, 0, 2};
        memset(frame, 2, 12);
        memcpy(frame + 12, head, sizeof head);
        frame[34] = 100, frame[35] = n, frame[37] = 80, frame[46] = 0x50, frame[47] = 0x10, frame[48] = 255;
        parts[n] = (struct iovec){frame, FRAME};
        messages[n].msg_hdr.msg_iov = &parts[n];
        messages[n].msg_hdr.msg_iovlen = 1;
    }
    double start = now(), end = start + atof(words[2]), at;
    unsigned long sent = 0;
    while ((at = now()) < end) {
        if (sent > (at - start) * rate) continue;
        for (int n = 0; n < BURST; n++) {
            unsigned number = htonl(seq[n] += PAYLOAD);
            memcpy(frames[n] + 38, &number, 4);
        }
        int done = sendmmsg(fd, messages, BURST, 0);
        sent += done > 0 ? done : 0;
    }
    printf("%lu packets in %.2f s\n", sent, now() - start);
    return 0;
}
