#include "lowtide_picoquic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* picoquic's own algorithms include it, too: the window and the queue of packets are in it. */
#include "picoquic_internal.h"

/* A packet that is neither acknowledged nor lost. */
struct Sent {
    uint64_t number, bytes, sent_at; /* ns */
    LowtideRateState rate_state;
};

struct Flow {
    LowtideController *cc;
    LowtideSampler *sampler;
    LowtideControl control;
    struct Sent *open; /* in the order of numbers */
    LowtidePacket *acked;
    size_t count, capacity;
    uint64_t inflight, largest_acked, min_rtt, send_at /* ns */;
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
    must(lowtide_control(flow->cc, &flow->control), "control");
    cnx->cwin = flow->control.cwnd > flow->mtu ? flow->control.cwnd - flow->mtu + 1 : 1;
    /* Pacing is lowtide_picoquic_send_at: picoquic's own is by window and RTT, and not for retransmissions. */
    cnx->packet_time_nano_sec = 0;
}

/* What is due before an event at `now`, ns. */
static void before(picoquic_cnx_t *cnx, struct Flow *flow, uint64_t now) {
    while (flow->control.next_wakeup <= now) {
        must(lowtide_on_wakeup(flow->cc, flow->control.next_wakeup), "wakeup");
        apply(cnx, flow);
    }
    if (flow->mtu != cnx->send_mtu) {
        flow->mtu = cnx->send_mtu;
        must(lowtide_on_mtu_change(flow->cc, flow->mtu), "MTU");
    }
}

static void init(picoquic_cnx_t *cnx) {
    struct Flow *flow = calloc(1, sizeof *flow);
    cnx->congestion_alg_state = flow;
    if (flow == NULL) return;
    flow->mtu = cnx->send_mtu;
    flow->min_rtt = LOWTIDE_NONE;
    LowtideConfig config;
    must(lowtide_config_init(&config, flow->mtu), "configuration");
    config.now = cnx->start_time * US;
    must(lowtide_controller_new(spec, &config, &flow->cc, NULL, 0), spec);
    must(lowtide_sampler_new(&flow->sampler), "sampler");
    apply(cnx, flow);
}

static void delete(picoquic_cnx_t *cnx) {
    struct Flow *flow = cnx->congestion_alg_state;
    cnx->congestion_alg_state = NULL;
    if (flow == NULL) return;
    lowtide_controller_free(flow->cc);
    lowtide_sampler_free(flow->sampler);
    free(flow->open);
    free(flow->acked);
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
    LowtideLostPacket lost = {.number = number, .bytes = sent->bytes, .sent_at = sent->sent_at,
                              .sent_inflight = sent->rate_state.inflight,
                              .app_limited = sent->rate_state.app_limited};
    must(lowtide_sampler_on_packet_lost(flow->sampler, sent->bytes, &sent->rate_state, &lost.lost), "sampler");
    flow->inflight -= sent->bytes;
    flow->count--;
    memmove(sent, sent + 1, (size_t)(flow->open + flow->count - sent) * sizeof *sent);
    before(cnx, flow, now);
    must(lowtide_on_loss(flow->cc, now, &lost, 1, flow->inflight), "loss");
    /* One timer says that an acknowledgment is missing. When the third in a row has fired, nothing came through for
     * longer than RFC 9002's period of persistent congestion. */
    if (by_timer && cnx->nb_retransmit == 3)
        must(lowtide_on_timeout(flow->cc, now, LOWTIDE_TIMEOUT_KIND_PERSISTENT_CONGESTION, flow->inflight), "timeout");
    apply(cnx, flow);
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
    LowtideConfig config;
    LowtideController *trial = NULL;
    if (strlen(name) >= sizeof spec) return snprintf(message, message_size, "too long"), false;
    must(lowtide_config_init(&config, PICOQUIC_INITIAL_MTU_IPV4), "configuration");
    bool good = lowtide_controller_new(name, &config, &trial, message, message_size) == LOWTIDE_STATUS_OK;
    lowtide_controller_free(trial);
    if (good) strcpy(spec, name);
    return good;
}

