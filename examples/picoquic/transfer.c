/* A transfer over picoquic whose sender is driven by any of Lowtide's controllers.
 *
 *   ./transfer serve PORT CERTIFICATE KEY [CONTROLLER]      sends, to one client; 'picoquic': its own NewReno
 *   ./transfer fetch ADDRESS PORT BYTES                     asks for so many, and checks each of them
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lowtide_picoquic.h"
#include "picoquic_internal.h"

enum { STREAM = 4, DATAGRAM = 1536, MOST = 500000000 };

static const uint64_t SECOND = 1000000; /* picoquic's clock: microseconds */

static uint64_t clock_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec / 1000;
}

/* The byte at `offset` of what is transferred. */
static uint8_t byte_at(uint64_t offset) { return (uint8_t)(offset * 0x9E3779B97F4A7C15ULL >> 56); }

/* Either end. */
struct End {
    picoquic_quic_t *quic;
    int fd;
    bool is_done, has_failed;
    /* The server's: the request, and its line a second. */
    char request[32];
    size_t request_length;
    uint64_t shown_at;
    const char *controller;
    /* The client's. */
    const char *wish; /* until it is sent: the number of bytes */
    uint64_t wanted, received, wrong, started, ended;
};

static void fail(struct End *end, const char *why) {
    fprintf(stderr, "error: %s\n", why);
    end->has_failed = end->is_done = true;
}

static void answer(picoquic_cnx_t *cnx, struct End *end) {
    uint64_t bytes = strtoull(end->request, NULL, 10);
    uint8_t *data = bytes > 0 && bytes <= MOST ? malloc(bytes) : NULL;
    if (data == NULL) {
        fail(end, "not a number of bytes that can be sent");
        return;
    }
    for (uint64_t i = 0; i < bytes; i++) data[i] = byte_at(i);
    /* Without an end of the stream: while flow control holds a stream that has one, that picoquic sends empty packets. */
    if (picoquic_add_to_stream(cnx, STREAM, data, bytes, 0) != 0) fail(end, "cannot send");
    free(data);
}

static void show(picoquic_cnx_t *cnx, struct End *end, uint64_t now) {
    LowtideControl control;
    LowtideSnapshot state;
    end->shown_at = now;
    printf("%-8s %5.1f s  RTT %6.1f ms  in flight %5.0f kB  lost %4" PRIu64 "  ", end->controller,
           (double)(now - cnx->start_time) / 1e6, (double)cnx->smoothed_rtt / 1e3, (double)cnx->bytes_in_transit / 1e3,
           cnx->nb_retransmission_total);
    if (lowtide_picoquic_state(cnx, &control, &state))
        printf("cwnd %5.0f kB  pacing %6.1f Mbit/s  %s\n", (double)control.cwnd / 1e3,
               control.pacing_rate == LOWTIDE_NONE ? 0 : (double)control.pacing_rate * 8e-6, state.phase);
    else
        printf("cwnd %5.0f kB\n", (double)cnx->cwin / 1e3);
    fflush(stdout);
}

static void on_server(picoquic_cnx_t *cnx, uint64_t stream, uint8_t *bytes, size_t length,
                      picoquic_call_back_event_t event, void *context) {
    struct End *end = context;
    if (event == picoquic_callback_close || event == picoquic_callback_application_close) {
        show(cnx, end, clock_us());
        end->is_done = true;
    } else if (stream == STREAM && end->request_length + length < sizeof end->request) {
        memcpy(end->request + end->request_length, bytes, length);
        end->request_length += length;
        if (event == picoquic_callback_stream_fin) answer(cnx, end);
    }
}

static void on_client(picoquic_cnx_t *cnx, uint64_t stream, uint8_t *bytes, size_t length,
                      picoquic_call_back_event_t event, void *context) {
    struct End *end = context;
    if (event == picoquic_callback_close || event == picoquic_callback_application_close) {
        if (end->ended == 0) fail(end, "the server closed the connection");
        end->is_done = true;
    } else if (stream == STREAM) {
        for (size_t i = 0; i < length; i++) end->wrong += bytes[i] != byte_at(end->received + i);
        end->received += length;
        if (end->received >= end->wanted) {
            end->ended = clock_us();
            picoquic_close(cnx, 0);
        }
    }
}

