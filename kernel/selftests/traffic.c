// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic for the tests of the module.
 *
 *   traffic serve PORT
 *   traffic send ADDRESS PORT CONNECTIONS BYTES
 *   traffic frames DEVICE PATTERN COUNT [PAUSE]
 *   traffic owed DEVICE
 *
 * serve: takes connections whose bytes must be those that send sends, until
 * SIGTERM; then prints how many there were, their bytes, and the longest time
 * in which nothing came on an open one.
 * send: each connection carries BYTES bytes; with 0, as many as there are
 * until SIGTERM. Fails if one of them breaks.
 * frames: Ethernet frames of TCP in one of the patterns below, as fast as the
 * device takes them, or with a pause of that many microseconds after each 64;
 * prints the nanoseconds that each took.
 * owed: a frame and one above a gap; prints what the sender's socket still
 * counts as on its way a tenth of a second later, in bytes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <linux/types.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define MAX_FDS		65536
#define PIECE		16384
/* A prime: no loss of a whole number of segments goes unseen. */
#define PERIOD		65521

static volatile sig_atomic_t is_over;

static void on_signal(int number)
{
	(void)number;
	is_over = 1;
}

static __s64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* What is sent: the byte at a place of a connection follows from the place. */
static __u8 content[PERIOD + PIECE];

static void fill_content(void)
{
	__u32 state = 1;
	size_t i;

	for (i = 0; i < PERIOD; i++) {
		state = state * 1664525 + 1013904223;
		content[i] = state >> 24;
	}
	memcpy(content + PERIOD, content, PIECE);
}

struct connection {
	bool is_open;
	__u64 bytes;
	__s64 last_ns;
};

static struct connection connections[MAX_FDS];
static unsigned int nopen, nserved;
static __u64 served_bytes;
static __s64 longest_ns;

static void watch(int epoll, int fd, __u32 events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (fd >= MAX_FDS)
		errx(1, "too many connections");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll_ctl");
}

static void begin(int epoll, int fd, __u32 events)
{
	watch(epoll, fd, events);
	connections[fd] = (struct connection){ true, 0, now_ns() };
	nopen++;
}

static void finish(int fd)
{
	connections[fd].is_open = false;
	nopen--;
	close(fd);
}

static void waited(struct connection *connection)
{
	__s64 now = now_ns();

	if (now - connection->last_ns > longest_ns)
		longest_ns = now - connection->last_ns;
	connection->last_ns = now;
}

static void receive(int fd)
{
	struct connection *connection = &connections[fd];
	static __u8 buffer[PIECE];
	ssize_t got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 0)
		err(1, "recv after %llu bytes", (unsigned long long)connection->bytes);
	waited(connection);
	if (!got) {
		finish(fd);
		return;
	}
	if (memcmp(buffer, content + connection->bytes % PERIOD, got))
		errx(1, "bytes that were not sent, after %llu",
		     (unsigned long long)connection->bytes);
	connection->bytes += got;
	served_bytes += got;
}

static int listen_on(const char *port)
{
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(atoi(port)),
	};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1, zero = 0;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 20000))
		err(1, "port %s", port);
	return fd;
}

static int serve(const char *port)
{
	int epoll = epoll_create1(0), listener = listen_on(port), i;
	struct epoll_event events[64];

	watch(epoll, listener, EPOLLIN);
	puts("ready");
	fflush(stdout);
	while (!is_over) {
		int count = epoll_wait(epoll, events, 64, -1);

		for (i = 0; i < count; i++) {
			int fd = events[i].data.fd;

			if (fd != listener) {
				receive(fd);
				continue;
			}
			fd = accept(listener, NULL, NULL);
			if (fd < 0)
				continue;
			nserved++;
			begin(epoll, fd, EPOLLIN);
		}
	}
	for (i = 0; i < MAX_FDS; i++)
		if (connections[i].is_open)
			waited(&connections[i]);
	printf("%u connections, %u open, %llu bytes, longest wait %lld ms\n", nserved,
	       nopen, (unsigned long long)served_bytes, (long long)longest_ns / 1000000);
	return nopen ? 1 : 0;
}

static void open_one(int epoll, const char *host, const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(atoi(port)),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0)
		err(1, "socket");
	inet_pton(AF_INET, host, &address.sin_addr);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) && errno != EINPROGRESS)
		err(1, "connect");
	begin(epoll, fd, EPOLLOUT);
}

/* Nothing left to send: waits for the other end to have read all of it. */
static void half_close(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	shutdown(fd, SHUT_WR);
	epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event);
	connections[fd].is_open = false;
}

