#include "lowtide_picoquic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* picoquic's own algorithms include it, too: the window and the queue of packets are in it. */
#include "picoquic_internal.h"

/* A packet that is neither acknowledged nor lost. */
struct Sent {
    uint64_t number, sent_at; /* ns */
};

struct Flow {
    LowtideFlow *cc;
    LowtideControl control;
    struct Sent *open; /* in the order of numbers */
    size_t count, capacity;
    uint64_t largest_acked, send_at /* ns */;
    uint32_t mtu;
    bool was_acked;
};

static char spec[256] = "ebb";

static const uint64_t US = 1000;

static struct Flow *flow_of(const picoquic_cnx_t *cnx) {
    return cnx->congestion_alg == &lowtide_picoquic ? cnx->congestion_alg_state : NULL;
}

/* The library refuses what a host may not do, and changes nothing then: a mistake here, to be seen. */
static void must(LowtideStatus status, const char *what) {
    if (status != LOWTIDE_STATUS_OK) fprintf(stderr, "lowtide: %s: %s\n", what, lowtide_status_text(status));
}

/* Hands the controller's window to picoquic, which sends while it is above the bytes in transit: a packet more than
 * the window, if it were given as it is. */
static void apply(picoquic_cnx_t *cnx, struct Flow *flow) {
    must(lowtide_flow_control(flow->cc, &flow->control), "control");
    cnx->cwin = flow->control.cwnd > flow->mtu ? flow->control.cwnd - flow->mtu + 1 : 1;
    /* Pacing is lowtide_picoquic_send_at: picoquic's own is by window and RTT, and not for retransmissions. */
    cnx->packet_time_nano_sec = 0;
}

/* Tells the controller what was said, and hands its answer to picoquic. */
static void settle(picoquic_cnx_t *cnx, struct Flow *flow, uint64_t now, uint64_t rtt) {
    must(lowtide_flow_settle(flow->cc, now, rtt), "settlement");
    apply(cnx, flow);
}

static void init(picoquic_cnx_t *cnx) {
    struct Flow *flow = calloc(1, sizeof *flow);
    cnx->congestion_alg_state = flow;
    if (flow == NULL) return;
    flow->mtu = cnx->send_mtu;
    LowtideConfig config = {.max_datagram = flow->mtu, .now = cnx->start_time * US};
#ifndef NDEBUG
    config.checked = 1;
#endif
    must(lowtide_flow_new(spec, &config, &flow->cc, NULL, 0), spec);
    apply(cnx, flow);
}

static void delete(picoquic_cnx_t *cnx) {
    struct Flow *flow = cnx->congestion_alg_state;
    cnx->congestion_alg_state = NULL;
    if (flow == NULL) return;
    lowtide_flow_free(flow->cc);
    free(flow->open);
    free(flow);
}

static struct Sent *find(struct Flow *flow, uint64_t number) {
    for (size_t i = 0; i < flow->count; i++)
        if (flow->open[i].number == number) return &flow->open[i];
    return NULL;
}

/* picoquic gives up packets one at a time, from the oldest, when it next has a packet to make: after the
 * acknowledgment that shows the loss. */
static void on_loss(picoquic_cnx_t *cnx, struct Flow *flow, uint64_t number, uint64_t now, bool by_timer) {
    struct Sent *sent = find(flow, number);
    if (sent == NULL) return;
    flow->count--;
    memmove(sent, sent + 1, (size_t)(flow->open + flow->count - sent) * sizeof *sent);
    must(lowtide_flow_lost(flow->cc, number), "loss");
    /* One timer says that an acknowledgment is missing. When the third in a row has fired, nothing came through for
     * longer than RFC 9002's period of persistent congestion. */
    if (by_timer && cnx->nb_retransmit == 3)
        must(lowtide_flow_timeout(flow->cc, LOWTIDE_TIMEOUT_KIND_PERSISTENT_CONGESTION), "timeout");
    settle(cnx, flow, now, LOWTIDE_NONE);
}

static void notify(picoquic_cnx_t *cnx, picoquic_congestion_notification_t what, uint64_t rtt, uint64_t bytes,
                   uint64_t lost, uint64_t now) {
    struct Flow *flow = flow_of(cnx);
    (void)rtt; /* less the peer's delay; the controllers want it with that */
    (void)bytes;
    if (flow == NULL) return;
    switch (what) {
    case picoquic_congestion_notification_acknowledgement:
        flow->was_acked = true; /* which packets, lowtide_picoquic_received will see */
        break;
    case picoquic_congestion_notification_repeat:
    case picoquic_congestion_notification_timeout:
        on_loss(cnx, flow, lost, now * US, what == picoquic_congestion_notification_timeout);
        break;
    default:
        break;
    }
}

const picoquic_congestion_algorithm_t lowtide_picoquic = {0x4c4f5754 /* LOWT */, init, notify, delete};