/* Takes the packets out of `open` that picoquic no longer waits for, into `acked`: that many. */
static size_t settle(const picoquic_cnx_t *cnx, struct Flow *flow, uint64_t now) {
    const picoquic_packet *waiting = cnx->retransmit_oldest;
    size_t kept = 0, gone = 0;
    for (size_t i = 0; i < flow->count; i++) {
        const struct Sent sent = flow->open[i];
        while (waiting != NULL && waiting->sequence_number < sent.number) waiting = waiting->previous_packet;
        if (waiting != NULL && waiting->sequence_number == sent.number) {
            flow->open[kept++] = sent;
            continue;
        }
        must(lowtide_sampler_on_packet_acked(flow->sampler, now, sent.bytes, sent.sent_at, &sent.rate_state),
             "sampler");
        flow->inflight -= sent.bytes;
        flow->acked[gone++] = (LowtidePacket){sent.number, sent.bytes, sent.sent_at, LOWTIDE_NONE};
    }
    flow->count = kept;
    return gone;
}

void lowtide_picoquic_received(picoquic_cnx_t *cnx, uint64_t now_us) {
    struct Flow *flow = flow_of(cnx);
    if (flow == NULL || !flow->was_acked) return;
    uint64_t now = now_us * US, prior_inflight = flow->inflight, rtt = LOWTIDE_NONE;
    flow->was_acked = false;
    before(cnx, flow, now);
    size_t count = settle(cnx, flow, now);
    if (count == 0) return;
    const LowtidePacket *newest = &flow->acked[count - 1];
    if (newest->number > flow->largest_acked) {
        flow->largest_acked = newest->number;
        rtt = now - newest->sent_at;
        if (rtt < flow->min_rtt) flow->min_rtt = rtt;
    }
    LowtideRateSample sample;
    bool sampled = lowtide_sampler_sample(flow->sampler, flow->min_rtt, &sample) == LOWTIDE_STATUS_OK;
    LowtideAck ack = {.now = now, .packets = flow->acked, .packet_count = count, .rtt = rtt,
                      .prior_inflight = prior_inflight, .inflight = flow->inflight,
                      .rate_sample = sampled ? &sample : NULL};
    must(lowtide_on_ack(flow->cc, &ack), "acknowledgment");
    apply(cnx, flow);
}

/* Packets that picoquic gave up without a word, as those that carried nothing but acknowledgments: no controller is
 * to hear of them. They are the oldest. */
static void forget(const picoquic_cnx_t *cnx, struct Flow *flow) {
    size_t gone = 0;
    const picoquic_packet *oldest = cnx->retransmit_oldest;
    while (gone < flow->count && (oldest == NULL || flow->open[gone].number < oldest->sequence_number))
        flow->inflight -= flow->open[gone++].bytes;
    flow->count -= gone;
    if (gone > 0) memmove(flow->open, flow->open + gone, flow->count * sizeof *flow->open);
}

static bool has_room(struct Flow *flow) {
    if (flow->count < flow->capacity) return true;
    size_t capacity = flow->capacity > 0 ? 2 * flow->capacity : 256;
    struct Sent *open = realloc(flow->open, capacity * sizeof *open);
    if (open != NULL) flow->open = open;
    LowtidePacket *acked = realloc(flow->acked, capacity * sizeof *acked);
    if (acked != NULL) flow->acked = acked;
    if (open == NULL || acked == NULL) return false;
    flow->capacity = capacity;
    return true;
}

void lowtide_picoquic_prepared(picoquic_cnx_t *cnx, const picoquic_packet *packet, size_t length, uint64_t now_us) {
    struct Flow *flow = flow_of(cnx);
    if (flow == NULL) return;
    uint64_t now = now_us * US;
    before(cnx, flow, now);
    forget(cnx, flow);
    if (length == 0) {
        /* Window and pacer allowed it: the application has nothing to send. */
        if (cnx->cwin > cnx->bytes_in_transit)
            must(lowtide_sampler_on_app_limited(flow->sampler, flow->inflight), "sampler");
        return;
    }
    /* What ends a connection is not kept for retransmission, and not in flight. */
    if (cnx->retransmit_newest != packet || !has_room(flow)) return;
    struct Sent *sent = &flow->open[flow->count++];
    *sent = (struct Sent){.number = packet->sequence_number, .bytes = length, .sent_at = now};
    must(lowtide_sampler_on_packet_sent(flow->sampler, now, length, flow->inflight, &sent->rate_state), "sampler");
    flow->inflight += length;
    bool app_limited = lowtide_sampler_is_app_limited(flow->sampler);
    must(lowtide_on_packet_sent(flow->cc, now, sent->number, length, flow->inflight, app_limited), "packet");
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
    return lowtide_snapshot(flow->cc, state) == LOWTIDE_STATUS_OK;
}