static void send_some(int epoll, int fd, __u64 bytes)
{
	struct connection *connection = &connections[fd];
	__u64 left = bytes ? bytes - connection->bytes : PIECE;
	ssize_t sent;

	if (!connection->is_open) {
		char byte;
		ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT);

		if (!got)
			finish(fd);
		else if (got > 0 || errno != EAGAIN)
			err(1, "a connection broke at its end");
		return;
	}
	if (left > PIECE)
		left = PIECE;
	if (!left || (!bytes && is_over)) {
		half_close(epoll, fd);
		return;
	}
	sent = send(fd, content + connection->bytes % PERIOD, left,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		connection->bytes += sent;
	else if (errno != EAGAIN && errno != EINTR)
		err(1, "a connection broke after %llu bytes",
		    (unsigned long long)connection->bytes);
}

static int send_all(const char *host, const char *port, int count, __u64 bytes)
{
	int epoll = epoll_create1(0), i;
	struct epoll_event events[64];

	while (count--)
		open_one(epoll, host, port);
	while (nopen) {
		int ready = epoll_wait(epoll, events, 64, 100);

		for (i = 0; i < ready; i++)
			send_some(epoll, events[i].data.fd, bytes);
		if (!is_over || bytes)
			continue;
		/* Also those whose window is closed just now. */
		for (i = 0; i < MAX_FDS; i++)
			if (connections[i].is_open)
				half_close(epoll, i);
	}
	return 0;
}

/*
 * Patterns: the number of packet n as a flow and a place in it, in units of a
 * packet's data.
 */
#define DATA	64
#define WINDOW	4096

struct at {
	__u32 flow;
	__u32 place;
};

struct pattern {
	const char *name;
	struct at (*at)(__u32 n);
	bool is_colliding;
};

static struct at in_order(__u32 n)
{
	return (struct at){ 0, n };
}

/* A round of WINDOW packets: first the lowest but one, then down from above. */
static struct at down(__u32 n)
{
	__u32 round = n / WINDOW * WINDOW, place = n % WINDOW;

	if (!place)
		return (struct at){ 0, round };
	return (struct at){ 0, round + WINDOW - place };
}

/* From both ends of the window to its middle, above a gap. */
static struct at middle(__u32 n)
{
	__u32 round = n / WINDOW * WINDOW, place = n % WINDOW;

	if (!place || place == WINDOW - 1)
		return (struct at){ 0, round + !!place };
	return (struct at){ 0, round + (place % 2 ? 2 + place / 2 : WINDOW - place / 2) };
}

/* Any order within the window. */
static struct at shuffled(__u32 n)
{
	__u32 place = n % WINDOW;

	return (struct at){ 0, n - place + (place * 2477 + 1237) % WINDOW };
}

/* 400 flows in turn, each in order. */
static struct at flows(__u32 n)
{
	return (struct at){ n % 400, n / 400 };
}

/* New flows without end. */
static struct at flood(__u32 n)
{
	return (struct at){ n, 0 };
}

/* Every flow has a gap that nothing fills: all wait, and give way. */
static struct at gaps(__u32 n)
{
	return (struct at){ n / 2 % 100000, n % 2 * 2 + n / 200000 * 4 };
}

static const struct pattern patterns[] = {
	{ "in-order", in_order, false },
	{ "down", down, false },
	{ "middle", middle, false },
	{ "shuffled", shuffled, false },
	{ "flows", flows, false },
	{ "colliding", flows, true },
	{ "flood", flood, false },
	{ "gaps", gaps, false },
};

struct frame {
	struct ethhdr ethernet;
	struct ip6_hdr ip;
	struct tcphdr tcp;
	__u8 data[DATA];
} __attribute__((packed));

static void put64(void *to, __u64 value)
{
	__u64 big = htobe64(value);

	memcpy(to, &big, sizeof(big));
}

/*
 * The addresses of a flow. Those of colliding ones have one hash where words
 * are multiplied with constants: each pair makes an operand zero.
 */
static void address(struct frame *frame, const struct pattern *pattern, __u32 flow)
{
	__u64 low = pattern->is_colliding ? (__u64)flow * flow : flow;
	__u64 to = pattern->is_colliding ? 0x13198a2e03707344ULL : 1;

	put64(&frame->ip.ip6_src.s6_addr[0], 1ULL << 61);
	put64(&frame->ip.ip6_src.s6_addr[8], low);
	put64(&frame->ip.ip6_dst.s6_addr[0], 2ULL << 61);
	put64(&frame->ip.ip6_dst.s6_addr[8], to);
}

