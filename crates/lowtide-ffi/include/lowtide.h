/* Lowtide's congestion controllers for C and C++. Apache-2.0 OR MIT.
 * Made by cbindgen from crates/lowtide-ffi; do not edit.
 *
 * Times are nanoseconds on the host's monotonic clock, volumes bytes, rates bytes per second. A
 * value that does not exist is LOWTIDE_NONE, or NaN where it is a double.
 *
 * There is no global state. Different handles may be used by different threads at the same time;
 * one handle by one thread at a time.
 *
 * Every function that can fail returns a status. An event that is refused changes nothing. A status
 * is named below without its prefix: NULL_POINTER is LOWTIDE_STATUS_NULL_POINTER.
 *
 * A pointer is null or points to what its type says for as long as the call lasts. Null is an error
 * unless the parameter's description allows it.
 *
 * What a host must do:
 *  1. lowtide_on_packet_sent for each packet that counts towards bytes in flight, in the order of
 *     sending, with numbers that grow.
 *  2. For each acknowledgment that newly acknowledges packets: first lowtide_on_loss for losses it
 *     shows, then lowtide_on_ack once, with all packets it newly acknowledges. Losses found by a
 *     timer are reported by lowtide_on_loss alone.
 *  3. Read lowtide_control after events. Send only while bytes in flight + packet <= cwnd, at
 *     pacing_rate, in bursts of at most send_quantum.
 *  4. lowtide_on_wakeup when next_wakeup is due. Without a timer: before the next event, once for
 *     each that is due by then, at its own time.
 *  5. Where the peer speaks the feedback extension: tell it peer_signal, hand what it answers to
 *     lowtide_on_feedback.
 */

#ifndef LOWTIDE_H
#define LOWTIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * A time, span, rate or volume that does not exist.
 */
#define LOWTIDE_NONE UINT64_MAX

/**
 * What became of a call.
 */
typedef enum LowtideStatus {
    /**
     * Done.
     */
    LOWTIDE_STATUS_OK = 0,
    /**
     * A pointer that must not be null is null.
     */
    LOWTIDE_STATUS_NULL_POINTER = 1,
    /**
     * The spec names no controller, or a parameter does not fit; the message says which and why.
     */
    LOWTIDE_STATUS_BAD_SPEC = 2,
    /**
     * A value is outside of its range: no packets, an unknown kind of timeout, a maximum datagram
     * of zero.
     */
    LOWTIDE_STATUS_BAD_VALUE = 3,
    /**
     * The event is not possible after those before it: packet numbers that do not grow, packets
     * settled that were never sent or before they were sent, a spurious timeout without a timeout.
     */
    LOWTIDE_STATUS_WRONG_ORDER = 4,
    /**
     * The event is earlier than the one before it.
     */
    LOWTIDE_STATUS_TIME_WENT_BACK = 5,
    /**
     * There is no delivery-rate sample; no error.
     */
    LOWTIDE_STATUS_NO_SAMPLE = 6,
    /**
     * The controller panicked, now or in an earlier call. Destroy it.
     */
    LOWTIDE_STATUS_PANICKED = 7,
} LowtideStatus;

/**
 * What the sender is to tell the peer's bandwidth estimator.
 */
typedef enum LowtidePeerSignal {
    /**
     * The algorithm uses no feedback.
     */
    LOWTIDE_PEER_SIGNAL_NONE = 0,
    /**
     * Sample: the network limits the sender.
     */
    LOWTIDE_PEER_SIGNAL_REGULAR = 1,
    /**
     * Do not sample: the sender limits itself.
     */
    LOWTIDE_PEER_SIGNAL_SUSPEND = 2,
} LowtidePeerSignal;

/**
 * Why a connection's whole flight is taken for lost.
 */
typedef enum LowtideTimeoutKind {
    /**
     * TCP's retransmission timer fired (RFC 6298).
     */
    LOWTIDE_TIMEOUT_KIND_RTO = 0,
    /**
     * QUIC found persistent congestion (RFC 9002 §7.6).
     */
    LOWTIDE_TIMEOUT_KIND_PERSISTENT_CONGESTION = 1,
} LowtideTimeoutKind;

