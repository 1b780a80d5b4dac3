/* A sender in 90 lines: ten seconds over a link of 10 Mbit/s with 40 ms of round trip and a buffer
 * of 100 packets, driven by any of Lowtide's controllers.
 *
 *   cc transfer.c $(pkg-config --cflags --libs lowtide) -o transfer && ./transfer ebb
 */
#include <stdio.h>
#include <stdlib.h>

#include "lowtide_extra.h"

enum { MSS = 1500, BUFFER = 100, RING = 1024 };

static const uint64_t MS = 1000000;
static const uint64_t SERVICE = 1200000; /* 1500 bytes at 10 Mbit/s, ns */

/* What the sender remembers of a packet. The network is in here, too: it knows when, if ever, the
 * acknowledgment arrives. */
struct Packet {
    uint64_t sent_at, ack_at;
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
    uint64_t now = 0, first = 0, next = 0, link_free = 0, pace_at = 0;
    uint64_t delivered = 0, worst_rtt = 0, lost = 0;

    /* checked: a mistake of ours against the contract shows as a status. */
    LowtideConfig config = {.max_datagram = MSS, .checked = 1};
    LowtideFlow *flow;
    char message[256];
    if (lowtide_flow_new(spec, &config, &flow, message, sizeof message) != LOWTIDE_STATUS_OK) {
        fprintf(stderr, "%s\n", message);
        return 2;
    }
    LowtideControl control;
    must(lowtide_flow_control(flow, &control));

    while (now < end) {
        /* Send what window and pace allow. A real sender lets send_quantum leave at once. */
        while (next - first < RING && control.inflight + MSS <= control.cwnd && now >= pace_at) {
            struct Packet *p = &ring[next % RING];
            p->sent_at = now;
            p->dropped = link_free > now + BUFFER * SERVICE;
            if (!p->dropped) link_free = (link_free > now ? link_free : now) + SERVICE;
            p->ack_at = (p->dropped ? now : link_free) + rtt;
            must(lowtide_flow_sent(flow, now, next++, MSS));
            must(lowtide_flow_control(flow, &control));
            if (control.pacing_rate != LOWTIDE_NONE)
                pace_at = now + MSS * 1000000000ULL / control.pacing_rate;
        }

        /* Whatever comes first: the next packet's turn, or an acknowledgment. Packets that were
         * dropped are found when those behind them are acknowledged. */
        uint64_t oldest = first;
        while (oldest < next && ring[oldest % RING].dropped) oldest++;
        bool may_send = next - first < RING && control.inflight + MSS <= control.cwnd;
        if (oldest == next || (may_send && pace_at < ring[oldest % RING].ack_at)) {
            /* With everything lost, a real sender has a timer; here the next packet will tell. */
            now = pace_at > now ? pace_at : now + MS;
            continue;
        }
        struct Packet *p = &ring[oldest % RING];
        now = p->ack_at;
        for (; first < oldest; first++, lost++) must(lowtide_flow_lost(flow, first));
        must(lowtide_flow_acked(flow, first++));
        must(lowtide_flow_settle(flow, now, now - p->sent_at));
        must(lowtide_flow_control(flow, &control));
        delivered += MSS;
        if (now - p->sent_at > worst_rtt) worst_rtt = now - p->sent_at;
    }

    LowtideSnapshot state;
    must(lowtide_flow_snapshot(flow, &state));
    printf("%s: %.2f Mbit/s, worst RTT %.1f ms, %llu packets lost, phase %s\n", spec,
           delivered * 8e3 / end, worst_rtt / 1e6, (unsigned long long)lost, state.phase);
    lowtide_flow_free(flow);
    return 0;
}
