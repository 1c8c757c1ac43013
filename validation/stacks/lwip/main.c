/* lwIP as one end of the path: `lwip client|server up BYTES | fetch TIMES BYTES [flows=N]`.
 *
 * Packets come and go through the standard input (see ../path/src/end.rs). */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lwip/init.h"
#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"

enum { PORT = 5001, REQUEST = 100, MOST_FLOWS = 8, LINGER_MS = 700 };

struct connection {
    struct tcp_pcb *pcb;
    long unsent;   /* bytes still to be written */
    long awaited;  /* bytes still to come before it is our turn */
    int rounds;    /* requests still to be sent (client) or answered (server) */
    int closes;    /* closes its direction when all is written */
    int closed;    /* has done so */
};

static int is_client, is_upload, times = 1, flows = 1, ended;
static long bytes;
static struct connection connections[MOST_FLOWS];
static char zeros[65536];

u32_t sys_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

static void write_all(struct connection *c)
{
    while (c->unsent > 0) {
        long room = tcp_sndbuf(c->pcb);
        u16_t part = (u16_t)LWIP_MIN(LWIP_MIN(room, c->unsent), 8 * TCP_MSS);
        if (part == 0 || tcp_write(c->pcb, zeros, part, TCP_WRITE_FLAG_COPY) != ERR_OK)
            break;
        c->unsent -= part;
    }
    if (c->unsent == 0 && c->closes && !c->closed) {
        c->closed = 1;
        tcp_shutdown(c->pcb, 0, 1);
    }
    tcp_output(c->pcb);
}

static err_t on_sent(void *arg, struct tcp_pcb *pcb, u16_t length)
{
    (void)pcb, (void)length;
    write_all(arg);
    return ERR_OK;
}

static void ask(struct connection *c)
{
    c->rounds--;
    c->unsent += REQUEST;
    c->awaited = bytes;
    write_all(c);
}

/* All that was awaited has come. */
static void answered(struct connection *c)
{
    if (is_client && c->rounds > 0) {
        ask(c);
    } else if (is_client) {
        c->closes = 1;
        write_all(c);
    } else if (c->rounds > 0) {
        c->rounds--;
        c->awaited = REQUEST;
        c->unsent += bytes;
        write_all(c);
    }
}

static err_t on_received(void *arg, struct tcp_pcb *pcb, struct pbuf *p, err_t error)
{
    struct connection *c = arg;
    (void)error;
    if (p == NULL) {
        tcp_arg(pcb, NULL);
        tcp_recv(pcb, NULL);
        tcp_sent(pcb, NULL);
        tcp_err(pcb, NULL);
        tcp_close(pcb);
        ended++;
        return ERR_OK;
    }
    tcp_recved(pcb, p->tot_len);
    c->awaited -= p->tot_len;
    pbuf_free(p);
    if (!is_upload && c->awaited == 0)
        answered(c);
    return ERR_OK;
}

static void on_error(void *arg, err_t error)
{
    (void)arg;
    fprintf(stderr, "lwip: the connection ended: %d\n", error);
    ended++;
}

static void begin(struct connection *c, struct tcp_pcb *pcb)
{
    c->pcb = pcb;
    c->rounds = is_upload ? 0 : times;
    tcp_arg(pcb, c);
    tcp_sent(pcb, on_sent);
    tcp_recv(pcb, on_received);
    tcp_err(pcb, on_error);
}

static err_t on_connected(void *arg, struct tcp_pcb *pcb, err_t error)
{
    struct connection *c = arg;
    (void)pcb, (void)error;
    if (is_upload) {
        c->unsent = bytes;
        c->closes = 1;
        write_all(c);
    } else {
        ask(c);
    }
    return ERR_OK;
}

static err_t on_accepted(void *arg, struct tcp_pcb *pcb, err_t error)
{
    struct connection *c = arg;
    (void)error;
    begin(c, pcb);
    c->awaited = is_upload ? 0 : REQUEST;
    return ERR_OK;
}

static err_t output(struct netif *netif, struct pbuf *p, const ip4_addr_t *to)
{
    static char packet[65536];
    (void)netif, (void)to;
    u16_t length = pbuf_copy_partial(p, packet, sizeof packet - 1, 0);
    return write(0, packet, length) == length ? ERR_OK : ERR_IF;
}

static err_t set_up(struct netif *netif)
{
    netif->output = output;
    netif->mtu = 1500;
    netif->flags = NETIF_FLAG_UP | NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

static void input(struct netif *netif)
{
    static char packet[65536];
    ssize_t length = read(0, packet, sizeof packet - 1);
    if (length <= 0)
        exit(0);
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)length, PBUF_POOL);
    if (p == NULL)
        return;
    pbuf_take(p, packet, (u16_t)length);
    if (netif->input(p, netif) != ERR_OK)
        pbuf_free(p);
}

static void start(struct connection *c, u16_t port)
{
    ip_addr_t server;
    struct tcp_pcb *pcb = tcp_new();
    IP_ADDR4(&server, 192, 0, 2, 2);
    if (is_client) {
        begin(c, pcb);
        tcp_connect(pcb, &server, port, on_connected);
    } else {
        tcp_bind(pcb, IP_ADDR_ANY, port);
        pcb = tcp_listen(pcb);
        tcp_arg(pcb, c);
        tcp_accept(pcb, on_accepted);
    }
}

static int read_words(int count, char **words)
{
    if (count < 4)
        return 0;
    is_client = strcmp(words[1], "client") == 0;
    is_upload = strcmp(words[2], "up") == 0;
    int next = 4;
    if (!is_upload && count < 5)
        return 0;
    if (!is_upload)
        times = atoi(words[next++ - 1]);
    bytes = atol(words[next - 1]);
    for (; next < count; next++)
        if (sscanf(words[next], "flows=%d", &flows) != 1 || flows < 1 || flows > MOST_FLOWS)
            return 0;
    return 1;
}

int main(int count, char **words)
{
    struct netif netif;
    ip4_addr_t address, mask, gateway;
    if (!read_words(count, words)) {
        fprintf(stderr, "lwip client|server up BYTES | fetch TIMES BYTES [flows=N]\n");
        return 2;
    }
    srand((unsigned)time(NULL) ^ (unsigned)getpid());
    lwip_init();
    IP4_ADDR(&address, 192, 0, 2, is_client ? 1 : 2);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 0, 0, 0, 0);
    netif_add(&netif, &address, &mask, &gateway, NULL, set_up, ip_input);
    netif_set_default(&netif);
    if (write(0, "r", 1) != 1)
        return 1;
    for (int i = 0; i < flows; i++)
        start(&connections[i], (u16_t)(PORT + i));
    for (u32_t until = 0; until == 0 || (s32_t)(until - sys_now()) > 0;) {
        struct pollfd in = {0, POLLIN, 0};
        u32_t sleep = sys_timeouts_sleeptime();
        if (poll(&in, 1, (int)LWIP_MIN(sleep, 50)) > 0)
            input(&netif);
        sys_check_timeouts();
        if (ended == flows && until == 0)
            until = sys_now() + LINGER_MS;
    }
    return 0;
}
