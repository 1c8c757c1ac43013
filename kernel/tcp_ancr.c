// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threshold of TCP-aNCR (draft-zimmermann-tcpm-reordering-reaction-02,
 * section 5) for an unchanged kernel, as a congestion control "ancr" that
 * grows and halves its window like Reno.
 *
 * The threshold is the number of segments that must be SACKed above a hole
 * before it counts as lost:
 *
 *   DT = max(min(FlightSize / 2, ReorExtR * FlightSizePrev), 3)
 *
 * ReorExtR is the greatest relative extent of reordering seen, 0 to 1. A
 * congestion control may set tp->reordering, which is this threshold, and see
 * by it how late the kernel found a segment: the kernel raises it to the
 * extent of what came later than it allows.
 *
 * What an unchanged kernel does not allow:
 *  - The threshold decides only where RACK does not: net.ipv4.tcp_recovery=0.
 *    From 6.17 on the kernel has RACK only, and this module changes little.
 *  - Of the two variants only the aggressive one: each SACKed segment lets a
 *    new one be sent, as always in Linux. Careful, which sends two for three,
 *    cannot be had.
 *  - At most three new segments for an ACK (section 5.3), and the window and
 *    threshold that section 5.4 sets when a hole fills: Linux has its own.
 *  - Extents above net.ipv4.tcp_max_reordering (300) count as that.
 *  - Segments that were retransmitted show no extent unless a DSACK reports
 *    them, which is Linux's detection and not that of the draft.
 */
#include <linux/module.h>
#include <net/tcp.h>

/* ReorExtR of 1. */
#define ONE	65536U

/* The least threshold: that of RFC 5681 section 3.2. */
#define LEAST	3

struct ancr {
	/* ReorExtR. */
	u32 extent;
	/* FlightSizePrev, segments: in flight when the disorder began. */
	u32 flight_before;
	/* What tp->reordering was set to. */
	u32 threshold;
	/* FlightSizePrev is measured anew when this is acknowledged. */
	u32 measured;
};

static void ancr_measure(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ancr *ancr = inet_csk_ca(sk);

	ancr->flight_before = max(tp->packets_out, 1U);
	ancr->measured = tp->snd_nxt;
}

/* The kernel found a segment later than the threshold allows. */
static void ancr_learn(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ancr *ancr = inet_csk_ca(sk);
	u32 extent;

	if (tp->reordering <= ancr->threshold)
		return;
	extent = div_u64((u64)tp->reordering * ONE, ancr->flight_before);
	ancr->extent = min(max(ancr->extent, extent), ONE);
}

static void ancr_set_threshold(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct ancr *ancr = inet_csk_ca(sk);
	u64 seen = (u64)ancr->extent * ancr->flight_before;
	u32 threshold = min_t(u64, DIV_ROUND_UP_ULL(seen, ONE),
			      tp->packets_out / 2);

	ancr->threshold = max_t(u32, threshold, LEAST);
	tp->reordering = ancr->threshold;
}

/* During recovery the threshold stays as it is. */
static void ancr_update(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ancr *ancr = inet_csk_ca(sk);

	/* The ACK of the SYN comes before ancr_init(). */
	if (!tcp_is_sack(tp) || !ancr->flight_before)
		return;
	ancr_learn(sk);
	if (inet_csk(sk)->icsk_ca_state > TCP_CA_Disorder)
		return;
	/* Without SACKed segments nothing is out of order: once per window. */
	if (!tp->sacked_out && !before(tp->snd_una, ancr->measured))
		ancr_measure(sk);
	ancr_set_threshold(sk);
}

static void ancr_init(struct sock *sk)
{
	struct ancr *ancr = inet_csk_ca(sk);

	ancr->extent = 0;
	ancr->threshold = tcp_sk(sk)->reordering;
	ancr_measure(sk);
}

/* After the SACK blocks of an ACK were read, before losses are looked for. */
static void ancr_in_ack_event(struct sock *sk, u32 flags)
{
	ancr_update(sk);
}

/* After the cumulative ACK was processed, before losses are looked for. */
static void ancr_pkts_acked(struct sock *sk, const struct ack_sample *sample)
{
	ancr_update(sk);
}

static void ancr_set_state(struct sock *sk, u8 state)
{
	struct ancr *ancr = inet_csk_ca(sk);

	if (state == TCP_CA_Disorder) {
		ancr_measure(sk);
	} else if (state == TCP_CA_Loss) {
		/* A timeout: what was learnt is not to be trusted. */
		ancr->extent = 0;
		ancr->threshold = tcp_sk(sk)->reordering;
	}
}

static struct tcp_congestion_ops ancr_ops __read_mostly = {
	.name = "ancr",
	.owner = THIS_MODULE,
	.init = ancr_init,
	.ssthresh = tcp_reno_ssthresh,
	.cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd,
	.in_ack_event = ancr_in_ack_event,
	.pkts_acked = ancr_pkts_acked,
	.set_state = ancr_set_state,
};

static int __init ancr_module_init(void)
{
	BUILD_BUG_ON(sizeof(struct ancr) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&ancr_ops);
}

static void __exit ancr_module_exit(void)
{
	tcp_unregister_congestion_control(&ancr_ops);
}

module_init(ancr_module_init);
module_exit(ancr_module_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("TCP-aNCR's threshold for reordering");
MODULE_VERSION("0.1.0");