static void make(struct frame *frame, const struct pattern *pattern, __u32 n)
{
	struct at at = pattern->at(n);

	address(frame, pattern, at.flow);
	frame->tcp.seq = htonl(at.place * DATA);
}

static int open_device(const char *device, struct sockaddr_ll *to)
{
	int fd = socket(AF_PACKET, SOCK_RAW, 0), room = 1 << 24;

	if (fd < 0)
		err(1, "a packet socket");
	/* Linux 6.1 divides by zero where a device goes that PACKET_QDISC_BYPASS uses. */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	*to = (struct sockaddr_ll){
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IPV6),
		.sll_ifindex = if_nametoindex(device),
	};
	if (!to->sll_ifindex)
		errx(1, "no device %s", device);
	return fd;
}

static const struct pattern *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (!strcmp(patterns[i].name, name))
			return &patterns[i];
	errx(2, "no pattern %s", name);
}

static void lay_out(struct frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	/* To nobody: the stack above throws it away, and sends no answer. */
	memcpy(frame->ethernet.h_dest, "\x02\0\0\0\0\x01", ETH_ALEN);
	memcpy(frame->ethernet.h_source, "\x02\0\0\0\0\x02", ETH_ALEN);
	frame->ethernet.h_proto = htons(ETH_P_IPV6);
	frame->ip.ip6_flow = htonl(6u << 28);
	frame->ip.ip6_plen = htons(sizeof(frame->tcp) + DATA);
	frame->ip.ip6_nxt = IPPROTO_TCP;
	frame->ip.ip6_hlim = 64;
	frame->tcp.source = htons(7);
	frame->tcp.dest = htons(443);
	frame->tcp.doff = 5;
	frame->tcp.ack = 1;
	frame->tcp.window = htons(65535);
}

#define BATCH	64

static int send_frames(const char *device, const char *name, __u32 count,
		       useconds_t pause_us)
{
	const struct pattern *pattern = find(name);
	static struct mmsghdr messages[BATCH];
	static struct frame frames[BATCH];
	static struct iovec parts[BATCH];
	struct sockaddr_ll to;
	int fd = open_device(device, &to), i;
	__u32 sent = 0, failed = 0;
	__s64 before;

	for (i = 0; i < BATCH; i++) {
		lay_out(&frames[i]);
		parts[i] = (struct iovec){ &frames[i], sizeof(frames[i]) };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &to,
			.msg_namelen = sizeof(to),
			.msg_iov = &parts[i],
			.msg_iovlen = 1,
		};
	}
	before = now_ns();
	while (sent < count && !is_over) {
		for (i = 0; i < BATCH; i++)
			make(&frames[i], pattern, sent + i);
		/* A device that is down or gone takes none. */
		if (sendmmsg(fd, messages, BATCH, 0) != BATCH)
			failed++;
		sent += BATCH;
		if (pause_us)
			usleep(pause_us);
	}
	printf("%s: %lld ns each, %u batches not sent as a whole\n", name,
	       (long long)(now_ns() - before) / (sent ? sent : 1), failed);
	return 0;
}

static int print_owed(const char *device)
{
	const struct timespec tenth = { 0, 100000000 };
	struct sockaddr_ll to;
	struct frame frame;
	int fd = open_device(device, &to), owed;
	__u32 n;

	lay_out(&frame);
	for (n = 0; n < 2; n++) {
		make(&frame, find("gaps"), n);
		if (sendto(fd, &frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)) < 0)
			err(1, "sendto");
	}
	nanosleep(&tenth, NULL);
	if (ioctl(fd, SIOCOUTQ, &owed))
		err(1, "SIOCOUTQ");
	printf("%d\n", owed);
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct rlimit files = { MAX_FDS, MAX_FDS };

	sigaction(SIGTERM, &action, NULL);
	setrlimit(RLIMIT_NOFILE, &files);
	fill_content();
	if (argc == 3 && !strcmp(argv[1], "serve"))
		return serve(argv[2]);
	if (argc == 6 && !strcmp(argv[1], "send"))
		return send_all(argv[2], argv[3], atoi(argv[4]), strtoull(argv[5], NULL, 10));
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "frames"))
		return send_frames(argv[2], argv[3], strtoul(argv[4], NULL, 10),
				   argc == 6 ? atoi(argv[5]) : 0);
	if (argc == 3 && !strcmp(argv[1], "owed"))
		return print_owed(argv[2]);
	errx(2, "expected serve, send, frames or owed");
}