/**
 * A congestion controller.
 */
typedef struct LowtideController LowtideController;

/**
 * A bandwidth estimator at a receiver.
 */
typedef struct LowtideReceiver LowtideReceiver;

/**
 * Takes delivery-rate samples for one connection (draft-cheng-iccrg-delivery-rate-estimation).
 */
typedef struct LowtideSampler LowtideSampler;

/**
 * A packet that was acknowledged.
 */
typedef struct LowtidePacket {
    /**
     * Its number, as given to `lowtide_on_packet_sent`.
     */
    uint64_t number;
    /**
     * Its size, bytes.
     */
    uint64_t bytes;
    /**
     * When it was sent, ns. TCP: where an earlier transmission of its data may have been the one that
     * arrived, no later than the least RTT ago.
     */
    uint64_t sent_at;
    /**
     * When it arrived, ns on the peer's clock, where the peer reports that
     * (draft-ietf-quic-receive-ts); only differences count. `LOWTIDE_NONE` or 0: it does not.
     */
    uint64_t received_at;
} LowtidePacket;

/**
 * One delivery-rate sample.
 */
typedef struct LowtideRateSample {
    /**
     * `delivered / interval`, bytes per second.
     */
    uint64_t delivery_rate;
    /**
     * Bytes delivered over `interval`.
     */
    uint64_t delivered;
    /**
     * The longer of the send and the ACK interval, ns.
     */
    uint64_t interval;
    /**
     * Total bytes delivered when the sampled packet was sent.
     */
    uint64_t prior_delivered;
    /**
     * Total bytes delivered now.
     */
    uint64_t total_delivered;
    /**
     * Bytes declared lost between the sending of the sampled packet and now.
     */
    uint64_t lost;
    /**
     * Total bytes declared lost now.
     */
    uint64_t total_lost;
    /**
     * Bytes in flight when the sampled packet was sent, with it included.
     */
    uint64_t sent_inflight;
    /**
     * When the sampled packet was sent, ns.
     */
    uint64_t sent_at;
    /**
     * 1: the application limited the flow then, and the rate may be too low. Otherwise 0.
     */
    uint8_t app_limited;
} LowtideRateSample;

/**
 * An acknowledgment that newly covers at least one packet.
 */
typedef struct LowtideAck {
    /**
     * When it arrived, ns.
     */
    uint64_t now;
    /**
     * All packets it newly acknowledges, in the order of their numbers.
     */
    const struct LowtidePacket *packets;
    /**
     * How many; at least 1.
     */
    size_t packet_count;
    /**
     * The newest RTT sample, ns, not corrected for the peer's delay; `LOWTIDE_NONE` when the
     * acknowledgment gives none.
     */
    uint64_t rtt;
    /**
     * Bytes in flight just before this acknowledgment and the losses found with it.
     */
    uint64_t prior_inflight;
    /**
     * Bytes in flight after both.
     */
    uint64_t inflight;
    /**
     * Delivery-rate sample, as from `lowtide_sampler_sample`; null when there is none.
     */
    const struct LowtideRateSample *rate_sample;
} LowtideAck;

/**
 * A packet that was lost.
 */
typedef struct LowtideLostPacket {
    /**
     * Its number, as given to `lowtide_on_packet_sent`.
     */
    uint64_t number;
    /**
     * Its size, bytes.
     */
    uint64_t bytes;
    /**
     * When it was sent, ns.
     */
    uint64_t sent_at;
    /**
     * Bytes in flight when it was sent, with it included: `inflight` of its `LowtideRateState`.
     */
    uint64_t sent_inflight;
    /**
     * Bytes declared lost from its sending until now, with it, without packets behind it in the
     * same event: from `lowtide_sampler_on_packet_lost`.
     */
    uint64_t lost;
    /**
     * 1: the application limited the flow when it was sent: `app_limited` of its `LowtideRateState`.
     * Otherwise 0.
     */
    uint8_t app_limited;
} LowtideLostPacket;

/**
 * What a controller wants of its host now.
 */
