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
 * The twelve functions below are all that a host needs. What it must do:
 *  1. lowtide_flow_sent for each packet that counts towards bytes in flight, in the order of
 *     sending, with numbers that grow.
 *  2. For each acknowledgment, and each timer of loss detection: lowtide_flow_acked and
 *     lowtide_flow_lost for each packet that it concerns, lowtide_flow_marked, lowtide_flow_timeout, in
 *     any order; then lowtide_flow_settle, which tells the controller in the order that it wants.
 *  3. Read lowtide_flow_control after each settlement and packet. Send only while inflight + packet <=
 *     cwnd, at pacing_rate, in bursts of at most send_quantum, with ecn in the header.
 *  4. lowtide_flow_wakeup when next_wakeup is due. A host without a timer need not: what is overdue is
 *     made up for before the next packet or settlement.
 *  5. lowtide_flow_app_limited when there is nothing to send although it might, and
 *     lowtide_flow_discarded for packets that are forgotten.
 * In lowtide_extra.h is what some hosts want besides: text, state for logs, checks, packets of
 * another size, spurious timeouts, times of arrival, feedback of the peer.
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
     * A value is outside of its range: a packet without bytes, an unknown kind of timeout, a maximum
     * datagram of zero.
     */
    LOWTIDE_STATUS_BAD_VALUE = 3,
    /**
     * The event is not possible after those before it: packet numbers that do not grow, packets
     * named that were never sent, a packet sent before what was said is settled.
     */
    LOWTIDE_STATUS_WRONG_ORDER = 4,
    /**
     * The event is earlier than the one before it.
     */
    LOWTIDE_STATUS_TIME_WENT_BACK = 5,
    /**
     * The event took place, and the host of this checked flow broke the contract with it;
     * `lowtide_flow_breaches` says how.
     */
    LOWTIDE_STATUS_BROKE_CONTRACT = 6,
    /**
     * The controller panicked, now or in an earlier call. Destroy the flow.
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
 * The transport protocol that carries a flow.
 */
typedef enum LowtideTransport {
    /**
     * QUIC (RFC 9000).
     */
    LOWTIDE_TRANSPORT_QUIC = 0,
    /**
     * TCP (RFC 9293). CUBIC leaves slow start as Linux's does, and recovery ends by sequence number.
     */
    LOWTIDE_TRANSPORT_TCP = 1,
} LowtideTransport;

/**
 * The congestion control of one flow.
 */
typedef struct LowtideFlow LowtideFlow;

/**
 * What a flow needs to know when it is made. Zero is the usual value of all but `max_datagram`.
 */
typedef struct LowtideConfig {
    /**
     * Largest datagram (QUIC) or segment (TCP), bytes: the unit of "packets" in window rules. At
     * least 1.
     */
    uint64_t max_datagram;
    /**
     * Window before any feedback, bytes. 0: 10 packets, but not more than 14 720 bytes unless two
     * packets are larger (RFC 9002 §7.2).
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
    /**
     * A `LowtideTransport`.
     */
    uint32_t transport;
    /**
     * 1: the host is checked against the contract of controllers, for tests and debug builds; memory
     * then grows with the packets declared lost. 0: it is not.
     */
    uint8_t checked;
} LowtideConfig;

/**
 * What a controller wants of its host now.
 */
typedef struct LowtideControl {
    /**
     * The most bytes that may be in flight; above zero.
     */
    uint64_t cwnd;
    /**
     * Bytes that are: sent, and neither acknowledged, lost nor discarded.
     */
    uint64_t inflight;
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
     * When to call `lowtide_flow_wakeup`, ns; `LOWTIDE_NONE`: never.
     */
    uint64_t next_wakeup;
    /**
     * What to tell the peer's estimator.
     */
    enum LowtidePeerSignal peer_signal;
    /**
     * ECN bits of the packets to send (RFC 3168 §5): 0 none, 1 ECT(1), 2 ECT(0). A path or peer that
     * mangles ECN is the host's to find out (RFC 9000 §13.4.2); packets then carry none.
     */
    uint8_t ecn;
} LowtideControl;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Makes a flow that has sent nothing.
 *
 * `spec` names its controller, as `lowtide list` does: `"ebb"`, `"rtt-gain:alpha=0.75"`. On success
 * `*out` is the handle, to be given to `lowtide_flow_free` once; otherwise `*out` is null. `message`,
 * of `message_size` bytes, receives what is wrong with the spec, cut where it does not fit, and
 * the empty string on success; it may be null.
 *
 * Returns `NULL_POINTER`; `BAD_SPEC`; `BAD_VALUE` when a value of `config` is outside of its range.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_new(const char *spec,
                                    const struct LowtideConfig *config,
                                    struct LowtideFlow **out,
                                    char *message,
                                    size_t message_size);

