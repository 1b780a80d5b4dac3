/* What some hosts of Lowtide's controllers want besides lowtide.h, whose rules hold here, too.
 * Made by cbindgen from crates/lowtide-ffi; do not edit. */

#ifndef LOWTIDE_EXTRA_H
#define LOWTIDE_EXTRA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lowtide.h"

/**
 * A bandwidth estimator at a receiver.
 */
typedef struct LowtideReceiver LowtideReceiver;

/**
 * A readable copy of a controller's state.
 */
typedef struct LowtideSnapshot {
    /**
     * The phase in the algorithm's own words, ended by zero.
     */
    char phase[32];
    /**
     * Bandwidth estimate, bytes per second, or `LOWTIDE_NONE`.
     */
    uint64_t bandwidth;
    /**
     * The algorithm's own minimum RTT, ns, or `LOWTIDE_NONE`.
     */
    uint64_t min_rtt;
    /**
     * Pacing gain, or NaN.
     */
    double pacing_gain;
    /**
     * Window gain, or NaN.
     */
    double cwnd_gain;
    /**
     * Slow-start threshold, bytes, or `LOWTIDE_NONE`.
     */
    uint64_t ssthresh;
    /**
     * Whether a loss recovery is under way.
     */
    bool in_recovery;
    /**
     * Whether there is a bandwidth filter; without, the fields below mean nothing.
     */
    bool has_filter;
    /**
     * What the filter does with samples now, ended by zero.
     */
    char filter_mode[32];
    /**
     * Kalman gain of the filter's last step, 0 to 1.
     */
    double filter_gain;
    /**
     * Process noise variance, (bytes/s)².
     */
    double filter_process_noise;
    /**
     * Measurement noise variance, (bytes/s)².
     */
    double filter_measurement_noise;
    /**
     * Last innovation, bytes/s.
     */
    double filter_innovation;
} LowtideSnapshot;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * A status in words: a static string, never null. Takes any number.
 */
const char *lowtide_status_text(int32_t status);

/**
 * Writes the names of all controllers, one a line, into `buffer` of `size` bytes, cut where they
 * do not fit. `buffer` may be null.
 *
 * Returns the size that holds all of them and the final zero.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
size_t lowtide_names(char *buffer,
                     size_t size);

/**
 * The library's semantic version as in `"0.1.0"`: a static string. The ABI changes with the major
 * version, before 1.0 with the minor version.
 */
const char *lowtide_version(void);

/**
 * The library's semantic version as a number: major × 65536 + minor × 256 + patch.
 */
uint32_t lowtide_version_number(void);

/**
 * Reads the controller's state.
 *
 * Returns `NULL_POINTER`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_flow_snapshot(const LowtideFlow *flow,
                                    struct LowtideSnapshot *out);

/**
 * As `lowtide_flow_acked`, with what the host knows besides.
 *
 * `sent_at`: TCP, where an earlier transmission of the packet's data may have been the one that
 * arrived: the least RTT ago, ns. A time that is too late makes RTTs that no path has, and only an
 * earlier one than that of `lowtide_flow_sent` counts. `received_at`: when it arrived, ns on the peer's
 * clock, where the peer reports that (draft-ietf-quic-receive-ts); only differences count. Either may be
 * `LOWTIDE_NONE`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_flow_acked_at(LowtideFlow *flow,
                                    uint64_t number,
                                    uint64_t sent_at,
                                    uint64_t received_at);

/**
 * The last retransmission timeout was spurious: packets taken for lost arrived (RFC 3522, RFC 5682).
 *
 * What it gave up is in flight again, but for packets discarded since: a host discards those of which
 * it has sent the data again. To be said with the acknowledgment that shows it. What was declared lost
 * before does not count as lost with that.
 *
 * Returns `NULL_POINTER`, `PANICKED`; `WRONG_ORDER` when there was no such timeout, or it was
 * already undone.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_flow_spurious_timeout(LowtideFlow *flow);

/**
 * The path's maximum datagram changed, bytes.
 *
 * Returns `NULL_POINTER`, `PANICKED`; `BAD_VALUE` when it is zero.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_flow_mtu(LowtideFlow *flow,
                               uint64_t max_datagram);

/**
 * The peer's bandwidth estimator sent feedback. `carrier`: number of the peer's packet that
 * carried it; feedback older than the newest is ignored. `rate`: the peer's estimate, bytes per
 * second; may be anything.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_flow_feedback(LowtideFlow *flow,
                                    uint64_t now,
                                    uint64_t carrier,
                                    uint64_t rate);

/**
 * Writes what the host of a checked flow did against the contract, a sentence a line, into `buffer`
 * of `size` bytes, cut where it does not fit. `buffer` may be null; so may `flow`, of which there is
 * nothing to say.
 *
 * Returns the size that holds all of it and the final zero.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
size_t lowtide_flow_breaches(const LowtideFlow *flow,
                             char *buffer,
                             size_t size);

/**
 * Makes the estimator that the receiver runs when the sender's controller is `spec`, as in
 * `"rbbr"` or `"rbbr:interval=20ms"`. On success `*out` is the handle, to be given to
 * `lowtide_receiver_free` once; it is null where the controller works without an estimator at the
 * receiver, and after errors. `message` is as in `lowtide_flow_new`.
 *
 * Returns `NULL_POINTER`, `BAD_SPEC`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_receiver_new(const char *spec,
                                   struct LowtideReceiver **out,
                                   char *message,
                                   size_t message_size);

/**
 * Destroys an estimator. Null is allowed and does nothing.
 *
 * # Safety
 * `receiver` comes from `lowtide_receiver_new` and is not used again.
 */
void lowtide_receiver_free(struct LowtideReceiver *receiver);

/**
 * A packet of `bytes` arrived, new or not. `signal` is the `LowtidePeerSignal` that came with it;
 * `LOWTIDE_PEER_SIGNAL_NONE`: none came, the last one stays.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`; `BAD_VALUE` when there is no such signal.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_receiver_on_packet(struct LowtideReceiver *receiver,
                                         uint64_t now,
                                         uint64_t bytes,
                                         uint32_t signal);

/**
 * An acknowledgment is about to leave: `*rate` is the estimate that it should carry, bytes per
 * second, above zero; `LOWTIDE_NONE` for none. The sender gives it to `lowtide_flow_feedback`.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
LowtideStatus lowtide_receiver_feedback_for_ack(struct LowtideReceiver *receiver,
                                                uint64_t now,
                                                uint64_t *rate);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LOWTIDE_EXTRA_H */