bool lowtide_picoquic_use(const char *name, char *message, size_t message_size) {
    LowtideConfig config = {.max_datagram = PICOQUIC_INITIAL_MTU_IPV4};
    LowtideFlow *trial = NULL;
    if (strlen(name) >= sizeof spec) return snprintf(message, message_size, "too long"), false;
    bool good = lowtide_flow_new(name, &config, &trial, message, message_size) == LOWTIDE_STATUS_OK;
    lowtide_flow_free(trial);
    if (good) strcpy(spec, name);
    return good;
}

/* Packets that picoquic no longer waits for were acknowledged. */
void lowtide_picoquic_received(picoquic_cnx_t *cnx, uint64_t now_us) {
    struct Flow *flow = flow_of(cnx);
    if (flow == NULL || !flow->was_acked) return;
    uint64_t now = now_us * US, rtt = LOWTIDE_NONE;
    flow->was_acked = false;
    const picoquic_packet *waiting = cnx->retransmit_oldest;
    size_t kept = 0;
    for (size_t i = 0; i < flow->count; i++) {
        const struct Sent sent = flow->open[i];
        while (waiting != NULL && waiting->sequence_number < sent.number) waiting = waiting->previous_packet;
        if (waiting != NULL && waiting->sequence_number == sent.number) {
            flow->open[kept++] = sent;
            continue;
        }
        must(lowtide_flow_acked(flow->cc, sent.number), "acknowledgment");
        if (sent.number > flow->largest_acked) {
            flow->largest_acked = sent.number;
            rtt = now - sent.sent_at;
        }
    }
    if (kept == flow->count) return;
    flow->count = kept;
    settle(cnx, flow, now, rtt);
}

/* Packets that picoquic gave up without a word, as those that carried nothing but acknowledgments: no controller is
 * to hear of them. They are the oldest. */
static void forget(const picoquic_cnx_t *cnx, struct Flow *flow) {
    size_t gone = 0;
    const picoquic_packet *oldest = cnx->retransmit_oldest;
    while (gone < flow->count && (oldest == NULL || flow->open[gone].number < oldest->sequence_number))
        must(lowtide_flow_discarded(flow->cc, flow->open[gone++].number), "discarded");
    flow->count -= gone;
    if (gone > 0) memmove(flow->open, flow->open + gone, flow->count * sizeof *flow->open);
}

static bool has_room(struct Flow *flow) {
    if (flow->count < flow->capacity) return true;
    size_t capacity = flow->capacity > 0 ? 2 * flow->capacity : 256;
    struct Sent *open = realloc(flow->open, capacity * sizeof *open);
    if (open == NULL) return false;
    flow->open = open;
    flow->capacity = capacity;
    return true;
}

void lowtide_picoquic_prepared(picoquic_cnx_t *cnx, const picoquic_packet *packet, size_t length, uint64_t now_us) {
    struct Flow *flow = flow_of(cnx);
    if (flow == NULL) return;
    uint64_t now = now_us * US;
    forget(cnx, flow);
    must(lowtide_flow_wakeup(flow->cc, now), "wakeup");
    if (flow->mtu != cnx->send_mtu) {
        flow->mtu = cnx->send_mtu;
        must(lowtide_flow_mtu(flow->cc, flow->mtu), "MTU");
    }
    apply(cnx, flow);
    if (length == 0) {
        /* Window and pacer allowed it: the application has nothing to send. */
        if (cnx->cwin > cnx->bytes_in_transit) must(lowtide_flow_app_limited(flow->cc), "limit");
        return;
    }
    /* What ends a connection is not kept for retransmission, and not in flight. */
    if (cnx->retransmit_newest != packet || !has_room(flow)) return;
    flow->open[flow->count++] = (struct Sent){packet->sequence_number, now};
    must(lowtide_flow_sent(flow->cc, now, packet->sequence_number, length), "packet");
    apply(cnx, flow);
    if (flow->control.pacing_rate == LOWTIDE_NONE) return;
    /* A burst of send_quantum may leave at once after a pause. */
    uint64_t rate = flow->control.pacing_rate;
    uint64_t burst = (uint64_t)(1e9 * (double)flow->control.send_quantum / (double)rate);
    uint64_t from = now > burst ? now - burst : 0;
    if (flow->send_at < from) flow->send_at = from;
    flow->send_at += (uint64_t)(1e9 * (double)length / (double)rate);
}

uint64_t lowtide_picoquic_send_at(const picoquic_cnx_t *cnx) {
    const struct Flow *flow = flow_of(cnx);
    return flow == NULL ? 0 : flow->send_at / US;
}

bool lowtide_picoquic_state(const picoquic_cnx_t *cnx, LowtideControl *control, LowtideSnapshot *state) {
    const struct Flow *flow = flow_of(cnx);
    if (flow == NULL) return false;
    *control = flow->control;
    return lowtide_flow_snapshot(flow->cc, state) == LOWTIDE_STATUS_OK;
}
