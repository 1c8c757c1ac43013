/* The stack's settings: lwIP's own defaults but for room in memory. `run` builds it three times: SMALL has lwIP's
 * windows of four segments, OPTIONS what is off by default (timestamps, SACK as a receiver, window scaling). */
#ifndef STACKS_LWIPOPTS_H
#define STACKS_LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_UDP 0
#define LWIP_ARP 0
#define MEM_ALIGNMENT 8
#define MEM_SIZE (4 << 20)
#define MEMP_NUM_TCP_PCB 16
#define MEMP_NUM_TCP_SEG 2048
#define PBUF_POOL_SIZE 2048

#define TCP_MSS 1460
#ifdef SMALL
#define TCP_WND (4 * TCP_MSS)
#define TCP_SND_BUF (4 * TCP_MSS)
#else
#define TCP_WND (44 * TCP_MSS)
#define TCP_SND_BUF (44 * TCP_MSS)
#endif
#define TCP_SND_QUEUELEN 1024

#ifdef OPTIONS
#define LWIP_TCP_TIMESTAMPS 1
#define LWIP_TCP_SACK_OUT 1
#define LWIP_WND_SCALE 1
#define TCP_RCV_SCALE 2
#endif

#endif