/* All that has come. */
static void receive(struct End *end) {
    uint8_t bytes[DATAGRAM];
    struct sockaddr_storage from, to;
    for (;;) {
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(end->fd, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&from, &length);
        if (got <= 0) return;
        uint64_t now = clock_us();
        memset(&to, 0, sizeof to);
        to.ss_family = from.ss_family;
        picoquic_incoming_packet(end->quic, bytes, (uint32_t)got, (struct sockaddr *)&from, (struct sockaddr *)&to, 0, now);
        picoquic_cnx_t *cnx = picoquic_get_first_cnx(end->quic);
        if (cnx == NULL) continue;
        lowtide_picoquic_received(cnx, now);
        /* Streams can be opened when the server has said how many. */
        if (end->wish != NULL && picoquic_get_cnx_state(cnx) == picoquic_state_client_ready) {
            if (picoquic_add_to_stream(cnx, STREAM, (const uint8_t *)end->wish, strlen(end->wish) + 1, 1) != 0)
                fail(end, "cannot ask");
            end->wish = NULL;
        }
    }
}

static void transmit(struct End *end, const void *bytes, size_t length, const struct sockaddr_storage *to) {
    socklen_t size = to->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    /* A full socket buffer is a queue like any other: the packet is lost. */
    if (sendto(end->fd, bytes, length, 0, (const struct sockaddr *)to, size) < 0 && errno != EAGAIN &&
        errno != ENOBUFS && errno != ECONNREFUSED)
        fail(end, strerror(errno));
}

/* All that may leave now; returns when to come back. */
static uint64_t send_what_may_leave(struct End *end) {
    uint8_t bytes[DATAGRAM];
    picoquic_stateless_packet_t *stateless;
    while ((stateless = picoquic_dequeue_stateless_packet(end->quic)) != NULL) {
        transmit(end, stateless->bytes, stateless->length, &stateless->addr_to);
        picoquic_delete_stateless_packet(stateless);
    }
    picoquic_cnx_t *cnx = picoquic_get_first_cnx(end->quic);
    while (cnx != NULL && !end->has_failed) {
        uint64_t now = clock_us(), send_at = lowtide_picoquic_send_at(cnx);
        if (send_at > now) return send_at;
        picoquic_packet *packet = picoquic_create_packet();
        size_t length = 0;
        int problem = packet == NULL ? -1 : picoquic_prepare_packet(cnx, packet, now, bytes, sizeof bytes, &length);
        if (problem == 0) lowtide_picoquic_prepared(cnx, packet, length, now);
        if (problem != 0 || length == 0) {
            free(packet);
            if (problem == PICOQUIC_ERROR_DISCONNECTED) end->is_done = true;
            else if (problem != 0) fail(end, "picoquic cannot prepare a packet");
            int64_t delay = picoquic_get_next_wake_delay(end->quic, now, (int64_t)SECOND);
            return now + (uint64_t)(delay > 0 ? delay : 0);
        }
        transmit(end, bytes, length, &cnx->peer_addr);
        /* What ends a connection is not kept by picoquic. */
        if (cnx->retransmit_newest != packet) free(packet);
        if (end->request_length > 0 && now >= end->shown_at + SECOND) show(cnx, end, now);
    }
    return clock_us() + SECOND / 10;
}