typedef struct LowtideControl {
    /**
     * The most bytes that may be in flight; above zero.
     */
    uint64_t cwnd;
    /**
     * Rate at which packets may leave, bytes per second, above zero; `LOWTIDE_NONE` when the
     * algorithm does not pace.
     */
    uint64_t pacing_rate;
    /**
     * The most bytes that may leave back to back when pacing; above zero.
     */
    uint64_t send_quantum;
    /**
     * When to call `lowtide_on_wakeup`, ns; `LOWTIDE_NONE`: never.
     */
    uint64_t next_wakeup;
    /**
     * What to tell the peer's estimator.
     */
    enum LowtidePeerSignal peer_signal;
} LowtideControl;

/**
 * What a controller needs to know when it is made.
 */
typedef struct LowtideConfig {
    /**
     * Largest datagram (QUIC) or segment (TCP), bytes: the unit of "packets" in window rules. At
     * least 1.
     */
    uint64_t max_datagram;
    /**
     * Window before any feedback, bytes.
     */
    uint64_t initial_window;
    /**
     * When the connection starts, ns on the host's clock. No event may be earlier.
     */
    uint64_t now;
    /**
     * Seeds the controller's own randomness, so that a run can be repeated.
     */
    uint64_t seed;
} LowtideConfig;

/**
 * The connection when a packet was sent. The host keeps it with the packet until that is
 * acknowledged or lost; it need not look inside.
 */
typedef struct LowtideRateState {
    /**
     * Total bytes delivered.
     */
    uint64_t delivered;
    /**
     * When `delivered` last grew, ns.
     */
    uint64_t delivered_at;
    /**
     * When the first packet of the packet's flight was sent, ns.
     */
    uint64_t first_sent_at;
    /**
     * Total bytes declared lost.
     */
    uint64_t lost;
    /**
     * Bytes in flight with this packet included.
     */
    uint64_t inflight;
    /**
     * 1: the flow was application-limited; otherwise 0.
     */
    uint8_t app_limited;
} LowtideRateState;

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
 * A packet that counts towards bytes in flight has left.
 *
 * `number`: packet number (QUIC) or transmission number (TCP: retransmissions get new ones);
 * grows from call to call. `inflight`: bytes in flight with this packet included. `app_limited`:
 * the application, not window or pacer, limited the flow when it left.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `WRONG_ORDER` when the number does not
 * grow.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_on_packet_sent(struct LowtideController *controller,
                                          uint64_t now,
                                          uint64_t number,
                                          uint64_t bytes,
                                          uint64_t inflight,
                                          bool app_limited);

/**
 * An acknowledgment arrived. Losses found with it are reported first, by `lowtide_on_loss`.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `BAD_VALUE` when there are no packets, or a
 * flag is neither 0 nor 1; `WRONG_ORDER` when their numbers do not grow, and when one was never sent
 * or was acknowledged before. A packet that was declared lost may be acknowledged, once.
 *
 * Numbers are remembered in runs, of which acknowledgments and losses leave gaps: 4096 runs at most,
 * and packets of older ones count as never sent.
 *
 * # Safety
 * As the header of the library says of pointers; `packets` points to `packet_count` packets.
 */
enum LowtideStatus lowtide_on_ack(struct LowtideController *controller,
                                  const struct LowtideAck *ack);

/**
 * The host's loss detection gave up packets; `packets` in the order of their numbers, `inflight`
 * bytes in flight without them.
 *
 * Returns as `lowtide_on_ack`; `WRONG_ORDER` also when a packet was declared lost before, unless a
 * spurious timeout has brought it back.
 *
 * # Safety
 * As the header of the library says of pointers; `packets` points to `packet_count` packets.
 */
enum LowtideStatus lowtide_on_loss(struct LowtideController *controller,
                                   uint64_t now,
                                   const struct LowtideLostPacket *packets,
                                   size_t packet_count,
                                   uint64_t inflight);

