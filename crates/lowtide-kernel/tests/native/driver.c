/* SPDX-License-Identifier: Apache-2.0 OR MIT */
/*
 * A controller's C code in an ordinary program: takes the kernel's calls as records from standard input
 * and answers each with window and pacing rate. tests/differential speaks with it.
 */
#define LOWTIDE_NATIVE
#include CONTROLLER

#include "program.h"

#include <stdio.h>

enum call { INIT, ACK, STATE, UNDO, EVENT };

struct record {
	u32 call;
	/* Of STATE. */
	u32 state;
	u64 tcp_mstamp, first_tx_mstamp;
	s64 interval_us, rtt_us;
	u32 mss_cache, snd_cwnd, packets_out, sacked_out, lost_out, retrans_out, lost, delivered;
	u32 app_limited;
	u32 prior_delivered;
	s32 rs_delivered, losses;
	u32 acked_sacked, prior_in_flight, is_app_limited;
	u32 padding;
};

struct answer {
	u64 window, rate;
	u32 snd_cwnd, phase;
};

#define RANDOMS 4096
static u32 randoms[RANDOMS];
static u32 drawn;

u32 random_u32(void)
{
	return randoms[drawn++ % RANDOMS];
}

int main(void)
{
	static struct flow flow;
	static struct tcp_sock tp;
	struct record r;

	while (fread(&r, sizeof(r), 1, stdin) == 1) {
		struct rate_sample rs = {
			.prior_delivered = r.prior_delivered,
			.delivered = r.rs_delivered,
			.interval_us = r.interval_us,
			.rtt_us = r.rtt_us,
			.losses = r.losses,
			.acked_sacked = r.acked_sacked,
			.prior_in_flight = r.prior_in_flight,
			.is_app_limited = r.is_app_limited,
		};
		struct answer answer;

		tp.mss_cache = r.mss_cache;
		tp.packets_out = r.packets_out;
		tp.sacked_out = r.sacked_out;
		tp.lost_out = r.lost_out;
		tp.retrans_out = r.retrans_out;
		tp.lost = r.lost;
		tp.delivered = r.delivered;
		tp.app_limited = r.app_limited;
		tp.tcp_mstamp = r.tcp_mstamp;
		tp.first_tx_mstamp = r.first_tx_mstamp;
		switch (r.call) {
		case INIT:
			if (fread(randoms, sizeof(randoms), 1, stdin) != 1)
				return 1;
			drawn = 0;
			tp.snd_cwnd = r.snd_cwnd;
			tp.snd_cwnd_clamp = ~0u;
			tp.sk.sk_max_pacing_rate = ~0ul;
			flow_init(&flow, &tp);
			break;
		case ACK:
			flow_acked(&flow, &tp, &rs);
			break;
		case STATE:
			flow_state(&flow, &tp, r.state);
			break;
		case UNDO:
			flow_undo(&flow, &tp);
			break;
		case EVENT:
			flow_event(&flow, &tp, CA_EVENT_TX_START);
			break;
		}
		answer.window = controller_window(&flow.controller);
		answer.rate = tp.sk.sk_pacing_rate;
		answer.snd_cwnd = tp.snd_cwnd;
		answer.phase = flow.shown.phase;
		if (fwrite(&answer, sizeof(answer), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