/**
 * Destroys a flow. Null is allowed and does nothing.
 *
 * # Safety
 * `flow` comes from `lowtide_flow_new` and is not used again.
 */
void lowtide_flow_free(struct LowtideFlow *flow);

/**
 * A packet of `bytes` has left that counts towards bytes in flight.
 *
 * `number`: packet number (QUIC; of all number spaces together) or transmission number (TCP:
 * retransmissions get new ones); grows from call to call.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`, `BROKE_CONTRACT`; `BAD_VALUE` when it has no
 * bytes; `WRONG_ORDER` when the number does not grow, and when something was said before that is not
 * settled.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_sent(struct LowtideFlow *flow,
                                     uint64_t now,
                                     uint64_t number,
                                     uint64_t bytes);

/**
 * A packet was acknowledged. One that was declared lost may be, too: it arrived after all.
 *
 * Of those declared lost the newest 4096 are remembered, and all that one settlement lost. Others
 * count as never sent.
 *
 * Returns `NULL_POINTER`, `PANICKED`; `WRONG_ORDER` when it was never sent, or was acknowledged or
 * discarded before.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_acked(struct LowtideFlow *flow,
                                      uint64_t number);

/**
 * The host's loss detection gave up a packet.
 *
 * Returns `NULL_POINTER`, `PANICKED`; `WRONG_ORDER` when it is not in flight.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_lost(struct LowtideFlow *flow,
                                     uint64_t number);

/**
 * A packet is forgotten, neither acknowledged nor lost: its keys were discarded (QUIC), or another
 * copy of its data arrived (TCP).
 *
 * Returns as `lowtide_flow_acked`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_discarded(struct LowtideFlow *flow,
                                          uint64_t number);

/**
 * The peer reports so many packets newly marked ECN-CE (RFC 3168, RFC 9002 §7.1). The controller is
 * told with the next acknowledgment that is settled.
 *
 * Returns `NULL_POINTER`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_marked(struct LowtideFlow *flow,
                                       uint64_t packets);

/**
 * The whole flight is taken for lost: `lowtide_flow_lost` names the packets concerned. `kind` is a
 * `LowtideTimeoutKind`. A probe timeout of QUIC is none.
 *
 * Returns `NULL_POINTER`, `PANICKED`; `BAD_VALUE` when there is no such kind; `WRONG_ORDER` when
 * nothing was ever sent.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_timeout(struct LowtideFlow *flow,
                                        uint32_t kind);

/**
 * An acknowledgment has been read or a timer has fired, and all that it brought was said: the
 * controller is told.
 *
 * `rtt`: the newest RTT sample, ns, not corrected for the peer's delay; `LOWTIDE_NONE` when the
 * acknowledgment gives none (RFC 9002 §5.1: the largest acknowledged packet is not new; TCP: only
 * retransmitted segments).
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`, `BROKE_CONTRACT`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_settle(struct LowtideFlow *flow,
                                       uint64_t now,
                                       uint64_t rtt);

/**
 * The controller's `next_wakeup` is due.
 *
 * Returns `NULL_POINTER`, `TIME_WENT_BACK`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_wakeup(struct LowtideFlow *flow,
                                       uint64_t now);

/**
 * The application has nothing to send although window and pacer would allow it.
 *
 * Returns `NULL_POINTER`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_app_limited(struct LowtideFlow *flow);

/**
 * Reads what the controller wants now. It may change with every event.
 *
 * Returns `NULL_POINTER`, `PANICKED`.
 *
 * # Safety
 * As the header of the library says of pointers.
 */
enum LowtideStatus lowtide_flow_control(const struct LowtideFlow *flow,
                                        struct LowtideControl *out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LOWTIDE_H */