/**
 * The whole flight is taken for lost. Called after `lowtide_on_loss` for the packets concerned.
 * `kind` is a `LowtideTimeoutKind`, `inflight` the bytes still counted in flight.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `BAD_VALUE` when there is no such kind;
 * `WRONG_ORDER` when nothing was ever sent.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_on_timeout(struct LowtideController *controller,
                                      uint64_t now,
                                      uint32_t kind,
                                      uint64_t inflight);

/**
 * The last retransmission timeout was spurious: packets taken for lost arrived, and are in flight
 * again (RFC 3522, RFC 5682). To be called before `lowtide_on_ack` for the acknowledgment that
 * shows it; what was declared lost before does not count as lost with that.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`; `WRONG_ORDER` when there was no such
 * timeout, or it was already undone.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_on_spurious_timeout(struct LowtideController *controller,
                                               uint64_t now);

/**
 * The peer reported packets newly marked ECN-CE (RFC 3168, RFC 9002 §7.1); `sent_at` is when the
 * newest acknowledged packet was sent. To be called before `lowtide_on_ack` of the acknowledgment that
 * reports them, and after `lowtide_on_loss`.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_on_ecn_ce(struct LowtideController *controller,
                                     uint64_t now,
                                     uint64_t sent_at,
                                     uint64_t marked_packets);

/**
 * Reads the codepoint that packets are to carry in the ECN bits of their header: 0 none, 1 ECT(1), 2
 * ECT(0) (RFC 3168 §5). It may change with every event. A path or peer that mangles ECN is the host's to
 * find out (RFC 9000 §13.4.2); packets then carry none.
 *
 * Returns `NULL_POINTER`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_ecn(const struct LowtideController *controller,
                               uint8_t *out);

/**
 * The path's maximum datagram changed, bytes.
 *
 * Returns `NULL_POINTER`, `PANICKED`; `BAD_VALUE` when it is zero.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_on_mtu_change(struct LowtideController *controller,
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
enum LowtideStatus lowtide_on_feedback(struct LowtideController *controller,
                                       uint64_t now,
                                       uint64_t carrier,
                                       uint64_t rate);

/**
 * The controller's `next_wakeup` is due.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_on_wakeup(struct LowtideController *controller,
                                     uint64_t now);

/**
 * Reads what the controller wants now.
 *
 * Returns `NULL_POINTER`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_control(const struct LowtideController *controller,
                                   struct LowtideControl *out);

/**
 * Fills in the usual configuration for packets of `max_datagram` bytes: an initial window of 10
 * packets, but not more than 14 720 bytes unless two packets are larger (RFC 9002 §7.2); time and
 * seed zero.
 *
 * Returns `NULL_POINTER`; `BAD_VALUE` when `max_datagram` is zero.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_config_init(struct LowtideConfig *config,
                                       uint64_t max_datagram);

/**
 * Makes a controller for a QUIC connection.
 *
 * `spec` names it, as `lowtide list` does: `"ebb"`, `"rtt-gain:alpha=0.75"`. On success `*out` is
 * the handle, to be given to `lowtide_controller_free` once; otherwise `*out` is null. `message`,
 * of `message_size` bytes, receives what is wrong with the spec, cut where it does not fit, and
 * the empty string on success; it may be null.
 *
 * Returns `NULL_POINTER`; `BAD_SPEC`; `BAD_VALUE` when the maximum datagram is zero.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_controller_new(const char *spec,
                                          const struct LowtideConfig *config,
                                          struct LowtideController **out,
                                          char *message,
                                          size_t message_size);

/**
 * Makes a controller for a TCP connection; as `lowtide_controller_new` in all else.
 *
 * CUBIC leaves slow start as Linux's does, and recovery ends by sequence number.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_controller_new_tcp(const char *spec,
                                              const struct LowtideConfig *config,
                                              struct LowtideController **out,
                                              char *message,
                                              size_t message_size);

/**
 * Destroys a controller. Null is allowed and does nothing.
 *
 * # Safety
 * `controller` comes from `lowtide_controller_new` and is not used again.
 */
void lowtide_controller_free(struct LowtideController *controller);

