/* Lowtide's controllers in picoquic, by the interface that picoquic has for congestion algorithms of
 * applications. Written for the picoquic of crates.io's picoquic-sys 0.1.0 (January 2018), of which nothing is
 * changed.
 *
 *   lowtide_picoquic_use("ebb");
 *   picoquic_set_default_congestion_algorithm(quic, &lowtide_picoquic);
 *
 * An algorithm of that picoquic is told that a packet was acknowledged, not which, and neither of packets
 * that leave nor when it may send. The application knows that, since the loop around picoquic is its own:
 * it calls the three functions below. They do nothing for connections with another algorithm.
 */
#ifndef LOWTIDE_PICOQUIC_H
#define LOWTIDE_PICOQUIC_H

#include "lowtide_extra.h"
#include "picoquic.h"

extern const picoquic_congestion_algorithm_t lowtide_picoquic;

/* Names the controller of connections that come after it, as `lowtide list` does. False: there is no such
 * controller, and `message` says why. */
bool lowtide_picoquic_use(const char *spec, char *message, size_t message_size);

/* After each picoquic_prepare_packet that had nothing else to report than success. `length` is what it made: 0 is
 * nothing. Times are picoquic's, in microseconds. */
void lowtide_picoquic_prepared(picoquic_cnx_t *cnx, const picoquic_packet *packet, size_t length, uint64_t now);

/* After each picoquic_incoming_packet. */
void lowtide_picoquic_received(picoquic_cnx_t *cnx, uint64_t now);

/* From when on picoquic_prepare_packet may be called: the pacer. Retransmissions are paced as well. */
uint64_t lowtide_picoquic_send_at(const picoquic_cnx_t *cnx);

/* What the controller wants, and its state. False where the connection has another one. */
bool lowtide_picoquic_state(const picoquic_cnx_t *cnx, LowtideControl *control, LowtideSnapshot *state);

#endif
