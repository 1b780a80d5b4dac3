/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A controller's C code over a link of constant rate with an unlimited queue, packet by packet, with one
 * acknowledgment for each: no batch hides what a small window does. Arguments: bits a second, RTT in
 * microseconds, seconds. Prints how often ProbeRTT began, how long the longest lasted (ms), and the share of the
 * link that was used from the third second on, in thousandths, in the worst of ten-second spans and overall.
 */
#define LOWTIDE_NATIVE
#include CONTROLLER

#include "program.h"

#include <stdio.h>
#include <stdlib.h>

#define MSS 1448
/* On the wire. */
#define SIZE 1500
#define FLIGHT (1 << 20)
/* The path becomes longer by a part in so many of the time, so that the least RTT is not seen again. */
#define LONGER 10000
#define FIRST_SECOND 3
#define SPAN 10
/* As bbr.h has it. */
#define IN_PROBE_RTT 3

struct packet {
	u64 sent, acked, first_tx, delivered_at;
	u32 delivered;
};

static struct packet flight[FLIGHT];
static u64 of_second[1000];

u32 random_u32(void)
{
	static u64 state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 32;
}

int main(int argc, char **argv)
{
	static struct flow flow;
	static struct tcp_sock tp;
	u64 bits, rtt, seconds, now = 1000000, start = now, end, may_send_ns, link_free_ns = 0;
	u64 delivered_at = now, min_rtt = NONE, began = 0, longest = 0, probes = 0;
	u64 head = 0, tail = 0, all = 0, worst = NONE, whole;

	if (argc != 4)
		return 1;
	bits = strtoull(argv[1], NULL, 10);
	rtt = strtoull(argv[2], NULL, 10);
	seconds = strtoull(argv[3], NULL, 10);
	end = now + seconds * 1000000;
	may_send_ns = now * 1000;
	tp.mss_cache = MSS;
	tp.snd_cwnd = 10;
	tp.snd_cwnd_clamp = ~0u;
	tp.sk.sk_max_pacing_rate = ~0ul;
	tp.tcp_mstamp = now;
	flow_init(&flow, &tp);
	while (now < end) {
		u64 send_at = may_send_ns / 1000;
		bool may = tail - head < tp.snd_cwnd && tail - head < FLIGHT;

		if (may && (head == tail || send_at <= flight[head % FLIGHT].acked)) {
			struct packet *p = &flight[tail++ % FLIGHT];
			u64 ns;

			now = most(now, send_at);
			if (!tp.packets_out)
				tp.first_tx_mstamp = delivered_at = now;
			tp.packets_out++;
			ns = most(link_free_ns, now * 1000) + SIZE * 8 * NS_PER_SECOND / bits;
			link_free_ns = ns;
			*p = (struct packet){ now, ns / 1000 + rtt + (now - start) / LONGER, tp.first_tx_mstamp, delivered_at,
					      tp.delivered };
			may_send_ns = most(may_send_ns, now * 1000) +
				      SIZE * NS_PER_SECOND / most(tp.sk.sk_pacing_rate, 1);
			continue;
		}
		if (head == tail)
			return 2;
		struct packet *p = &flight[head++ % FLIGHT];
		struct rate_sample rs = { .acked_sacked = 1, .prior_in_flight = tp.packets_out };
		u64 before = flow.shown.phase;

		now = most(now, p->acked);
		tp.tcp_mstamp = now;
		tp.packets_out--;
		tp.delivered++;
		tp.first_tx_mstamp = p->sent;
		rs.rtt_us = now - p->sent;
		min_rtt = least(min_rtt, rs.rtt_us);
		rs.prior_delivered = p->delivered;
		rs.delivered = tp.delivered - p->delivered;
		rs.interval_us = most(p->sent - p->first_tx, now - p->delivered_at);
		if ((u64)rs.interval_us < min_rtt)
			rs.interval_us = -1;
		delivered_at = now;
		flow_acked(&flow, &tp, &rs);
		of_second[(now - start) / 1000000 % 1000] += SIZE * 8;
		if (flow.shown.phase == IN_PROBE_RTT) {
			if (before != IN_PROBE_RTT) {
				began = now;
				probes++;
			}
			longest = most(longest, now - began);
		}
	}
	for (u64 s = FIRST_SECOND; s + SPAN <= seconds; s++) {
		u64 sum = 0;

		for (u64 n = s; n < s + SPAN; n++)
			sum += of_second[n];
		worst = least(worst, sum);
	}
	for (u64 s = FIRST_SECOND; s < seconds; s++)
		all += of_second[s];
	whole = bits * (seconds - FIRST_SECOND);
	printf("%llu %llu %llu %llu\n", probes, longest / 1000, worst * 1000 / (bits * SPAN),
	       all * 1000 / whole);
	return 0;
}