static void run(struct End *end) {
    uint64_t last = 0;
    while (!end->has_failed) {
        uint64_t until = send_what_may_leave(end), now = clock_us();
        if (end->is_done && last == 0) last = now + SECOND / 5; /* for the packet that closes */
        if (last != 0 && now >= last) return;
        if (last != 0 && until > last) until = last;
        uint64_t wait = until > now ? until - now : 0;
        if (wait > SECOND) wait = SECOND;
        struct timespec timeout = {(time_t)(wait / SECOND), (long)(wait % SECOND * 1000)};
        struct pollfd readable = {.fd = end->fd, .events = POLLIN};
        ppoll(&readable, 1, &timeout, NULL);
        receive(end);
        if (end->started != 0 && now > end->started + 120 * SECOND) fail(end, "nothing after 120 s");
    }
}

static int serve(struct End *end, const char *port, const char *certificate, const char *key, const char *controller) {
    char message[256];
    bool is_ours = strcmp(controller, "picoquic") != 0;
    if (is_ours && !lowtide_picoquic_use(controller, message, sizeof message)) {
        fprintf(stderr, "error: %s\n", message);
        return 2;
    }
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    uint8_t seed[PICOQUIC_RESET_SECRET_SIZE] = {0};
    end->controller = controller;
    end->quic = picoquic_create(8, certificate, key, "hq-08", on_server, end, NULL, NULL, seed, clock_us(), NULL, NULL,
                                NULL, 0);
    if (end->quic == NULL || bind(end->fd, (struct sockaddr *)&here, sizeof here) != 0) {
        fprintf(stderr, "error: cannot listen: certificate, key or port %s\n", port);
        return 1;
    }
    if (is_ours) picoquic_set_default_congestion_algorithm(end->quic, &lowtide_picoquic);
    run(end);
    return end->has_failed;
}

static int fetch(struct End *end, const char *address, const char *port, const char *bytes) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    if (inet_pton(AF_INET, address, &there.sin_addr) != 1) {
        fprintf(stderr, "error: '%s' is not an IPv4 address\n", address);
        return 2;
    }
    end->wanted = strtoull(bytes, NULL, 10);
    end->started = clock_us();
    end->quic = picoquic_create(8, NULL, NULL, "hq-08", NULL, NULL, NULL, NULL, NULL, end->started, NULL, NULL, NULL, 0);
    /* That picoquic counts acknowledgments as in flight, and sends no more credit for a stream beyond its window. */
    lowtide_picoquic_use("window:packets=1000", NULL, 0);
    if (end->quic != NULL) picoquic_set_default_congestion_algorithm(end->quic, &lowtide_picoquic);
    picoquic_cnx_t *cnx = end->quic == NULL ? NULL : picoquic_create_client_cnx(
        end->quic, (struct sockaddr *)&there, end->started, 0, NULL, "hq-08", on_client, end);
    if (cnx == NULL) {
        fprintf(stderr, "error: picoquic cannot make a connection\n");
        return 1;
    }
    end->wish = bytes;
    run(end);
    if (end->has_failed) return 1;
    double seconds = (double)(end->ended - end->started) / 1e6;
    printf("%" PRIu64 " of %" PRIu64 " bytes, %" PRIu64 " of them wrong, in %.2f s: %.2f Mbit/s\n", end->received,
           end->wanted, end->wrong, seconds, (double)end->received * 8e-6 / seconds);
    return end->received != end->wanted || end->wrong != 0;
}

int main(int argc, char **argv) {
    struct End end = {0};
    bool is_server = argc >= 5 && argc <= 6 && strcmp(argv[1], "serve") == 0;
    if (!is_server && !(argc == 5 && strcmp(argv[1], "fetch") == 0)) {
        fprintf(stderr, "usage: transfer serve PORT CERTIFICATE KEY [CONTROLLER] | transfer fetch ADDRESS PORT BYTES\n");
        return 2;
    }
    end.fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (end.fd < 0) {
        perror("error: socket");
        return 1;
    }
    int code = is_server ? serve(&end, argv[2], argv[3], argv[4], argc == 6 ? argv[5] : "ebb")
                         : fetch(&end, argv[2], argv[3], argv[4]);
    if (end.quic != NULL) picoquic_free(end.quic);
    close(end.fd);
    return code;
}