/**
 * Writes the names of all controllers, one a line, into `buffer` of `size` bytes, cut where they
 * do not fit. `buffer` may be null.
 *
 * Returns the size that holds all of them and the final zero.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
size_t lowtide_controller_names(char *buffer,
                                size_t size);

/**
 * Makes the estimator that the receiver runs when the sender's controller is `spec`, as in
 * `"rbbr"` or `"rbbr:interval=20ms"`. On success `*out` is the handle, to be given to
 * `lowtide_receiver_free` once; it is null where the controller works without an estimator at the
 * receiver, and after errors. `message` is as in `lowtide_controller_new`.
 *
 * Returns `NULL_POINTER`, `BAD_SPEC`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_receiver_new(const char *spec,
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
enum LowtideStatus lowtide_receiver_on_packet(struct LowtideReceiver *receiver,
                                              uint64_t now,
                                              uint64_t bytes,
                                              uint32_t signal);

/**
 * An acknowledgment is about to leave: `*rate` is the estimate that it should carry, bytes per
 * second, above zero; `LOWTIDE_NONE` for none. The sender gives it to `lowtide_on_feedback`.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_receiver_feedback_for_ack(struct LowtideReceiver *receiver,
                                                     uint64_t now,
                                                     uint64_t *rate);

/**
 * Makes a sampler for a connection that has sent nothing: `*out`, to be given to
 * `lowtide_sampler_free` once.
 *
 * Returns `NULL_POINTER`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_sampler_new(struct LowtideSampler **out);

/**
 * Destroys a sampler. Null is allowed and does nothing.
 *
 * # Safety
 * `sampler` comes from `lowtide_sampler_new` and is not used again.
 */
void lowtide_sampler_free(struct LowtideSampler *sampler);

/**
 * A packet of `bytes` leaves while `inflight` other bytes are in flight; `*out` is what to keep
 * with it.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_sampler_on_packet_sent(struct LowtideSampler *sampler,
                                                  uint64_t now,
                                                  uint64_t bytes,
                                                  uint64_t inflight,
                                                  struct LowtideRateState *out);

/**
 * The packet of `bytes` sent at `sent_at` with `state` is newly acknowledged. Call it for every
 * packet of an acknowledgment, then `lowtide_sampler_sample` once.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`; `WRONG_ORDER` when it was sent later than now; `BAD_VALUE`
 * when `app_limited` is neither 0 nor 1.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_sampler_on_packet_acked(struct LowtideSampler *sampler,
                                                   uint64_t now,
                                                   uint64_t bytes,
                                                   uint64_t sent_at,
                                                   const struct LowtideRateState *state);

/**
 * The packet of `bytes` sent with `state` was declared lost; `*lost` is what `LowtideLostPacket`
 * wants to know.
 *
 * Returns `NULL_POINTER`; `BAD_VALUE` when `app_limited` is neither 0 nor 1.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_sampler_on_packet_lost(struct LowtideSampler *sampler,
                                                  uint64_t bytes,
                                                  const struct LowtideRateState *state,
                                                  uint64_t *lost);

/**
 * The application has nothing to send although window and pacer would allow it, with `inflight`
 * bytes in flight.
 *
 * Returns `NULL_POINTER`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_sampler_on_app_limited(struct LowtideSampler *sampler,
                                                  uint64_t inflight);

/**
 * Whether packets sent now are marked application-limited; false for null.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
bool lowtide_sampler_is_app_limited(const struct LowtideSampler *sampler);

/**
 * The sample of the acknowledgment that was just fed in. `min_rtt`: the connection's minimum RTT,
 * ns, or `LOWTIDE_NONE`; a sample over a shorter time would be far too high.
 *
 * Returns `NO_SAMPLE` when none can be taken, `NULL_POINTER`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_sampler_sample(struct LowtideSampler *sampler,
                                          uint64_t min_rtt,
                                          struct LowtideRateSample *out);

/**
 * Reads the controller's state.
 *
 * Returns `NULL_POINTER`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_snapshot(const struct LowtideController *controller,
                                    struct LowtideSnapshot *out);

/**
 * A status in words: a static string, never null. Takes any number.
 */
const char *lowtide_status_text(int32_t status);

/**
 * The library's semantic version as in `"0.1.0"`: a static string. The ABI changes with the major
 * version, before 1.0 with the minor version.
 */
const char *lowtide_version(void);

/**
 * The library's semantic version as a number: major × 65536 + minor × 256 + patch.
 */
uint32_t lowtide_version_number(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LOWTIDE_H */
