/* A sender in 100 lines: ten seconds over a link of 10 Mbit/s with 40 ms of round trip and a buffer
 * of 100 packets, driven by any of Lowtide's controllers.
 *
 *   cc transfer.c $(pkg-config --cflags --libs lowtide) -o transfer && ./transfer ebb
 */
#include <stdio.h>
#include <stdlib.h>

#include "lowtide.h"

enum { MSS = 1500, BUFFER = 100, RING = 1024 };

static const uint64_t MS = 1000000;
static const uint64_t SERVICE = 1200000; /* 1500 bytes at 10 Mbit/s, ns */

/* What the sender remembers of a packet. The network is in here, too: it knows when, if ever, the
 * acknowledgment arrives. */
struct Packet {
    uint64_t sent_at, ack_at;
    LowtideRateState rate_state;
    bool dropped;
};

static void must(LowtideStatus status) {
    if (status != LOWTIDE_STATUS_OK) {
        fprintf(stderr, "lowtide: %s\n", lowtide_status_text(status));
        exit(1);
    }
}

int main(int argc, char **argv) {
    const char *spec = argc > 1 ? argv[1] : "ebb";
    const uint64_t rtt = 40 * MS, end = 10000 * MS;
    static struct Packet ring[RING];
    uint64_t now = 0, first = 0, next = 0, inflight = 0, link_free = 0, pace_at = 0;
    uint64_t delivered = 0, worst_rtt = 0, lost = 0;

    LowtideConfig config;
    must(lowtide_config_init(&config, MSS));
    LowtideController *cc;
    char message[256];
    if (lowtide_controller_new(spec, &config, &cc, message, sizeof message) != LOWTIDE_STATUS_OK) {
        fprintf(stderr, "%s\n", message);
        return 2;
    }
    LowtideSampler *sampler;
    must(lowtide_sampler_new(&sampler));
    LowtideControl control;
    must(lowtide_control(cc, &control));

    while (now < end) {
        /* Send what window and pace allow. A real sender lets send_quantum leave at once. */
        while (next - first < RING && inflight + MSS <= control.cwnd && now >= pace_at) {
            struct Packet *p = &ring[next % RING];
            p->sent_at = now;
            p->dropped = link_free > now + BUFFER * SERVICE;
            if (!p->dropped) link_free = (link_free > now ? link_free : now) + SERVICE;
            p->ack_at = (p->dropped ? now : link_free) + rtt;
            must(lowtide_sampler_on_packet_sent(sampler, now, MSS, inflight, &p->rate_state));
            inflight += MSS;
            must(lowtide_on_packet_sent(cc, now, next++, MSS, inflight, false));
            must(lowtide_control(cc, &control));
            if (control.pacing_rate != LOWTIDE_NONE)
                pace_at = now + MSS * 1000000000ULL / control.pacing_rate;
        }

        /* Whatever comes first: the next packet's turn, or an acknowledgment. Packets that were
         * dropped are found when those behind them are acknowledged. */
        uint64_t oldest = first;
        while (oldest < next && ring[oldest % RING].dropped) oldest++;
        bool may_send = next - first < RING && inflight + MSS <= control.cwnd;
        if (oldest == next || (may_send && pace_at < ring[oldest % RING].ack_at)) {
            /* With everything lost, a real sender has a timer; here the next packet will tell. */
            now = pace_at > now ? pace_at : now + MS;
            continue;
        }
        struct Packet *p = &ring[oldest % RING];
        now = p->ack_at;
        uint64_t prior_inflight = inflight;
        for (; first < oldest; first++) {
            struct Packet *d = &ring[first % RING];
            LowtideLostPacket gone = {.number = first, .bytes = MSS, .sent_at = d->sent_at,
                                      .sent_inflight = d->rate_state.inflight,
                                      .app_limited = d->rate_state.app_limited};
            must(lowtide_sampler_on_packet_lost(sampler, MSS, &d->rate_state, &gone.lost));
            inflight -= MSS;
            lost++;
            must(lowtide_on_loss(cc, now, &gone, 1, inflight));
        }
        first = oldest + 1;
        inflight -= MSS;
        delivered += MSS;
        if (now - p->sent_at > worst_rtt) worst_rtt = now - p->sent_at;
        must(lowtide_sampler_on_packet_acked(sampler, now, MSS, p->sent_at, &p->rate_state));
        LowtideRateSample sample;
        bool sampled = lowtide_sampler_sample(sampler, rtt, &sample) == LOWTIDE_STATUS_OK;
        LowtidePacket packet = {oldest, MSS, p->sent_at, LOWTIDE_NONE};
        LowtideAck ack = {.now = now, .packets = &packet, .packet_count = 1,
                          .rtt = now - p->sent_at, .prior_inflight = prior_inflight,
                          .inflight = inflight, .rate_sample = sampled ? &sample : NULL};
        must(lowtide_on_ack(cc, &ack));
        must(lowtide_control(cc, &control));
    }

    LowtideSnapshot state;
    must(lowtide_snapshot(cc, &state));
    printf("%s: %.2f Mbit/s, worst RTT %.1f ms, %llu packets lost, phase %s\n", spec,
           delivered * 8e3 / end, worst_rtt / 1e6, (unsigned long long)lost, state.phase);
    lowtide_sampler_free(sampler);
    lowtide_controller_free(cc);
    return 0;
}
